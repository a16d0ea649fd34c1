// The integer change of the clusters' sums that a change of labels makes: what a partition of rows
// has to say after a pass. Integers add up the same in any order, so changes from threads,
// partitions and machines can be merged and taken back without a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace arcmeans {

// The change of one cluster: of its number of rows, and of its sum, feature by feature.
struct SumChange {
  std::int64_t rows = 0;
  bool touched = false;  // a row came or went
  std::vector<std::int32_t> features;
  std::vector<std::int64_t> values;
};

// One change for each cluster, from how the rows were labelled and how they are now.
std::vector<SumChange> sum_changes(const Rows& rows, const std::int32_t* previous,
                                   const std::int32_t* labels, int n_clusters, int n_threads);

}  // namespace arcmeans
