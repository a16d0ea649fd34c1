// `yinyang` as an object, for the tests of its bounds; yinyang.cpp says what it is.
#pragma once

#include <memory>

#include "core/algorithms/angle_bounds.hpp"
#include "core/algorithms/center_groups.hpp"

namespace arcmeans {

class Yinyang final : public AngleBounds {
 public:
  Yinyang(const Problem& problem, const RowState& state);

  static std::vector<StateArray> row_state(const Problem& problem);

  Work assign(const Rows& rows, Centers& centers, const Labels& labels,
              const PassOptions& options) override;
  void adopt(const std::int32_t* labels, const double* lower, const double* upper) override;
  void forget(const std::int64_t* rows, std::int64_t n) override;

  // None before the first pass.
  const CenterGroups* groups() const { return groups_.get(); }

 private:
  int n_groups_;
  std::unique_ptr<CenterGroups> groups_;
};

}  // namespace arcmeans
