// What the last move can have added to the similarity of a row to a center, and taken from it,
// feature by feature, over all centers.
//
// A center is a sum times a scale, and a move makes sum + Δ and s′ of sum and s. So
//
//   x·c′ = (s′/s)·(x·c) + Σ x(f)·s′·Δ(f),
//
// and with the largest and the least of s′/s, the largest of s′·Δ(f) and the largest of −s′·Δ(f)
// over all centers, a bound on one similarity of a row becomes a bound on it after the move by a
// walk over the row's entries. Features whose sum did not change cost nothing and add nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "parallel.hpp"
#include "sums.hpp"

namespace arcmeans {

class FeatureChanges {
 public:
  // What is gained and lost, in 2⁻²⁴ of a similarity for a value of 1; never below zero.
  struct Change {
    float gained = 0.0F;
    float lost = 0.0F;
  };
  static constexpr float kUnits = 0x1p24F;
  // Rows with more entries may have changed by more than 32 bits can tell: they are as long as
  // √entries by the sum of their values, and no change is above kMost.
  static constexpr std::int64_t kMostEntries = 1 << 13;
  static constexpr double kMost = 2.0;

  // What a move did to a center.
  struct Move {
    const SumChange* change = nullptr;  // null: nothing
    bool replaced = false;              // it is another vector now
    double before = 0.0, scale = 0.0;   // 1/‖sum‖ before and after it
  };

  FeatureChanges(int n_centers, std::int32_t n_features)
      : changes_(static_cast<std::size_t>(n_features)),
        used_(static_cast<std::size_t>(n_features / kBlock + 1)),
        ratios_(static_cast<std::size_t>(n_centers), 1.0F) {}

  // Whether there was a move, and nothing in it that cannot be told.
  bool known() const { return known_; }
  const Change* data() const { return changes_.data(); }  // by feature
  // s′/s of each center, to the precision of a float; the largest and the least.
  const float* ratios() const { return ratios_.data(); }
  float most() const { return most_; }
  float least() const { return least_; }

  // Takes the next move.
  void follow(const std::vector<Move>& moves, int n_threads) {
    known_ = true;
    most_ = least_ = 1.0F;
    for (std::size_t j = 0; j < moves.size(); ++j) {
      const Move& move = moves[j];
      known_ = known_ && (!move.change || (!move.replaced && tellable(move)));
      ratios_[j] = move.change ? static_cast<float>(move.scale / move.before) : 1.0F;
      most_ = std::max(most_, ratios_[j]);
      least_ = std::min(least_, ratios_[j]);
    }
    parallel_chunks(static_cast<std::int64_t>(changes_.size()), kBlock, n_threads,
                    [&](int, std::int64_t begin, std::int64_t end) {
                      clear(begin, end);
                      if (!known_) return;
                      for (const Move& move : moves) {
                        if (move.change) follow(move, begin, end);
                      }
                    });
  }

 private:
  static constexpr std::int32_t kBlock = 8192;

  static bool tellable(const Move& move) {
    const auto* first = move.change->values.data();
    return std::all_of(first, first + move.change->size(),
                       [&](std::int64_t value) {
                         return std::abs(static_cast<double>(value)) * move.scale < kMost;
                       }) &&
           move.scale < kMost * move.before;
  }

  void clear(std::int64_t begin, std::int64_t end) {
    char& used = used_[static_cast<std::size_t>(begin / kBlock)];
    if (used) std::fill(changes_.data() + begin, changes_.data() + end, Change{});
    used = 0;
  }

  void follow(const Move& move, std::int64_t begin, std::int64_t end) {
    const std::int32_t* features = move.change->features.data();
    const auto* last = features + move.change->size();
    const auto* at = std::lower_bound(features, last, static_cast<std::int32_t>(begin));
    if (at == last || *at >= end) return;
    used_[static_cast<std::size_t>(begin / kBlock)] = 1;
    // Larger by far more than all rounding there is, that of a row's length included.
    const double unit = move.scale * double{kUnits} * (1.0 + 0x1p-20);
    for (; at != last && *at < end; ++at) {
      const auto value =
          static_cast<double>(move.change->values[static_cast<std::size_t>(at - features)]);
      const auto size = static_cast<float>(value * unit);
      Change& change = changes_[static_cast<std::size_t>(*at)];
      change.gained = std::max(change.gained, size);
      change.lost = std::max(change.lost, -size);
    }
  }

  Buffer<Change> changes_;  // by feature
  std::vector<char> used_;  // by block of features: it holds anything
  std::vector<float> ratios_;
  float most_ = 1.0F, least_ = 1.0F;
  bool known_ = false;
};

}  // namespace arcmeans
