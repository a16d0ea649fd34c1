// What the sieve keeps of the rows.
#pragma once

#include <cstdint>
#include <limits>

#include "core/algorithms/algorithm.hpp"

namespace arcmeans {

struct SieveState : Labels {
  // Of rows of which nothing is known.
  static constexpr std::int32_t kUnknown = std::numeric_limits<std::int32_t>::min();

  std::int32_t* lower = nullptr;   // on the own center, in fine units, plus its fall
  std::int16_t* uppers = nullptr;  // in units less the rise, [row][group]; null: not kept
};

}  // namespace arcmeans
