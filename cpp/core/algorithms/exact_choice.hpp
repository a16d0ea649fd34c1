// The exact decision of the sieve: sim64 among the centers of a row whose bounds reach its lower
// bound. So that near ties need not be decided again before one of the two centers moves, the
// bounds of all candidates become what sim64 says.
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
  ExactChoice(std::unique_ptr<NearTies> near_ties, const Centers& centers, const LineGroups& groups)
      : near_ties_(std::move(near_ties)),
        centers_(centers),
        places_(centers.watcher<FilterLines>().places()),
        groups_(groups) {}

  // The label of row `r` of a chunk, which is row `row` of all, where the center at place `first`
  // has the highest cosine.
  std::int32_t operator()(std::int64_t row, std::int32_t r, std::int32_t first, ChunkBounds& bounds,
                          Visits& visits) {
    candidates_.clear();
    const double error = 3.0 * near_ties_->error(row) + 0x1p-24;
    const auto units = [&](double similarity) {
      return static_cast<std::int32_t>(std::ceil((similarity + error) * kCosineUnits));
    };
    Choice best;
    if (groups_.group_size() == 1) {
      list_centers(r, first, bounds);
      best = near_ties_->choose(row, candidates_, [&](int j, double similarity) {
        bounds.set_upper(r, places_.of(j), units(similarity));
      });
      bounds.set_upper(r, places_.of(best.center), ChunkBounds::kNothing);
    } else {
      visit_candidates(r, first, bounds, visits);
      auto its_line = undecided_.begin();
      best = near_ties_->choose(row, candidates_, [&](int j, double similarity) {
        while (its_line->line != j / kCacheLineShorts) ++its_line;
        its_line->uppers[j % kCacheLineShorts] = units(similarity);
      });
      set_uppers(r, best.center, bounds);
    }
    bounds.raise(r, PassAging::lower(static_cast<float>((best.similarity - error) * kCosineUnits)));
    return best.center;
  }

 private:
  // The bounds of a line that holds candidates, by lane.
  struct Undecided {
    int line;
    std::int32_t uppers[kCacheLineShorts];
  };

  // The centers whose bounds reach, and the best, whose bound is that of no center.
  void list_centers(std::int32_t r, std::int32_t first, const ChunkBounds& bounds) {
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) {
      std::uint32_t found = bounds.reaching(b, r);
      if (first / kCacheLineShorts == b) found |= 1U << (first % kCacheLineShorts);
      for (; found != 0; found &= found - 1) {
        candidates_.push_back(places_.center(b * kCacheLineShorts + std::countr_zero(found)));
      }
    }
    std::sort(candidates_.begin(), candidates_.end());
  }

  // Visits the lines with groups that reach once more, to see which of their centers do. Where
  // centers share bounds their places are their numbers.
  void visit_candidates(std::int32_t r, std::int32_t first, const ChunkBounds& bounds,
                        Visits& visits) {
    undecided_.clear();
    this_row_.clear();
    this_row_.add(r);
    for (int line = 0; line < groups_.n_lines(); ++line) {
      if (line != first / kCacheLineShorts && !bounds.line_reaches(line, r)) continue;
      undecided_.push_back({line, {}});
      visits.template visit<1, false>(
          line, this_row_, [&](std::int32_t, const LineCosines(&cosines)[1], float error) {
            for (int lane = 0; lane < kCacheLineShorts; ++lane) {
              const float cosine = cosines[0].lanes[lane / kVectorFloats][lane % kVectorFloats];
              undecided_.back().uppers[lane] = PassAging::upper(cosine, error);
            }
          });
      for (int lane = 0; lane < kCacheLineShorts; ++lane) {
        const int j = line * kCacheLineShorts + lane;
        if (j < centers_.size() && undecided_.back().uppers[lane] >= bounds.limit(r)) {
          candidates_.push_back(j);
        }
      }
    }
  }

  // The bounds of the groups of those lines, the own center left out.
  void set_uppers(std::int32_t r, std::int32_t own, ChunkBounds& bounds) {
    for (Undecided& it : undecided_) {
      if (it.line == own / kCacheLineShorts)
        it.uppers[own % kCacheLineShorts] = ChunkBounds::kNothing;
      for (int g = 0; g < groups_.per_line(); ++g) {
        std::int32_t top = it.uppers[g];
        for (int lane = g; lane < kCacheLineShorts; lane += groups_.per_line()) {
          top = std::max(top, it.uppers[lane]);
        }
        bounds.set_upper(r, it.line * groups_.per_line() + g, top);
      }
    }
  }

  std::unique_ptr<NearTies> near_ties_;
  const Centers& centers_;
  const Places& places_;
  LineGroups groups_;
  RowList this_row_{1};
  std::vector<int> candidates_;
  std::vector<Undecided> undecided_;
};

}  // namespace arcmeans
