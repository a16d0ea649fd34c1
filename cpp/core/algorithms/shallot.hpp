// `shallot` on the sphere (after Borgelt, "Even Faster Exact k-Means Clustering", IDA 2020):
// exponion with the center kept that was the second nearest.
//
// Where the bounds and the test by the nearest center fail, that center is computed next. The
// search goes on around the better of the two, and only as far as matters: a center nearer to the
// row than the second best so far, at angle o, is within own(i) + o of the best. Each annulus that
// brings a nearer second makes what is left of the search smaller.
// Memory: 28 bytes a row, and the lists of neighbors.
#pragma once

#include "core/algorithms/exponion.hpp"

namespace arcmeans {

template <class RowsOf>
class ShallotVisitor : public BallVisitor<ShallotVisitor<RowsOf>, RowsOf> {
  using Base = BallVisitor<ShallotVisitor<RowsOf>, RowsOf>;

 public:
  using Base::Base;

  int search(std::int64_t i, const typename RowsOf::Row& row, int label) {
    const CenterNeighbors& neighbors = this->neighbors_;
    auto& ball = this->ball_;
    std::int32_t& second = this->angles_.seconds[i];
    if (neighbors.count() == 0) {
      --this->work_.similarities;  // that to the own center, counted when it was made tight
      return this->visit_all(i, row);
    }
    if (second < 0 || second == label) second = neighbors.of(label)[0];
    ball.meet(second, this->similarity(row, second));

    const int around = ball.best();
    const double own = ball.own();
    int end = 0;
    double rest = neighbors.beyond_first(around, 0) - own;  // ≤ the angle to all not met
    while (rest < ball.other() || rest <= ball.limit()) {
      if (end == neighbors.count()) {
        this->work_.similarities -= 2;  // counted above
        second = -1;
        return this->visit_all(i, row);
      }
      const int next = std::min(neighbors.count(), CenterNeighbors::end_of(end));
      ball.visit(around, end, next);
      end = next;
      rest = neighbors.beyond_first(around, end) - own;
    }
    second = ball.second();
    return this->keep(i);
  }
};

template <class RowsOf>
Work shallot(const RowsOf& rows, const Centers& centers, const RowState& state,
             const AngleState& angles, const PassOptions& options, CenterNeighbors& neighbors) {
  const TurnAngles turns(centers);
  const std::int64_t center_similarities =
      update_lists(rows, centers, state, turns, options.n_threads, neighbors);
  Work work = pass_over_rows(rows, state, options, [&](Work& mine) {
    return ShallotVisitor<RowsOf>(rows, centers, state, angles, neighbors, turns, options, mine);
  });
  work.center_similarities = center_similarities;
  return work;
}

}  // namespace arcmeans
