// One pass of one of the algorithms that keep bounds as angles.
#pragma once

#include "core/algorithms/center_groups.hpp"
#include "core/algorithms/neighbors.hpp"
#include "core/algorithms/row_loop.hpp"

namespace arcmeans {

Work yinyang(const Rows& rows, const Centers& centers, const RowState& state,
             const AngleState& angles, const PassOptions& options, CenterGroups& groups);
Work exponion(const Rows& rows, const Centers& centers, const RowState& state,
              const AngleState& angles, const PassOptions& options, CenterNeighbors& neighbors);
Work shallot(const Rows& rows, const Centers& centers, const RowState& state,
             const AngleState& angles, const PassOptions& options, CenterNeighbors& neighbors);

}  // namespace arcmeans
