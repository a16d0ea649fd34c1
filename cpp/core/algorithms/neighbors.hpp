// For each center a list of its neighbors, for exponion and shallot: the up to 128 other centers
// nearest to it, in annuli of 16, 16, 32 and 64 that are not sorted within (after Newling and
// Fleuret, ICML 2016), and lower bounds on the angles to all centers that are not in the first
// annuli.
//
// Up to 32 features, an annulus has a float32 copy of its centers in strips (strips.hpp), so that
// sixteen similarities cost what one costs. With more features similarities are computed one by
// one, and a list has at most a sixteenth of all centers.
//
// Before a pass a list is found anew, by a visit to the panels of all centers. While the centers
// moved little since then, a list with strips stays: the angles to its members are computed again,
// and only the bound on all other centers falls, by how far any center moved.
// Memory: 512 bytes for each center, and 512·(features + 1) with strips.
#pragma once

#include <cstdint>
#include <vector>

#include "core/algorithms/algorithm.hpp"
#include "core/centers/center_row.hpp"
#include "core/layouts/panels.hpp"
#include "core/layouts/strips.hpp"
#include "core/moves/turns.hpp"
#include "core/support/prefetch.hpp"

namespace arcmeans {

class CenterNeighbors {
 public:
  static constexpr int kMost = 128;  // neighbors of a center
  static constexpr std::int32_t kMostFeaturesForStrips = 32;

  CenterNeighbors(int n_centers, std::int32_t n_features);
  CenterNeighbors(const CenterNeighbors&) = delete;
  CenterNeighbors& operator=(const CenterNeighbors&) = delete;

  // What the lists take.
  static std::int64_t bytes_for(const Problem& problem) {
    const bool strips = problem.n_features <= kMostFeaturesForStrips;
    const std::int64_t lane_bytes = strips ? 4 * (std::int64_t{problem.n_features} + 1) : 0;
    return (600 + kMost * lane_bytes) * problem.n_clusters;
  }

  // Brings the lists up to date with the centers; returns the number of similarities computed.
  std::int64_t update(const Centers& centers, const Panels& panels, const TurnAngles& turns,
                      int n_threads);

  // How many neighbors each center has here.
  int count() const { return count_; }
  // The neighbors of a center, nearest annulus first.
  const int* of(int a) const { return neighbors_.data() + std::int64_t{a} * kMost; }
  // Neighbor m begins an annulus: the neighbor with which the next one begins.
  static int end_of(int m) { return m == 0 ? kCacheLineFloats : 2 * m; }
  // At most the angle to any center that is not among the first m; m = 0 or the end of an annulus.
  double beyond_first(int a, int m) const { return angles_[index(a)].beyond[annuli_before(m)]; }
  // At least the angle to the nearest other center.
  double nearest_at_most(int a) const { return angles_[index(a)].nearest; }
  // Asks the memory for what a visit to the first annulus of a center reads.
  __attribute__((always_inline)) void prefetch(int a) const {
    const auto* angles = reinterpret_cast<const char*>(angles_.data() + a);
    prefetch_near(angles);
    prefetch_near(angles + sizeof(Angles) - 1);
    for (std::int64_t f = 0; f < strip_floats_; f += kCacheLineFloats) {
      prefetch_near(strip(a, 0) + f);
    }
  }
  // The strip of neighbors m to m + 15; null: compute them one by one.
  const float* strip(int a, int m) const {
    if (strip_floats_ == 0) return nullptr;
    return strips_.data() +
           (std::int64_t{a} * strips_a_center_ + m / kCacheLineFloats) * strip_floats_;
  }

 private:
  static constexpr int kAnnuli = 4;
  // From one center to others.
  struct Angles {
    double beyond[kAnnuli + 1] = {};  // ≤ the angles to all centers after the first n annuli
    double nearest = 0.0;             // ≥ the angle to the nearest
    // Of the list when it was found:
    double found_beyond = 0.0;  // beyond[kAnnuli]
    double radius = 0.0;        // the largest of `beyond` that is finite
    float last = 2.0F;          // a similarity that few more centers reach than are in the list
    double moved = 0.0;         // by how much others may have come nearer since
  };
  struct Neighbor {
    float similarity;
    int center;
  };
  struct Scratch {
    CenterRow center;
    std::vector<float> similarities;
    std::vector<float> sample;
    std::vector<Neighbor> nearest;
  };
  static std::size_t annuli_before(int m) {
    return m == 0 ? 0 : m <= 16 ? 1 : m <= 32 ? 2 : m <= 64 ? 3 : 4;
  }
  void find(const Centers& centers, const Panels& panels, int a, Scratch& scratch);
  float guess_last(Scratch& scratch) const;
  void collect(int a, float least, Scratch& scratch) const;
  void renew_angles(const Centers& centers, int a, Scratch& scratch);
  void copy_to_strips(const Centers& centers, int a);

  int n_centers_;
  int count_;
  std::int64_t strips_a_center_;
  std::int64_t strip_floats_;  // 0: no strips
  std::vector<int> neighbors_;
  std::vector<Angles> angles_;
  Buffer<float> strips_;
};

}  // namespace arcmeans
