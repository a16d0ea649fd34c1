// `tally`, for short sparse rows: bounds that follow the features of a row.
//
// Two bounds a row, l(i) on the own center and one u(i) on all the others, as in Hamerly's
// algorithm. But what a move did to them is not the length of the centers' movement, which is in
// features that a short row does not have: it is counted up over the row's own entries
// (feature_gains.hpp), at a few nanoseconds a row. Where u(i) < l(i) fails after that, the row
// goes through the panels like in `lloyd`. Memory: 8 bytes a row.
//
// What the own center lost is not taken from l(i) but added to u(i), to what the others gained:
// one number for each feature instead of two. So l(i) − u(i) is what the own similarity is above
// all others at least, and u(i) alone is still above those.
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
  float* lower = nullptr;  // l(i)
  float* upper = nullptr;  // u(i), not below 0 once a row was visited
};

template <class RowsOf>
class Tally {
  using Row = typename RowsOf::Row;

 public:
  Tally(const RowsOf& rows, const Centers& centers, const TallyState& state,
        const PassOptions& options, Work& work)
      : rows_(rows),
        centers_(centers),
        panels_(centers.watcher<Panels>()),
        gains_(centers.watcher<FeatureGains>()),
        state_(state),
        work_(work),
        visits_(rows, panels_, options.rows_at_a_time()),
        similarities_(index(panels_.width())),
        apart_(static_cast<float>(
            2.0 * reference_error<typename Row::Value>(FeatureGains::kMostEntries) + 0x1p-23)) {
    for (RowList& which : which_) {
      which = RowList(index(options.rows_at_a_time()));
    }
  }

  void visit(std::int64_t begin, std::int64_t end) {
    for (RowList& which : which_) which.clear();
    const bool few = entries_before(end) - entries_before(begin) <= kFew * (end - begin);
    const std::int64_t step = few ? kFew : 1;
    for (std::int64_t first = begin; first < end; first += step) {
      find(begin, first, std::min(end, first + step));
    }
    for (const RowList& which : which_) {
      visits_.visit(begin, which, [&](std::int32_t r, const Top& top) { settle(begin + r, top); });
    }
  }

 private:
  // With so few entries a row, those of as many rows are counted up in one go.
  static constexpr std::int64_t kFew = 64;
  // Rows to visit are listed by size.
  static constexpr std::int64_t kSizes = 8;

  static constexpr float kUnit = 1.0F / FeatureGains::kUnits;
  // Of bounds that are followed: two ratios, their products, the count and two sums, u(i) below 1
  // and l(i) below 2, or the row is visited.
  static constexpr float kRounding = 0x1p-20F;

  // Lists those of some rows that have to be visited, and moves the bounds of all.
  void find(std::int64_t begin, std::int64_t first, std::int64_t end) {
    std::int32_t fails[kFew];
    const std::int64_t n = end - first;
    if (gains_.known()) {
      count(first, end);
      follow(first, end, fails);
    } else {
      std::fill_n(fails, n, -1);
    }
    work_.skipped_by_bounds += n;
    each_true(fails, n, [&](std::int64_t r) {
      const std::int64_t i = first + r;
      --work_.skipped_by_bounds;
      if (rows_.zero[i]) return;
      const std::int64_t size = entries_before(i + 1) - entries_before(i);
      which_[std::min(size, kSizes - 1)].add(static_cast<std::int32_t>(i - begin));
    });
  }

  // Counts up the entries of some rows, through all of them: a loop for each row would be over
  // before the processor could tell. A row has what the sums at its ends differ by.
  void count(std::int64_t first, std::int64_t end) {
    const std::int64_t before = entries_before(first), after = entries_before(end);
    const auto n = index(after - before);
    if (sums_.size() <= n) sums_.resize(n + 1);
    const auto* values = rows_.row(first).values;
    const float* gains = gains_.sums();
    std::uint32_t* sums = sums_.data();
    std::uint32_t sum = 0;
    const auto add = [&](std::int32_t feature) {
      *sums++ = sum;
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
    *sums = sum;
  }

  // Moves the bounds of some rows, whose entries are counted up, and says which may have another
  // label.
  void follow(std::int64_t first, std::int64_t end, std::int32_t* __restrict fails) {
    const auto n = index(end - first);
    std::int32_t counts[kFew];
    float ratios[kFew];
    const std::uint32_t* before = sums_.data();
    for (std::size_t r = 0; r < n; ++r) {
      const std::int64_t i = first + static_cast<std::int64_t>(r);
      const std::int64_t size = entries_before(i + 1) - entries_before(i);
      const std::uint32_t* after = before + size;
      // Each entry was rounded down. Where it cannot be told it is so much that no label is kept.
      const auto counted =
          static_cast<std::int32_t>(*after - *before + static_cast<std::uint32_t>(size));
      counts[r] =
          size <= FeatureGains::kMostEntries ? counted : std::numeric_limits<std::int32_t>::max();
      ratios[r] = gains_.ratios()[std::max(state_.labels[i], 0)];
      before = after;
    }
    float* __restrict uppers = state_.upper + first;
    float* __restrict lowers = state_.lower + first;
    const float most = gains_.largest_ratio(), apart = apart_;
    for (std::size_t r = 0; r < n; ++r) {
      uppers[r] = most * uppers[r] + (static_cast<float>(counts[r]) * kUnit + kRounding);
      lowers[r] = ratios[r] * lowers[r];
      fails[r] = -static_cast<std::int32_t>(!(uppers[r] + apart < std::min(lowers[r], 1.0F)));
    }
  }

  // The best two of a row.
  struct Top {
    float similarity = -std::numeric_limits<float>::infinity();
    float second = -std::numeric_limits<float>::infinity();
    float margin = 0.0F;
    std::int32_t center = 0;

    __attribute__((always_inline)) void meet(const LaneTops& lanes, int first_center, float twice) {
      const float best = largest(lanes.first);
      const int lane = std::countr_zero(at_least(lanes.first, splat(best)));
      const float rest = largest(first_lanes() == lane ? lanes.second : lanes.first);
      const bool wins = best > similarity;
      second = std::max({rest, second, wins ? similarity : best});
      if (wins) center = first_center + lanes.place(lane);
      similarity = wins ? best : similarity;
      margin = twice;
    }
  };

  // Labels a row that was visited and bounds its similarities. The margin is twice what float32 and
  // sim64 may differ by, which is more than sim64 is wrong and these sums are rounded.
  void settle(std::int64_t i, Top top) {
    if (top.similarity == 0.0F && panels_.apart(rows_.row(i))) {
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
    state_.lower[i] = std::max(top.similarity - top.margin, -1.0F);
    state_.upper[i] = std::max(top.second + top.margin, 0.0F);
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
  RowList which_[kSizes];
  std::vector<std::uint32_t> sums_;  // of the entries before each, modulo 2³²
  std::vector<float> similarities_;
  float apart_;  // by how much bounds have to differ for reference similarities to do so
};

}  // namespace arcmeans
