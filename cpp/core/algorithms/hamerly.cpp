// `hamerly` (paper, "Spherical Hamerly's Algorithm"): Simplified Hamerly and the test
// s(a(i)) ≤ l(i) by the angle to the nearest other center, for k·(k−1)/2 similarities an iteration
// (center_tests.hpp). Memory: 16 bytes a row.
#include "core/algorithms/center_tests.hpp"
#include "core/algorithms/simplified_hamerly.hpp"

namespace arcmeans {

namespace {

class Hamerly final : public HamerlyBounds {
 public:
  using HamerlyBounds::HamerlyBounds;

  Work assign(const Rows& rows, Centers& centers, const Labels& labels,
              const PassOptions& options) override {
    const Panels& panels = Panels::of(centers);
    CenterTests& tests = CenterTests::of(centers, false);
    const std::int64_t center_similarities = tests.update(centers, panels, options.n_threads);
    const HamerlyState state = with(labels);
    Work work = with_row_type(rows, [&](const auto& typed_rows) {
      using RowsOf = std::decay_t<decltype(typed_rows)>;
      return pass_over_rows(typed_rows, labels, options, [&](Work& mine) {
        return HamerlyVisitor<RowsOf, CenterTests>(typed_rows, centers, panels, state, tests,
                                                   update(), mine);
      });
    });
    work.center_similarities = center_similarities;
    return work;
  }
};

}  // namespace

extern constinit const AlgorithmRecord kHamerly = {
    .name = "hamerly",
    .keeps =
        "of each row a lower bound on the own center and one upper bound on all others; of each "
        "center the angle to the nearest other",
    .wins = "nowhere in time: near simplified-hamerly where rows are many and features few",
    .row_state = HamerlyBounds::row_state,
    .other_bytes = no_other_bytes,
    .auto_takes = never_by_auto,
    .make = [](const Problem& problem, const RowState& state) -> std::unique_ptr<Algorithm> {
      return std::make_unique<Hamerly>(problem, state);
    },
};

}  // namespace arcmeans
