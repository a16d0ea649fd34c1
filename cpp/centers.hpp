// The centers: exact fixed-point sums of the rows of each cluster, and what follows from them.
//
// A center is an integer vector and one scale factor, 1/‖sum‖. Integer sums do not depend on the
// order of their terms, so threads, chunks and machines agree on every bit, and adding a row and
// taking it away again leaves no trace. The squared length is kept exactly too, in 128 bits.
//
// A center is *detached* while its vector is not the sum of its rows: a seed before the first move,
// a center kept after its last row left, a cluster whose rows cancel to zero. The sum of the rows
// of a detached center is the zero vector; the first row that joins replaces the vector.
#pragma once

#include <cstdint>
#include <vector>

#include "bounds.hpp"
#include "buffer.hpp"
#include "panels.hpp"
#include "rows.hpp"

namespace arcmeans {

__extension__ typedef unsigned __int128 Square;

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

  // Places a detached center: the integer vector with these entries and zeros elsewhere.
  void place(int j, const std::int32_t* features, const std::int64_t* values, std::int64_t size);

  // Moves the centers to the sums of the rows as labelled now, given how the rows were labelled
  // when the centers last moved. Costs in proportion to the rows whose label changed.
  void move(const Rows& rows, const std::int32_t* previous, const std::int32_t* labels,
            int n_threads);

  // Σ_j ‖sum_j‖ in units of 1: the objective of the labels of the last move, since the
  // rows' similarities to their own center add up to the length of their sum.
  double length_of_sums() const;

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
  struct Scratch;
  struct Member;
  std::size_t offset(int j) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(n_features_);
  }
  template <class RowsOf>
  void move_center(const RowsOf& rows, const std::int32_t* labels, int j, const Member* members,
                   std::int64_t n_members, Scratch& scratch);
  template <class RowsOf>
  void point_at_first_row(const RowsOf& rows, const std::int32_t* labels, int j, Scratch& scratch);
  void apply(int j, Scratch& scratch);
  float in_panel(std::int64_t value) const {
    return static_cast<float>(static_cast<double>(value) * unit_);
  }
  void set_length(int j, Square squared);

  int n_centers_;
  std::int32_t n_features_;
  double one_;   // 1.0 in fixed point, a power of two
  double unit_;  // one unit of fixed point, 1/one_
  Buffer<std::int64_t> vectors_;  // [center][feature]
  Panels panels_;
  std::vector<Square> squared_;  // ‖vector‖², exact
  std::vector<double> scale_;    // 1/‖vector‖
  std::vector<std::int64_t> count_;
  std::vector<char> detached_;
  std::vector<double> cos_, sin_, pad_, chord_;
};

}  // namespace arcmeans
