// Lines of the filter: the centers in 16 bits, 32 to a cache line, for the filter.
// [line][feature][center].
//
// A line holds rounded multiples of the sums. The multiplier of a center makes it as long as its
// largest number and the sums of products, in 32 bits, allow; and is kept while it may be, so that
// after a move only the features of the rows that came or went are written. The kernel multiplies
// exactly, and one factor a center at the end makes cosines of the sums: what differs from the true
// cosine is the rounding of both factors to 16 bits (bounds.hpp).
//
// How the lanes of a feature are stored for sparse rows is said in line_sums.hpp. For dense rows,
// of which the kernel takes two features at a time too, the two stand side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/bounds/bounds.hpp"
#include "core/centers/centers.hpp"
#include "core/layouts/line_groups.hpp"
#include "core/layouts/line_sums.hpp"
#include "core/layouts/places.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"
#include "core/support/parallel.hpp"
#include "core/support/simd.hpp"

namespace arcmeans {

class FilterLines final : public CenterWatcher {
 public:
  // The filter lines of these centers, for sparse or dense rows, made when first asked for.
  static const FilterLines& of(Centers& centers, bool dense, int n_threads) {
    const auto* found = centers.find<FilterLines>();
    if (found && found->dense() == dense) return *found;
    return centers.attach(std::make_unique<FilterLines>(centers, dense, n_threads));
  }

  FilterLines(const Centers& centers, bool dense, int n_threads)
      : FilterLines(centers.size(), centers.n_frequent(), dense) {
    parallel_chunks(centers.size(), kLineShorts, n_threads,
                    [&](int, std::int64_t begin, std::int64_t end) {
                      for (auto j = static_cast<int>(begin); j < static_cast<int>(end); ++j) {
                        if (centers.placed(j)) placed(centers, j);
                      }
                    });
  }

  FilterLines(int n_centers, std::int32_t n_features, bool dense)
      : n_centers_(n_centers),
        dense_(dense),
        width_(dense ? kLineShorts : line_width(n_centers)),
        line_size_(index((n_features + n_features % 2) * width_)),
        count_((n_centers + kLineShorts - 1) / kLineShorts),
        longest_(longest(n_features)),
        places_(n_centers),
        lanes_(index(count_) * line_size_),
        factor_(index(count_) * kLineShorts),
        offset_(index(count_) * kLineShorts),
        length_(index(n_centers), longest_),
        multiplier_(index(n_centers)),
        largest_(index(n_centers)),
        by_movement_(n_centers) {
    for (std::size_t j = 0; j < offset_.size(); ++j) {
      // An empty lane loses to any cosine.
      offset_[j] = j < index(n_centers) ? 0.0F : -2.0F * kCosineUnits;
    }
  }

  int count() const { return count_; }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(lanes_.size() * sizeof(std::int16_t));
  }
  bool dense() const { return dense_; }
  const std::int16_t* line(int l) const { return lanes_.data() + index(l) * line_size_; }
  // How many lanes a line has for each feature: fewer than a cache line holds where there is but
  // one line and no more are needed, of sparse rows.
  int width() const { return width_; }
  // Who stands in which lane of which line.
  const Places& places() const { return places_; }
  // How many lanes of a line hold a center: the first ones. Or of some lines.
  int used(int l, int n_lines = 1) const {
    return std::min(n_centers_ - l * kLineShorts, n_lines * kLineShorts);
  }
  // Sum · factor + offset, lane by lane, is the cosine in units.
  const float* factors(int l) const { return factor_.data() + l * kLineShorts; }
  const float* offsets(int l) const { return offset_.data() + l * kLineShorts; }

  // How long each center is in the lines.
  const std::vector<double>& lengths() const { return length_; }
  // What the rounding of the centers of some lines adds to the error of a cosine, in units, for
  // each unit of Σ|r| of a row.
  float rounding(int l, int n_lines) const {
    const int first = l * kLineShorts;
    const int end = std::min(first + n_lines * kLineShorts, n_centers_);
    double shortest = longest_;
    for (int place = first; place < end; ++place) {
      shortest = std::min(shortest, length_[index(places_.center(place))]);
    }
    return static_cast<float>(kCosineUnits * center_filter_error(shortest));
  }

  void clearing(const Centers& centers, int center) override {
    const Column column = this->column(center);
    centers.sums().each_frequent(center, [&](std::int32_t f, std::int64_t) { column.set(f, 0); });
  }

