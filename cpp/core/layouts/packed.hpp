// Rows packed for the filter, with values in 16 bits. They are made once for a run.
//
// A packed sparse row is an even number of pairs of entries over the frequent features, the most
// frequent ahead of the others; and beside them the entries of its rare features, with the features
// that no other row has at the end. A packed dense row is its values, padded to pairs.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/bounds/bounds.hpp"
#include "core/rows/rows.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"
#include "core/support/parallel.hpp"
#include "core/support/prefetch.hpp"

namespace arcmeans {

class PackedRows {
 public:
  // Features below `n_frequent` are frequent: filter lines hold them. Features from `n_shared` on
  // are in one row at most, of all rows that make up the centers.
  PackedRows(const Rows& rows, std::int32_t n_frequent, std::int32_t n_shared, int n_threads);

  std::int32_t n_frequent() const { return n_frequent_; }
  bool dense() const { return dense_; }
  bool narrow() const { return narrow_; }
  // No value of any row is below zero.
  bool nonnegative() const { return nonnegative_; }
  // What the error of a row's filter cosines comes from: `own`, the rounding of the row itself and
  // three times that of sim64, in units; `spread`, Σ|r| of the row r that it was rounded to.
  struct Error {
    float own = 0.0F;
    float spread = 0.0F;
  };
  // |filter − cos| of a row, plus three times |sim64 − cos|, in units, for centers with this error
  // (FilterLines::center_error). If filter cosine + error of one center is below filter cosine −
  // error of another, the first has the smaller sim64.
  float error(std::int64_t i, float center_error) const {
    const Error& error = heads_[index(i)].error;
    return error.own + error.spread * center_error;
  }

  // Two entries of a row. Features and weights stand side by side, so that a row lies in one place.
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
    return {first + heads_[index(i)].start, first + heads_[index(i) + 1].start};
  }
  // Asks for the place and the error of a row.
  __attribute__((always_inline)) void prefetch_head(std::int64_t i) const {
    prefetch_near(&heads_[index(i)]);
  }
  const std::int16_t* values(std::int64_t i) const { return values_.data() + i * stride_; }
  std::int64_t stride() const { return stride_; }

  struct Rare {
    std::int32_t feature;
    float value;
  };
  const Rare* rare_begin(std::int64_t i) const { return rare_.data() + rare_starts_[index(i)]; }
  const Rare* rare_end(std::int64_t i) const { return rare_begin(i + 1); }
  const Rare* shared_end(std::int64_t i) const { return rare_begin(i) + shared_[index(i)]; }
  // The rare features of a row that no other row has. A center that is the sum of its rows has all
  // of them or none: with the row it has the sum `first` in the first of them, and Σ value · sum
  // over all of them is `product`.
  struct Own {
    std::int64_t first = 0;
    double product = 0.0;
  };
  const Own& own(std::int64_t i) const { return own_[index(i)]; }
  bool any_rare() const { return !rare_.empty(); }

 private:
  template <class T>
  void pack(const SparseRows<T>& rows, int n_threads);
  template <class T>
  void pack(const DenseRows<T>& rows, int n_threads);

  template <class T, class Feature>
  void pack_pairs(const SparseRows<T>& rows, int n_threads, Buffer<Pair<Feature>>& pairs);

  // A visit asks for both numbers, so they stand side by side.
  struct Head {
    std::int64_t start = 0;  // of the row's pairs
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
  std::vector<std::int32_t> shared_;  // by row: how many of its rare features other rows may have
  std::vector<Own> own_;
};

}  // namespace arcmeans
