// The slot of each center in the filter lines: a permutation of the centers. Filter line l holds
// the slots from 32·l on.
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

class Slots {
 public:
  explicit Slots(int n_centers) : of_(index(n_centers)) {
    std::iota(of_.begin(), of_.end(), 0);
    centers_ = of_;
  }

  // The slots with these centers line by line; a center that stays in its line stays in its slot.
  Slots in_order(const std::vector<int>& centers) const {
    Slots slots(*this);
    std::vector<int> come;
    for (int first = 0; first < size(); first += kCacheLineShorts) {
      const int end = std::min(first + kCacheLineShorts, size());
      std::vector<bool> stays(kCacheLineShorts);
      come.clear();
      for (int rank = first; rank < end; ++rank) {
        const int center = centers[index(rank)];
        const int slot = of(center);
        if (slot >= first && slot < end) {
          stays[index(slot - first)] = true;
        } else {
          come.push_back(center);
        }
      }
      for (int slot = first; !come.empty(); ++slot) {
        if (stays[index(slot - first)]) continue;
        slots.set(come.back(), slot);
        come.pop_back();
      }
    }
    return slots;
  }

  int size() const { return static_cast<int>(centers_.size()); }
  const std::vector<int>& of_all() const { return of_; }
  int of(int center) const { return of_[index(center)]; }
  int center(int slot) const { return centers_[index(slot)]; }

  // For each center that has another slot in `there`: its slot here and its slot there.
  struct Shift {
    std::size_t from, to;
  };
  std::vector<Shift> shifts_to(const Slots& there) const {
    std::vector<Shift> shifts;
    for (std::size_t slot = 0; slot < centers_.size(); ++slot) {
      const auto from = index(of(there.center(static_cast<int>(slot))));
      if (from != slot) shifts.push_back({from, slot});
    }
    return shifts;
  }

 private:
  void set(int center, int slot) {
    centers_[index(slot)] = center;
    of_[index(center)] = slot;
  }

  std::vector<int> centers_;
  std::vector<int> of_;
};

// Says when centers change slots, and in which order they stand then. The bounds of all rows have
// to follow, so centers change slots after 4 moves, 6, 9, 13 and so on.
class OrderByMovement {
 public:
  explicit OrderByMovement(int n_centers) : lately_(index(n_centers)) {}

  // Takes the next move into account. True if centers are to change slots after it.
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

// Shifts numbers that stand by slot; `scratch` has room for one number a shift.
template <class Number>
void take_shifts(const std::vector<Slots::Shift>& shifts, Number* numbers, Number* scratch) {
  for (std::size_t s = 0; s < shifts.size(); ++s) scratch[s] = numbers[shifts[s].from];
  for (std::size_t s = 0; s < shifts.size(); ++s) numbers[shifts[s].to] = scratch[s];
}

}  // namespace arcmeans
