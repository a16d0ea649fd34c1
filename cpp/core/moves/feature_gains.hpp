// What the last move can have added to the similarity of a row to one center and taken from its
// similarity to another, told feature by feature, over all centers.
//
// A center is a sum times a scale, and a move makes sum + Δ and s′ of sum and s. So
//
//   x·c′ = (s′/s)·(x·c) + Σ x(f)·s′·Δ(f).
//
// Over all centers, the largest s′·Δ(f) is the gain of feature f and the largest −s′·Δ(f) its loss.
// A walk over the entries of a row adds up gain + loss: by that much any center can have come
// closer to the row than another, but for the ratios s′/s. Features whose sums did not change cost
// nothing and add nothing.
//
// The largest ratio counts for all rows. So a center that has become much shorter, because it lost
// half of its rows, say, is told *in full*: with the ratio 1, and with c′ − c in place of s′·Δ in
// all of its features. A center that another vector replaced has the ratio 0: all of it is change.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

class FeatureGains final : public CenterWatcher {
 public:
  // Gains and losses are in 2⁻²¹ of a similarity for a value of 1.
  static constexpr float kUnits = 0x1p21F;
  // With more entries in a row the sum might not fit into 31 bits: a row of length 1 sums up to
  // √entries at most, and no gain or loss is above kMost.
  static constexpr std::int64_t kMostEntries = 1 << 13;
  static constexpr double kMost = 2.0;

  // The gains of these centers from their next move on. `most_read`: how many features of centers
  // may be looked at to tell some centers in full.
  static const FeatureGains& of(Centers& centers, std::int64_t most_read);

  FeatureGains(const Centers& centers, std::int64_t most_read);

  // Whether there was a move, and all of it can be told.
  bool known() const { return known_; }
  // By feature: gain + loss, not below zero.
  const float* sums() const { return sums_.data(); }
  // The ratio of each center, to the precision of a float, and the largest of them.
  const float* ratios() const { return ratios_.data(); }
  float largest_ratio() const { return largest_ratio_; }

  void placed(const Centers&, int) override { known_ = false; }
  void moved(const Centers& centers, const SumChanges& changes, int n_threads) override;

 private:
  static constexpr std::int32_t kBlock = 8192;  // features that a thread takes at a time

  // What there is to tell of one center: nothing where `change` is null.
  struct Telling;

  void choose_in_full(std::vector<Telling>& all) const;
  void clear(std::int64_t begin, std::int64_t end);
  void write(const std::vector<Telling>& all, const SumVectors& sums, std::int64_t begin,
             std::int64_t end);

  std::int64_t most_read_;
  Buffer<float> sums_;      // by feature
  std::vector<char> used_;  // by block of features: a sum is not zero
  std::vector<float> ratios_;
  float largest_ratio_ = 1.0F;
  bool known_ = false;
};

}  // namespace arcmeans
