// The centers: exact fixed-point sums of the rows of each cluster, and what follows from them.
//
// A center is an integer vector and one scale factor, 1/‖sum‖. Integer sums do not depend on the
// order of their terms, so threads, chunks and machines agree on every bit, and adding a row and
// taking it away again leaves no trace. The squared length is kept exactly too, in 128 bits.
//
// A center is *detached* while its vector is not the sum of its rows: a seed before the first move,
// a center kept after its last row left or after its rows came to cancel each other. The rows of a
// detached center sum to zero; the next change that leaves a direction replaces the vector.
//
// Frequent features, the first `n_frequent` ranks, have a number for every center; the others are
// kept as lists (rare.hpp). What the kernels read, float32 panels or 16-bit lines, is made when
// first asked for and then follows every move; panels hold all features, so they end the lists.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/bounds/bounds.hpp"
#include "core/centers/rare.hpp"
#include "core/centers/sums.hpp"
#include "core/layouts/filter_lines.hpp"
#include "core/layouts/panels.hpp"
#include "core/moves/drifts.hpp"
#include "core/moves/feature_changes.hpp"
#include "core/rows/rows.hpp"
#include "core/support/buffer.hpp"
#include "core/support/where.hpp"

namespace arcmeans {

__extension__ typedef __int128 Wide;

class Centers {
 public:
  Centers(int n_centers, std::int32_t n_features, double one, std::int32_t n_frequent);

  int size() const { return n_centers_; }
  std::int32_t n_features() const { return n_features_; }
  std::int32_t n_frequent() const { return n_frequent_; }
  double one() const { return one_; }
  // The frequent features of a center: all of them once there are panels.
  const std::int64_t* vector(int j) const { return vectors_.data() + offset(j); }
  const RareLists& rare() const { return rare_; }
  std::int64_t value(int j, std::int32_t feature) const {
    return feature < n_frequent_ ? vector(j)[feature] : rare_.value(feature, j);
  }
  const std::vector<double>& scales() const { return scale_; }
  const std::vector<std::int64_t>& counts() const { return count_; }
  bool detached(int j) const { return detached_[static_cast<std::size_t>(j)] != 0; }

  // How many features of each center are not zero, and which they are, in ascending order, with
  // their sums; center j from starts[j] on. As ranks, or with `by_rank` as the caller's features.
  std::vector<std::int64_t> sizes() const;
  void entries(const std::int64_t* starts, const std::int32_t* by_rank, std::int32_t* features,
               std::int64_t* values) const;

  // Has panels, or lines for sparse or dense rows, made if they are not there yet.
  void need_panels();
  void need_lines(bool dense, int n_threads);
  const Panels& panels() const { return *panels_; }
  const FilterLines& lines() const { return *lines_; }
  bool has_lines() const { return lines_ != nullptr; }
  // Tells from the next move on what moves do to cosines, with rows of any sign or without.
  void need_drifts(bool any_sign);
  const Drifts* drifts() const { return drifts_.get(); }
  // The same feature by feature, for rows of any sign.
  void need_feature_changes(std::int64_t most_read);
  const FeatureChanges* feature_changes() const { return feature_changes_.get(); }

  // Places a detached center: the integer vector with these entries and zeros elsewhere.
  void place(int j, const std::int32_t* features, const std::int64_t* values, std::int64_t size);

  // Σ w·sim of the rows to their own centers after a change of labels and before the move: for each
  // cluster the product of center and new sum, computed in integers and rounded once. Without
  // changes (null) it is Σ ‖sum‖.
  double objective(const SumChanges* changes) const;

  // Moves each center to its new sum. Costs in proportion to the features touched.
  void move(const SumChanges& changes, int n_threads);

  // The last move, center by center; and ‖c′ − c‖, for the trace.
  Movement movement(int j) const {
    const auto c = static_cast<std::size_t>(j);
    return {cos_[c], sin_[c], pad_[c]};
  }
  const double* cos() const { return cos_.data(); }
  const double* sin() const { return sin_.data(); }
  const double* pad() const { return pad_.data(); }
  const std::vector<double>& chords() const { return chord_; }
  // How much the product with any unit vector can have grown, and shrunk, in the last move; for
  // `nonnegative`, with any that has no value below zero.
  double rise(int j, bool nonnegative) const {
    return (nonnegative ? rise_nonnegative_ : rise_)[static_cast<std::size_t>(j)];
  }
  double fall(int j, bool nonnegative) const {
    return (nonnegative ? fall_nonnegative_ : rise_)[static_cast<std::size_t>(j)];
  }

