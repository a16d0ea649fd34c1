#include "core/algorithms/simplified_elkan.hpp"

namespace arcmeans {

namespace {

class SimplifiedElkan final : public ElkanBounds {
 public:
  using ElkanBounds::ElkanBounds;

  Work assign(const Rows& rows, Centers& centers, const Labels& labels,
              const PassOptions& options) override {
    const Panels& panels = Panels::of(centers);
    const NoCenterTests tests;
    const ElkanState state = with(labels);
    return with_row_type(rows, [&](const auto& typed_rows) {
      using RowsOf = std::decay_t<decltype(typed_rows)>;
      return pass_over_rows(typed_rows, labels, options, [&](Work& work) {
        return ElkanVisitor<RowsOf, NoCenterTests>(typed_rows, centers, panels, state, tests, work);
      });
    });
  }
};

}  // namespace

extern constinit const AlgorithmRecord kSimplifiedElkan = {
    .name = "simplified-elkan",
    .keeps = "of each row a lower bound on the own center and an upper bound on each center",
    .wins = "nowhere in time: few similarities, but computed one by one",
    .checks_memory = true,
    .row_state = ElkanBounds::row_state,
    .other_bytes = no_other_bytes,
    .auto_takes = never_by_auto,
    .make = [](const Problem& problem, const RowState& state) -> std::unique_ptr<Algorithm> {
      return std::make_unique<SimplifiedElkan>(problem, state);
    },
};

}  // namespace arcmeans
