// What the passes of exponion and shallot share: the first visit, which is lloyd's; the tests by
// bounds and by the nearest other center; the visit to all centers; and the bounds that come of a
// search in a ball around a center (ball.hpp). Their visitors derive from BallVisitor and define
// `int search(i, row, label)`, for the rows that fail all tests.
#pragma once

#include "core/algorithms/angle_bounds.hpp"
#include "core/algorithms/ball.hpp"
#include "core/algorithms/lloyd.hpp"

namespace arcmeans {

template <class Visitor, class RowsOf>
class BallVisitor : public RowVisitor<Visitor, RowsOf> {
  using Base = RowVisitor<Visitor, RowsOf>;

 public:
  BallVisitor(const RowsOf& rows, const Centers& centers, const Panels& panels, const Labels& state,
              const AngleState& angles, const CenterNeighbors& neighbors, const TurnAngles& turns,
              const PassOptions& options, Work& work)
      : Base(rows, centers, panels, state, work),
        angles_(angles),
        neighbors_(neighbors),
        turns_(turns),
        ball_(centers, neighbors, work),
        lloyd_(rows, centers, panels, state, options, work) {}

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

  // Stores what the ball found. Every center that was not met has to be farther than the second.
  int store_ball(std::int64_t i) {
    this->work_.exact_decisions += ball_.near_tie();
    angles_.own[i] = ball_.own();
    angles_.other[i] = ball_.other();
    return ball_.best();
  }

  const AngleState& angles_;
  const CenterNeighbors& neighbors_;
  const TurnAngles& turns_;
  Ball<RowsOf> ball_;

 private:
  // The label and own(i). other(i) stays 0: nothing is known yet.
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

// Brings the lists of neighbors up to date. The first pass, without labels, needs none.
template <class RowsOf>
std::int64_t update_lists(const RowsOf& rows, const Centers& centers, const Panels& panels,
                          const Labels& state, const TurnAngles& turns, int n_threads,
                          CenterNeighbors& neighbors) {
  std::int64_t i = 0;
  while (i < rows.n_rows && rows.zero[i]) ++i;
  if (i == rows.n_rows || state.labels[i] < 0) return 0;
  return neighbors.update(centers, panels, turns, n_threads);
}

// A pass of exponion or shallot.
template <template <class> class VisitorOf>
Work pass_by_balls(const Rows& rows, Centers& centers, const Labels& labels,
                   const AngleState& angles, const PassOptions& options,
                   CenterNeighbors& neighbors) {
  const Panels& panels = Panels::of(centers);
  const TurnAngles turns(centers);
  return with_row_type(rows, [&](const auto& typed_rows) {
    using RowsOf = std::decay_t<decltype(typed_rows)>;
    const std::int64_t center_similarities =
        update_lists(typed_rows, centers, panels, labels, turns, options.n_threads, neighbors);
    Work work = pass_over_rows(typed_rows, labels, options, [&](Work& mine) {
      return VisitorOf<RowsOf>(typed_rows, centers, panels, labels, angles, neighbors, turns,
                               options, mine);
    });
    work.center_similarities = center_similarities;
    return work;
  });
}

// Whether exponion or shallot may win: up to 16 features, and from 500 centers on.
inline bool balls_pay(const Problem& problem) {
  return !problem.sparse && problem.n_features <= 16 && problem.n_clusters >= 500;
}
// They are slower than the sieve where a ball has more centers than this on average.
constexpr double kLargestBall = 110.0;

}  // namespace arcmeans
