// The hash of the labels of all rows, by which a run knows labels that it had before.
#pragma once

#include <cstdint>

namespace arcmeans {

// What one row and its label add to the hash.
inline std::uint64_t label_hash(std::int64_t row, std::int32_t label) {
  std::uint64_t bits = (static_cast<std::uint64_t>(row) << 32U) ^ static_cast<std::uint32_t>(label);
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
  return bits ^ (bits >> 31U);
}

// The hash of the labels of n rows, of which the first has the number `first_row`. It is a sum over
// the rows, so that the hashes of parts add up.
inline std::uint64_t hash_labels(const std::int32_t* labels, std::int64_t n,
                                 std::int64_t first_row) {
  std::uint64_t hash = 0;
  for (std::int64_t i = 0; i < n; ++i) hash += label_hash(first_row + i, labels[i]);
  return hash;
}

}  // namespace arcmeans
