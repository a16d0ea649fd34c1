#include "core/algorithms/lloyd.hpp"

namespace arcmeans {

template <class RowsOf>
void Lloyd<RowsOf>::visit(std::int64_t begin, std::int64_t end) {
  visits_.visit(begin, All{index(end - begin)}, [&](auto r, const Top& top) {
    const std::int64_t i = begin + r;
    if (top.near_tie) {
      state_.labels[i] =
          best_of_all(panels_, centers_, rows_.row(i), similarities_.data(), work_).center;
    } else {
      work_.similarities += centers_.size();
      state_.labels[i] = top.center;
    }
  });
}

template class Lloyd<SparseRows<float>>;
template class Lloyd<SparseRows<double>>;
template class Lloyd<DenseRows<float>>;
template class Lloyd<DenseRows<double>>;

namespace {

class LloydAlgorithm final : public Algorithm {
 public:
  Work assign(const Rows& rows, Centers& centers, const Labels& labels,
              const PassOptions& options) override {
    const Panels& panels = Panels::of(centers);
    return with_row_type(rows, [&](const auto& typed_rows) {
      using RowsOf = std::decay_t<decltype(typed_rows)>;
      return pass_over_rows(typed_rows, labels, options, [&](Work& work) {
        return Lloyd<RowsOf>(typed_rows, centers, panels, labels, options, work);
      });
    });
  }
};

}  // namespace

extern constinit const AlgorithmRecord kLloyd = {
    .name = "lloyd",
    .keeps = "nothing",
    .wins = "dense rows of few features in up to some hundred clusters, and where memory is short",
    .row_state = no_row_state,
    .other_bytes = no_other_bytes,
    .auto_takes = [](const Problem&) { return std::optional(AutoNeeds{}); },
    .make = [](const Problem&, const RowState&) -> std::unique_ptr<Algorithm> {
      return std::make_unique<LloydAlgorithm>();
    },
};

}  // namespace arcmeans
