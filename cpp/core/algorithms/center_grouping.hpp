// Centers in groups of similar ones, for yinyang.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"

namespace arcmeans {

struct Grouping {
  std::vector<std::int32_t> group_of;  // [center]; a group may be empty
  std::int64_t similarities = 0;       // that it took
};

// By a few passes of lloyd over the centers as rows. The seeds are centers at equal steps, so the
// same centers get the same groups.
Grouping grouped(const Centers& centers, int n_groups, int n_threads);

}  // namespace arcmeans
