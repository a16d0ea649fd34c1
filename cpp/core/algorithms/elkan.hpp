// `elkan` (paper, "Spherical Elkan's Algorithm"): Simplified Elkan and two tests by the angles
// between centers. A row with s(a(i)) ≤ l(i) keeps its label; a center with cc(a(i),j) ≤ l(i) is
// skipped. They cost k·(k−1)/2 similarities an iteration (center_tests.hpp).
// Memory: 8 + 4·k bytes a row, and 4·k² for the pairs.
#pragma once

#include "core/algorithms/center_tests.hpp"
#include "core/algorithms/simplified_elkan.hpp"

namespace arcmeans {

template <class RowsOf>
Work elkan(const RowsOf& rows, const Centers& centers, const RowState& state,
           const PassOptions& options, CenterTests& tests) {
  const std::int64_t center_similarities = tests.update(centers, options.n_threads);
  Work work = pass_over_rows(rows, state, options, [&](Work& mine) {
    return ElkanVisitor<RowsOf, CenterTests>(rows, centers, state, tests, mine);
  });
  work.center_similarities = center_similarities;
  return work;
}

}  // namespace arcmeans
