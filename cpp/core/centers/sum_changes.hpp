// Sum changes: how the sums of the clusters change, in integers, when rows change their labels.
// They are what a part of the rows has to report after a pass. Integers add up to the same total in
// any order, so sum changes from threads, parts and machines can be added up, and taken back
// without a trace.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/rows/rows.hpp"

namespace arcmeans {

// The sum change of one cluster: how many rows it gained, and the change of its sum in the features
// where that is not zero, in ascending order.
struct SumChange {
  std::int64_t rows = 0;
  bool touched = false;  // a row came or went, even if the sum is what it was
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

// The sum changes of all clusters as plain arrays, on their way from one process to another.
struct ChangeArrays {
  const std::int64_t* rows;      // [cluster]
  const std::uint8_t* touched;   // [cluster]
  const std::int64_t* starts;    // [cluster + 1], into features and values
  const std::int32_t* features;  // ascending in each cluster, below n_features
  const std::int64_t* values;
};

// The sum changes of all clusters. Each pass collects them anew into the same memory.
class SumChanges {
 public:
  explicit SumChanges(int n_clusters);
  ~SumChanges();
  SumChanges(const SumChanges&) = delete;
  SumChanges& operator=(const SumChanges&) = delete;

  // Collects the sum changes of rows that had the labels `previous`; a negative label is no
  // cluster. With `on_top`, they are added to those collected before. With `copies`, row i stands
  // for copies[i] equal rows, a whole number, and its weight is not read.
  void collect(const Rows& rows, const std::int32_t* previous, const std::int32_t* labels,
               int n_threads, bool on_top = false, const double* copies = nullptr);

  // Adds sum changes that were collected elsewhere.
  void add(const ChangeArrays& other, std::int32_t n_features, int n_threads);

  std::size_t size() const { return clusters_.size(); }
  const SumChange& operator[](std::size_t j) const { return clusters_[j]; }

 private:
  class Accumulator;
  std::vector<SumChange> clusters_;
  std::vector<std::unique_ptr<Accumulator>> accumulators_;  // one a thread
};

}  // namespace arcmeans
