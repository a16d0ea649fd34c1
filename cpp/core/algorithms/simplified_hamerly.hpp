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

struct HamerlyState : Labels {
  double* lower;  // l(i) ≤ cos to the own center
  double* upper;  // u(i) ≥ cos to every other center
};

// `Tests` may keep a row at a glance (s(a) ≤ l).
template <class RowsOf, class Tests>
class HamerlyVisitor : public RowVisitor<HamerlyVisitor<RowsOf, Tests>, RowsOf, HamerlyState> {
  using Base = RowVisitor<HamerlyVisitor<RowsOf, Tests>, RowsOf, HamerlyState>;
  using typename Base::Row;
  using typename Base::Value;

 public:
  HamerlyVisitor(const RowsOf& rows, const Centers& centers, const Panels& panels,
                 const HamerlyState& state, const Tests& tests, HamerlyUpdate update, Work& work)
      : Base(rows, centers, panels, state, work), tests_(tests), update_(update), turns_(centers) {}

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

// What both algorithms do beside their passes.
class HamerlyBounds : public Algorithm {
 public:
  HamerlyBounds(const Problem& problem, const RowState& state)
      : n_rows_(problem.n_rows),
        update_(problem.hamerly_update),
        lower_(static_cast<double*>(state[0])),
        upper_(static_cast<double*>(state[1])) {}

  static std::vector<StateArray> row_state(const Problem&) {
    return {{"lower", NumberType::float64, 1, -1.0}, {"upper", NumberType::float64, 1, 1.0}};
  }

  void adopt(const std::int32_t*, const double* lower, const double* upper) override {
    std::copy_n(lower, n_rows_, lower_);
    std::copy_n(upper, n_rows_, upper_);
  }
  void forget(const std::int64_t* rows, std::int64_t n) override {
    for (std::int64_t at = 0; at < n; ++at) {
      lower_[rows[at]] = -1.0;
      upper_[rows[at]] = 1.0;
    }
  }

 protected:
  HamerlyState with(const Labels& labels) const { return {labels, lower_, upper_}; }
  HamerlyUpdate update() const { return update_; }

 private:
  std::int64_t n_rows_;
  HamerlyUpdate update_;
  double* lower_;
  double* upper_;
};

}  // namespace arcmeans
