// What the sieve keeps of the rows.
#pragma once

#include <cstdint>
#include <limits>

#include "core/algorithms/algorithm.hpp"

namespace arcmeans {

struct SieveState : Labels {
  // `lower` of a row of which nothing is known.
  static constexpr std::int32_t kUnknown = std::numeric_limits<std::int32_t>::min();

  // Stored bounds (bound_aging.hpp), null where none are kept.
  std::int32_t* lower = nullptr;   // bound on the own center + all its falls, in fine units
  std::int16_t* uppers = nullptr;  // bound − all rises of the group, in units, [row][group]
};

}  // namespace arcmeans
