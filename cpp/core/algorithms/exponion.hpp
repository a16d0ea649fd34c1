// `exponion` on the sphere (after Newling and Fleuret, "Fast k-means with accurate bounds", ICML
// 2016).
//
// Bounds, as angles: own(i) on the own center a and other(i) on all others. A row with other(i)
// beyond own(i), or with the nearest center to a beyond twice own(i), keeps its label. Where both
// fail, own(i) is made tight; where they still do, the two best centers are within 2·own(i) + s of
// a, with s the angle from a to the center next to it: a itself is at own(i), that one at
// own(i) + s or nearer, and whatever is as near as that to the row is within 2·own(i) + s of a. So
// the neighbors of a are visited, annulus by annulus, until one ends beyond (neighbors.hpp); only
// where the list is too short are all centers.
// Memory: 24 bytes a row, and the lists.
#pragma once

#include "core/algorithms/ball.hpp"
#include "core/algorithms/lloyd.hpp"

namespace arcmeans {

// What exponion and shallot share: the first visit, which is lloyd's, the tests, and the visit to
// all centers.
template <class Visitor, class RowsOf>
class BallVisitor : public RowVisitor<Visitor, RowsOf> {
  using Base = RowVisitor<Visitor, RowsOf>;

 public:
  BallVisitor(const RowsOf& rows, const Centers& centers, const RowState& state,
              const AngleState& angles, const CenterNeighbors& neighbors, const TurnAngles& turns,
              const PassOptions& options, Work& work)
      : Base(rows, centers, state, work),
        angles_(angles),
        neighbors_(neighbors),
        turns_(turns),
        ball_(centers, neighbors, work),
        lloyd_(rows, centers, state, options, work) {}

  void visit(std::int64_t begin, std::int64_t end) {
    std::int64_t i = begin;
    while (i < end && this->rows_.zero[i]) ++i;
    if (i < end && this->state_.labels[i] < 0) {
      first_visit(i, end);
      return;
    }
    constexpr std::int64_t kAhead = 6;
    for (; i < end; ++i) {
      if (i + kAhead < end && this->state_.labels[i + kAhead] >= 0) {
        neighbors_.prefetch(this->state_.labels[i + kAhead]);
      }
      Base::visit(i, i + 1);
    }
  }

  int label(std::int64_t i, const typename Base::Row& row, int label) {
    const double error = reference_error<typename Base::Value>(row.size);
    double& own = angles_.own[i];
    double& other = angles_.other[i];
    own += turns_[label];                // Eq. (6), as an angle
    other -= turns_.largest_but(label);  // Eq. (7) with p′, as an angle
    if (const double limit = beyond(own, error); other > limit) {
      ++this->work_.skipped_by_bounds;
      return label;
    } else if (neighbors_.beyond_first(label, 0) - own > limit) {
      ++this->work_.skipped_by_centers;
      return label;
    }
    ball_.begin(row, label, this->similarity(row, label));
    own = ball_.own();
    if (other > ball_.limit() || neighbors_.beyond_first(label, 0) - own > ball_.limit()) {
      return label;
    }
    return static_cast<Visitor*>(this)->search(i, row, label);
  }

 protected:
  int visit_all(std::int64_t i, const typename Base::Row& row) {
    const Best best = this->best_of_all(row);
    const double error = best.error + reference_error<typename Base::Value>(row.size);
    angles_.own[i] = angle_at_most(best.similarity - error);
    angles_.other[i] = angle_at_least(best.second + error);
    return best.center;
  }

  // Keeps what the ball found: every center that was not met is farther than its second best.
  int keep(std::int64_t i) {
    this->work_.exact_decisions += ball_.contested();
    angles_.own[i] = ball_.own();
    angles_.other[i] = ball_.other();
    return ball_.best();
  }

  const AngleState& angles_;
  const CenterNeighbors& neighbors_;
  const TurnAngles& turns_;
  Ball<RowsOf> ball_;

 private:
  // The label, and how far away its center is; of the others nothing is known yet.
  void first_visit(std::int64_t begin, std::int64_t end) {
    lloyd_.visit(begin, end);
    for (std::int64_t i = begin; i < end; ++i) {
      if (this->rows_.zero[i]) continue;
      const auto row = this->rows_.row(i);
      const double similarity = this->centers_.similarity(row, this->state_.labels[i]);
      angles_.own[i] = angle_at_most(similarity - reference_error<typename Base::Value>(row.size));
    }
  }

  Lloyd<RowsOf> lloyd_;
};

template <class RowsOf>
class ExponionVisitor : public BallVisitor<ExponionVisitor<RowsOf>, RowsOf> {
  using Base = BallVisitor<ExponionVisitor<RowsOf>, RowsOf>;

 public:
  using Base::Base;

  int search(std::int64_t i, const typename RowsOf::Row& row, int label) {
    const CenterNeighbors& neighbors = this->neighbors_;
    const double own = this->ball_.own();
    const double radius =
        std::max(own + this->ball_.limit(), 2.0 * own + neighbors.nearest_at_most(label));
    int end = 0;
    while (end < neighbors.count() && neighbors.beyond_first(label, end) <= radius) {
      end = std::min(neighbors.count(), CenterNeighbors::end_of(end));
    }
    if (neighbors.beyond_first(label, end) <= radius) {
      --this->work_.similarities;  // that to the own center, counted when it was made tight
      return this->visit_all(i, row);
    }
    this->ball_.visit(label, 0, end);
    return this->keep(i);
  }
};

// The first pass needs no lists.
template <class RowsOf>
std::int64_t update_lists(const RowsOf& rows, const Centers& centers, const RowState& state,
                          const TurnAngles& turns, int n_threads, CenterNeighbors& neighbors) {
  std::int64_t i = 0;
  while (i < rows.n_rows && rows.zero[i]) ++i;
  if (i == rows.n_rows || state.labels[i] < 0) return 0;
  return neighbors.update(centers, turns, n_threads);
}

template <class RowsOf>
Work exponion(const RowsOf& rows, const Centers& centers, const RowState& state,
              const AngleState& angles, const PassOptions& options, CenterNeighbors& neighbors) {
  const TurnAngles turns(centers);
  const std::int64_t center_similarities =
      update_lists(rows, centers, state, turns, options.n_threads, neighbors);
  Work work = pass_over_rows(rows, state, options, [&](Work& mine) {
    return ExponionVisitor<RowsOf>(rows, centers, state, angles, neighbors, turns, options, mine);
  });
  work.center_similarities = center_similarities;
  return work;
}

}  // namespace arcmeans
