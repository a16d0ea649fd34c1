// What the last move can have added to the cosine of a row to the centers of a group, and taken
// from it, told feature by feature.
//
// For a row x without negative values and a center that moved from c to c′,
//
//   x·c′ − x·c ≤ Σ x(f)·m(f),   m(f) = the largest of 0 and c′(f) − c(f) over a group of centers,
//
// and x·c′ − x·c ≥ −Σ x(f)·m(f) with the largest of 0 and c(f) − c′(f). For rows of any sign both
// hold with |x(f)| and the largest of |c′(f) − c(f)|. The *gain lines* hold m of 32 groups for each
// feature, rounded up to 16 bits, as filter lines hold 32 centers. So one visit of a row tells what
// all groups have gained and the row's own group has lost: on text far less than ‖c′ − c‖, since a
// row has few of the features in which a center has changed much.
//
// A feature whose sum did not change has changed by the scale of its center alone, by the same
// share as all such features. Where the share is small those features stay out of the lines, which
// then cost what the move costs. Their part is kept for each center: without negative values a
// share of the cosine, the `stretch`; else a number, the `slack`. Rare features are treated
// likewise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/bounds/bounds.hpp"
#include "core/centers/centers.hpp"
#include "core/layouts/line_groups.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

class GroupGains final : public CenterWatcher {
 public:
  // With more features sums of products might not stay below 2³¹.
  static constexpr std::int32_t kMostFeatures = 1 << 27;
  // A slack that leaves nothing: the lines do not tell of the center.
  static constexpr double kUnknown = 4.0;

  // The gains of these centers from their next move on, for rows of any sign or for rows without
  // negative values. What holds for rows of any sign holds for all.
  static const GroupGains& of(Centers& centers, bool any_sign);

  GroupGains(const Centers& centers, bool any_sign);

  bool any_sign() const { return any_sign_; }
  // Whether the last move is known, and large enough to be told.
  bool known() const { return largest_ >= kSmallest; }
  // Whether one line holds gains and losses. Then the lanes that no group needs hold the losses,
  // each of several groups: a row asks for the gains of all groups and for the loss of one.
  bool share_a_line() const { return groups_.count() < kCacheLineShorts; }
  // The gains of the groups of a block of bounds, in the lanes of the bounds; the line that holds
  // the losses of those groups, and the lane of a group's loss there.
  const std::int16_t* gains(int bound_block) const {
    return lanes_.data() + index(bound_block) * line_size_;
  }
  const std::int16_t* losses(int bound_block) const {
    return gains(share_a_line() ? 0 : groups_.n_bound_blocks() + bound_block);
  }
  int loss_lane(int group) const {
    return share_a_line() ? groups_.count() + group % (kCacheLineShorts - groups_.count())
                          : group % kCacheLineShorts;
  }

  // Makes units of the sums of products with a packed row.
  float factor() const { return factor_; }
  // ‖m‖ of any group, or more.
  float length() const { return static_cast<float>(1.0001 * longest()); }
  // The most that any center has gained, and lost, in a rare feature.
  float rare_gain(std::int32_t feature) const { return rare_gain_[index(feature - n_frequent_)]; }
  float rare_loss(std::int32_t feature) const { return rare_loss_[index(feature - n_frequent_)]; }

  // What the lines do not tell of the gain, or of the loss, of one center.
  struct Untold {
    double slack = kUnknown;
    double stretch = 0.0;
  };
  const Untold& untold_gain(int j) const { return untold_gain_[index(j)]; }
  const Untold& untold_loss(int j) const { return untold_loss_[index(j)]; }

  void placed(const Centers&, int center) override { forget(center); }
  void moved(const Centers& centers, const SumChanges& changes, int n_threads) override;

 private:
  static constexpr double kSmallest = 1e-6;
  // Up to this share features whose sums did not change stay out of the lines.
  static constexpr double kSmallShare = 0.02;
  // The length of m in the lines. A sum of products is at most (kUnitRow + ½√n)·(kLongest + √n).
  static constexpr double kLongest = 30000.0;
  // Features at a time: their lanes stay in the second cache while all centers write theirs.
  static constexpr std::int32_t kBlock = 2048;

  // What there is to tell of one center: nothing where `change` is null.
  struct Telling {
    const SumChange* change = nullptr;
    const CenterMove* move = nullptr;
    const std::int64_t* sums = nullptr;  // of the frequent features, after the move
    bool told = false;                   // whether the lines tell of it
    bool in_full = false;                // and of all its features
  };
  class Writer;

  void forget(int j) { untold_gain_[index(j)] = untold_loss_[index(j)] = Untold{}; }
  Telling telling(const Centers& centers, const SumChange& change, int j) const;
  Untold untold(const Telling& center, double share) const;
  double longest() const;
  std::int16_t* lane(const std::int16_t* line, int lane);
  void clear(std::int64_t begin, std::int64_t end);
  void write(int j, const Telling& center, double steps, std::int64_t begin, std::int64_t end);
  void write_rare(const std::vector<Telling>& centers);

  LineGroups groups_;
  bool any_sign_;
  std::int32_t n_frequent_;
  std::size_t line_size_;
  double largest_ = 0.0;  // the largest rise or fall of a center that is told
  float factor_ = 0.0F;
  Buffer<std::int16_t> lanes_;  // [line][feature][lane]
  std::vector<char> used_;      // by block of features: a lane is not zero
  // By center, a bit for each frequent feature that it has, or has had; and whether all are there.
  std::size_t words_;
  Buffer<std::uint64_t> present_;
  std::vector<char> listed_;
  std::vector<float> rare_gain_, rare_loss_;
  std::vector<std::int32_t> rare_used_;
  std::vector<Untold> untold_gain_, untold_loss_;
};

}  // namespace arcmeans
