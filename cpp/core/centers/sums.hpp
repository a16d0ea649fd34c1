// The integer change of the clusters' sums that a change of labels makes: what a partition of rows
// has to say after a pass. Integers add up the same in any order, so changes from threads,
// partitions and machines can be merged and taken back without a trace.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/rows/rows.hpp"

namespace arcmeans {

// The change of one cluster: of its number of rows, and of its sum, feature by feature.
struct SumChange {
  std::int64_t rows = 0;
  bool touched = false;  // a row came or went
  std::vector<std::int32_t> features;
  std::vector<std::int64_t> values;

  std::size_t size() const { return values.size(); }
  void clear() {
    rows = 0;
    touched = false;
    features.clear();
    values.clear();
  }
};

// The changes of all clusters as plain arrays, on their way from one process to another.
struct ChangeArrays {
  const std::int64_t* rows;      // [cluster]
  const std::uint8_t* touched;   // [cluster]
  const std::int64_t* starts;    // [cluster + 1], into the two that follow
  const std::int32_t* features;  // ascending in each cluster, below n_features
  const std::int64_t* values;
};

// The changes of all clusters. Collected anew each pass into the same memory.
class SumChanges {
 public:
  explicit SumChanges(int n_clusters);
  ~SumChanges();
  SumChanges(const SumChanges&) = delete;
  SumChanges& operator=(const SumChanges&) = delete;

  // From how the rows were labelled and how they are now; with `add`, on top of what there is. With
  // `copies`, whole numbers, each row counts as so many, in place of its weight.
  void collect(const Rows& rows, const std::int32_t* previous, const std::int32_t* labels,
               int n_threads, bool add = false, const double* copies = nullptr);

  // Puts changes that were collected elsewhere on top of what there is.
  void add(const ChangeArrays& other, std::int32_t n_features, int n_threads);

  std::size_t size() const { return clusters_.size(); }
  const SumChange& operator[](std::size_t j) const { return clusters_[j]; }

 private:
  class Accumulator;
  std::vector<SumChange> clusters_;
  std::vector<std::unique_ptr<Accumulator>> accumulators_;  // one a thread
};

}  // namespace arcmeans
