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
// A feature whose sum did not change has changed by the scale of its center alone: it grew by
// CenterMove::growth, as all such features did. Where the growth is small those features stay out
// of the lines, which then cost what the move costs. Where it is large, the center is told *in
// full*. What is left out is kept for each center: without negative values the growth is a share of
// the cosine, the `stretch`; else a number, the `slack`. A center is not told at all where a vector
// was replaced, or where sums below zero meet rows without negative values.
//
// The change of rare features is kept by feature, over all centers (rare_gain, rare_loss), and
// their growth is always left out.
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
  // A slack of this leaves nothing of any gain or loss: the center is not told.
  static constexpr double kNotTold = 4.0;

  // The gains of these centers from their next move on, for rows of any sign (`signed_rows`) or for
  // rows without negative values. What holds for rows of any sign holds for all.
  static const GroupGains& of(Centers& centers, bool signed_rows);

  GroupGains(const Centers& centers, bool signed_rows);

  bool signed_rows() const { return signed_rows_; }
  // Whether there was a move, and any told center moved enough.
  bool known() const { return largest_ >= kSmallest; }
  // Whether one line holds gains and losses. Then the lanes that no group needs hold the losses,
  // each of several groups: a row asks for the gains of all groups and for the loss of one.
  bool one_line() const { return groups_.count() < kCacheLineShorts; }
  // The line with the gains of the groups of a block of bounds, in the lanes of the bounds; the
  // line with the losses of those groups, and the lane of a group's loss there.
  const std::int16_t* gain_line(int bound_block) const { return line(bound_block); }
  const std::int16_t* loss_line(int bound_block) const { return line(loss_number(bound_block)); }
  int loss_lane(int group) const {
    return one_line() ? groups_.count() + group % (kCacheLineShorts - groups_.count())
                      : group % kCacheLineShorts;
  }

  // Makes units of the sums of products of a packed row with a line.
  float factor() const { return factor_; }
  // ‖m‖ of any lane, or more.
  float length() const { return static_cast<float>(1.0001 * longest()); }
  // The most that any center has gained, and lost, in a rare feature.
  float rare_gain(std::int32_t feature) const { return rare_gain_[index(feature - n_frequent_)]; }
  float rare_loss(std::int32_t feature) const { return rare_loss_[index(feature - n_frequent_)]; }

  // What is left out of the gain, or of the loss, of one center.
  struct LeftOut {
    double slack = kNotTold;
    double stretch = 0.0;
  };
  const LeftOut& left_out_of_gain(int j) const { return left_out_of_gain_[index(j)]; }
  const LeftOut& left_out_of_loss(int j) const { return left_out_of_loss_[index(j)]; }

  void placed(const Centers&, int center) override { tell_nothing(center); }
  void moved(const Centers& centers, const SumChanges& changes, int n_threads) override;

 private:
  // The least that the largest rise or fall of the told centers has to be.
  static constexpr double kSmallest = 1e-6;
  // The largest growth that is left out.
  static constexpr double kSmallGrowth = 0.02;
  // The length of m in the lines. A sum of products is at most (kRowMultiplier + ½√n)·(kLongest +
  // √n).
  static constexpr double kLongest = 30000.0;
  // Features at a time, of a thread: their numbers stay in the second cache while all centers write
  // theirs.
  static constexpr std::int32_t kRange = 2048;

  // One center in the last move. `change` is null where it stayed.
  struct MovedCenter {
    const SumChange* change = nullptr;
    const CenterMove* move = nullptr;
    const std::int64_t* sums = nullptr;  // of the frequent features, after the move
    bool told = false;
    bool in_full = false;
    bool replaced() const { return move->kind == CenterMove::Kind::replaced; }
  };
  class Writer;

  void tell_nothing(int j) { left_out_of_gain_[index(j)] = left_out_of_loss_[index(j)] = {}; }
  MovedCenter moved_center(const Centers& centers, const SumChange& change, int j) const;
  LeftOut left_out(const MovedCenter& center, double growth) const;
  double longest() const;
  int loss_number(int bound_block) const {
    return one_line() ? 0 : groups_.n_bound_blocks() + bound_block;
  }
  const std::int16_t* line(int l) const { return numbers_.data() + index(l) * line_size_; }
  void clear(std::int64_t begin, std::int64_t end);
  void write(int j, const MovedCenter& center, double per_cosine, std::int64_t begin,
             std::int64_t end);
  void write_rare(const std::vector<MovedCenter>& centers);

  LineGroups groups_;
  bool signed_rows_;
  std::int32_t n_frequent_;
  std::size_t line_size_;
  double largest_ = 0.0;  // the largest rise or fall of a center that is told
  float factor_ = 0.0F;
  Buffer<std::int16_t> numbers_;  // [line][feature][lane]
  std::vector<char> written_;     // by range of features: a number may not be zero
  // By center, a bit for each frequent feature that it has, or has had; and whether all are there.
  std::size_t words_;
  Buffer<std::uint64_t> present_;
  std::vector<char> all_present_;
  std::vector<float> rare_gain_, rare_loss_;
  std::vector<std::int32_t> rare_written_;
  std::vector<LeftOut> left_out_of_gain_, left_out_of_loss_;
};

}  // namespace arcmeans
