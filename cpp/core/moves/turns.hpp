// By how much every center turned in the last move: as cosines and sines for bounds on cosines, and
// as angles for bounds that are angles.
#pragma once

#include <cstdint>
#include <vector>

#include "core/bounds/angles.hpp"
#include "core/centers/centers.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

class Turns {
 public:
  explicit Turns(const Centers& centers) {
    for (const CenterMove& move : centers.last_move()) {
      const Turn turn = move.turn();
      cos_.push_back(turn.cos);
      sin_.push_back(turn.sin);
      pad_.push_back(turn.pad);
    }
  }
  int size() const { return static_cast<int>(cos_.size()); }
  Turn operator[](int j) const { return {cos_[index(j)], sin_[index(j)], pad_[index(j)]}; }
  // One number for each center.
  const double* cos() const { return cos_.data(); }
  const double* sin() const { return sin_.data(); }
  const double* pad() const { return pad_.data(); }

 private:
  std::vector<double> cos_, sin_, pad_;
};

class TurnAngles {
 public:
  explicit TurnAngles(const Centers& centers) : angles_(index(centers.size())) {
    for (int j = 0; j < centers.size(); ++j) {
      const double angle = angle_of(centers.last_move(j).turn());
      angles_[index(j)] = angle;
      if (angle > largest_) {
        second_ = largest_;
        largest_ = angle;
        largest_center_ = j;
      } else if (angle > second_) {
        second_ = angle;
      }
    }
  }
  double operator[](int j) const { return angles_[index(j)]; }
  double largest() const { return largest_; }
  double largest_but(int a) const { return a == largest_center_ ? second_ : largest_; }

 private:
  std::vector<double> angles_;
  double largest_ = 0.0;
  double second_ = 0.0;
  int largest_center_ = -1;
};

}  // namespace arcmeans
