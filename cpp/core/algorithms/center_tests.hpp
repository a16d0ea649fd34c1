// Tests by the angles between centers (paper, "Spherical Elkan's Algorithm"): a row within half the
// angle between its own center and another is nearer to its own.
//
// cc(i,j) = √((⟨c(i), c(j)⟩ + 1)/2), s(i) = max_{j≠i} cc(i,j). Both are never negative, so
// s(i) ≤ l(i) implies the l(i) ≥ 0 that the derivation needs. A center is taken as a sparse row and
// goes through the same panel kernel as the data; its error bound is added, so cc is never too low.
// Only pairs of which one center moved are computed again.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"

namespace arcmeans {

class CenterTests {
 public:
  // With `pairs`, keeps all cc(i,j) (k² floats); else only s(i).
  CenterTests(int n_centers, bool pairs);

  // Brings the tests up to date with the centers; returns the number of similarities computed.
  std::int64_t update(const Centers& centers, int n_threads);

  // s(a) < limit: no other center can be nearer than a.
  bool keeps(int a, double limit) const {
    return static_cast<double>(nearest_[static_cast<std::size_t>(a)]) < limit;
  }
  // cc(a,j) < limit: j cannot be nearer than a.
  bool excludes(int a, int j, double limit) const {
    return static_cast<double>(pairs_[static_cast<std::size_t>(a) * nearest_.size() +
                                      static_cast<std::size_t>(j)]) < limit;
  }

 private:
  bool fresh_ = true;
  std::vector<float> nearest_;  // s(i), rounded up
  std::vector<float> pairs_;    // cc(i,j), rounded up
};

// In the place of CenterTests for the simplified algorithms, which do without.
struct NoCenterTests {
  bool keeps(int, double) const { return false; }
  bool excludes(int, int, double) const { return false; }
};

}  // namespace arcmeans
