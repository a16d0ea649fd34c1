// `elkan` (paper, "Spherical Elkan's Algorithm"): Simplified Elkan and two tests by the angles
// between centers. A row with s(a(i)) ≤ l(i) keeps its label; a center with cc(a(i),j) ≤ l(i) is
// skipped. They cost k·(k−1)/2 similarities an iteration (center_tests.hpp).
// Memory: 8 + 4·k bytes a row, and 4·k² for the pairs.
#include "core/algorithms/center_tests.hpp"
#include "core/algorithms/simplified_elkan.hpp"

namespace arcmeans {

namespace {

class Elkan final : public ElkanBounds {
 public:
  using ElkanBounds::ElkanBounds;

  Work assign(const Rows& rows, Centers& centers, const Labels& labels,
              const PassOptions& options) override {
    const Panels& panels = Panels::of(centers);
    CenterTests& tests = CenterTests::of(centers, true);
    const std::int64_t center_similarities = tests.update(centers, panels, options.n_threads);
    const ElkanState state = with(labels);
    Work work = with_row_type(rows, [&](const auto& typed_rows) {
      using RowsOf = std::decay_t<decltype(typed_rows)>;
      return pass_over_rows(typed_rows, labels, options, [&](Work& mine) {
        return ElkanVisitor<RowsOf, CenterTests>(typed_rows, centers, panels, state, tests, mine);
      });
    });
    work.center_similarities = center_similarities;
    return work;
  }
};

}  // namespace

extern constinit const AlgorithmRecord kElkan = {
    .name = "elkan",
    .keeps =
        "of each row a lower bound on the own center and an upper bound on each center; the "
        "angles between all centers",
    .wins = "nowhere in time: the fewest similarities, but computed one by one",
    .checks_memory = true,
    .row_state = ElkanBounds::row_state,
    .other_bytes =
        [](const Problem& problem) {
          return 4 * std::int64_t{problem.n_clusters} * problem.n_clusters;
        },
    .auto_takes = never_by_auto,
    .make = [](const Problem& problem, const RowState& state) -> std::unique_ptr<Algorithm> {
      return std::make_unique<Elkan>(problem, state);
    },
};

}  // namespace arcmeans
