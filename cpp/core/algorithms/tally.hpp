// `tally`, for short sparse rows: bounds that follow the features of a row. Each thread of a pass
// has one `Tally` and calls visit() for one chunk of rows after another (row_loop.hpp).
//
// Two numbers a row: others(i) is an upper bound on the similarities to all other centers, and
// own(i) − others(i) a lower bound on how far the similarity to the own center is above them.
// own(i) by itself is no bound: what the own center lost is not taken from own(i) but added to
// others(i), so that each feature has one number, gain + loss, instead of two.
//
// A move changes both numbers not by the length of the centers' movement, as in Hamerly's
// algorithm, for most of that is in features that a short row does not have. A walk over the
// entries of the row adds up gain + loss of its features (feature_gains.hpp), at a few nanoseconds
// a row; and both numbers are multiplied by a ratio of scales, after the move to before it: own(i)
// by that of its center, others(i) by the largest. While others(i) is below own(i), by so much that
// sim64 agrees (`least_gap_`), the row keeps its label. Else it goes through the panels like in
// `lloyd`. Memory: 8 bytes a row.
//
// What has to stay true: others(i) ≥ 0 after a visit, or the largest ratio would not be the one
// that counts; both numbers rounded so that own(i) − others(i) stays a bound.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/algorithms/panel_visits.hpp"
#include "core/algorithms/row_list.hpp"
#include "core/moves/feature_gains.hpp"
#include "core/support/index.hpp"
#include "core/support/where.hpp"

namespace arcmeans {

struct TallyState : Labels {
  float* own = nullptr;     // own(i)
  float* others = nullptr;  // others(i)
};

template <class RowsOf>
class Tally {
  using Row = typename RowsOf::Row;

 public:
  Tally(const RowsOf& rows, const Centers& centers, const Panels& panels, const FeatureGains& gains,
        const TallyState& state, const PassOptions& options, Work& work)
      : rows_(rows),
        centers_(centers),
        panels_(panels),
        gains_(gains),
        state_(state),
        work_(work),
        visits_(rows, panels_, options.rows_at_a_time()),
        similarities_(index(panels_.width())),
        least_gap_(static_cast<float>(
            2.0 * reference_error<typename Row::Value>(FeatureGains::kMostEntries) + 0x1p-23)) {
    for (RowList& list : to_visit_) list = RowList(index(options.rows_at_a_time()));
  }

  // Gives the rows of a chunk, of all rows those from `begin` on and before `end`, their labels.
  void visit(std::int64_t begin, std::int64_t end) {
    for (RowList& list : to_visit_) list.clear();
    const bool are_short = entries_before(end) - entries_before(begin) <= kShort * (end - begin);
    const std::int64_t step = are_short ? kRowsAtOnce : 1;
    for (std::int64_t first = begin; first < end; first += step) {
      scan(begin, first, std::min(end, first + step));
    }
    for (const RowList& list : to_visit_) {
      visits_.visit(begin, list, [&](std::int32_t r, const Top& top) { label(begin + r, top); });
    }
  }

 private:
  // Rows of up to so many entries on average are taken so many at once.
  static constexpr std::int64_t kShort = 64;
  static constexpr std::int64_t kRowsAtOnce = 64;
  // Rows to visit are listed by their number of entries, those with 7 or more in one list.
  static constexpr std::int64_t kLists = 8;

  static constexpr float kOneCount = 1.0F / FeatureGains::kCountsPerCosine;
  // What one age() can lose by rounding: two ratios, two products and three sums of numbers below
  // 2. For a row that keeps its label others(i) < 1, and own(i) ≤ 1 + others(i), since others(i)
  // has all that the own center lost.
  static constexpr float kRounding = 0x1p-20F;

  // Ages the numbers of the rows from `first` to `end`, and lists those that have to be visited.
  void scan(std::int64_t begin, std::int64_t first, std::int64_t end) {
    std::int32_t to_visit[kRowsAtOnce];
    const std::int64_t n = end - first;
    if (gains_.known()) {  // of the last move
      add_up(first, end);
      age(first, end, to_visit);
    } else {
      std::fill_n(to_visit, n, -1);
    }
    work_.skipped_by_bounds += n;
    each_true(to_visit, n, [&](std::int64_t at) {
      const std::int64_t i = first + at;
      --work_.skipped_by_bounds;
      if (rows_.zero[i]) return;
      const std::int64_t size = entries_before(i + 1) - entries_before(i);
      to_visit_[std::min(size, kLists - 1)].add(static_cast<std::int32_t>(i - begin));
    });
  }