  void placed(const Centers& centers, int center) override {
    std::int64_t& largest = largest_[index(center)] = 0;
    centers.sums().each_frequent(center, [&](std::int32_t, std::int64_t sum) {
      largest = std::max(largest, std::abs(sum));
    });
    if (!fit(centers, center)) return;
    const Column column = this->column(center);
    centers.sums().each_frequent(center,
                                 [&](std::int32_t f, std::int64_t sum) { column.set(f, sum); });
  }

  void moved(const Centers& centers, const SumChanges& changes, int n_threads) override {
    parallel_chunks(centers.size(), 1, n_threads, [&](int, std::int64_t j, std::int64_t) {
      const auto center = static_cast<int>(j);
      const CenterMove& move = centers.last_move(center);
      if (!move.moved()) return;
      const std::int64_t* sums = centers.sums().frequent(center);
      const std::vector<std::int32_t>& features = changes[index(j)].features;
      const auto frequent =
          index(std::lower_bound(features.begin(), features.end(), centers.n_frequent()) -
                features.begin());
      std::int64_t largest = move.kind == CenterMove::Kind::replaced ? 0 : largest_[index(j)];
      for (std::size_t e = 0; e < frequent; ++e) {
        largest = std::max(largest, std::abs(sums[features[e]]));
      }
      largest_[index(j)] = largest;
      fit(centers, center);
      const Column column = this->column(center);
      for (std::size_t e = 0; e < frequent; ++e) column.set(features[e], sums[features[e]]);
    });
    arrange(centers, n_threads);
  }

 private:
  // Has lines that hold a center of this length: where it does not fit they are written anew.
  // Whether they were kept.
  bool fit(const Centers& centers, int center) {
    const double scale = centers.scale(center);
    std::int64_t& largest = largest_[index(center)];
    if (keep(center, scale, static_cast<double>(largest))) return true;
    if (binding(scale, static_cast<double>(largest))) {
      largest = 0;
      centers.sums().each_frequent(center, [&](std::int32_t, std::int64_t sum) {
        largest = std::max(largest, std::abs(sum));
      });
    }
    renew(center, scale, static_cast<double>(largest));
    const Column column = this->column(center);
    centers.sums().each_frequent(center,
                                 [&](std::int32_t f, std::int64_t sum) { column.set(f, sum); });
    return false;
  }

  // Has the centers that move most side by side (places.hpp). Only where each has a bound of its
  // own: that of a group would have to become the largest of those of all that come to it.
  void arrange(const Centers& centers, int n_threads) {
    if (dense_ || count_ == 1) return;
    if (LineGroups(n_centers_, false).size() > 1) return;
    if (!by_movement_.take(centers.last_move())) return;
    arrange(places_.in_order(by_movement_.centers()), n_threads);
  }

  // Takes the scale 1/‖sum‖ of a center and its largest |sum|, or more. False where the center
  // would be too long or too short: then its numbers have to be written again, all of them.
  bool keep(int center, double scale, double largest) {
    const double length = multiplier_[index(center)] / scale;
    const double room = room_for(scale, largest);
    if (!(length <= room && length >= 0.7 * std::max(room, kLargest))) return false;
    set_length(center, scale, length);
    return true;
  }
  // Whether a center so large in one feature has to be shorter for it.
  bool binding(double scale, double largest) const { return room_for(scale, largest) < longest_; }
  void renew(int center, double scale, double largest) {
    const double length = 0.92 * room_for(scale, largest);
    multiplier_[index(center)] = length * scale;
    set_length(center, scale, length);
  }

  // Where the numbers of one center stand.
  class Column {
   public:
    void set(std::int32_t feature, std::int64_t sum) const {
      const auto number =
          static_cast<std::int16_t>(std::lrint(static_cast<double>(sum) * multiplier));
      first[dense ? std::int64_t{feature >> 1} * (2 * kLineShorts) + (feature & 1)
                  : std::int64_t{feature} * width] = number;
    }
    std::int16_t* first;
    std::int64_t width;
    double multiplier;
    bool dense;
  };
  Column column(int center) {
    return {lanes_.data() + slot(index(places_.of(center))), width_, multiplier_[index(center)],
            dense_};
  }

