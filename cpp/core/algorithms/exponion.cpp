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
// Memory: 16 bytes a row, and the lists of neighbors.
#include "core/algorithms/ball_visitor.hpp"

namespace arcmeans {

namespace {

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
    return this->store_ball(i);
  }
};

class Exponion final : public AngleBounds {
 public:
  Exponion(const Problem& problem, const RowState& state)
      : AngleBounds(problem, state), neighbors_(problem.n_clusters, problem.n_features) {}

  Work assign(const Rows& rows, Centers& centers, const Labels& labels,
              const PassOptions& options) override {
    return pass_by_balls<ExponionVisitor>(rows, centers, labels, angles_, options, neighbors_);
  }

 private:
  CenterNeighbors neighbors_;
};

}  // namespace

extern constinit const AlgorithmRecord kExponion = {
    .name = "exponion",
    .keeps =
        "as angles, of each row a bound on the own center and one on all others; of each center a "
        "list of its neighbors",
    .wins = "dense rows of up to 8 features, from 500 clusters on, that lie on a surface",
    .checks_memory = true,
    .largest_ball = kLargestBall,
    .row_state = AngleBounds::row_state,
    .other_bytes = CenterNeighbors::bytes_for,
    .auto_takes = [](const Problem& problem) -> std::optional<AutoNeeds> {
      if (!balls_pay(problem) || problem.n_features > 8) return std::nullopt;
      return AutoNeeds{};
    },
    .make = [](const Problem& problem, const RowState& state) -> std::unique_ptr<Algorithm> {
      return std::make_unique<Exponion>(problem, state);
    },
};

}  // namespace arcmeans
