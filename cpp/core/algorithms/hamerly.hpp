// `hamerly` (paper, "Spherical Hamerly's Algorithm"): Simplified Hamerly and the test
// s(a(i)) ≤ l(i) by the angle to the nearest other center, for k·(k−1)/2 similarities an iteration
// (center_tests.hpp). Memory: 16 bytes a row.
#pragma once

#include "core/algorithms/center_tests.hpp"
#include "core/algorithms/simplified_hamerly.hpp"

namespace arcmeans {

template <class RowsOf>
Work hamerly(const RowsOf& rows, const Centers& centers, const RowState& state,
             const PassOptions& options, HamerlyUpdate update, CenterTests& tests) {
  const std::int64_t center_similarities = tests.update(centers, options.n_threads);
  Work work = pass_over_rows(rows, state, options, [&](Work& mine) {
    return HamerlyVisitor<RowsOf, CenterTests>(rows, centers, state, tests, update, mine);
  });
  work.center_similarities = center_similarities;
  return work;
}

}  // namespace arcmeans
