// Rows packed for the filter: values in 16 bits, frequent features first. Made once for a run.
//
// A sparse row is an even number of pairs of entries over the frequent features (those with lanes
// in the lines), the most frequent ahead of the others, and beside them its rare features, those
// that no other row has last. A dense row is its values, padded to pairs.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/bounds/bounds.hpp"
#include "core/rows/rows.hpp"
#include "core/support/buffer.hpp"
#include "core/support/parallel.hpp"
#include "core/support/prefetch.hpp"

namespace arcmeans {

class PackedRows {
 public:
  // `n_frequent`: the features below it have lanes in the lines. `n_shared`: those from it on have
  // one row at most, among all that make up the centers.
  PackedRows(const Rows& rows, std::int32_t n_frequent, std::int32_t n_shared, int n_threads);

  std::int32_t n_frequent() const { return n_frequent_; }
  bool dense() const { return dense_; }
  bool narrow() const { return narrow_; }
  // No value of any row is below zero.
  bool nonnegative() const { return nonnegative_; }
  // Of a row: its own rounding and that of sim64, in units; Σ|r| of the row r that it was rounded
  // to.
  struct Error {
    float own = 0.0F;
    float spread = 0.0F;
  };
  // |filter − cos| for a row and centers of such rounding, and three times |sim64 − cos|, in units:
  // a center whose cosine plus that stays below another's less that has a smaller sim64.
  float error(std::int64_t i, float rounding) const {
    const Error& error = heads_[static_cast<std::size_t>(i)].error;
    return error.own + error.spread * rounding;
  }

  // Two entries of a row: side by side, so that a row lies in one place.
  template <class Feature>
  struct Pair {
    Feature features[2];
    std::int16_t weights[2];
  };
  template <class Feature>
  struct Pairs {
    const Pair<Feature>* first;
    const Pair<Feature>* last;
    const Pair<Feature>* begin() const { return first; }
    const Pair<Feature>* end() const { return last; }
  };
  template <class Feature>
  Pairs<Feature> pairs(std::int64_t i) const {
    const Pair<Feature>* first = all_pairs<Feature>().data();
    return {first + heads_[static_cast<std::size_t>(i)].start,
            first + heads_[static_cast<std::size_t>(i) + 1].start};
  }
  // Where a row lies, and its error.
  __attribute__((always_inline)) void prefetch_head(std::int64_t i) const {
    prefetch_near(&heads_[static_cast<std::size_t>(i)]);
  }
  const std::int16_t* values(std::int64_t i) const { return values_.data() + i * stride_; }
  std::int64_t stride() const { return stride_; }

  struct Rare {
    std::int32_t feature;
    float value;
  };
  const Rare* rare_begin(std::int64_t i) const {
    return rare_.data() + rare_starts_[static_cast<std::size_t>(i)];
  }
  const Rare* rare_end(std::int64_t i) const { return rare_begin(i + 1); }
  const Rare* shared_end(std::int64_t i) const {
    return rare_begin(i) + shared_[static_cast<std::size_t>(i)];
  }
  // What a row adds to the center that it is in, of the rare features that no other row has: to
  // the first of them, and Σ value · sum over them all.
  struct Own {
    std::int64_t first = 0;
    double product = 0.0;
  };
  const Own& own(std::int64_t i) const { return own_[static_cast<std::size_t>(i)]; }
  bool any_rare() const { return !rare_.empty(); }

 private:
  template <class T>
  void pack(const SparseRows<T>& rows, int n_threads);
  template <class T>
  void pack(const DenseRows<T>& rows, int n_threads);

  template <class T, class Feature>
  void pack_pairs(const SparseRows<T>& rows, int n_threads, Buffer<Pair<Feature>>& pairs);

  // Side by side: a visit asks for both.
  struct Head {
    std::int64_t start = 0;  // of its pairs
    Error error;
  };

  template <class Feature>
  const Buffer<Pair<Feature>>& all_pairs() const {
    if constexpr (sizeof(Feature) == 2) {
      return narrow_pairs_;
    } else {
      return wide_pairs_;
    }
  }

  std::int32_t n_frequent_;
  std::int32_t n_shared_;
  bool dense_;
  bool narrow_;
  bool nonnegative_ = true;
  std::int64_t stride_ = 0;
  std::vector<Head> heads_;  // of each row, and one more
  Buffer<Pair<std::uint16_t>> narrow_pairs_;
  Buffer<Pair<std::uint32_t>> wide_pairs_;
  Buffer<std::int16_t> values_;
  std::vector<std::int64_t> rare_starts_;
  std::vector<Rare> rare_;
  std::vector<std::int32_t> shared_;  // of the rare features of a row
  std::vector<Own> own_;
};

}  // namespace arcmeans