  // sim64(i, j), the one reference similarity: float64 products summed in ascending order of the
  // caller's features, then scaled. Every decision that is not clear of rounding is made by it.
  template <class Row>
  double similarity(const Row& row, int j) const {
    double similarity;
    similarities<1>(row, &j, &similarity);
    return similarity;
  }

  // The same for several centers at a time: their sums wait for memory together.
  template <int kCenters, class Row>
  void similarities(const Row& row, const int* which, double* similarities) const {
    const std::int64_t* vectors[kCenters];
    double sums[kCenters] = {};
    for (int c = 0; c < kCenters; ++c) vectors[c] = vector(which[c]);
    for (std::int64_t e = 0; e < row.size; ++e) {
      const std::int32_t feature = row.feature(e);
      const auto value = static_cast<double>(row.values[e]);
#pragma GCC unroll 4
      for (int c = 0; c < kCenters; ++c) {
        const std::int64_t at =
            feature < n_frequent_ ? vectors[c][feature] : rare_.value(feature, which[c]);
        sums[c] += value * static_cast<double>(at);
      }
    }
    for (int c = 0; c < kCenters; ++c) {
      similarities[c] = sums[c] * scale_[static_cast<std::size_t>(which[c])];
    }
  }

 private:
  std::size_t offset(int j) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(n_frequent_);
  }
  // Calls use(feature, sum) for the frequent features of a center that are not zero.
  template <class Use>
  void each_frequent(int j, const Use& use) const {
    const std::int64_t* sums = vector(j);
    each_nonzero(sums, n_frequent_,
                 [&](std::int64_t f) { use(static_cast<std::int32_t>(f), sums[f]); });
  }
  // Calls use(center, feature, sum) for what is not zero, by ascending feature for each center.
  template <class Use>
  void each_entry(const Use& use) const {
    for (int j = 0; j < n_centers_; ++j) {
      each_frequent(
          j, [&](std::int32_t f, std::int64_t sum) { use(static_cast<std::size_t>(j), f, sum); });
    }
    for (std::int32_t f = n_frequent_; f < n_features_; ++f) {
      rare_.each(f, [&](int j, std::int64_t sum) { use(static_cast<std::size_t>(j), f, sum); });
    }
  }
  // What a move did to a center's vector: nothing, a change, or another vector altogether.
  enum class Moved : char { no, changed, replaced };
  Moved move(int j, const SumChange& change);
  void move_rare(const SumChanges& changes, const std::vector<Moved>& moved);
  void clear_frequent(int j);
  void follow_drifts(const SumChanges& changes, const std::vector<Moved>& moved, int n_threads);
  void follow_features(const SumChanges& changes, const std::vector<Moved>& moved, int n_threads);
  void write(int j, const std::int32_t* features, std::size_t size);
  void fit_lines(int j);
  void arrange_lines(int n_threads);
  void set_length(int j, Wide squared);
  std::int64_t larger(std::int64_t largest, std::int32_t feature, std::int64_t sum) const {
    return feature < n_frequent_ ? std::max(largest, std::abs(sum)) : largest;
  }
  void set_movement(int j, double rise, double fall, double slack, std::int64_t terms);
  float in_panel(std::int64_t value) const {
    return static_cast<float>(static_cast<double>(value) * unit_);
  }

  int n_centers_;
  std::int32_t n_features_;
  std::int32_t n_frequent_;
  double one_;                    // 1.0 in fixed point, a power of two
  double unit_;                   // one unit of fixed point, 1/one_
  Buffer<std::int64_t> vectors_;  // [center][frequent feature]
  RareLists rare_;
  std::unique_ptr<Panels> panels_;
  std::unique_ptr<FilterLines> lines_;
  std::unique_ptr<Drifts> drifts_;
  std::unique_ptr<FeatureChanges> feature_changes_;
  std::vector<Wide> squared_;       // ‖vector‖², exact
  std::vector<Wide> squared_rare_;  // the part of the rare features
  std::vector<double> scale_;       // 1/‖vector‖
  // Before the last move, for what it does to cosines (drifts.hpp): the scale, and the lengths of
  // all features whose sums are left alone or rare, and of the rare ones.
  std::vector<double> scale_before_, untouched_, untouched_rare_;
  std::vector<std::int64_t> largest_;  // of the frequent features' |sums|, or more
  std::vector<std::int64_t> count_;
  std::vector<char> detached_;
  std::vector<char> negative_;  // a sum of this center has been below zero
  std::vector<double> cos_, sin_, pad_, chord_;
  std::vector<double> rise_, rise_nonnegative_, fall_nonnegative_;
  OrderByMovement by_movement_;
};

}  // namespace arcmeans
