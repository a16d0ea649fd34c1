// All algorithms, by their records.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/algorithms/algorithm.hpp"
#include "core/support/buffer.hpp"

namespace arcmeans {

// In the order of the documentation. "auto" asks the last one first; the first, lloyd, always
// takes the rows.
std::span<const AlgorithmRecord* const> all_algorithms();

// Throws std::invalid_argument where there is none of that name.
const AlgorithmRecord& algorithm_record(std::string_view name);

// An algorithm and its row state, in memory of its own.
struct AllocatedAlgorithm {
  std::vector<Buffer<std::byte>> state;
  std::unique_ptr<Algorithm> algorithm;

  AllocatedAlgorithm(std::string_view name, const Problem& problem);
  Algorithm* operator->() const { return algorithm.get(); }
};

}  // namespace arcmeans
