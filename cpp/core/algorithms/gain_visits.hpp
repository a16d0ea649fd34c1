// Visits of sparse rows to gain lines (group_gains.hpp), for the sieve (sieve.hpp).
//
// The bounds of a row age by the rises and falls of centers: by the most that *any* row can have
// gained or lost in a move. Gain lines tell what this row can have gained or lost in the last move,
// mostly less. The *excess* of the rise or fall is taken back from the bound (bound_aging.hpp has
// the formula). What has to stay true: with the excess gone a bound has still aged by as much as
// the row's own gain or loss, rounded up.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/algorithms/line_scan.hpp"
#include "core/layouts/line_sums.hpp"
#include "core/layouts/packed.hpp"

namespace arcmeans {

template <class Visits>
class GainVisits {
 public:
  GainVisits(const GroupGains& gains, const PackedRows& packed, const PassAging& aging,
             ChunkBounds& bounds, Visits& visits, std::size_t most_rows, Work& work)
      : gains_(gains),
        packed_(packed),
        aging_(aging),
        bounds_(bounds),
        visits_(visits),
        work_(work),
        groups_(aging.groups()),
        rows_(most_rows),
        reaching_(most_rows) {
    if (gains_.one_line()) return;
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) by_own_block_.emplace_back(most_rows);
  }

  // Takes the excess of the last move back from the bounds of the active rows of a chunk that would
  // visit at least `kLeastLines` filter lines: a visit to a gain line costs what one of those does.
  void take_excess_back(std::int64_t begin, const LineScan& scan) {
    begin_ = begin;
    rows_.clear();
    for (const std::int32_t r : scan.active()) {
      rows_.add(r, !scan.visits_all(r) && bounds_.count_lines_reaching(r) >= kLeastLines);
    }
    if (gains_.one_line()) {  // one visit tells gains and losses
      each_sum(gains_.gain_line(0), rows_, [&](std::int32_t r, const LineSums& sums) {
        take_from_fall(r, sums);
        take_from_rises(0, r, sums);
      });
      return;
    }
    for (RowList& rows : by_own_block_) rows.clear();
    for (const std::int32_t r : rows_) by_own_block_[index(own_group(r) / kCacheLineShorts)].add(r);
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) {
      each_sum(gains_.loss_line(b), by_own_block_[index(b)],
               [&](std::int32_t r, const LineSums& sums) { take_from_fall(r, sums); });
    }
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) {
      reaching_.clear();
      for (const std::int32_t r : rows_) reaching_.add(r, bounds_.groups_reaching(r, b) != 0);
      each_sum(gains_.gain_line(b), reaching_,
               [&](std::int32_t r, const LineSums& sums) { take_from_rises(b, r, sums); });
    }
  }

 private:
  static constexpr int kLeastLines = 2;
  // In units: gains and losses beyond this, more than any rise or fall, are cut to it. It fits
  // 16 bits.
  static constexpr float kMostGained = 32000.0F;

  int own_group(std::int32_t r) const { return groups_.of(bounds_.own_slot(r)); }

  // Calls use(r, sums) for these rows, with the sums of their products with a gain line.
  template <class Use>
  void each_sum(const std::int16_t* line, const RowList& rows, const Use& use) {
    work_.lines += static_cast<std::int64_t>(rows.size());
    if (gains_.signed_rows()) {
      visits_.template each_sum<true>(line, rows, use);
    } else {
      visits_.template each_sum<false>(line, rows, use);
    }
  }

  // What a row can have gained or lost beside its sum with a gain line, in units: by the rounding
  // of the row to 16 bits; by rare features, which `rare_change` tells; and 0.001 by changes so
  // small that rounding gave them the other sign.
  template <class RareChange>
  float beside_sum(std::int32_t r, const RareChange& rare_change) const {
    float units = 0.001F + packed_.error(begin_ + r, 0.0F) * gains_.length();
    if (!packed_.any_rare()) return units;
    for (const auto& rare : packed_.rare(begin_ + r)) {
      units += std::abs(rare.value) * rare_change(rare.feature) * (1.001F * kCosineUnits);
    }
    return units;
  }

  // Lowers the upper bounds on a block of groups. Rounded up: gains are cut to whole units and one
  // unit is added.
  void take_from_rises(int b, std::int32_t r, const LineSums& sums) {
    const Floats beside =
        splat(1.0F + beside_sum(r, [&](std::int32_t f) { return gains_.rare_gain(f); }));
    std::int16_t* const uppers = bounds_.uppers(r) + b * kCacheLineShorts;
    std::int16_t gained[kCacheLineShorts];
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      const int lane = v * kVectorFloats;
      const Floats cosines = load_wrapped_sums(uppers + lane, aging_.rises_to_read(b) + lane);
      const Floats stretched =
          multiply_add(larger(cosines, Floats{}), load(aging_.gain_stretches(b) + lane), beside);
      const Floats gain = multiply_add(__builtin_convertvector(sums.lanes[v], Floats),
                                       splat(gains_.factor()), stretched);
      const Floats cut = gain < splat(kMostGained) ? gain : splat(kMostGained);
      store_shorts(gained + lane, __builtin_convertvector(cut, Ints));
    }
    take_excess(uppers, aging_.rises_less_slack(b), gained);
  }

  // Raises the lower bound.
  void take_from_fall(std::int32_t r, const LineSums& sums) {
    const int lane = gains_.loss_lane(own_group(r));
    const int sum = sums.lanes[lane / kVectorFloats][lane % kVectorFloats];
    const float beside = beside_sum(r, [&](std::int32_t f) { return gains_.rare_loss(f); });
    const float lost = std::min(static_cast<float>(sum) * gains_.factor() + beside, kMostGained);
    const PassAging::LastFall& fall = aging_.last_fall(bounds_.label(r));
    // 3 is for the rounding of these floats, and for the cut to a whole number.
    const float fine =
        lost * PassAging::kFine +
        fall.stretch * static_cast<float>(std::max(0, bounds_.lower_before_fall(r))) + 3.0F;
    bounds_.take_fall_back(r, std::max(0, fall.less_slack - static_cast<std::int32_t>(fine)));
  }

  const GroupGains& gains_;
  const PackedRows& packed_;
  const PassAging& aging_;
  ChunkBounds& bounds_;
  Visits& visits_;
  Work& work_;
  LineGroups groups_;
  std::int64_t begin_ = 0;
  RowList rows_;      // that visit gain lines
  RowList reaching_;  // of these, those with a group in one block of bounds that reaches
  std::vector<RowList> by_own_block_;  // by block of bounds, those whose own group it has
};

}  // namespace arcmeans
