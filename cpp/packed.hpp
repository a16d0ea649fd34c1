// Rows packed for the filter: values in 16 bits, frequent features first. Made once for a run.
//
// A sparse row is a whole number of pairs of entries over the frequent features (those with lanes
// in the lines), the most frequent ahead of the others, and beside them its rare features. A dense
// row is its values, padded to pairs.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "bounds.hpp"
#include "buffer.hpp"
#include "parallel.hpp"
#include "rows.hpp"

namespace arcmeans {

class PackedRows {
 public:
  // `n_frequent`: the features below it have lanes in the lines.
  PackedRows(const Rows& rows, std::int32_t n_frequent, int n_threads);

  std::int32_t n_frequent() const { return n_frequent_; }
  bool dense() const { return dense_; }
  bool narrow() const { return narrow_; }
  // No value of any row is below zero.
  bool nonnegative() const { return nonnegative_; }
  // |filter − cos| for a row, and three times |sim64 − cos|: a center whose cosine plus that stays
  // below another's less that has a smaller sim64.
  float error(std::int64_t i) const { return errors_[static_cast<std::size_t>(i)]; }

  template <class Feature>
  struct Entries {
    const Feature* features;
    const std::int16_t* weights;
    std::int64_t size;  // even
  };
  template <class Feature>
  Entries<Feature> entries(std::int64_t i) const {
    const std::int64_t first = starts_[static_cast<std::size_t>(i)];
    const std::int64_t size = starts_[static_cast<std::size_t>(i) + 1] - first;
    return {features<Feature>() + first, weights_.data() + first, size};
  }
  const std::int16_t* values(std::int64_t i) const { return weights_.data() + i * stride_; }
  std::int64_t stride() const { return stride_; }

  struct Rare {
    std::int32_t feature;
    float value;
  };
  const Rare* rare_begin(std::int64_t i) const {
    return rare_.data() + rare_starts_[static_cast<std::size_t>(i)];
  }
  const Rare* rare_end(std::int64_t i) const { return rare_begin(i + 1); }
  bool any_rare() const { return !rare_.empty(); }

 private:
  template <class T>
  void pack(const SparseRows<T>& rows, int n_threads);
  template <class T>
  void pack(const DenseRows<T>& rows, int n_threads);

  template <class Feature>
  const Feature* features() const {
    if constexpr (sizeof(Feature) == 2) {
      return narrow_features_.data();
    } else {
      return wide_features_.data();
    }
  }

  std::int32_t n_frequent_;
  bool dense_;
  bool narrow_;
  bool nonnegative_ = true;
  std::int64_t stride_ = 0;
  std::vector<float> errors_;
  std::vector<std::int64_t> starts_;
  Buffer<std::uint16_t> narrow_features_;
  Buffer<std::uint32_t> wide_features_;
  Buffer<std::int16_t> weights_;
  std::vector<std::int64_t> rare_starts_;
  std::vector<Rare> rare_;
};

}  // namespace arcmeans
