// The centers: exact fixed-point sums of the rows of each cluster, and what follows from them.
//
// A center is an integer vector and one scale factor, 1/‖sum‖. Integer sums do not depend on the
// order of their terms, so threads, chunks and machines agree on every bit, and adding a row and
// taking it away again leaves no trace. The squared length is kept exactly too, in 128 bits.
//
// A center is *detached* while its vector is not the sum of its rows: a seed before the first move,
// a center kept after its last row left or after its rows came to cancel each other. The rows of a
// detached center sum to zero; the next change that leaves a direction replaces the vector.
#pragma once

#include <cstdint>
#include <vector>

#include "bounds.hpp"
#include "buffer.hpp"
#include "panels.hpp"
#include "rows.hpp"
#include "sums.hpp"

namespace arcmeans {

__extension__ typedef __int128 Wide;

class Centers {
 public:
  Centers(int n_centers, std::int32_t n_features, double one);

  int size() const { return n_centers_; }
  std::int32_t n_features() const { return n_features_; }
  double one() const { return one_; }
  const Panels& panels() const { return panels_; }
  const std::int64_t* vector(int j) const { return vectors_.data() + offset(j); }
  const std::vector<double>& scales() const { return scale_; }
  const std::vector<std::int64_t>& counts() const { return count_; }
  bool detached(int j) const { return detached_[static_cast<std::size_t>(j)] != 0; }

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

  // sim64(i, j), the one reference similarity: float64 products summed in ascending order of the
  // caller's features, then scaled. Every decision that is not clear of rounding is made by it.
  template <class Row>
  double similarity(const Row& row, int j) const {
    const std::int64_t* sums = vector(j);
    double sum = 0.0;
    for (std::int64_t e = 0; e < row.size; ++e) {
      sum += static_cast<double>(row.values[e]) * static_cast<double>(sums[row.feature(e)]);
    }
    return sum * scale_[static_cast<std::size_t>(j)];
  }

 private:
  std::size_t offset(int j) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(n_features_);
  }
  void move(int j, const SumChange& change);
  void clear_vector(int j);
  void set_length(int j, Wide squared);
  void set_movement(int j, double chord, double slack, std::int64_t terms);
  float in_panel(std::int64_t value) const {
    return static_cast<float>(static_cast<double>(value) * unit_);
  }

  int n_centers_;
  std::int32_t n_features_;
  double one_;                    // 1.0 in fixed point, a power of two
  double unit_;                   // one unit of fixed point, 1/one_
  Buffer<std::int64_t> vectors_;  // [center][feature]
  Panels panels_;
  std::vector<Wide> squared_;  // ‖vector‖², exact
  std::vector<double> scale_;  // 1/‖vector‖
  std::vector<std::int64_t> count_;
  std::vector<char> detached_;
  std::vector<double> cos_, sin_, pad_, chord_;
};

}  // namespace arcmeans
