// Centers in groups of similar ones, for yinyang.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"

namespace arcmeans {

struct Grouping {
  std::vector<std::int32_t> group_of;  // [center]; a group may be empty
  std::int64_t similarities = 0;       // computed for it
};

// Groups the centers by a few passes of lloyd over them, as rows. The seeds are the centers at
// equal distances in the order of their numbers, so the same centers get the same groups.
Grouping grouped(const Centers& centers, int n_groups, int n_threads);

}  // namespace arcmeans
