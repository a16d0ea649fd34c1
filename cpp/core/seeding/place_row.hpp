// Unit rows as initial centers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"
#include "core/rows/rows.hpp"

namespace arcmeans {

// Places center j at unit row i, rounded to fixed point.
inline void place_row(Centers& centers, int j, const Rows& rows, std::int64_t i) {
  std::vector<std::int32_t> features;
  std::vector<std::int64_t> values;
  with_row_type(rows, [&](const auto& typed_rows) {
    const auto row = typed_rows.row(i);
    for (std::int64_t e = 0; e < row.size; ++e) {
      if (row.values[e] == 0) continue;
      features.push_back(row.feature(e));
      values.push_back(fixed_point(static_cast<double>(row.values[e]), rows.one, 1.0));
    }
  });
  centers.place(j, features.data(), values.data(), static_cast<std::int64_t>(values.size()));
}

}  // namespace arcmeans
