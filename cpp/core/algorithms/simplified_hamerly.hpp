// `simplified-hamerly` (paper, "Spherical Simplified Hamerly's Algorithm").
//
// Bounds: l(i) on the own center and one u(i) on all the others, moved by Eq. (6) and by the
// largest turn among the others. A row with u(i) < l(i) keeps its label. Where that fails,
// l(i) is made tight; where it still fails, all similarities of the row are computed, by one visit
// to the panels. Memory: 16 bytes a row.
#pragma once

#include "core/algorithms/center_tests.hpp"
#include "core/algorithms/row_loop.hpp"
#include "core/moves/turns.hpp"

namespace arcmeans {

// The extreme turns among the centers other than a: p′(a) and p″(a) of the paper.
class ExtremeTurns {
 public:
  explicit ExtremeTurns(const Turns& turns) {
    for (int j = 0; j < turns.size(); ++j) {
      far_.meet(j, turns[j], [](Turn a, Turn b) { return a.cos < b.cos; });
      near_.meet(j, turns[j], [](Turn a, Turn b) { return a.cos > b.cos; });
    }
  }
  Turn largest_but(int a) const { return far_.but(a); }
  Turn smallest_but(int a) const { return near_.but(a); }

 private:
  // The first two centers in an order of their turns. A turn of zero where there is none.
  struct Two {
    int first = -1, second = -1;
    Turn first_turn, second_turn;

    template <class Before>
    void meet(int j, Turn turn, const Before& before) {
      if (first < 0 || before(turn, first_turn)) {
        second = first;
        second_turn = first_turn;
        first = j;
        first_turn = turn;
      } else if (second < 0 || before(turn, second_turn)) {
        second = j;
        second_turn = turn;
      }
    }
    Turn but(int a) const { return first == a ? second_turn : first_turn; }
  };
  Two far_, near_;
};

// `Tests` may keep a row at a glance (s(a) ≤ l).
template <class RowsOf, class Tests>
class HamerlyVisitor : public RowVisitor<HamerlyVisitor<RowsOf, Tests>, RowsOf> {
  using Base = RowVisitor<HamerlyVisitor<RowsOf, Tests>, RowsOf>;
  using typename Base::Row;
  using typename Base::Value;

 public:
  HamerlyVisitor(const RowsOf& rows, const Centers& centers, const RowState& state,
                 const Tests& tests, HamerlyUpdate update, Work& work)
      : Base(rows, centers, state, work), tests_(tests), update_(update), turns_(centers) {}

  int label(std::int64_t i, const Row& row, int label) {
    if (label < 0) return visit_all(i, row);
    const double error = reference_error<Value>(row.size);
    double& lower = this->state_.lower[i];
    double& upper = this->state_.upper[i];
    lower = lower_after(lower, turns_[label]);  // Eq. (6)
    upper = upper_after(upper, extremes_.largest_but(label), extremes_.smallest_but(label),
                        update_);                    // Eq. (7) with p′, or (8), (9)
    if (tests_.keeps(label, lower - 2.0 * error)) {  // l(i) ≥ s(a(i))
      ++this->work_.skipped_by_centers;
      return label;
    }
    if (upper < lower - 2.0 * error) {  // l(i) ≥ u(i)
      ++this->work_.skipped_by_bounds;
      return label;
    }
    lower = std::max(-1.0, this->similarity(row, label) - error);  // l(i) made tight
    if (upper < lower - 2.0 * error || tests_.keeps(label, lower - 2.0 * error)) return label;
    return visit_others(i, row);
  }

 private:
  int visit_all(std::int64_t i, const Row& row) {
    const Best best = this->best_of_all(row);
    const double error = best.error + reference_error<Value>(row.size);
    this->state_.lower[i] = std::max(-1.0, best.similarity - error);
    this->state_.upper[i] = std::clamp(best.second + error, -1.0, 1.0);
    return best.center;
  }

  // All remaining similarities: that to the own center was counted when l(i) was made tight.
  int visit_others(std::int64_t i, const Row& row) {
    --this->work_.similarities;
    return visit_all(i, row);
  }

  const Tests& tests_;
  HamerlyUpdate update_;
  Turns turns_;
  ExtremeTurns extremes_{turns_};
};

template <class RowsOf>
Work simplified_hamerly(const RowsOf& rows, const Centers& centers, const RowState& state,
                        const PassOptions& options, HamerlyUpdate update) {
  const NoCenterTests tests;
  return pass_over_rows(rows, state, options, [&](Work& work) {
    return HamerlyVisitor<RowsOf, NoCenterTests>(rows, centers, state, tests, update, work);
  });
}

}  // namespace arcmeans