  // Gives the centers other places, in lines for sparse rows.
  void arrange(const Places& places, int n_threads) {
    auto steps = places_.steps_to(places);
    std::vector<float> factors(steps.size());
    take_steps(steps, factor_.data(), factors.data());
    for (Places::Step& step : steps) step = {slot(step.from), slot(step.to)};
    const auto n_features = static_cast<std::int64_t>(line_size_) / width_;
    parallel_chunks(n_features, 1024, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      std::vector<std::int16_t> numbers(steps.size());
      for (std::int64_t f = begin; f < end; ++f) {
        take_steps(steps, lanes_.data() + f * width_, numbers.data());
      }
    });
    places_ = places;
  }

  static constexpr double kLargest = 32767.0;

  // The first number of a place.
  std::size_t slot(std::size_t place) const {
    const auto lane = static_cast<int>(place % kLineShorts);
    return place / kLineShorts * line_size_ +
           index(dense_ ? 2 * lane : line_position(lane, width_));
  }
  double room_for(double scale, double largest) const {
    return std::min(longest_, kLargest / (largest * scale));
  }
  void set_length(int center, double scale, double length) {
    const auto c = index(center);
    length_[c] = length;
    factor_[index(places_.of(center))] =
        static_cast<float>(kCosineUnits * scale / (kUnitRow * multiplier_[c]));
  }

  // How long centers may be. By Cauchy–Schwarz a sum is at most (kUnitRow + ½√n)·(length + ½√n),
  // with ½ for each rounding, and has to stay below 2³¹.
  static double longest(std::int32_t n_features) {
    const double roundings = 0.5 * std::sqrt(static_cast<double>(n_features));
    return std::min(60000.0, 0x1.fp30 / (kUnitRow + roundings) - roundings);
  }

  int n_centers_;
  bool dense_;
  int width_;
  std::size_t line_size_;
  int count_;
  double longest_;
  Places places_;
  Buffer<std::int16_t> lanes_;
  Buffer<float> factor_;
  Buffer<float> offset_;
  std::vector<double> length_;  // of each center in the lines
  std::vector<double> multiplier_;
  std::vector<std::int64_t> largest_;  // of the |sums| of each center's frequent features, or more
  OrderByMovement by_movement_;
};

// The cosines of one row and one line in units, in registers.
struct LineCosines {
  Floats lanes[LineSums::kVectors];

  LineCosines() {}  // left as they come: all of them are written
  LineCosines(const FilterLines& lines, int line, const LineSums& sums) {
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      const int lane = v * kVectorFloats;
      lanes[v] = multiply_add(__builtin_convertvector(sums.lanes[v], Floats),
                              load(lines.factors(line) + lane), load(lines.offsets(line) + lane));
    }
  }

  // Puts another number into a lane, or adds to it.
  void set(int lane, float value) {
    each_vector([&](Floats& v, Ints here) { v = here == lane ? splat(value) : v; });
  }
  void add(int lane, float value) {
    each_vector([&](Floats& v, Ints here) { v += here == lane ? splat(value) : Floats{}; });
  }

  // Each plus a number, in whole units towards zero, less another; in 16 bits that wrap.
  void store(float plus, const std::int32_t* less, std::int16_t* to) const {
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      const Ints sum = __builtin_convertvector(lanes[v] + splat(plus), Ints);
      store_shorts(to + v * kVectorFloats, sum - load_ints(less + v * kVectorFloats));
    }
  }

  // Of some lines.
  template <int kLines>
  static float largest(const LineCosines (&of)[kLines]) {
    Floats top = of[0].lanes[0];
#pragma GCC unroll 8
    for (const LineCosines& line : of) {
#pragma GCC unroll 8
      for (const Floats& v : line.lanes) top = larger(top, v);
    }
    return arcmeans::largest(top);
  }

  // One bit for each lane that is at least so much.
  std::uint32_t at_least(float value) const {
    std::uint32_t bits = 0;
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      bits |= arcmeans::at_least(lanes[v], splat(value)) << (v * kVectorFloats);
    }
    return bits;
  }

  // The largest of the lanes with the same number modulo `kGroups`, a power of two.
  template <int kGroups>
  __attribute__((always_inline)) typename VectorsOf<kGroups>::Floats largest_of() const {
    Floats tops[LineSums::kVectors];
    std::memcpy(tops, lanes, sizeof tops);
    constexpr int kLeft = std::max(1, kGroups / kVectorFloats);
#pragma GCC unroll 8
    for (int n = LineSums::kVectors / 2; n >= kLeft; n /= 2) {
#pragma GCC unroll 8
      for (int v = 0; v < n; ++v) tops[v] = larger(tops[v], tops[v + n]);
    }
    if constexpr (kGroups > kVectorFloats) {
      typename VectorsOf<kGroups>::Floats all;
      std::memcpy(&all, tops, sizeof all);
      return all;
    } else {
      return largest_modulo<kGroups>(tops[0]);
    }
  }

 private:
  template <class Use>
  __attribute__((always_inline)) void each_vector(const Use& use) {
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) use(lanes[v], first_lanes() + v * kVectorFloats);
  }
};

}  // namespace arcmeans
