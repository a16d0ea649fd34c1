#include "core/layouts/filter_lines.hpp"

#include <cmath>

#include "core/layouts/line_groups.hpp"
#include "core/layouts/line_sums.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

namespace {

constexpr double kLargest = 32767.0;

// How long a center may be. By Cauchy–Schwarz a sum of products is at most
// (kUnitRow + ½√n)·(length + ½√n), with ½ for each rounding, and has to stay below 2³¹.
double longest(std::int32_t n_features) {
  const double roundings = 0.5 * std::sqrt(static_cast<double>(n_features));
  return std::min(60000.0, 0x1.fp30 / (kUnitRow + roundings) - roundings);
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
      count_((n_centers_ + kCacheLineShorts - 1) / kCacheLineShorts),
      longest_(longest(centers.n_frequent())),
      places_(n_centers_),
      lanes_(index(count_) * line_size_),
      factor_(index(count_) * kCacheLineShorts),
      offset_(index(count_) * kCacheLineShorts),
      length_(index(n_centers_), longest_),
      multiplier_(index(n_centers_)),
      largest_(index(n_centers_)),
      by_movement_(n_centers_) {
  for (std::size_t lane = 0; lane < offset_.size(); ++lane) {
    // A lane without a center loses to any cosine.
    offset_[lane] = lane < index(n_centers_) ? 0.0F : -2.0F * kCosineUnits;
  }
  parallel_chunks(n_centers_, kCacheLineShorts, n_threads,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    for (auto j = static_cast<int>(begin); j < static_cast<int>(end); ++j) {
                      if (centers.placed(j)) placed(centers, j);
                    }
                  });
}

float FilterLines::rounding(int l, int n_lines) const {
  const int first = l * kCacheLineShorts;
  const int end = std::min(first + n_lines * kCacheLineShorts, n_centers_);
  double shortest = longest_;
  for (int place = first; place < end; ++place) {
    shortest = std::min(shortest, length_[index(places_.center(place))]);
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
  return {lanes_.data() + slot(index(places_.of(center))), width_, multiplier_[index(center)],
          dense_};
}

// The first number of a place.
std::size_t FilterLines::slot(std::size_t place) const {
  const auto lane = static_cast<int>(place % kCacheLineShorts);
  return place / kCacheLineShorts * line_size_ +
         index(dense_ ? 2 * lane : line_position(lane, width_));
}

void FilterLines::clearing(const Centers& centers, int center) {
  const Column column = this->column(center);
  centers.sums().each_frequent(center, [&](std::int32_t f, std::int64_t) { column.set(f, 0); });
}

void FilterLines::placed(const Centers& centers, int center) {
  find_largest(centers, center);
  if (fit(centers, center)) write_all(centers, center);
}

void FilterLines::moved(const Centers& centers, const SumChanges& changes, int n_threads) {
  parallel_each(n_centers_, n_threads, [&](int, int center) {
    if (centers.last_move(center).moved()) follow(centers, changes[index(center)], center);
  });
  arrange(centers, n_threads);
}

void FilterLines::follow(const Centers& centers, const SumChange& change, int center) {
  const std::int64_t* sums = centers.sums().frequent(center);
  const auto* first = change.features.data();
  const auto* last = std::lower_bound(first, first + change.size(), centers.n_frequent());
  std::int64_t& largest = largest_[index(center)];
  if (centers.last_move(center).kind == CenterMove::Kind::replaced) largest = 0;
  for (const auto* feature = first; feature != last; ++feature) {
    largest = std::max(largest, std::abs(sums[*feature]));
  }
  fit(centers, center);
  const Column column = this->column(center);
  for (const auto* feature = first; feature != last; ++feature) {
    column.set(*feature, sums[*feature]);
  }
}

void FilterLines::find_largest(const Centers& centers, int center) {
  std::int64_t largest = 0;
  centers.sums().each_frequent(
      center, [&](std::int32_t, std::int64_t sum) { largest = std::max(largest, std::abs(sum)); });
  largest_[index(center)] = largest;
}

void FilterLines::write_all(const Centers& centers, int center) {
  const Column column = this->column(center);
  centers.sums().each_frequent(center,
                               [&](std::int32_t f, std::int64_t sum) { column.set(f, sum); });
}

// Takes the scale of a center. Where the center would be too long or too short with its multiplier,
// it gets another and all its numbers are written. Whether it keeps its multiplier.
bool FilterLines::fit(const Centers& centers, int center) {
  const double scale = centers.scale(center);
  if (keep(center, scale)) return true;
  // Where the largest number makes the center shorter, it should be no more than it is.
  if (room_for(center, scale) < longest_) find_largest(centers, center);
  renew(center, scale);
  write_all(centers, center);
  return false;
}

bool FilterLines::keep(int center, double scale) {
  const double length = multiplier_[index(center)] / scale;
  const double room = room_for(center, scale);
  if (!(length <= room && length >= 0.7 * std::max(room, kLargest))) return false;
  set_length(center, scale, length);
  return true;
}

void FilterLines::renew(int center, double scale) {
  const double length = 0.92 * room_for(center, scale);
  multiplier_[index(center)] = length * scale;
  set_length(center, scale, length);
}

// How long a center of this scale may be.
double FilterLines::room_for(int center, double scale) const {
  return std::min(longest_, kLargest / (static_cast<double>(largest_[index(center)]) * scale));
}

void FilterLines::set_length(int center, double scale, double length) {
  length_[index(center)] = length;
  factor_[index(places_.of(center))] =
      static_cast<float>(kCosineUnits * scale / (kUnitRow * multiplier_[index(center)]));
}

// Has the centers that move most side by side (places.hpp). Only where each center has a bound of
// its own: the bound of a group would have to become the largest of the bounds of all centers that
// come into the group.
void FilterLines::arrange(const Centers& centers, int n_threads) {
  if (dense_ || count_ == 1) return;
  if (LineGroups(n_centers_, false).size() > 1) return;
  if (!by_movement_.take(centers.last_move())) return;
  arrange(places_.in_order(by_movement_.centers()), n_threads);
}

// Gives the centers other places, in lines for sparse rows.
void FilterLines::arrange(const Places& places, int n_threads) {
  auto shifts = places_.shifts_to(places);
  std::vector<float> factors(shifts.size());
  take_shifts(shifts, factor_.data(), factors.data());
  for (Places::Shift& shift : shifts) shift = {slot(shift.from), slot(shift.to)};
  const auto n_features = static_cast<std::int64_t>(line_size_) / width_;
  parallel_chunks(n_features, 1024, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    std::vector<std::int16_t> numbers(shifts.size());
    for (std::int64_t f = begin; f < end; ++f) {
      take_shifts(shifts, lanes_.data() + f * width_, numbers.data());
    }
  });
  places_ = places;
}

}  // namespace arcmeans
