// A search for the best two centers of a row among the neighbors of one center, annulus by annulus;
// shared by exponion and shallot. For every center j beyond an annulus that ends at angle ψ from
// the center searched around, which is at angle θ or less from the row: the angle to j is at least
// ψ − θ.
#pragma once

#include "core/algorithms/neighbors.hpp"
#include "core/algorithms/row_loop.hpp"
#include "core/moves/turns.hpp"

namespace arcmeans {

template <class RowsOf>
class Ball {
 public:
  using Row = typename RowsOf::Row;
  Ball(const Centers& centers, const CenterNeighbors& neighbors, Work& work)
      : centers_(centers), neighbors_(neighbors), work_(work) {}

  // Begins at center a, whose sim64 is known.
  void begin(const Row& row, int a, double similarity) {
    row_ = &row;
    error_ = reference_error<typename Row::Value>(row.size);
    panel_error_ = panel_error(row.size);
    second_ = -1;
    second_upper_ = -2.0;
    near_tie_ = false;
    set_best(a, similarity);
  }
  // One more center, whose sim64 is known.
  void meet(int j, double similarity) {
    if (similarity > similarity_ || (similarity == similarity_ && j < best_)) {
      set_second(best_, similarity_ + error_);
      set_best(j, similarity);
    } else if (similarity + error_ > second_upper_) {
      set_second(j, similarity + error_);
    }
  }
  // Neighbors m to end − 1 of center a.
  void visit(int a, int m, int end) {
    const int* ids = neighbors_.of(a);
    work_.similarities += end - m;
    if (neighbors_.strip(a, m)) {
      visit_strips(a, ids, m, end);
      return;
    }
    for (; m < end; ++m) {
      if (ids[m] != best_ && ids[m] != second_) meet(ids[m], centers_.similarity(*row_, ids[m]));
    }
  }

  int best() const { return best_; }
  int second() const { return second_; }
  double own() const { return own_; }      // ≥ the angle to the best
  double limit() const { return limit_; }  // centers beyond are less similar than the best
  // ≤ the angle to all others that were met
  double other() const {
    return second_ < 0 ? std::numeric_limits<double>::infinity() : angle_at_least(second_upper_);
  }
  bool near_tie() const { return near_tie_; }

 private:
  void visit_strips(int a, const int* ids, int begin, int end) {
    for (int m = begin; m < end; m += kCacheLineFloats) {
      StripSimilarities(*row_, neighbors_.strip(a, m)).store(similarities_ + m);
    }
    const int width = (end - begin + kCacheLineFloats - 1) / kCacheLineFloats * kCacheLineFloats;
    const Best top = best_two(similarities_ + begin, width);
    if (top.similarity < similarity_ - panel_error_) {
      if (const double upper = top.similarity + panel_error_ + error_; upper > second_upper_) {
        set_second(ids[begin + top.center], upper);
      }
      return;
    }
    for (int m = begin; m < end; ++m) {  // some may be better than the best: sim64 decides
      const auto similarity = static_cast<double>(similarities_[m]);
      if (ids[m] == best_ || ids[m] == second_) continue;
      if (similarity < similarity_ - panel_error_) {
        const double upper = similarity + panel_error_ + error_;
        if (upper > second_upper_) set_second(ids[m], upper);
      } else {
        near_tie_ |= similarity <= similarity_ + panel_error_;
        meet(ids[m], centers_.similarity(*row_, ids[m]));
      }
    }
  }
  void set_best(int j, double similarity) {
    best_ = j;
    similarity_ = similarity;
    own_ = angle_at_most(similarity - error_);
    limit_ = beyond(own_, error_);
  }
  void set_second(int j, double upper) {
    second_ = j;
    second_upper_ = std::max(second_upper_, upper);
  }

  const Centers& centers_;
  const CenterNeighbors& neighbors_;
  Work& work_;
  const Row* row_ = nullptr;
  double error_ = 0.0;
  double panel_error_ = 0.0;
  int best_ = -1;
  double similarity_ = 0.0;  // sim64 of the best
  double own_ = 0.0;
  double limit_ = 0.0;
  int second_ = -1;
  double second_upper_ = -2.0;  // ≥ the cosines of all met but the best
  bool near_tie_ = false;
  float similarities_[CenterNeighbors::kMost] = {};  // of a visit
};

}  // namespace arcmeans
