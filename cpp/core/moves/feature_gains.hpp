// What the last move can have added to the similarity of a row to one center and taken from its
// similarity to another, told feature by feature, over all centers.
//
// A center is a sum times a scale, and a move makes sum + Δ and s′ of sum and s. So
//
//   x·c′ = (s′/s)·(x·c) + Σ x(f)·s′·Δ(f).
//
// Over all centers, the largest s′·Δ(f) is the gain of feature f and the largest −s′·Δ(f) its loss.
// A walk over the entries of a row adds up gain + loss: by that much, but for the ratios s′/s, any
// center can have come closer to the row than another. Features whose sums did not change cost
// nothing and add nothing.
//
// The largest ratio counts for all rows. So a center whose sum has become much shorter, because
// half of its rows left, say, is told *in full*: with the ratio 1, and with c′ − c in place of s′·Δ
// in all of its features. A center that was replaced has the ratio 0: all of c′ is change.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

class FeatureGains final : public CenterWatcher {
 public:
  // Gains and losses are counts, so many to a cosine of 1.
  static constexpr float kCountsPerCosine = 0x1p21F;
  // The counts of a row with more entries might not add up to less than 2³¹: the values of a row
  // add up to √entries at most, and no gain or loss is above kMost.
  static constexpr std::int64_t kMostEntries = 1 << 13;
  static constexpr double kMost = 2.0;

  // The gains of these centers from their next move on. `most_read`: how many features may be
  // looked at in each move to tell some centers in full.
  static const FeatureGains& of(Centers& centers, std::int64_t most_read);

  FeatureGains(const Centers& centers, std::int64_t most_read);

  // Whether there was a move, and all of it can be told.
  bool known() const { return known_; }
  // By feature, in counts for a value of 1; not below zero.
  const float* gains_plus_losses() const { return gains_plus_losses_.data(); }
  // The ratio of each center, to the precision of a float, and the largest of them.
  const float* ratios() const { return ratios_.data(); }
  float largest_ratio() const { return largest_ratio_; }

  void placed(const Centers&, int) override { known_ = false; }
  void moved(const Centers& centers, const SumChanges& changes, int n_threads) override;

 private:
  static constexpr std::int32_t kRange = 8192;

  struct MovedCenter;  // in the last move

  void choose_in_full(std::vector<MovedCenter>& all) const;
  void clear(std::int64_t begin, std::int64_t end);
  void write(const std::vector<MovedCenter>& all, const SumVectors& sums, std::int64_t begin,
             std::int64_t end);

  std::int64_t most_read_;
  Buffer<float> gains_plus_losses_;
  std::vector<char> written_;  // by range of features: a number may not be zero
  std::vector<float> ratios_;
  float largest_ratio_ = 1.0F;
  bool known_ = false;
};

}  // namespace arcmeans
