#include "assign.hpp"

#include <stdexcept>

#include "dense_visits.hpp"
#include "elkan.hpp"
#include "hamerly.hpp"
#include "lloyd.hpp"
#include "simplified_elkan.hpp"
#include "simplified_hamerly.hpp"
#include "sparse_visits.hpp"

namespace arcmeans {

Work assign(Algorithm algorithm, const Rows& rows, Centers& centers, const RowState& state,
            const PassOptions& options, HamerlyUpdate update, CenterTests* tests) {
  centers.need_panels();
  return visit(rows, [&](const auto& typed) -> Work {
    using RowsOf = std::decay_t<decltype(typed)>;
    switch (algorithm) {
      case Algorithm::lloyd:
        return pass_over_rows(typed, state, options, [&](Work& work) {
          return Lloyd<RowsOf>(typed, centers, state, options, work);
        });
      case Algorithm::simplified_elkan:
        return simplified_elkan(typed, centers, state, options);
      case Algorithm::elkan:
        return elkan(typed, centers, state, options, *tests);
      case Algorithm::simplified_hamerly:
        return simplified_hamerly(typed, centers, state, options, update);
      case Algorithm::hamerly:
        return hamerly(typed, centers, state, options, update, *tests);
    }
    throw std::invalid_argument("unknown algorithm");
  });
}

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
  centers.need_lines(packed.dense(), options.n_threads);
  // Where every center has a bound, in a few lines, the drifts would cost what they save.
  const bool by_drifts = state.uppers && !packed.dense() && moves.groups.size() > 1 &&
                         centers.n_frequent() <= Drifts::kMostFeatures;
  if (by_drifts) centers.need_drifts(!packed.nonnegative());
  moves.add(centers, packed.nonnegative(), by_drifts ? centers.drifts() : nullptr);
  const SieveDrift drift(moves);
  if (options.chunk_rows == 0) {
    options.chunk_rows = sieve_rows(
        rows, centers.lines(), state.uppers ? 0 : moves.groups.n_bound_lines(), options.n_threads);
  }
  const auto pass = packed.dense()    ? sift<DenseVisits>
                    : packed.narrow() ? sift<SparseVisits<std::uint16_t>>
                                      : sift<SparseVisits<std::uint32_t>>;
  return pass(rows, packed, centers, drift, state, options);
}

Work tally(const Rows& rows, Centers& centers, const TallyState& state,
           const PassOptions& options) {
  centers.need_panels();
  // Centers that are told in full cost a part of what the walk over the rows does.
  centers.need_feature_changes(rows.starts ? rows.starts[rows.n_rows]
                                           : rows.n_rows * rows.n_features);
  return visit(rows, [&](const auto& typed) -> Work {
    using RowsOf = std::decay_t<decltype(typed)>;
    return pass_over_rows(typed, state, options, [&](Work& work) {
      return Tally<RowsOf>(typed, centers, state, options, work);
    });
  });
}

void own_similarities(const Rows& rows, const Centers& centers, const std::int32_t* labels,
                      int n_threads, double* similarities) {
  visit(rows, [&](const auto& typed) {
    parallel_chunks(rows.n_rows, 1024, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        similarities[i] = labels[i] < 0 ? 0.0 : centers.similarity(typed.row(i), labels[i]);
      }
    });
  });
}

void similarity_matrix(const Rows& rows, const Centers& centers, int n_threads,
                       double* similarities) {
  // A block of centers at a time, turned to [feature][center]: each entry of a row is added to all
  // of them at once, in the order of the entries, so each sum is that of sim64.
  constexpr int kBlock = 32;
  const std::int64_t k = centers.size();
  const auto d = static_cast<std::size_t>(centers.n_features());
  Buffer<double> block(d * kBlock);
  for (int first = 0; first < centers.size(); first += kBlock) {
    const int count = std::min(kBlock, centers.size() - first);
    for (int j = 0; j < count; ++j) {
      const std::int64_t* vector = centers.vector(first + j);
      for (std::size_t f = 0; f < static_cast<std::size_t>(centers.n_frequent()); ++f) {
        block[f * kBlock + static_cast<std::size_t>(j)] = static_cast<double>(vector[f]);
      }
    }
    for (std::int32_t f = centers.n_frequent(); f < centers.n_features(); ++f) {
      double* at = block.data() + std::int64_t{f} * kBlock;
      std::fill_n(at, kBlock, 0.0);
      centers.rare().each(f, [&](int j, std::int64_t sum) {
        if (j >= first && j < first + count) at[j - first] = static_cast<double>(sum);
      });
    }
    visit(rows, [&](const auto& typed) {
      parallel_chunks(rows.n_rows, 256, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          double sums[kBlock] = {};
          const auto row = typed.row(i);
          for (std::int64_t e = 0; e < row.size; ++e) {
            const double value = static_cast<double>(row.values[e]);
            const double* at = block.data() + std::int64_t{row.feature(e)} * kBlock;
            for (int j = 0; j < kBlock; ++j) sums[j] += value * at[j];
          }
          for (int j = 0; j < count; ++j) {
            similarities[i * k + first + j] =
                sums[j] * centers.scales()[static_cast<std::size_t>(first + j)];
          }
        }
      });
    });
  }
}

void nearest(const Rows& rows, Centers& centers, const std::int64_t* which, std::int64_t n,
             int n_threads, std::int32_t* labels, double* similarities) {
  centers.need_panels();
  visit(rows, [&](const auto& typed) {
    parallel_chunks(n, 256, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      std::vector<float> scratch(static_cast<std::size_t>(centers.panels().width()));
      Work work;
      for (std::int64_t m = begin; m < end; ++m) {
        const auto row = typed.row(which[m]);
        labels[m] = best_of_all(centers, row, scratch.data(), work).center;
        similarities[m] = centers.similarity(row, labels[m]);
      }
    });
  });
}

}  // namespace arcmeans
