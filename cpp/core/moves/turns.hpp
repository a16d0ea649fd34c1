// The last movement of every center as an angle, and what an algorithm keeps for a row where bounds
// are angles.
#pragma once

#include <cstdint>
#include <vector>

#include "core/bounds/angles.hpp"
#include "core/centers/centers.hpp"

namespace arcmeans {

// Beside labels (RowState). What an algorithm does not keep is null.
struct AngleState {
  double* own = nullptr;            // ≥ the angle to the own center
  double* other = nullptr;          // ≤ the angle to every other center
  float* groups = nullptr;          // ≤ that to those of each group, [row][group]; angles.hpp, kept
  std::int32_t* seconds = nullptr;  // the center that was the second nearest; −1: not known
};

class Turns {
 public:
  explicit Turns(const Centers& centers) : turn_(static_cast<std::size_t>(centers.size())) {
    for (int j = 0; j < centers.size(); ++j) {
      const double by = turn(centers.movement(j));
      turn_[static_cast<std::size_t>(j)] = by;
      if (by > largest_) {
        second_ = largest_;
        largest_ = by;
        which_ = j;
      } else if (by > second_) {
        second_ = by;
      }
    }
  }
  double operator[](int j) const { return turn_[static_cast<std::size_t>(j)]; }
  double largest() const { return largest_; }
  double largest_but(int a) const { return a == which_ ? second_ : largest_; }

 private:
  std::vector<double> turn_;
  double largest_ = 0.0;
  double second_ = 0.0;
  int which_ = -1;
};

}  // namespace arcmeans
