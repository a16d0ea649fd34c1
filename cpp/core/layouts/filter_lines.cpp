#include "core/layouts/filter_lines.hpp"

#include <cmath>

#include "core/layouts/line_groups.hpp"
#include "core/layouts/line_sums.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

namespace {

constexpr double kLargestNumber = 32767.0;  // in 16 bits

// The length limit of all centers. By Cauchy–Schwarz a sum of products is at most
// (kRowMultiplier + ½√n)·(length + ½√n), with ½ for each rounding. It has to stay below 2³¹, and
// 0x1.fp30 leaves 3 % to spare. Up to five million features the limit is 60000.
double longest(std::int32_t n_features) {
  const double half_root = 0.5 * std::sqrt(static_cast<double>(n_features));
  return std::min(60000.0, 0x1.fp30 / (kRowMultiplier + half_root) - half_root);
}

}  // namespace

const FilterLines& FilterLines::of(Centers& centers, bool dense, int n_threads) {
  const auto* found = centers.find<FilterLines>();
  if (found && found->dense() == dense) return *found;
  return centers.attach(std::make_unique<FilterLines>(centers, dense, n_threads));
}

FilterLines::FilterLines(const Centers& centers, bool dense, int n_threads)
    : n_centers_(centers.size()),
      dense_(dense),
      width_(dense ? kCacheLineShorts : line_width(n_centers_)),
      line_size_(index((centers.n_frequent() + centers.n_frequent() % 2) * width_)),
      n_lines_((n_centers_ + kCacheLineShorts - 1) / kCacheLineShorts),
      longest_(longest(centers.n_frequent())),
      slots_(n_centers_),
      numbers_(index(n_lines_) * line_size_),
      factor_(index(n_lines_) * kCacheLineShorts),
      offset_(factor_.size()),
      multiplier_(index(n_centers_)),
      length_(index(n_centers_), longest_),
      largest_(index(n_centers_)),
      by_movement_(n_centers_) {
  // A lane without a center loses to any cosine. Such lanes are the last ones.
  std::fill(offset_.data() + n_centers_, offset_.data() + offset_.size(), -2.0F * kCosineUnits);
  // A thread takes a whole line: its centers share cache lines.
  parallel_chunks(n_centers_, kCacheLineShorts, n_threads,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    for (auto j = static_cast<int>(begin); j < static_cast<int>(end); ++j) {
                      if (centers.is_placed(j)) placed(centers, j);
                    }
                  });
}

float FilterLines::center_error(int l, int n_lines) const {
  const int first = l * kCacheLineShorts;
  const int end = std::min(first + n_lines * kCacheLineShorts, n_centers_);
  double shortest = longest_;
  for (int slot = first; slot < end; ++slot) {
    shortest = std::min(shortest, length_[index(slots_.center(slot))]);
  }
  return static_cast<float>(kCosineUnits * center_filter_error(shortest));
}

class FilterLines::Column {
 public:
  Column(std::int16_t* first, std::int64_t width, double multiplier, bool dense)
      : first_(first), width_(width), multiplier_(multiplier), dense_(dense) {}

  void set(std::int32_t feature, std::int64_t sum) const {
    const auto number =
        static_cast<std::int16_t>(std::lrint(static_cast<double>(sum) * multiplier_));
    first_[dense_ ? std::int64_t{feature >> 1} * (2 * kCacheLineShorts) + (feature & 1)
                  : std::int64_t{feature} * width_] = number;
  }

 private:
  std::int16_t* first_;
  std::int64_t width_;
  double multiplier_;
  bool dense_;
};

FilterLines::Column FilterLines::column(int center) {
  return {numbers_.data() + first_number(index(slots_.of(center))), width_,
          multiplier_[index(center)], dense_};
}

// Where the numbers of the center at a slot begin.
std::size_t FilterLines::first_number(std::size_t slot) const {
  const auto lane = static_cast<int>(slot % kCacheLineShorts);
  return slot / kCacheLineShorts * line_size_ +
         index(dense_ ? 2 * lane : line_position(lane, width_));
}

void FilterLines::clearing(const Centers& centers, int center) {
  const Column column = this->column(center);
  centers.sums().each_frequent(center, [&](std::int32_t f, std::int64_t) { column.set(f, 0); });
}

void FilterLines::placed(const Centers& centers, int center) {
  find_largest(centers, center);
  follow_scale(centers, center);
  write_all(centers, center);
}

