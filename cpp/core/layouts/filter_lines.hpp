// Filter lines: the centers in 16 bits for the filter, 32 centers to a line,
// [line][feature][center].
//
// A filter line holds the numbers sum · multiplier, rounded, of each center. The multiplier makes
// the length of the center, multiplier/scale, as large as 16 bits for its largest number and 32
// bits for sums of products allow. The center keeps its multiplier while its length stays in range,
// so that after a move only the features whose sums change are written. The kernel multiplies
// exactly, and one factor for each center makes cosines of the sums of products at the end: a
// filter cosine differs from the true cosine by the rounding of row and center to 16 bits
// (bounds.hpp).
//
// For sparse rows the lanes of a feature are stored in the order of line_sums.hpp. The kernel of
// dense rows takes two features at a time: [line][pair of features][center][2].
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bounds/bounds.hpp"
#include "core/centers/centers.hpp"
#include "core/layouts/slots.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"
#include "core/support/simd.hpp"

namespace arcmeans {

class FilterLines final : public CenterWatcher {
 public:
  // The filter lines of these centers, for dense or for sparse rows, made when first asked for.
  // They take the place of lines for rows of the other kind.
  static const FilterLines& of(Centers& centers, bool dense, int n_threads);

  FilterLines(const Centers& centers, bool dense, int n_threads);

  int count() const { return n_lines_; }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(numbers_.size() * sizeof(std::int16_t));
  }
  bool dense() const { return dense_; }
  const std::int16_t* line(int l) const { return numbers_.data() + index(l) * line_size_; }
  // How many lanes a line has for each feature: 32, or fewer where few centers make one line for
  // sparse rows.
  int width() const { return width_; }
  // Which center stands in which lane of which line.
  const Slots& slots() const { return slots_; }
  // How many lanes of a line, or of several lines, hold a center: the first ones do.
  int used(int l, int n_lines = 1) const {
    return std::min(n_centers_ - l * kCacheLineShorts, n_lines * kCacheLineShorts);
  }
  // Lane by lane, the cosine in units is sum · factor + offset.
  const float* factors(int l) const { return factor_.data() + l * kCacheLineShorts; }
  const float* offsets(int l) const { return offset_.data() + l * kCacheLineShorts; }

  // The length of each center in the lines, by center.
  const std::vector<double>& lengths() const { return length_; }
  // The largest center_filter_error of the centers of some lines, in units.
  float center_error(int l, int n_lines) const;

  void clearing(const Centers& centers, int center) override;
  void placed(const Centers& centers, int center) override;
  void moved(const Centers& centers, const SumChanges& changes, int n_threads) override;

 private:
  // The numbers of one center.
  class Column;
  Column column(int center);

  void follow(const Centers& centers, const SumChange& change, int center);
  bool follow_scale(const Centers& centers, int center);
  void write_all(const Centers& centers, int center);
  void find_largest(const Centers& centers, int center);
  double length_limit(int center, double scale) const;
  void reorder(const Centers& centers, int n_threads);
  void shift_to(const Slots& slots, int n_threads);
  std::size_t first_number(std::size_t slot) const;

  int n_centers_;
  bool dense_;
  int width_;
  std::size_t line_size_;
  int n_lines_;
  double longest_;  // that any center may be
  Slots slots_;
  Buffer<std::int16_t> numbers_;
  // By slot.
  Buffer<float> factor_;
  Buffer<float> offset_;
  // By center.
  std::vector<double> multiplier_;
  std::vector<double> length_;
  std::vector<std::int64_t> largest_;  // |sum| of a frequent feature, or more
  OrderByMovement by_movement_;
};

}  // namespace arcmeans
