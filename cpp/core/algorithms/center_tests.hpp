// Tests by the angles between centers (paper, "Spherical Elkan's Algorithm"): a row within half the
// angle between its own center and another is nearer to its own.
//
// cc(i,j) = √((⟨c(i), c(j)⟩ + 1)/2), s(i) = max_{j≠i} cc(i,j). Both are never negative, so
// s(i) ≤ l(i) implies the l(i) ≥ 0 that the derivation needs. A center is taken as a sparse row and
// goes through the same panel kernel as the data; its error bound is added, so cc is never too low.
// Only pairs of which one center moved are computed again. The tests belong to the centers, so that
// passes over several parts of the rows compute them once.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"
#include "core/layouts/panels.hpp"

namespace arcmeans {

class CenterTests final : public CenterWatcher {
 public:
  // The tests of these centers, made when first asked for, with all cc(i,j) (k² floats) if they are
  // wanted as `pairs`; else only s(i) is kept.
  static CenterTests& of(Centers& centers, bool pairs);

  CenterTests(int n_centers, bool pairs);

  void placed(const Centers&, int center) override { outdated_[index(center)] = 1; }
  void moved(const Centers& centers, const SumChanges&, int) override {
    for (int j = 0; j < centers.size(); ++j) outdated_[index(j)] |= centers.last_move(j).moved();
  }

  // Brings the tests up to date with the centers; returns the number of similarities computed.
  std::int64_t update(const Centers& centers, const Panels& panels, int n_threads);

  // For a row whose cosine to its own center a is at least `limit` and a margin for sim64. s(a) <
  // limit: no other center is nearer.
  bool keeps(int a, double limit) const { return static_cast<double>(nearest_[index(a)]) < limit; }
  // cc(a,j) < limit: center j is not nearer.
  bool excludes(int a, int j, double limit) const {
    return static_cast<double>(pairs_[index(a) * nearest_.size() + index(j)]) < limit;
  }

 private:
  void find(const Centers& centers, const Panels& panels, int i);
  void mirror(const std::vector<int>& found);

  std::vector<char> outdated_;  // by center: it was placed or moved since the last update
  std::vector<float> nearest_;  // s(i), rounded up
  std::vector<float> pairs_;    // cc(i,j), rounded up
};

// In the place of CenterTests for the simplified algorithms, which do without.
struct NoCenterTests {
  bool keeps(int, double) const { return false; }
  bool excludes(int, int, double) const { return false; }
};

}  // namespace arcmeans
