// What the sieve keeps of the rows, and the exact decision.
#pragma once

#include <limits>
#include <vector>

#include "../centers.hpp"

namespace arcmeans {

struct SieveState {
  // Of rows of which nothing is known.
  static constexpr std::int32_t kUnknown = std::numeric_limits<std::int32_t>::min();

  std::int32_t* labels = nullptr;
  std::int32_t* previous = nullptr;  // out: the labels before the pass
  std::int32_t* lower = nullptr;     // on the own center, in 256ths of a unit, plus its fall
  std::int16_t* uppers = nullptr;    // in units less the rise, [row][group]; null: not kept
};

struct Choice {
  int center = -1;
  double similarity = -std::numeric_limits<double>::infinity();
};

// The candidate with the largest sim64; use(candidate, similarity) is called for each. They are in
// ascending order, so that the smallest of those with an equal similarity wins.
template <class Row, class Use>
Choice choose(const Centers& centers, const Row& row, const std::vector<int>& candidates,
              const Use& use) {
  Choice best;
  const auto consider = [&](int j, double similarity) {
    use(j, similarity);
    if (similarity > best.similarity) best = {j, similarity};
  };
  std::size_t c = 0;
  for (; c + 2 <= candidates.size(); c += 2) {
    double two[2];
    centers.template similarities<2>(row, candidates.data() + c, two);
    consider(candidates[c], two[0]);
    consider(candidates[c + 1], two[1]);
  }
  if (c < candidates.size()) consider(candidates[c], centers.similarity(row, candidates[c]));
  return best;
}

}  // namespace arcmeans
