#include "core/algorithms/by_angles.hpp"

#include "core/algorithms/exponion.hpp"
#include "core/algorithms/shallot.hpp"
#include "core/algorithms/yinyang.hpp"

namespace arcmeans {

Work yinyang(const Rows& rows, const Centers& centers, const RowState& state,
             const AngleState& angles, const PassOptions& options, CenterGroups& groups) {
  return visit(rows, [&](const auto& typed) {
    return yinyang(typed, centers, state, angles, options, groups);
  });
}

Work exponion(const Rows& rows, const Centers& centers, const RowState& state,
              const AngleState& angles, const PassOptions& options, CenterNeighbors& neighbors) {
  return visit(rows, [&](const auto& typed) {
    return exponion(typed, centers, state, angles, options, neighbors);
  });
}

Work shallot(const Rows& rows, const Centers& centers, const RowState& state,
             const AngleState& angles, const PassOptions& options, CenterNeighbors& neighbors) {
  return visit(rows, [&](const auto& typed) {
    return shallot(typed, centers, state, angles, options, neighbors);
  });
}

}  // namespace arcmeans
