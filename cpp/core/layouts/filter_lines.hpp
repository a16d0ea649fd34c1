// Filter lines: the centers in 16 bits for the filter, 32 centers to a line,
// [line][feature][center].
//
// A filter line holds multiples of the sums, rounded. The multiplier of a center makes the center
// as long as 16 bits for its largest number and 32 bits for sums of products allow. The multiplier
// is kept while the center's length stays in range, so that after a move only the features whose
// sums change are written. The kernel multiplies exactly, and one factor for each center makes
// cosines of the sums at the end: a filter cosine differs from the true cosine by the rounding of
// row and center to 16 bits (bounds.hpp).
//
// The order in which the lanes of a feature are stored for sparse rows is that of line_sums.hpp.
// The kernel of dense rows takes two features at a time, so for dense rows the lanes of two
// features alternate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bounds/bounds.hpp"
#include "core/centers/centers.hpp"
#include "core/layouts/places.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"
#include "core/support/simd.hpp"

namespace arcmeans {

class FilterLines final : public CenterWatcher {
 public:
  // The filter lines of these centers, for dense or for sparse rows, made when first asked for.
  static const FilterLines& of(Centers& centers, bool dense, int n_threads);

  FilterLines(const Centers& centers, bool dense, int n_threads);

  int count() const { return count_; }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(lanes_.size() * sizeof(std::int16_t));
  }
  bool dense() const { return dense_; }
  const std::int16_t* line(int l) const { return lanes_.data() + index(l) * line_size_; }
  // How many lanes a line has for each feature: 32, or fewer where few centers make one line for
  // sparse rows.
  int width() const { return width_; }
  // Which center stands in which lane of which line.
  const Places& places() const { return places_; }
  // How many lanes of a line, or of several lines, hold a center: the first ones do.
  int used(int l, int n_lines = 1) const {
    return std::min(n_centers_ - l * kCacheLineShorts, n_lines * kCacheLineShorts);
  }
  // Lane by lane, the cosine in units is sum · factor + offset.
  const float* factors(int l) const { return factor_.data() + l * kCacheLineShorts; }
  const float* offsets(int l) const { return offset_.data() + l * kCacheLineShorts; }

  // The length of each center in the lines.
  const std::vector<double>& lengths() const { return length_; }
  // What the rounding of the centers of some lines adds to the error of a cosine, in units, for
  // each unit of Σ|r| of a row.
  float rounding(int l, int n_lines) const;

  void clearing(const Centers& centers, int center) override;
  void placed(const Centers& centers, int center) override;
  void moved(const Centers& centers, const SumChanges& changes, int n_threads) override;

 private:
  // The numbers of one center.
  class Column;
  Column column(int center);

  void follow(const Centers& centers, const SumChange& change, int center);
  bool fit(const Centers& centers, int center);
  bool keep(int center, double scale);
  void renew(int center, double scale);
  void write_all(const Centers& centers, int center);
  void arrange(const Centers& centers, int n_threads);
  void arrange(const Places& places, int n_threads);
  void find_largest(const Centers& centers, int center);
  std::size_t slot(std::size_t place) const;
  double room_for(int center, double scale) const;
  void set_length(int center, double scale, double length);

  int n_centers_;
  bool dense_;
  int width_;
  std::size_t line_size_;
  int count_;
  double longest_;  // that a center may be
  Places places_;
  Buffer<std::int16_t> lanes_;
  Buffer<float> factor_;
  Buffer<float> offset_;
  std::vector<double> length_;         // of each center in the lines
  std::vector<double> multiplier_;     // from a sum to its number in a line
  std::vector<std::int64_t> largest_;  // |sum| of a center's frequent features, or more
  OrderByMovement by_movement_;
};

}  // namespace arcmeans
