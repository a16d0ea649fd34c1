#include "core/algorithms/tally.hpp"

namespace arcmeans {

namespace {

class TallyAlgorithm final : public Algorithm {
 public:
  TallyAlgorithm(const Problem&, const RowState& state)
      : own_(static_cast<float*>(state[0])), others_(static_cast<float*>(state[1])) {}

  // The names are those in checkpoints.
  static std::vector<StateArray> row_state(const Problem&) {
    return {{"lower", NumberType::float32, 1, -1.0}, {"upper", NumberType::float32, 1, 1.0}};
  }

  Work assign(const Rows& rows, Centers& centers, const Labels& labels,
              const PassOptions& options) override {
    const Panels& panels = Panels::of(centers);
    // Telling centers in full is to cost no more than the walk over the entries of the rows.
    const FeatureGains& gains = FeatureGains::of(
        centers, rows.starts ? rows.starts[rows.n_rows] : rows.n_rows * rows.n_features);
    const TallyState state{labels, own_, others_};
    return with_row_type(rows, [&](const auto& typed_rows) {
      using RowsOf = std::decay_t<decltype(typed_rows)>;
      return pass_over_rows(typed_rows, labels, options, [&](Work& work) {
        return Tally<RowsOf>(typed_rows, centers, panels, gains, state, options, work);
      });
    });
  }
  // What the seeding learned is of no use: the first move makes other vectors of the seeds, so that
  // the pass after it visits every row.
  void forget(const std::int64_t* rows, std::int64_t n) override {
    for (std::int64_t at = 0; at < n; ++at) {
      own_[rows[at]] = -1.0F;
      others_[rows[at]] = 1.0F;
    }
  }

 private:
  float* own_;
  float* others_;
};

// Tally is faster than the sieve up to so many entries a row on average, and up to so much entries
// a row · clusters.
constexpr double kMostEntries = 22.0;
constexpr double kMostProducts = 2200.0;

}  // namespace

extern constinit const AlgorithmRecord kTally = {
    .name = "tally",
    .keeps =
        "of each row an upper bound on all others and by how much the own center is above it, both "
        "in float32; of each feature what the last move did in it",
    .wins = "short sparse rows and few clusters: up to 22 entries, and entries · k up to 2200",
    .row_state = TallyAlgorithm::row_state,
    .other_bytes = [](const Problem& problem) { return 4 * std::int64_t{problem.n_features}; },
    .auto_takes = [](const Problem& problem) -> std::optional<AutoNeeds> {
      const double entries = static_cast<double>(problem.n_entries) /
                             static_cast<double>(std::max<std::int64_t>(1, problem.n_rows));
      if (!problem.sparse || entries > kMostEntries ||
          entries * problem.n_clusters > kMostProducts) {
        return std::nullopt;
      }
      // Sums in 64 bits and panels in 32, of all features.
      return AutoNeeds{.center_bytes = 12 * std::int64_t{problem.n_features} * problem.n_clusters};
    },
    .make = [](const Problem& problem, const RowState& state) -> std::unique_ptr<Algorithm> {
      return std::make_unique<TallyAlgorithm>(problem, state);
    },
};

}  // namespace arcmeans
