// The centers in groups, for yinyang: who belongs to which, how far each group moved altogether,
// and a float32 copy of each group's centers in lines of its own (lines.hpp), so that one visit
// computes a group. Groups of fewer than four centers have none: theirs are computed one by one.
// Memory: 4 to 16 bytes for each center and feature.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"
#include "core/layouts/lines.hpp"
#include "core/moves/turns.hpp"

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
  int group_of(int center) const { return group_of_[static_cast<std::size_t>(center)]; }
  // Where a center stands among those of its group.
  int place_of(int center) const { return place_[static_cast<std::size_t>(center)]; }
  const int* begin(int g) const { return members_.data() + starts_[static_cast<std::size_t>(g)]; }
  int count(int g) const {
    return starts_[static_cast<std::size_t>(g) + 1] - starts_[static_cast<std::size_t>(g)];
  }
  // The lines of a group one after another; null: compute its centers one by one.
  const float* lines(int g) const {
    const std::int64_t at = first_line_[static_cast<std::size_t>(g)];
    return at < 0 ? nullptr : lines_.data() + at * line_floats_;
  }
  std::int64_t line_floats() const { return line_floats_; }
  // The cumulative movement: Σ over the passes of the largest turn in the group.
  double moved(int g) const { return moved_[static_cast<std::size_t>(g)]; }
  const float* moved_up() const { return moved_up_.data(); }

 private:
  void copy(const Centers& centers, int g);
  float* line(int g, int m) {
    return lines_.data() +
           (first_line_[static_cast<std::size_t>(g)] + m / kLineFloats) * line_floats_;
  }

  bool fresh_ = true;
  std::vector<std::int32_t> group_of_;
  std::vector<int> place_;    // [center]
  std::vector<int> starts_;   // [group]
  std::vector<int> members_;  // centers by group, ascending within
  std::int64_t line_floats_;
  std::vector<std::int64_t> first_line_;  // [group]; −1: none
  Buffer<float> lines_;
  std::vector<double> moved_;
  std::vector<float> moved_up_;
};

}  // namespace arcmeans
