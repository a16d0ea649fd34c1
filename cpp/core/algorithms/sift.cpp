// The passes of the sieve and of tally.
#include <stdexcept>

#include "core/algorithms/assign.hpp"
#include "core/algorithms/dense_visits.hpp"
#include "core/algorithms/sieve.hpp"
#include "core/algorithms/sparse_visits.hpp"
#include "core/algorithms/tally.hpp"

namespace arcmeans {

namespace {

template <class Visits>
Work sift(const Rows& rows, const PackedRows& packed, const Centers& centers,
          const SieveDrift& drift, const SieveState& state, const PassOptions& options) {
  return pass_over_rows(rows, state, options, [&](Work& work) {
    return Sieve<Visits>(rows, near_ties(rows, centers), packed, centers, drift, state, options,
                         work);
  });
}

// How many rows go through the lines one after another. Lines that stay in a processor's last cache
// from chunk to chunk let the rows stay in the cache before it; others are fetched for every chunk,
// and many rows have to make up for it.
std::int64_t sieve_rows(const Rows& rows, const FilterLines& lines, int n_bound_lines,
                        int n_threads) {
  constexpr std::int64_t kLastCache = std::int64_t{24} << 20;
  constexpr std::int64_t kScratch = std::int64_t{32} << 20;
  const std::int64_t few = 2048;
  std::int64_t n = lines.bytes() <= kLastCache ? few : 32768;
  // Several chunks for each thread, so that none waits for long.
  if (n_threads > 1) n = std::min(n, std::max(few / 8, rows.n_rows / (4 * n_threads)));
  // What is kept of a chunk while it lasts, beside a few numbers a row: eight bytes for each row
  // and line, bounds where none stay.
  const std::int64_t bytes = 8 * lines.count() + 2 * kLineShorts * n_bound_lines;
  return std::max<std::int64_t>(1, std::min(n, kScratch / bytes));
}

}  // namespace

Work sift(const Rows& rows, const PackedRows& packed, Centers& centers, SieveMoves& moves,
          const SieveState& state, PassOptions options) {
  if (packed.n_frequent() != centers.n_frequent()) {
    throw std::invalid_argument("rows and centers differ in what is a frequent feature");
  }
  const FilterLines& lines = FilterLines::of(centers, packed.dense(), options.n_threads);
  // Where every center has a bound, in a few lines, the drifts would cost what they save.
  const bool by_drifts = state.uppers && !packed.dense() && moves.groups.size() > 1 &&
                         centers.n_frequent() <= Drifts::kMostFeatures;
  const Drifts* drifts = by_drifts ? &Drifts::of(centers, !packed.nonnegative()) : nullptr;
  moves.add(centers, lines.places(), packed.nonnegative(), drifts);
  const SieveDrift drift(moves);
  if (options.chunk_rows == 0) {
    options.chunk_rows =
        sieve_rows(rows, lines, state.uppers ? 0 : moves.groups.n_bound_lines(), options.n_threads);
  }
  const auto pass = packed.dense()    ? sift<DenseVisits>
                    : packed.narrow() ? sift<SparseVisits<std::uint16_t>>
                                      : sift<SparseVisits<std::uint32_t>>;
  return pass(rows, packed, centers, drift, state, options);
}

Work tally(const Rows& rows, Centers& centers, const TallyState& state,
           const PassOptions& options) {
  Panels::of(centers);
  // Centers that are told in full cost a part of what the walk over the rows does.
  FeatureChanges::of(centers,
                     rows.starts ? rows.starts[rows.n_rows] : rows.n_rows * rows.n_features);
  return visit(rows, [&](const auto& typed) -> Work {
    using RowsOf = std::decay_t<decltype(typed)>;
    return pass_over_rows(typed, state, options, [&](Work& work) {
      return Tally<RowsOf>(typed, centers, state, options, work);
    });
  });
}

}  // namespace arcmeans
