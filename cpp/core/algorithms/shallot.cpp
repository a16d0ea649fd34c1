// `shallot` on the sphere (after Borgelt, "Even Faster Exact k-Means Clustering", IDA 2020):
// exponion with the center kept that was the second nearest.
//
// Where the bounds and the test by the nearest center fail, that center is computed next. The
// search goes on around the better of the two, and only as far as matters: a center nearer to the
// row than the second best so far, at angle o, is within own(i) + o of the best. Each annulus that
// brings a nearer second makes what is left of the search smaller.
// Memory: 20 bytes a row, and the lists of neighbors.
#include "core/algorithms/ball_visitor.hpp"

namespace arcmeans {

namespace {

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
    double unmet = neighbors.beyond_first(around, 0) - own;  // ≤ the angles to centers not met
    while (unmet < ball.other() || unmet <= ball.limit()) {
      if (end == neighbors.count()) {
        this->work_.similarities -= 2;  // counted above
        second = -1;
        return this->visit_all(i, row);
      }
      const int next = std::min(neighbors.count(), CenterNeighbors::end_of(end));
      ball.visit(around, end, next);
      end = next;
      unmet = neighbors.beyond_first(around, end) - own;
    }
    second = ball.second();
    return this->store_ball(i);
  }
};

class Shallot final : public AngleBounds {
 public:
  Shallot(const Problem& problem, const RowState& state)
      : AngleBounds(problem, state), neighbors_(problem.n_clusters, problem.n_features) {
    angles_.seconds = static_cast<std::int32_t*>(state[2]);
  }

  static std::vector<StateArray> row_state(const Problem& problem) {
    std::vector<StateArray> arrays = AngleBounds::row_state(problem);
    arrays.push_back({"seconds", NumberType::int32, 1, -1.0});
    return arrays;
  }

  Work assign(const Rows& rows, Centers& centers, const Labels& labels,
              const PassOptions& options) override {
    return pass_by_balls<ShallotVisitor>(rows, centers, labels, angles_, options, neighbors_);
  }

 private:
  CenterNeighbors neighbors_;
};

}  // namespace

extern constinit const AlgorithmRecord kShallot = {
    .name = "shallot",
    .keeps = "as exponion, and of each row the center that was the second nearest",
    .wins = "dense rows of 9 to 16 features, from 500 clusters on, that lie on a surface",
    .checks_memory = true,
    .largest_ball = kLargestBall,
    .row_state = Shallot::row_state,
    .other_bytes = CenterNeighbors::bytes_for,
    .auto_takes = [](const Problem& problem) -> std::optional<AutoNeeds> {
      if (!balls_pay(problem) || problem.n_features <= 8) return std::nullopt;
      return AutoNeeds{};
    },
    .make = [](const Problem& problem, const RowState& state) -> std::unique_ptr<Algorithm> {
      return std::make_unique<Shallot>(problem, state);
    },
};

}  // namespace arcmeans
