// Where each center stands in the lines of the filter: a permutation of the centers. Line l holds
// the places from 32·l on.
//
// The bounds of a row fail first for the centers that move most. Side by side in few lines they
// leave few lines to visit: a fifth less of them on arXiv at k = 100.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "core/centers/center_move.hpp"
#include "core/support/simd.hpp"

namespace arcmeans {

class Places {
 public:
  explicit Places(int n_centers) : of_(static_cast<std::size_t>(n_centers)) {
    std::iota(of_.begin(), of_.end(), 0);
    centers_ = of_;
  }

  // The centers in this order, line by line: those that stay in their line stay in their place.
  Places in_order(const std::vector<int>& centers) const {
    Places places(*this);
    std::vector<int> come;
    for (int first = 0; first < size(); first += kLineShorts) {
      const int end = std::min(first + kLineShorts, size());
      std::vector<bool> stays(kLineShorts);
      come.clear();
      for (int rank = first; rank < end; ++rank) {
        const int center = centers[static_cast<std::size_t>(rank)];
        const int place = of(center);
        if (place >= first && place < end) {
          stays[static_cast<std::size_t>(place - first)] = true;
        } else {
          come.push_back(center);
        }
      }
      for (int place = first; !come.empty(); ++place) {
        if (stays[static_cast<std::size_t>(place - first)]) continue;
        places.set(come.back(), place);
        come.pop_back();
      }
    }
    return places;
  }

  int size() const { return static_cast<int>(centers_.size()); }
  const std::vector<int>& of_all() const { return of_; }
  int of(int center) const { return of_[static_cast<std::size_t>(center)]; }
  int center(int place) const { return centers_[static_cast<std::size_t>(place)]; }

  // Of each center that has another place there: where it is here and there.
  struct Step {
    std::size_t from, to;
  };
  std::vector<Step> steps_to(const Places& there) const {
    std::vector<Step> steps;
    for (std::size_t place = 0; place < centers_.size(); ++place) {
      const auto from = static_cast<std::size_t>(of(there.center(static_cast<int>(place))));
      if (from != place) steps.push_back({from, place});
    }
    return steps;
  }

 private:
  void set(int center, int place) {
    centers_[static_cast<std::size_t>(place)] = center;
    of_[static_cast<std::size_t>(center)] = place;
  }

  std::vector<int> centers_;
  std::vector<int> of_;
};

// When centers change places, and in which order. Bounds have to follow, all of them, so it is done
// after 4 moves, 6, 9, 13 and so on.
class OrderByMovement {
 public:
  explicit OrderByMovement(int n_centers) : lately_(static_cast<std::size_t>(n_centers)) {}

  // Takes the next move. True where it is time for another order.
  bool take(const std::vector<CenterMove>& moves) {
    for (std::size_t j = 0; j < lately_.size(); ++j) {
      lately_[j] = kKept * lately_[j] + moves[j].chord;
    }
    if (++n_moves_ < next_) return false;
    next_ += next_ / 2;
    return true;
  }

  // Those that have moved most lately first.
  std::vector<int> centers() const {
    std::vector<int> centers(lately_.size());
    std::iota(centers.begin(), centers.end(), 0);
    std::stable_sort(centers.begin(), centers.end(), [&](int a, int b) {
      return lately_[static_cast<std::size_t>(a)] > lately_[static_cast<std::size_t>(b)];
    });
    return centers;
  }

 private:
  static constexpr double kKept = 0.3;  // of the moves before, at each

  std::vector<double> lately_;
  int n_moves_ = 0;
  int next_ = 4;
};

// Takes numbers along; `scratch` has room for as many as there are steps.
template <class Number>
void take_steps(const std::vector<Places::Step>& steps, Number* numbers, Number* scratch) {
  for (std::size_t s = 0; s < steps.size(); ++s) scratch[s] = numbers[steps[s].from];
  for (std::size_t s = 0; s < steps.size(); ++s) numbers[steps[s].to] = scratch[s];
}

}  // namespace arcmeans
