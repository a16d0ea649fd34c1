// The centers in groups, for yinyang: the group of each center, how far each group moved
// altogether, and a float32 copy of the centers of each group in strips of its own (strips.hpp), so
// that one visit computes a group. A group of fewer than four centers has no strip: its
// similarities are computed one by one. Memory: 4 to 16 bytes for each center and feature.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"
#include "core/layouts/strips.hpp"
#include "core/moves/turns.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

class CenterGroups {
 public:
  // The group of each center, 0 ≤ group < n_groups.
  CenterGroups(const std::int32_t* group_of, int n_centers, int n_groups, std::int32_t n_features);
  CenterGroups(const CenterGroups&) = delete;
  CenterGroups& operator=(const CenterGroups&) = delete;

  // Brings copies and movements up to date with the centers.
  void update(const Centers& centers, const TurnAngles& turns, int n_threads);

  int size() const { return static_cast<int>(moved_.size()); }
  int group_of(int center) const { return group_of_[index(center)]; }
  // m, where a center is member m of its group.
  int member_number(int center) const { return member_number_[index(center)]; }
  const int* begin(int g) const { return members_.data() + starts_[index(g)]; }
  int count(int g) const { return starts_[index(g) + 1] - starts_[index(g)]; }
  // The strips of a group one after another; null where it has none.
  const float* strips(int g) const {
    const std::int64_t at = first_strip_[index(g)];
    return at < 0 ? nullptr : strips_.data() + at * strip_floats_;
  }
  std::int64_t strip_floats() const { return strip_floats_; }
  // The cumulative movement: Σ over the passes of the largest turn in the group.
  double moved(int g) const { return moved_[index(g)]; }
  // By group, rounded up to float32.
  const float* moved_up() const { return moved_up_.data(); }

 private:
  void copy_to_strips(const Centers& centers, int g);
  float* strip(int g, int m) {
    return strips_.data() + (first_strip_[index(g)] + m / kCacheLineFloats) * strip_floats_;
  }

  bool fresh_ = true;  // no center is in the strips yet
  std::vector<std::int32_t> group_of_;
  std::vector<int> member_number_;  // [center]
  std::vector<int> starts_;         // [group]
  std::vector<int> members_;        // centers by group, ascending within
  std::int64_t strip_floats_;
  std::vector<std::int64_t> first_strip_;  // [group]; −1: none
  Buffer<float> strips_;
  std::vector<double> moved_;
  std::vector<float> moved_up_;
};

}  // namespace arcmeans
