#include "core/algorithms/sieve.hpp"

#include "core/algorithms/ball_visitor.hpp"
#include "core/algorithms/dense_visits.hpp"
#include "core/algorithms/row_loop.hpp"
#include "core/algorithms/sieve_algorithm.hpp"
#include "core/algorithms/sparse_visits.hpp"

namespace arcmeans {

namespace {

template <class Visits>
Work pass(const Rows& rows, const PackedRows& packed, const Centers& centers,
          const FilterLines& lines, const GroupGains* gains, const PassAging& aging,
          const SieveState& state, const PassOptions& options) {
  return pass_over_rows(rows, state, options, [&](Work& work) {
    return Sieve<Visits>(rows, packed, centers, lines, gains, aging, state, options, work);
  });
}

// How many rows go through the lines one after another. Lines that stay in a processor's last cache
// from chunk to chunk let the rows stay in the cache before it; others are fetched for every chunk,
// and many rows have to make up for it.
std::int64_t sieve_rows(const Rows& rows, const FilterLines& lines, int n_bound_blocks,
                        int n_threads) {
  constexpr std::int64_t kLastCache = std::int64_t{24} << 20;
  constexpr std::int64_t kScratch = std::int64_t{32} << 20;
  const std::int64_t few = 2048;
  std::int64_t n = lines.bytes() <= kLastCache ? few : 32768;
  // Several chunks for each thread, so that none waits for long.
  if (n_threads > 1) n = std::min(n, std::max(few / 8, rows.n_rows / (4 * n_threads)));
  // What is kept of a chunk while it lasts, beside a few numbers a row: eight bytes for each row
  // and line, bounds where none stay.
  const std::int64_t bytes = 8 * lines.count() + 2 * kCacheLineShorts * n_bound_blocks;
  return std::max<std::int64_t>(1, std::min(n, kScratch / bytes));
}

// What the packed copy of the rows takes, where it is known how many entries they have: of a dense
// row its values in pairs; of a sparse row four bytes an entry, or six where features need more
// than 16 bits, and a head. Where some features are rare, which centers keep as lists, their
// entries take eight bytes and each row 28 beside.
std::int64_t packed_bytes(const Problem& problem) {
  if (problem.n_entries == 0) return 0;
  if (!problem.sparse) return (2 * (std::int64_t{problem.n_features} + 1) + 16) * problem.n_rows;
  const std::int64_t an_entry = problem.n_features > 65536 ? 6 : 4;
  return an_entry * problem.n_entries + (16 + 28) * problem.n_rows;
}

}  // namespace

SieveAlgorithm::SieveAlgorithm(const Problem& problem, const RowState& state)
    : n_shared_(problem.n_shared), aging_(problem.n_clusters, !problem.sparse) {
  if (state.empty()) return;
  state_.lower = static_cast<std::int32_t*>(state[0]);
  state_.uppers = static_cast<std::int16_t*>(state[1]);
}

std::vector<StateArray> SieveAlgorithm::row_state(const Problem& problem) {
  if (!problem.keep_bounds) return {};
  const LineGroups groups(problem.n_clusters, !problem.sparse);
  return {{"lower", NumberType::int32, 1, SieveState::kUnknown},
          {"uppers", NumberType::int16, groups.n_bound_blocks() * kCacheLineShorts}};
}

Work SieveAlgorithm::assign(const Rows& rows, Centers& centers, const Labels& labels,
                            const PassOptions& options) {
  // Centers of another run may keep other features in full.
  if (!packed_ || packed_->n_frequent() != centers.n_frequent()) {
    packed_.reset();
    packed_ =
        std::make_unique<PackedRows>(rows, centers.n_frequent(), n_shared_, options.n_threads);
  }
  const PackedRows& packed = *packed_;
  const FilterLines& lines = FilterLines::of(centers, packed.dense(), options.n_threads);
  const GroupGains* gains =
      by_gains(centers) ? &GroupGains::of(centers, !packed.nonnegative()) : nullptr;
  aging_.add(centers, lines.slots(), packed.nonnegative(), gains);
  const PassAging aging(aging_);
  SieveState state = state_;
  static_cast<Labels&>(state) = labels;
  PassOptions chosen = options;
  if (chosen.chunk_rows == 0) {
    const int n_bound_blocks = state.uppers ? 0 : aging_.groups.n_bound_blocks();
    chosen.chunk_rows = sieve_rows(rows, lines, n_bound_blocks, options.n_threads);
  }
  const auto one_pass = packed.dense()    ? pass<DenseVisits>
                        : packed.narrow() ? pass<SparseVisits<std::uint16_t>>
                                          : pass<SparseVisits<std::uint32_t>>;
  return one_pass(rows, packed, centers, lines, aging.told() ? gains : nullptr, aging, state,
                  chosen);
}

// Where every center has a bound of its own, in a few lines, a visit to the gain lines would cost
// what it saves.
bool SieveAlgorithm::by_gains(const Centers& centers) const {
  return state_.uppers && !packed_->dense() && aging_.groups.group_size() > 1 &&
         centers.n_frequent() <= GroupGains::kMostFeatures;
}

void SieveAlgorithm::forget(const std::int64_t* rows, std::int64_t n) {
  if (!state_.lower) return;
  for (std::int64_t at = 0; at < n; ++at) state_.lower[rows[at]] = SieveState::kUnknown;
}

extern constinit const AlgorithmRecord kSieve = {
    .name = "sieve",
    .keeps =
        "in 16 bits, a copy of the rows and of each row an upper bound on each group of centers; "
        "in 32 a lower bound on the own center",
    .wins = "texts and other long sparse rows, and dense rows of 32 features or more",
    .needs_row_state = false,
    .in_full = false,
    .row_state = SieveAlgorithm::row_state,
    .other_bytes = packed_bytes,
    .auto_takes = [](const Problem& problem) -> std::optional<AutoNeeds> {
      if (problem.sparse) return AutoNeeds{};
      const bool long_enough =
          problem.n_features >= 32 || std::int64_t{problem.n_features} * problem.n_clusters >= 4000;
      if (balls_pay(problem) || !long_enough) return std::nullopt;
      return AutoNeeds{.row_bytes = kSieve.row_bytes(problem)};
    },
    .make = [](const Problem& problem, const RowState& state) -> std::unique_ptr<Algorithm> {
      return std::make_unique<SieveAlgorithm>(problem, state);
    },
};

}  // namespace arcmeans
