// The centers: exact fixed-point sums of the rows of each cluster, their scales and the objective.
//
// A center is an integer vector and one scale factor, 1/‖sum‖. Integer sums do not depend on the
// order of their terms, so threads, chunks and machines agree on every bit, and adding a row and
// taking it away again leaves no trace. The squared length is kept exactly too, in 128 bits.
//
// A center is *detached* while its vector is not the sum of its rows: a seed before the first move,
// a center kept after its last row left or after its rows came to cancel each other. The rows of a
// detached center sum to zero; the next change that leaves a direction replaces the vector.
//
// Centers know no layout and no bound. Whatever follows them is attached as a watcher, and learns
// of each move from one record for each center (center_move.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/centers/center_move.hpp"
#include "core/centers/center_watcher.hpp"
#include "core/centers/sum_changes.hpp"
#include "core/centers/sum_vectors.hpp"
#include "core/rows/rows.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

__extension__ typedef __int128 Wide;

class Centers {
 public:
  // The first `n_frequent` features are kept in full, for every center; reference similarities are
  // fastest where all are.
  Centers(int n_centers, std::int32_t n_features, double one, std::int32_t n_frequent);

  int size() const { return sums_.n_centers(); }
  std::int32_t n_features() const { return sums_.n_features(); }
  std::int32_t n_frequent() const { return sums_.n_frequent(); }
  double one() const { return one_; }
  const SumVectors& sums() const { return sums_; }
  const std::vector<double>& scales() const { return scale_; }
  double scale(int j) const { return scale_[index(j)]; }
  const std::vector<std::int64_t>& counts() const { return count_; }
  bool detached(int j) const { return states_[index(j)].detached; }
  // Whether a center has been placed: before, it has no direction.
  bool is_placed(int j) const { return states_[index(j)].squared != 0; }

  // Places a detached center: the integer vector with these entries and zeros elsewhere.
  void place(int j, const std::int32_t* features, const std::int64_t* values, std::int64_t size);

  // Σ w·sim of the rows to their own centers after a change of labels and before the move: for each
  // cluster the product of center and new sum, computed in integers and rounded once. Without
  // changes (null) it is Σ ‖sum‖.
  double objective(const SumChanges* changes) const;

  // Moves each center to its new sum. Costs in proportion to the features touched.
  void move(const SumChanges& changes, int n_threads);

  // What the last move did to each center.
  const std::vector<CenterMove>& last_move() const { return last_move_; }
  const CenterMove& last_move(int j) const { return last_move_[index(j)]; }

  // Has a watcher follow the centers from now on, in the place of another of its type.
  template <class Watcher>
  Watcher& attach(std::unique_ptr<Watcher> watcher) {
    Watcher& attached = *watcher;
    std::erase_if(watchers_, [](const auto& other) { return dynamic_cast<Watcher*>(other.get()); });
    watchers_.push_back(std::move(watcher));
    return attached;
  }
  // The watcher of a type, or null.
  template <class Watcher>
  Watcher* find() const {
    for (const auto& watcher : watchers_) {
      if (auto* found = dynamic_cast<Watcher*>(watcher.get())) return found;
    }
    return nullptr;
  }
  // The watcher of a type that has been attached.
  template <class Watcher>
  const Watcher& watcher() const {
    if (const auto* found = find<Watcher>()) return *found;
    throw std::logic_error("the centers have no watcher of this type");
  }

  // sim64(i, j), the one reference similarity: float64 products summed in ascending order of the
  // caller's features, then scaled. Every decision that is not clear of rounding is made by it.
  template <class Row>
  double similarity(const Row& row, int j) const {
    double similarity;
    similarities<1>(row, &j, &similarity);
    return similarity;
  }

  // The same for several centers at a time: their sums wait for memory together.
  template <int kCenters, class Row>
  void similarities(const Row& row, const int* which, double* similarities) const {
    const std::int64_t* vectors[kCenters];
    double sums[kCenters] = {};
    for (int c = 0; c < kCenters; ++c) vectors[c] = sums_.frequent(which[c]);
    for (std::int64_t e = 0; e < row.size; ++e) {
      const std::int32_t feature = row.feature(e);
      const auto value = static_cast<double>(row.values[e]);
#pragma GCC unroll 4
      for (int c = 0; c < kCenters; ++c) {
        const std::int64_t sum = feature < sums_.n_frequent()
                                     ? vectors[c][feature]
                                     : sums_.rare().value(feature, which[c]);
        sums[c] += value * static_cast<double>(sum);
      }
    }
    for (int c = 0; c < kCenters; ++c) similarities[c] = sums[c] * scale(which[c]);
  }

 private:
  struct State {
    Wide squared = 0;       // ‖sum‖², exact
    Wide squared_rare = 0;  // the part of the rare features
    bool detached = true;
    bool negative = false;  // a sum is below zero, or was
  };
  struct Squares;
  struct Difference {
    double positive, negative;
  };
  CenterMove move(int j, const SumChange& change);
  Squares squares_of(int j, const SumChange& change) const;
  Difference difference_of(int j, const SumChange& change, double untouched,
                           const CenterMove& move) const;
  void move_rare(const SumChanges& changes);
  void clear_frequent(int j);
  void set_length(int j, Wide squared);

  double one_;  // 1.0 in fixed point, a power of two
  SumVectors sums_;
  std::vector<State> states_;
  std::vector<double> scale_;  // 1/‖sum‖
  std::vector<std::int64_t> count_;
  std::vector<CenterMove> last_move_;
  std::vector<std::unique_ptr<CenterWatcher>> watchers_;
};

}  // namespace arcmeans
