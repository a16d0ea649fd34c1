// Rows packed for the filter, with values in 16 bits. They are made once for a run.
//
// A packed sparse row is an even number of pairs of entries over the frequent features, the most
// frequent first; and beside them the entries of its rare features, with the single features, which
// no other row has, at the end. A packed dense row is its values, padded to pairs.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
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
  // are single: one row at most has them, of all rows that make up the centers.
  PackedRows(const Rows& rows, std::int32_t n_frequent, std::int32_t n_shared, int n_threads);

  std::int32_t n_frequent() const { return n_frequent_; }
  bool dense() const { return dense_; }
  // Whether features are stored in 16 bits.
  bool narrow() const { return narrow_; }
  // Whether no value of any row is below zero.
  bool nonnegative() const { return nonnegative_; }
  // `of_row`: row_filter_error + 3 · reference_error, in units. `spread`: Σ|r| of the row r that it
  // was rounded to.
  struct Error {
    float of_row = 0.0F;
    float spread = 0.0F;
  };
  // |filter − cos| of a row, plus three times |sim64 − cos|, in units, for centers with this error
  // (FilterLines::center_error). If filter cosine + error of one center is below filter cosine −
  // error of another, the first has the smaller sim64.
  float error(std::int64_t i, float center_error) const {
    const Error& error = heads_[index(i)].error;
    return error.of_row + error.spread * center_error;
  }

  // Two entries of a row. Features and values stand side by side, so that a row lies in one piece.
  template <class Feature>
  struct Pair {
    Feature features[2];
    std::int16_t values[2];
  };
  template <class Feature>
  std::span<const Pair<Feature>> pairs(std::int64_t i) const {
    const Pair<Feature>* all = all_pairs<Feature>().data();
    return {all + heads_[index(i)].start, all + heads_[index(i) + 1].start};
  }
  // Asks for the head of a row: what `pairs` and `error` read.
  __attribute__((always_inline)) void prefetch_head(std::int64_t i) const {
    prefetch_near(&heads_[index(i)]);
  }
  // The values of a dense row: `stride` numbers.
  const std::int16_t* values(std::int64_t i) const { return values_.data() + i * stride_; }
  std::int64_t stride() const { return stride_; }

  struct Rare {
    std::int32_t feature;
    float value;
  };
  // Where any row has rare features: those of a row, how many of them are not single, and what its
  // single features are together.
  bool any_rare() const { return !rare_.empty(); }
  std::span<const Rare> rare(std::int64_t i) const {
    return {rare_.data() + rare_starts_[index(i)], rare_.data() + rare_starts_[index(i) + 1]};
  }
  std::size_t n_shared(std::int64_t i) const { return index(n_shared_of_[index(i)]); }
  // A center that is the sum of its rows has all single features of a row or none. With the row it
  // has the sum `first_sum` in the first of them, and Σ value · sum over all of them is `product`.
  struct Single {
    std::int64_t first_sum = 0;
    double product = 0.0;
  };
  const Single& single(std::int64_t i) const { return single_[index(i)]; }

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
  std::vector<std::int32_t> n_shared_of_;  // by row
  std::vector<Single> single_;
};

}  // namespace arcmeans
