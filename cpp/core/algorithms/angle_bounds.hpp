// What yinyang, exponion and shallot do with their bounds beside their passes: both bounds of a row
// are angles, own(i) on its own center and other(i) on all others.
#pragma once

#include "core/algorithms/algorithm.hpp"
#include "core/moves/turns.hpp"

namespace arcmeans {

// What is kept of each row beside its label. What an algorithm does not keep is null.
struct AngleState {
  double* own = nullptr;            // ≥ the angle to the own center
  double* other = nullptr;          // ≤ the angle to every other center
  float* groups = nullptr;          // bounds on each group as yinyang stores them, [row][group]
  std::int32_t* seconds = nullptr;  // the center that was the second nearest; −1: not known
};

class AngleBounds : public Algorithm {
 public:
  AngleBounds(const Problem& problem, const RowState& state)
      : n_rows_(problem.n_rows),
        angles_{static_cast<double*>(state[0]), static_cast<double*>(state[1])} {}

  static std::vector<StateArray> row_state(const Problem&) {
    return {{"own", NumberType::float64, 1, kPi}, {"other", NumberType::float64, 1, 0.0}};
  }

  void adopt(const std::int32_t*, const double* lower, const double* upper) override {
    for (std::int64_t i = 0; i < n_rows_; ++i) {
      angles_.own[i] = angle_at_most(lower[i]);
      angles_.other[i] = angle_at_least(upper[i]);
    }
  }
  void forget(const std::int64_t* rows, std::int64_t n) override {
    for (std::int64_t at = 0; at < n; ++at) {
      angles_.own[rows[at]] = kPi;
      angles_.other[rows[at]] = 0.0;
    }
  }

 protected:
  std::int64_t n_rows_;
  AngleState angles_;
};

}  // namespace arcmeans
