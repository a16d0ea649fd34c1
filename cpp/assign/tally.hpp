// `tally`, for short sparse rows: bounds that follow the features of a row.
//
// Two bounds a row, l(i) on the own center and one u(i) on all the others, as in Hamerly's
// algorithm. But what a move did to them is not the length of the centers' movement, which is in
// features that a short row does not have: it is counted up over the row's own entries
// (feature_changes.hpp), at a few nanoseconds a row. Where u(i) < l(i) fails after that, the row
// goes through the panels like in `lloyd`. Memory: 8 bytes a row.
#pragma once

#include <algorithm>
#include <cstring>

#include "../feature_changes.hpp"
#include "panel_visits.hpp"
#include "row_list.hpp"

namespace arcmeans {

struct TallyState {
  std::int32_t* labels = nullptr;
  std::int32_t* previous = nullptr;  // out: the labels before the pass
  float* lower = nullptr;            // l(i) ≤ cos to the own center
  float* upper = nullptr;            // u(i) ≥ cos to every other center
};

template <class RowsOf>
class Tally {
  using Row = typename RowsOf::Row;

 public:
  Tally(const RowsOf& rows, const Centers& centers, const TallyState& state,
        const PassOptions& options, Work& work)
      : rows_(rows),
        centers_(centers),
        changes_(*centers.feature_changes()),
        state_(state),
        work_(work),
        visits_(rows, centers, options.rows_at_a_time()),
        similarities_(static_cast<std::size_t>(centers.panels().width())),
        apart_(static_cast<float>(
            2.0 * reference_error<typename Row::Value>(FeatureChanges::kMostEntries) + 0x1p-23)) {
    for (RowList& which : which_) {
      which = RowList(static_cast<std::size_t>(options.rows_at_a_time()));
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
  // What entries of rows can have gained and lost, added up modulo 2³².
  struct Sums {
    std::uint32_t gained, lost;
  };
  using TwoFloats = float __attribute__((vector_size(8)));
  using TwoInts = std::int32_t __attribute__((vector_size(8)));
  using TwoCounts = std::uint32_t __attribute__((vector_size(8)));
  // With so few entries a row, those of as many rows are counted up in one go.
  static constexpr std::int64_t kFew = 64;
  // Rows to visit are listed by size.
  static constexpr std::int64_t kSizes = 8;

  static constexpr float kUnit = 1.0F / FeatureChanges::kUnits;
  // Of a bound that is followed: the ratio, its product, the count and two sums, none above 2 or it
  // says nothing.
  static constexpr float kRounding = 0x1p-21F;

  // Lists those of some rows that have to be visited, and moves the bounds of all.
  void find(std::int64_t begin, std::int64_t first, std::int64_t end) {
    bool keeps[kFew] = {};
    if (changes_.known()) {
      count(first, end);
      follow(first, end, keeps);
    }
    std::int32_t some[kFew];
    std::size_t n = 0;
    for (std::int64_t i = first; i < end; ++i) {
      some[n] = static_cast<std::int32_t>(i - begin);
      n += !keeps[i - first] && !rows_.zero[i];
    }
    for (std::size_t s = 0; s < n; ++s) {
      const std::int64_t i = begin + some[s];
      const std::int64_t size = entries_before(i + 1) - entries_before(i);
      which_[std::min(size, kSizes - 1)].add(some[s]);
    }
    work_.skipped_by_bounds += std::count(keeps, keeps + (end - first), true);
  }

  // Counts up the entries of some rows, through all of them: a loop for each row would be over
  // before the processor could tell. A row has what the sums at its ends differ by.
  void count(std::int64_t first, std::int64_t end) {
    const std::int64_t before = entries_before(first), after = entries_before(end);
    const auto n = static_cast<std::size_t>(after - before);
    if (sums_.size() <= n) sums_.resize(n + 1);
    const auto* values = rows_.row(first).values;
    const std::int32_t* features = rows_.features;
    const FeatureChanges::Change* changes = changes_.data();
    Sums* sums = sums_.data();
    TwoCounts sum = {};
    const auto add = [&](std::int32_t feature) {
      std::memcpy(sums++, &sum, sizeof sum);
      TwoFloats change;
      std::memcpy(&change, changes + feature, sizeof change);
      const TwoFloats up = change * static_cast<float>(*values++);
      // What a value below zero gains is what the centers lose.
      const TwoFloats down = -__builtin_shufflevector(up, up, 1, 0);
      sum += reinterpret_cast<TwoCounts>(__builtin_convertvector(up > down ? up : down, TwoInts));
    };
    if constexpr (Row::dense) {
      for (std::int64_t i = first; i < end; ++i) {
        for (std::int32_t feature = 0; feature < rows_.n_features; ++feature) add(feature);
      }
    } else {
      for (std::int64_t e = before; e < after; ++e) add(features[e]);
    }
    std::memcpy(sums, &sum, sizeof sum);
  }

  // Moves the bounds of some rows, whose entries are counted up, and says which keep their labels.
  void follow(std::int64_t first, std::int64_t end, bool* __restrict keeps) {
    const auto n = static_cast<std::size_t>(end - first);
    std::uint32_t gains[kFew], losses[kFew];
    const Sums* before = sums_.data();
    for (std::size_t r = 0; r < n; ++r) {
      const std::int64_t size = entries_before(first + static_cast<std::int64_t>(r) + 1) -
                                entries_before(first + static_cast<std::int64_t>(r));
      const Sums* after = before + size;
      // Each entry was rounded down. Where it cannot be told, enough is lost that no label is kept.
      const bool told = size <= FeatureChanges::kMostEntries;
      const auto rounding = static_cast<std::uint32_t>(size);
      gains[r] = after->gained - before->gained + rounding;
      losses[r] = told ? after->lost - before->lost + rounding : ~std::uint32_t{0};
      before = after;
    }
    const std::int32_t* __restrict labels = state_.labels + first;
    float* __restrict uppers = state_.upper + first;
    float* __restrict lowers = state_.lower + first;
    const float* __restrict ratios = changes_.ratios();
    const float most = changes_.most(), least = changes_.least(), apart = apart_;
    for (std::size_t r = 0; r < n; ++r) {
      const float own = ratios[std::max(labels[r], 0)];
      const float others = uppers[r] > 0.0F ? most : least;
      const float upper = others * uppers[r] + static_cast<float>(gains[r]) * kUnit + kRounding;
      const float lower = own * lowers[r] - static_cast<float>(losses[r]) * kUnit - kRounding;
      uppers[r] = std::min(upper, 1.0F);
      lowers[r] = std::max(lower, -1.0F);
      keeps[r] = upper + apart < lower;
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
      const int lane = __builtin_ctz(at_least(lanes.first, splat(best)));
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
    if (top.second >= top.similarity - top.margin) {
      const Best best = best_of_all(centers_, rows_.row(i), similarities_.data(), work_);
      top.center = best.center;
      top.similarity = static_cast<float>(best.similarity);
      top.second = static_cast<float>(best.second);
    } else {
      work_.similarities += centers_.size();
    }
    state_.labels[i] = top.center;
    state_.lower[i] = std::max(top.similarity - top.margin, -1.0F);
    state_.upper[i] = std::min(top.second + top.margin, 1.0F);
  }

  std::int64_t entries_before(std::int64_t i) const {
    return Row::dense ? i * rows_.n_features : rows_.starts[i];
  }

  const RowsOf& rows_;
  const Centers& centers_;
  const FeatureChanges& changes_;
  const TallyState& state_;
  Work& work_;
  PanelVisits<RowsOf, Top> visits_;
  RowList which_[kSizes];
  std::vector<Sums> sums_;  // of the entries before each
  std::vector<float> similarities_;
  float apart_;  // by how much bounds have to differ for reference similarities to do so
};

}  // namespace arcmeans
