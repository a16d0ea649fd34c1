// A center as a sparse row in float64, which the kernels take like a row of the data.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"
#include "core/rows/rows.hpp"

namespace arcmeans {

class CenterRow {
 public:
  // Takes another center, into the same memory. The row is there until the next one is taken.
  SparseRow<double> take(const Centers& centers, int center) {
    features_.clear();
    values_.clear();
    const double scale = centers.scale(center);
    centers.sums().each_of(center, [&](std::int32_t f, std::int64_t sum) {
      features_.push_back(f);
      values_.push_back(static_cast<double>(sum) * scale);
    });
    return {features_.data(), values_.data(), static_cast<std::int64_t>(features_.size())};
  }

 private:
  std::vector<std::int32_t> features_;
  std::vector<double> values_;
};

}  // namespace arcmeans
