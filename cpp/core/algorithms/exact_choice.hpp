// The exact decision of the sieve (sieve.hpp), for a row with a near tie: sim64 among the centers
// whose upper bounds reach the lower bound of the row. The candidates then get bounds from sim64,
// which are narrower than those of the filter: most near ties are not found again while their
// centers stay.
//
// `Visits` visits filter lines: SparseVisits or DenseVisits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/algorithms/chunk_bounds.hpp"
#include "core/algorithms/near_ties.hpp"
#include "core/algorithms/row_list.hpp"
#include "core/layouts/line_cosines.hpp"

namespace arcmeans {

template <class Visits>
class ExactChoice {
 public:
  ExactChoice(std::unique_ptr<NearTies> near_ties, const LineGroups& groups, const Slots& slots,
              ChunkBounds& bounds, Visits& visits)
      : near_ties_(std::move(near_ties)),
        groups_(groups),
        slots_(slots),
        bounds_(bounds),
        visits_(visits) {}

  // The label of row `r` of the chunk, which is row `i` of all. The center at slot `first` has the
  // highest filter cosine. The bound of its group does not cover it yet.
  std::int32_t operator()(std::int64_t i, std::int32_t r, int first) {
    candidates_.clear();
    visited_.clear();
    if (groups_.group_size() == 1) {
      list_by_bounds(r, first);
    } else {
      list_by_cosines(r, first);
    }
    std::sort(candidates_.begin(), candidates_.end());
    // sim64 is within e of the cosine, and the sim64 of a later pass is too: 2e, and e to spare for
    // the arithmetic here. 2⁻²⁴ is for rounding the lower bound to float.
    const double error = 3.0 * near_ties_->error(i) + 0x1p-24;
    const Choice best = near_ties_->choose(i, candidates_, [&](int j, double similarity) {
      set_upper(r, slots_.of(j),
                static_cast<std::int32_t>(std::ceil((similarity + error) * kCosineUnits)));
    });
    set_upper(r, slots_.of(best.center), ChunkBounds::kBelowAll);
    for (const Line& line : visited_) store_groups(r, line);
    bounds_.raise_lower(
        r, PassAging::lower(static_cast<float>((best.similarity - error) * kCosineUnits)));
    return best.center;
  }

 private:
  // A filter line that was visited, and an upper bound for the center in each of its lanes.
  struct Line {
    int number;
    std::int32_t uppers[kCacheLineShorts];
  };

  // Where each center has a bound of its own: the centers whose bounds reach, and the first, which
  // has no bound yet. A block of bounds is then a filter line.
  void list_by_bounds(std::int32_t r, int first) {
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) {
      std::uint32_t found = bounds_.groups_reaching(r, b);
      if (first / kCacheLineShorts == b) found |= 1U << (first % kCacheLineShorts);
      for (; found != 0; found &= found - 1) {
        candidates_.push_back(slots_.center(b * kCacheLineShorts + std::countr_zero(found)));
      }
    }
  }

  // Where centers share bounds: visits the line of the first center and the lines that reach, and
  // lists the centers whose filter cosines reach.
  void list_by_cosines(std::int32_t r, int first) {
    this_row_.clear();
    this_row_.add(r);
    for (int l = 0; l < groups_.n_lines(); ++l) {
      if (l != first / kCacheLineShorts && !bounds_.line_reaches(r, l)) continue;
      Line& line = visited_.emplace_back();
      line.number = l;
      visits_.template visit<1, false>(
          l, this_row_, [&](std::int32_t, const LineCosines(&cosines)[1], float error) {
            for (int lane = 0; lane < kCacheLineShorts; ++lane) {
              const float cosine = cosines[0].lanes[lane / kVectorFloats][lane % kVectorFloats];
              line.uppers[lane] = PassAging::upper(cosine, error);
            }
          });
      const int n_used = std::min(kCacheLineShorts, slots_.size() - l * kCacheLineShorts);
      for (int lane = 0; lane < n_used; ++lane) {
        if (line.uppers[lane] < bounds_.limit(r)) continue;
        candidates_.push_back(slots_.center(l * kCacheLineShorts + lane));
      }
    }
  }

  // The upper bound of the center at a slot: stored, or noted with its line until all are known.
  void set_upper(std::int32_t r, int slot, std::int32_t upper) {
    if (groups_.group_size() == 1) return bounds_.set_upper(r, slot, upper);
    for (Line& line : visited_) {
      if (line.number == slot / kCacheLineShorts) line.uppers[slot % kCacheLineShorts] = upper;
    }
  }

  // The bounds of the groups of a line. Group g has the lanes g, g + per_line(), ...
  void store_groups(std::int32_t r, const Line& line) {
    for (int g = 0; g < groups_.per_line(); ++g) {
      std::int32_t largest = line.uppers[g];
      for (int lane = g; lane < kCacheLineShorts; lane += groups_.per_line()) {
        largest = std::max(largest, line.uppers[lane]);
      }
      bounds_.set_upper(r, line.number * groups_.per_line() + g, largest);
    }
  }

  std::unique_ptr<NearTies> near_ties_;
  LineGroups groups_;
  const Slots& slots_;
  ChunkBounds& bounds_;
  Visits& visits_;
  RowList this_row_{1};
  std::vector<int> candidates_;
  std::vector<Line> visited_;
};

}  // namespace arcmeans
