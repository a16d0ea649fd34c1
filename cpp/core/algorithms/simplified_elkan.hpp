// `simplified-elkan` (paper, "Spherical Simplified Elkan's Algorithm").
//
// Bounds: l(i) on the own center and u(i,j) on each center, moved by Eqs. (6) and (7) before each
// pass. A center with u(i,j) < l(i) cannot have become the best: it is skipped. Where that test
// fails, l(i) is first made tight, and only if it still fails the similarity is computed.
// Memory: 8 + 4·k bytes a row.
#pragma once

#include "core/algorithms/center_tests.hpp"
#include "core/algorithms/row_loop.hpp"
#include "core/moves/turns.hpp"

namespace arcmeans {

struct ElkanState : Labels {
  double* lower;  // l(i) ≤ cos to the own center
  float* uppers;  // u(i,j) ≥ cos to center j, [row][center]
};

// `Tests` may keep a row at a glance (s(a) ≤ l) or exclude a center (cc(a,j) ≤ l).
template <class RowsOf, class Tests>
class ElkanVisitor : public RowVisitor<ElkanVisitor<RowsOf, Tests>, RowsOf, ElkanState> {
  using Base = RowVisitor<ElkanVisitor<RowsOf, Tests>, RowsOf, ElkanState>;
  using typename Base::Row;
  using typename Base::Value;

 public:
  ElkanVisitor(const RowsOf& rows, const Centers& centers, const Panels& panels,
               const ElkanState& state, const Tests& tests, Work& work)
      : Base(rows, centers, panels, state, work), tests_(tests), turns_(centers) {}

  int label(std::int64_t i, const Row& row, int label) {
    const int k = this->centers_.size();
    float* upper = this->state_.uppers + i * k;
    if (label < 0) return first_visit(i, row, upper);

    const double error = reference_error<Value>(row.size);
    double& lower = this->state_.lower[i];
    lower = lower_after(lower, turns_[label]);                        // Eq. (6)
    upper_after(upper, k, turns_.cos(), turns_.sin(), turns_.pad());  // Eq. (7)
    if (tests_.keeps(label, lower - 2.0 * error)) {                   // s(a(i)) ≤ l(i)
      ++this->work_.skipped_by_centers;
      return label;
    }
    if (all_below(upper, k, label, lower - 2.0 * error)) {  // u(i,j) ≤ l(i) for all j
      ++this->work_.skipped_by_bounds;
      return label;
    }
    bool tight = false;
    double own = 0.0;
    for (int j = 0; j < k; ++j) {
      if (j == label || excluded(label, j, upper[j], lower - 2.0 * error)) continue;
      if (!tight) {  // l(i) ← ⟨x(i), c(a(i))⟩, and the tests once more
        own = this->similarity(row, label);
        lower = std::max(-1.0, own - error);
        tight = true;
        if (excluded(label, j, upper[j], lower - 2.0 * error)) continue;
      }
      const double other = this->similarity(row, j);  // u(i,j) ← ⟨x(i), c(j)⟩
      upper[j] = rounded_up(other + error);
      if (other > own || (other == own && j < label)) {
        upper[label] = rounded_up(own + error);
        label = j;
        own = other;
        lower = std::max(-1.0, own - error);
      }
    }
    return label;
  }

 private:
  int first_visit(std::int64_t i, const Row& row, float* upper) {
    const Best best = this->best_of_all(row);
    const double error = best.error + reference_error<Value>(row.size);
    for (int j = 0; j < this->centers_.size(); ++j) {
      upper[j] = rounded_up(static_cast<double>(this->similarities()[j]) + error);
    }
    this->state_.lower[i] = std::max(-1.0, best.similarity - error);
    return best.center;
  }

  static bool all_below(const float* upper, int k, int label, double limit) {
    const auto below = static_cast<float>(limit - 0x1p-24);  // rounded down
    int reached = 0;
    for (int j = 0; j < k; ++j) reached += upper[j] >= below;
    return reached == (upper[label] >= below);
  }

  bool excluded(int label, int j, float upper, double limit) const {
    return static_cast<double>(upper) < limit || tests_.excludes(label, j, limit);
  }

  const Tests& tests_;
  Turns turns_;
};

// What both algorithms do beside their passes.
class ElkanBounds : public Algorithm {
 public:
  ElkanBounds(const Problem& problem, const RowState& state)
      : n_rows_(problem.n_rows),
        n_clusters_(problem.n_clusters),
        lower_(static_cast<double*>(state[0])),
        uppers_(static_cast<float*>(state[1])) {}

  static std::vector<StateArray> row_state(const Problem& problem) {
    return {{"lower", NumberType::float64, 1, -1.0},
            {"uppers", NumberType::float32, problem.n_clusters, 1.0}};
  }

  void adopt(const std::int32_t* labels, const double* lower, const double* upper) override {
    for (std::int64_t i = 0; i < n_rows_; ++i) {
      lower_[i] = lower[i];
      float* uppers = uppers_ + i * n_clusters_;
      std::fill_n(uppers, n_clusters_, rounded_up(upper[i]));
      if (labels[i] >= 0) uppers[labels[i]] = 1.0F;
    }
  }
  // u(i,j) says nothing of labels.
  void forget(const std::int64_t* rows, std::int64_t n) override {
    for (std::int64_t at = 0; at < n; ++at) lower_[rows[at]] = -1.0;
  }

 protected:
  ElkanState with(const Labels& labels) const { return {labels, lower_, uppers_}; }

 private:
  std::int64_t n_rows_;
  int n_clusters_;
  double* lower_;
  float* uppers_;
};

}  // namespace arcmeans
