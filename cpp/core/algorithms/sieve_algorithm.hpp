// `sieve` as an object, for the tests of its bounds; sieve.hpp says what it is.
#pragma once

#include <memory>

#include "core/algorithms/sieve_state.hpp"
#include "core/layouts/packed.hpp"
#include "core/moves/bound_aging.hpp"

namespace arcmeans {

class SieveAlgorithm final : public Algorithm {
 public:
  SieveAlgorithm(const Problem& problem, const RowState& state);

  static std::vector<StateArray> row_state(const Problem& problem);

  Work assign(const Rows& rows, Centers& centers, const Labels& labels,
              const PassOptions& options) override;
  // The bounds of the seeding, on the best and the second, say too little here: the first pass
  // after it visits every row.
  void forget(const std::int64_t* rows, std::int64_t n) override;
  void release_rows() override { packed_.reset(); }

  const BoundAging& aging() const { return aging_; }

 private:
  bool by_gains(const Centers& centers) const;

  std::int32_t n_shared_;
  SieveState state_;  // but for the labels
  BoundAging aging_;
  std::unique_ptr<PackedRows> packed_;
};

}  // namespace arcmeans
