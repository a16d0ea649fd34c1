// What seeding by similarity (k-means++, greedy k-means++, k-means||) asks of the rows: the
// similarities of all rows to one more seed, the best and second best so far, and the chances of
// the rows in a draw.
//
// Similarities are sim64, so what the seeding learned is what the first pass would compute, and the
// loop can begin with it. Chances are integers: their sum does not depend on order, so a draw is
// the same for any number of threads or partitions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/rows/rows.hpp"

namespace arcmeans {

// A seed: an integer vector in fixed point, entries in the caller's order of features.
struct Seed {
  const std::int32_t* features;
  const std::int64_t* values;
  std::int64_t size;
  double scale;  // 1/‖vector‖
};

// Every call takes the rows that the search was made for: it holds no reference to them.
class SeedSearch {
 public:
  // `n_seeds` is how many are going to be asked for: for few, postings (postings.hpp) do not pay.
  SeedSearch(const Rows& rows, std::int64_t n_seeds);
  ~SeedSearch();

  // sim64 of every row to the seed. Returns the number of entries read.
  std::int64_t similarities(const Rows& rows, const Seed& seed, int n_threads,
                            double* similarities);

  // Takes the similarities to seed j into the best and second best of each row. The smallest j
  // keeps a tie. Rows of the seed's direction, whose hash this is, are not open any more.
  void add(const Rows& rows, int j, const double* similarities, const std::uint64_t* hashes,
           std::uint64_t seed_hash, int n_threads);

  // Works out the chances w·(α − best), and returns their sum. With `candidate`, as if the seed of
  // these similarities had been added.
  std::int64_t weigh(const Rows& rows, double alpha, const double* candidate, int n_threads);

  const std::vector<std::int64_t>& chances() const { return chances_; }
  const std::vector<double>& best() const { return best_; }
  const std::vector<double>& second() const { return second_; }
  const std::vector<std::int32_t>& labels() const { return labels_; }

 private:
  struct AnyPostings;
  template <class RowsOf>
  void walk_rows(const RowsOf& rows, const Seed& seed, int n_threads, double* similarities);

  std::unique_ptr<AnyPostings> postings_;
  std::vector<double> dense_seed_;
  std::vector<double> best_;
  std::vector<double> second_;
  std::vector<std::int32_t> labels_;
  std::vector<char> closed_;  // 1: the row is not open
  std::vector<std::int64_t> chances_;
};

}  // namespace arcmeans
