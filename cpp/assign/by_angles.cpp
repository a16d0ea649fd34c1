#include "by_angles.hpp"

#include "yinyang.hpp"

namespace arcmeans {

Work yinyang(const Rows& rows, const Centers& centers, const RowState& state,
             const AngleState& angles, const PassOptions& options, CenterGroups& groups) {
  return visit(rows, [&](const auto& typed) {
    return yinyang(typed, centers, state, angles, options, groups);
  });
}

}  // namespace arcmeans
