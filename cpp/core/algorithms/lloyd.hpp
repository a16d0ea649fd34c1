// `lloyd`, the paper's Standard algorithm: every row against every center, no bounds, no memory
// between iterations beyond the labels.
//
// Panel by panel, a row has its best float32 similarity so far, and whether another came within
// twice the panel error of it: then sim64 decides the row.
#pragma once

#include <bit>

#include "core/algorithms/panel_visits.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

template <class RowsOf>
class Lloyd {
 public:
  Lloyd(const RowsOf& rows, const Centers& centers, const Panels& panels, const Labels& state,
        const PassOptions& options, Work& work)
      : rows_(rows),
        centers_(centers),
        state_(state),
        work_(work),
        panels_(panels),
        visits_(rows, panels_, options.rows_at_a_time()),
        similarities_(index(panels_.width())) {}

  void visit(std::int64_t begin, std::int64_t end);  // lloyd.cpp

 private:
  // The list of all rows of a chunk.
  struct All {
    std::size_t n;
    std::size_t size() const { return n; }
    std::int64_t operator[](std::size_t at) const { return static_cast<std::int64_t>(at); }
  };

  struct Top {
    float similarity = -std::numeric_limits<float>::infinity();
    std::int32_t center = 0;
    bool near_tie = false;

    __attribute__((always_inline)) void meet(const LaneTops& lanes, int first_center,
                                             float margin) {
      const float best = largest(lanes.first);
      if (best < similarity - margin) return;
      const Floats near = splat(best - margin);
      const std::uint32_t reach = at_least(lanes.first, near);
      const int rivals = std::popcount(reach) + std::popcount(at_least(lanes.second, near));
      const bool clear = best > similarity + margin;
      if (clear) center = first_center + lanes.panel_lane(std::countr_zero(reach));
      near_tie = rivals > 1 || !clear;  // sim64 decides, whichever stands here
      similarity = best > similarity ? best : similarity;
    }
  };

  const RowsOf& rows_;
  const Centers& centers_;
  const Labels& state_;
  Work& work_;
  const Panels& panels_;
  PanelVisits<RowsOf, Top> visits_;
  std::vector<float> similarities_;
};

}  // namespace arcmeans
