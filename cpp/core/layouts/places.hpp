// The place of each center in the filter lines: a permutation of the centers. Filter line l holds
// the places from 32·l on.
//
// The bounds of a row fail first for the centers that move most. If those centers stand side by
// side in few filter lines, a row visits fewer lines: a fifth less on arXiv at k = 100.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "core/centers/center_move.hpp"
#include "core/support/index.hpp"
#include "core/support/simd.hpp"

namespace arcmeans {

class Places {
 public:
  explicit Places(int n_centers) : of_(index(n_centers)) {
    std::iota(of_.begin(), of_.end(), 0);
    centers_ = of_;
  }

  // The places with these centers line by line; a center that stays in its line stays in its place.
  Places in_order(const std::vector<int>& centers) const {
    Places places(*this);
    std::vector<int> come;
    for (int first = 0; first < size(); first += kCacheLineShorts) {
      const int end = std::min(first + kCacheLineShorts, size());
      std::vector<bool> stays(kCacheLineShorts);
      come.clear();
      for (int rank = first; rank < end; ++rank) {
        const int center = centers[index(rank)];
        const int place = of(center);
        if (place >= first && place < end) {
          stays[index(place - first)] = true;
        } else {
          come.push_back(center);
        }
      }
      for (int place = first; !come.empty(); ++place) {
        if (stays[index(place - first)]) continue;
        places.set(come.back(), place);
        come.pop_back();
      }
    }
    return places;
  }

  int size() const { return static_cast<int>(centers_.size()); }
  const std::vector<int>& of_all() const { return of_; }
  int of(int center) const { return of_[index(center)]; }
  int center(int place) const { return centers_[index(place)]; }

  // For each center that has another place in `there`: its place here and its place there.
  struct Shift {
    std::size_t from, to;
  };
  std::vector<Shift> shifts_to(const Places& there) const {
    std::vector<Shift> shifts;
    for (std::size_t place = 0; place < centers_.size(); ++place) {
      const auto from = index(of(there.center(static_cast<int>(place))));
      if (from != place) shifts.push_back({from, place});
    }
    return shifts;
  }

 private:
  void set(int center, int place) {
    centers_[index(place)] = center;
    of_[index(center)] = place;
  }

  std::vector<int> centers_;
  std::vector<int> of_;
};

// Says when centers change places, and in which order they stand then. The bounds of all rows have
// to follow, so centers change places after 4 moves, 6, 9, 13 and so on.
class OrderByMovement {
 public:
  explicit OrderByMovement(int n_centers) : lately_(index(n_centers)) {}

  // Takes the next move into account. True if centers are to change places after it.
  bool due_after(const std::vector<CenterMove>& moves) {
    for (std::size_t j = 0; j < lately_.size(); ++j) {
      lately_[j] = kKept * lately_[j] + moves[j].chord;
    }
    if (++n_moves_ < next_) return false;
    next_ += next_ / 2;
    return true;
  }

  // The centers, those that moved most in the last moves first.
  std::vector<int> centers() const {
    std::vector<int> centers(lately_.size());
    std::iota(centers.begin(), centers.end(), 0);
    std::stable_sort(centers.begin(), centers.end(),
                     [&](int a, int b) { return lately_[index(a)] > lately_[index(b)]; });
    return centers;
  }

 private:
  static constexpr double kKept = 0.3;  // of what counted before, at each move

  std::vector<double> lately_;
  int n_moves_ = 0;
  int next_ = 4;
};

// Shifts numbers that stand by place; `scratch` has room for one number a shift.
template <class Number>
void take_shifts(const std::vector<Places::Shift>& shifts, Number* numbers, Number* scratch) {
  for (std::size_t s = 0; s < shifts.size(); ++s) scratch[s] = numbers[shifts[s].from];
  for (std::size_t s = 0; s < shifts.size(); ++s) numbers[shifts[s].to] = scratch[s];
}

}  // namespace arcmeans
