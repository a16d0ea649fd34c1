#include "core/seeding/seeding.hpp"

#include <atomic>
#include <cmath>
#include <limits>

#include "core/seeding/postings.hpp"
#include "core/support/index.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

namespace {

constexpr std::int64_t kChunk = 4096;

// Costs of one entry, the walk over rows being 1 (about 1 ns): in a posting list 0.7 (20
// Newsgroups) to 1.2 (arXiv abstracts), to build the lists 7 to 9.
constexpr double kListCost = 1.2;
constexpr double kBuildCost = 8.0;

// Whether the lists pay for n_seeds seeds drawn from the rows: a feature of f rows is in a seed
// with probability f/n and then costs f.
bool postings_pay(const Rows& rows, std::int64_t n_seeds) {
  if (!rows.starts || rows.n_rows >= std::int64_t{1} << 32) return false;
  const std::int64_t entries = rows.starts[rows.n_rows];
  std::vector<std::int64_t> frequency(index(rows.n_features));
  for (std::int64_t e = 0; e < entries; ++e) {
    ++frequency[index(rows.features[e])];
  }
  double listed = 0.0;
  for (const std::int64_t f : frequency) {
    listed += static_cast<double>(f) * static_cast<double>(f) / static_cast<double>(rows.n_rows);
  }
  const auto all = static_cast<double>(entries);
  return static_cast<double>(n_seeds) * (all - kListCost * listed) > kBuildCost * all;
}

}  // namespace

struct SeedSearch::AnyPostings {
  std::unique_ptr<Postings<float>> floats;
  std::unique_ptr<Postings<double>> doubles;

  template <class F>
  auto visit(const F& f) const {
    return floats ? f(*floats) : f(*doubles);
  }
};

SeedSearch::SeedSearch(const Rows& rows, std::int64_t n_seeds)
    : dense_seed_(index(rows.n_features)),
      best_(index(rows.n_rows), -std::numeric_limits<double>::infinity()),
      second_(best_),
      labels_(best_.size(), -1),
      closed_(best_.size()),
      chances_(best_.size()) {
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    closed_[index(i)] = !rows.in_sums(i);
  }
  if (postings_pay(rows, n_seeds)) {
    postings_ = std::make_unique<AnyPostings>();
    if (rows.is_double) {
      postings_->doubles = std::make_unique<Postings<double>>(SparseRows<double>{rows});
    } else {
      postings_->floats = std::make_unique<Postings<float>>(SparseRows<float>{rows});
    }
  }
}

SeedSearch::~SeedSearch() = default;

template <class RowsOf>
void SeedSearch::walk_rows(const RowsOf& rows, const Seed& seed, int n_threads,
                           double* similarities) {
  double* dense = dense_seed_.data();
  for (std::int64_t e = 0; e < seed.size; ++e) {
    dense[seed.features[e]] = static_cast<double>(seed.values[e]);
  }
  parallel_chunks(rows.n_rows, kChunk, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto row = rows.row(i);
      double sum = 0.0;
      for (std::int64_t e = 0; e < row.size; ++e) {
        sum += static_cast<double>(row.values[e]) * dense[row.feature(e)];
      }
      similarities[i] = sum * seed.scale;
    }
  });
  for (std::int64_t e = 0; e < seed.size; ++e) dense[seed.features[e]] = 0.0;
}

std::int64_t SeedSearch::similarities(const Rows& rows, const Seed& seed, int n_threads,
                                      double* similarities) {
  const std::int64_t all = rows.starts ? rows.starts[rows.n_rows] : rows.n_rows * rows.n_features;
  if (postings_) {
    const std::int64_t listed = postings_->visit(
        [&](const auto& lists) { return lists.entries(seed.features, seed.size); });
    if (kListCost * static_cast<double>(listed) < static_cast<double>(all)) {
      // A chunk for each thread; the lists are sorted by row.
      const std::int64_t chunk = (rows.n_rows + n_threads - 1) / n_threads;
      parallel_chunks(rows.n_rows, chunk, n_threads,
                      [&](int, std::int64_t begin, std::int64_t end) {
                        std::fill(similarities + begin, similarities + end, 0.0);
                        postings_->visit([&](const auto& lists) {
                          for (std::int64_t e = 0; e < seed.size; ++e) {
                            lists.add(seed.features[e], static_cast<double>(seed.values[e]), begin,
                                      end, similarities);
                          }
                        });
                        for (std::int64_t i = begin; i < end; ++i) similarities[i] *= seed.scale;
                      });
      return listed;
    }
  }
  with_row_type(
      rows, [&](const auto& typed_rows) { walk_rows(typed_rows, seed, n_threads, similarities); });
  return all;
}

void SeedSearch::add(const Rows& rows, int j, const double* similarities,
                     const std::uint64_t* hashes, std::uint64_t seed_hash, int n_threads) {
  parallel_chunks(rows.n_rows, kChunk, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto i = index(begin); i < index(end); ++i) {
      const double similarity = similarities[i];
      if (similarity > best_[i]) {
        second_[i] = best_[i];
        best_[i] = similarity;
        labels_[i] = rows.zero[i] ? -1 : j;
      } else if (similarity > second_[i]) {
        second_[i] = similarity;
      }
      if (hashes[i] == seed_hash) closed_[i] = 1;
    }
  });
}

std::int64_t SeedSearch::weigh(const Rows& rows, double alpha, const double* candidate,
                               int n_threads) {
  // The sum can be no more than 2⁶¹: 1 + α bounds α − best, `one` the total weight.
  const double one = rows.one / std::exp2(std::ceil(std::log2(1.0 + alpha)));
  std::atomic<std::int64_t> total{0};
  parallel_chunks(rows.n_rows, kChunk, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    std::int64_t sum = 0;
    for (auto i = index(begin); i < index(end); ++i) {
      const double best = candidate ? std::fmax(best_[i], candidate[i]) : best_[i];
      const double far = std::fmin(std::fmax(alpha - best, 0.0), 1.0 + alpha);
      const double weight = rows.weight(static_cast<std::int64_t>(i));
      chances_[i] = closed_[i] ? 0 : fixed_point(far, one, weight);
      sum += chances_[i];
    }
    total += sum;
  });
  return total;
}

}  // namespace arcmeans