  // Adds up |value| · (gain + loss) over the entries of all these rows, one after another: a loop
  // for each row would be so short that the processor mispredicts its end. The sum of one row is
  // the difference of the running sums at its two ends.
  void add_up(std::int64_t first, std::int64_t end) {
    const std::int64_t before = entries_before(first), after = entries_before(end);
    const auto n = index(after - before);
    if (running_sums_.size() <= n) running_sums_.resize(n + 1);
    const auto* values = rows_.row(first).values;
    const float* gains = gains_.gains_plus_losses();
    std::uint32_t* running_sum = running_sums_.data();
    std::uint32_t sum = 0;
    const auto add = [&](std::int32_t feature) {
      *running_sum++ = sum;
      const float change = std::abs(static_cast<float>(*values++)) * gains[feature];
      sum += static_cast<std::uint32_t>(static_cast<std::int32_t>(change));
    };
    if constexpr (Row::dense) {
      for (std::int64_t i = first; i < end; ++i) {
        for (std::int32_t feature = 0; feature < rows_.n_features; ++feature) add(feature);
      }
    } else {
      for (std::int64_t e = before; e < after; ++e) add(rows_.features[e]);
    }
    *running_sum = sum;
  }

  // Takes the last move into both numbers of these rows, and says which may have another label now.
  void age(std::int64_t first, std::int64_t end, std::int32_t* __restrict to_visit) {
    const auto n = index(end - first);
    std::int32_t changes[kRowsAtOnce];
    float own_ratios[kRowsAtOnce];
    const std::uint32_t* before = running_sums_.data();
    for (std::size_t at = 0; at < n; ++at) {
      const std::int64_t i = first + static_cast<std::int64_t>(at);
      const std::int64_t size = entries_before(i + 1) - entries_before(i);
      const std::uint32_t* after = before + size;
      // Each entry was rounded down, by less than one.
      const auto change =
          static_cast<std::int32_t>(*after - *before + static_cast<std::uint32_t>(size));
      // The sum of a row with too many entries may have wrapped: such a row is visited.
      changes[at] =
          size <= FeatureGains::kMostEntries ? change : std::numeric_limits<std::int32_t>::max();
      own_ratios[at] = gains_.ratios()[std::max(state_.labels[i], 0)];
      before = after;
    }
    float* __restrict others = state_.others + first;
    float* __restrict own = state_.own + first;
    const float largest_ratio = gains_.largest_ratio(), least_gap = least_gap_;
    for (std::size_t at = 0; at < n; ++at) {
      others[at] =
          largest_ratio * others[at] + (static_cast<float>(changes[at]) * kOneCount + kRounding);
      own[at] = own_ratios[at] * own[at];
      to_visit[at] =
          -static_cast<std::int32_t>(!(others[at] + least_gap < std::min(own[at], 1.0F)));
    }
  }

  // The best two centers of a row so far, by float32 similarities.
  struct Top {
    float similarity = -std::numeric_limits<float>::infinity();
    float second = -std::numeric_limits<float>::infinity();
    float margin = 0.0F;  // of the row: twice panel_error
    std::int32_t center = 0;

    __attribute__((always_inline)) void meet(const LaneTops& lanes, int first_center,
                                             float row_margin) {
      const float best = largest(lanes.first);
      const int lane = std::countr_zero(at_least(lanes.first, splat(best)));
      const float next_best = largest(first_lanes() == lane ? lanes.second : lanes.first);
      const bool wins = best > similarity;
      second = std::max({next_best, second, wins ? similarity : best});
      if (wins) center = first_center + lanes.panel_lane(lane);
      similarity = wins ? best : similarity;
      margin = row_margin;
    }
  };

  // Labels a row that was visited and begins its numbers. The margin is twice what a float32
  // similarity and sim64 may differ by: once for that, once for what sim64 and the cosine may
  // differ by and for the rounding of the sums below.
  void label(std::int64_t i, Top top) {
    if (top.similarity == 0.0F && panels_.share_no_feature(rows_.row(i))) {
      ++work_.exact_decisions;
      work_.similarities += centers_.size();
      top.center = 0;  // as similar as all others
    } else if (top.second >= top.similarity - top.margin) {
      const Best best = best_of_all(panels_, centers_, rows_.row(i), similarities_.data(), work_);
      top.center = best.center;
      top.similarity = static_cast<float>(best.similarity);
      top.second = static_cast<float>(best.second);
    } else {
      work_.similarities += centers_.size();
    }
    state_.labels[i] = top.center;
    state_.own[i] = std::max(top.similarity - top.margin, -1.0F);
    state_.others[i] = std::max(top.second + top.margin, 0.0F);
  }

  std::int64_t entries_before(std::int64_t i) const {
    return Row::dense ? i * rows_.n_features : rows_.starts[i];
  }

  const RowsOf& rows_;
  const Centers& centers_;
  const Panels& panels_;
  const FeatureGains& gains_;
  const TallyState& state_;
  Work& work_;
  PanelVisits<RowsOf, Top> visits_;
  RowList to_visit_[kLists];
  std::vector<std::uint32_t> running_sums_;  // before each entry, and after the last; modulo 2³²
  std::vector<float> similarities_;
  float least_gap_;  // own(i) − others(i) of more than this decides sim64 too
};

}  // namespace arcmeans