void FilterLines::moved(const Centers& centers, const SumChanges& changes, int n_threads) {
  parallel_each(n_centers_, n_threads, [&](int, int center) {
    if (centers.last_move(center).moved()) follow(centers, changes[index(center)], center);
  });
  reorder(centers, n_threads);
}

// Writes the numbers of the features whose sums changed, or all numbers. A center that was replaced
// has no other features than those of the change: `clearing` came before.
void FilterLines::follow(const Centers& centers, const SumChange& change, int center) {
  const std::int64_t* sums = centers.sums().frequent(center);
  const auto* first = change.features.data();
  const auto* last = std::lower_bound(first, first + change.size(), centers.n_frequent());
  std::int64_t& largest = largest_[index(center)];
  if (centers.last_move(center).kind == CenterMove::Kind::replaced) largest = 0;
  for (const auto* feature = first; feature != last; ++feature) {
    largest = std::max(largest, std::abs(sums[*feature]));
  }
  if (follow_scale(centers, center)) write_all(centers, center);
  const Column column = this->column(center);
  for (const auto* feature = first; feature != last; ++feature) {  // sums that became zero too
    column.set(*feature, sums[*feature]);
  }
}

void FilterLines::find_largest(const Centers& centers, int center) {
  std::int64_t largest = 0;
  centers.sums().each_frequent(
      center, [&](std::int32_t, std::int64_t sum) { largest = std::max(largest, std::abs(sum)); });
  largest_[index(center)] = largest;
}

// Writes the numbers of all sums that are not zero.
void FilterLines::write_all(const Centers& centers, int center) {
  const Column column = this->column(center);
  centers.sums().each_frequent(center,
                               [&](std::int32_t f, std::int64_t sum) { column.set(f, sum); });
}

// A center gets a multiplier that makes it 0.92 of its limit long, and keeps the multiplier while
// its length is from 0.7 of the limit to the limit, so that most moves write only what changed.
// True if the multiplier is another: then all numbers have to be written.
bool FilterLines::follow_scale(const Centers& centers, int center) {
  const double scale = centers.scale(center);
  double& multiplier = multiplier_[index(center)];
  double& length = length_[index(center)];
  const double limit = length_limit(center, scale);
  length = multiplier / scale;
  // A limit below kLargestNumber comes from `largest_`, which only grows from move to move: no
  // entry of a unit vector is above 1. Then the center gets a multiplier by its largest number of
  // now.
  const bool keeps = length <= limit && length >= 0.7 * std::max(limit, kLargestNumber);
  if (!keeps) {
    if (limit < longest_) find_largest(centers, center);
    length = 0.92 * length_limit(center, scale);
    multiplier = length * scale;
  }
  factor_[index(slots_.of(center))] =
      static_cast<float>(kCosineUnits * scale / (kRowMultiplier * multiplier));
  return !keeps;
}

// How long a center of this scale may be, so that its largest number fits 16 bits too.
double FilterLines::length_limit(int center, double scale) const {
  const auto largest = static_cast<double>(largest_[index(center)]);  // 0: no such limit
  return std::min(longest_, kLargestNumber / (largest * scale));
}

// From time to time gives the centers that move most slots side by side (slots.hpp). Only where
// each center has a bound of its own: the bound of a group would have to become the largest of the
// bounds of all centers that come into the group.
void FilterLines::reorder(const Centers& centers, int n_threads) {
  if (dense_ || n_lines_ == 1) return;
  if (LineGroups(n_centers_, dense_).group_size() > 1) return;
  if (!by_movement_.due_after(centers.last_move())) return;
  shift_to(slots_.in_order(by_movement_.centers()), n_threads);
}

// Gives the centers other slots, in lines for sparse rows. What stands by center stays.
void FilterLines::shift_to(const Slots& slots, int n_threads) {
  auto shifts = slots_.shifts_to(slots);
  std::vector<float> factors(shifts.size());
  take_shifts(shifts, factor_.data(), factors.data());
  for (Slots::Shift& shift : shifts) shift = {first_number(shift.from), first_number(shift.to)};
  const auto n_features = static_cast<std::int64_t>(line_size_) / width_;
  parallel_chunks(n_features, 1024, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    std::vector<std::int16_t> scratch(shifts.size());
    for (std::int64_t f = begin; f < end; ++f) {
      take_shifts(shifts, numbers_.data() + f * width_, scratch.data());
    }
  });
  slots_ = slots;
}

}  // namespace arcmeans
