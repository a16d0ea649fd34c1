// Visits of sparse rows to lines of centers, a chunk of rows at a time.
#pragma once

#include <algorithm>
#include <vector>

#include "core/algorithms/row_list.hpp"
#include "core/centers/centers.hpp"
#include "core/layouts/line_cosines.hpp"
#include "core/layouts/packed.hpp"
#include "core/support/index.hpp"
#include "core/support/prefetch.hpp"

namespace arcmeans {

template <class Feature>
class SparseVisits {
 public:
  static constexpr bool kDense = false;
  // Of a visit to all lines: as many as the registers hold.
  static constexpr int kMostLines = arcmeans::kMostLines;
  // Rows likely to need most lines do not visit all: that gained no fit more than 5 %.
  static constexpr bool kAllWhereLikely = false;

  SparseVisits(const PackedRows& packed, const Centers& centers, const FilterLines& lines)
      : packed_(packed), centers_(centers), lines_(lines), extras_(index(lines_.count())) {
    for (int j = 0; j < centers.size(); ++j) sums_of_rows_ &= !centers.detached(j);
  }

  // The rows from here on are named by their place after it.
  void start(std::int64_t begin) {
    begin_ = begin;
    for (auto& extras : extras_) extras.clear();
  }

  // What the rare features of rows that may be visited add. Their lists lie anywhere: they are
  // asked for some rows ahead, in two steps.
  void prepare(const RowList& which) {
    if (!packed_.any_rare()) return;
    constexpr std::size_t kNext = 6;
    const RareLists& lists = centers_.sums().rare();
    const std::size_t n = which.size();
    for (std::size_t w = 0; w < n + 2 * kNext; ++w) {
      if (w < n) {
        each_listed(which[w], [&](const auto& rare) { lists.prefetch_first(rare.feature); });
      }
      if (w >= kNext && w - kNext < n) {
        each_listed(which[w - kNext],
                    [&](const auto& rare) { lists.prefetch_others(rare.feature); });
      }
      if (w >= 2 * kNext) collect_extras(which[w - 2 * kNext]);
    }
  }

  // Calls use(row, cosines, error) for some rows, in ascending order, with their cosines to kLines
  // filter lines. What is compiled for a line that is narrow or not full is for small numbers of
  // clusters.
  template <int kLines, bool kSmall, class Use>
  void visit(int line, const RowList& which, const Use& use) {
    if (which.empty()) return;
    const float center_error = lines_.center_error(line, kLines);
    NextExtra extras[kLines];
    for (int l = 0; l < kLines; ++l) extras[l] = first_extra(line + l, which[0]);
    const auto take = [&](std::int32_t r, const auto& sums) {
      LineCosines cosines[kLines];
#pragma GCC unroll 8
      for (int l = 0; l < kLines; ++l) {
        cosines[l] = LineCosines(lines_, line + l, sums.line(l));
        for (auto& [next, end] = extras[l]; next != end && next->row <= r; ++next) {
          if (next->row == r) cosines[l].add(next->lane, next->value);
        }
      }
      use(r, cosines, packed_.error(begin_ + r, center_error));
    };
    const auto add_up = [&](const auto& none) {
      each_sum<false>(lines_.line(line), which, none, take);
    };
    if constexpr (kLines > 1) {
      add_up(SumsOfLines<kLines>{lines_.line(line + 1) - lines_.line(line)});
    } else if constexpr (kSmall) {
      with_sums(lines_.used(line), lines_.width(), add_up);
    } else {
      add_up(LineSums());
    }
  }

  // Calls use(row, sums) for some rows, with the sums of their products with a line; of |row|.
  template <bool kSizes, class Use>
  void each_sum(const std::int16_t* lanes, const RowList& which, const Use& use) {
    each_sum<kSizes>(lanes, which, LineSums(), use);
  }

  template <class Use>
  void each_rare(std::int32_t r, const Use& use) const {
    if (!packed_.any_rare()) return;
    const auto* last = packed_.rare_end(begin_ + r);
    for (auto* rare = packed_.rare_begin(begin_ + r); rare != last; ++rare) use(*rare);
  }

 private:
  // What a rare feature adds to the cosine of one row and one lane, in units.
  struct Extra {
    std::int32_t row;
    std::int32_t lane;
    float value;
  };
  struct NextExtra {
    const Extra* next;
    const Extra* end;
  };
  NextExtra first_extra(int line, std::int32_t row) const {
    const auto& extras = extras_[index(line)];
    const Extra* const end = extras.data() + extras.size();
    return {std::lower_bound(extras.data(), end, row,
                             [](const Extra& e, std::int32_t r) { return e.row < r; }),
            end};
  }

  // The same with sums of another kind; `none` are sums of no entries. What they read is asked for
  // in three steps: where a row lies, the row, the last of its features.
  template <bool kSizes, class Sums, class Use>
  void each_sum(const std::int16_t* lanes, const RowList& which, const Sums& none, const Use& use) {
    const std::size_t n = which.size();
    for (std::size_t w = 0; w < n; ++w) {
      if (w + 16 < n) packed_.prefetch_head(begin_ + which[w + 16]);
      if (w + 6 < n) prefetch_row(which[w + 6]);
      if (w + 2 < n) prefetch(lanes, which[w + 2], none);
      const auto pairs = packed_.pairs<Feature>(begin_ + which[w]);
      Sums sums = none;
      if constexpr (Sums::kFitsTwice) {  // two chains, so that one need not wait for the other
        Sums others = none;
        for (auto* pair = pairs.begin(); pair != pairs.end(); pair += 2) {
          add<kSizes>(lanes, pair[0], sums);
          add<kSizes>(lanes, pair[1], others);
        }
        sums.add(others);
      } else {
        for (auto& pair : pairs) add<kSizes>(lanes, pair, sums);
      }
      use(which[w], sums);
    }
  }

  template <bool kSizes, class Sums>
  __attribute__((always_inline)) static void add(const std::int16_t* lanes,
                                                 const PackedRows::Pair<Feature>& pair,
                                                 Sums& sums) {
    const auto weights = splat_pair<typename Sums::Pairs>(pair.weights);
    sums.add(lanes + std::int64_t{pair.features[0]} * Sums::kWidth,
             lanes + std::int64_t{pair.features[1]} * Sums::kWidth,
             kSizes ? (weights < 0 ? -weights : weights) : weights);
  }

  // The rare features of a row that are looked up. Of those that no other row has the first stands
  // for all where centers are the sums of their rows: they have all of them or none.
  template <class Use>
  void each_listed(std::int32_t r, const Use& use) const {
    const auto* shared = packed_.shared_end(begin_ + r);
    const auto* last = packed_.rare_end(begin_ + r);
    if (sums_of_rows_ && shared != last) last = shared + 1;
    for (auto* rare = packed_.rare_begin(begin_ + r); rare != last; ++rare) use(*rare);
  }

  void collect_extras(std::int32_t r) {
    const RareLists& lists = centers_.sums().rare();
    const auto* shared = packed_.shared_end(begin_ + r);
    const auto* last = packed_.rare_end(begin_ + r);
    if (sums_of_rows_ && shared != last) {
      const auto& own = packed_.own(begin_ + r);
      const int center = lists.first(shared->feature, own.first);
      if (center >= 0) {
        add_extra(r, center, own.product);
        last = shared;
      }
    }
    for (auto* rare = packed_.rare_begin(begin_ + r); rare != last; ++rare) {
      lists.each(rare->feature, [&](int j, std::int64_t sum) {
        add_extra(r, j, static_cast<double>(rare->value) * static_cast<double>(sum));
      });
    }
  }

  void add_extra(std::int32_t r, int j, double product) {
    const double scale = centers_.scale(j);
    const auto cosine = static_cast<float>(product * scale * kCosineUnits);
    const int place = lines_.places().of(j);
    const int lane = place % kCacheLineShorts;
    auto& extras = extras_[index(place / kCacheLineShorts)];
    // A center that has one of a row's rare features is likely to have the next.
    if (!extras.empty() && extras.back().row == r && extras.back().lane == lane) {
      extras.back().value += cosine;
    } else {
      extras.push_back({r, lane, cosine});
    }
  }

  // A row that will be visited: its entries.
  __attribute__((always_inline)) void prefetch_row(std::int32_t r) const {
    const auto pairs = packed_.pairs<Feature>(begin_ + r);
    const auto* first = reinterpret_cast<const char*>(pairs.begin());
    const auto* last = reinterpret_cast<const char*>(pairs.end());
    for (; first < last; first += 64) prefetch_near(first);
  }

  // The row after next: its last entries, which are the ones not in the cache.
  template <class Sums>
  __attribute__((always_inline)) void prefetch(const std::int16_t* lanes, std::int32_t r,
                                               const Sums& sums) const {
    const auto pairs = packed_.pairs<Feature>(begin_ + r);
    const auto count = std::min<std::ptrdiff_t>(12, pairs.end() - pairs.begin());
    for (auto* pair = pairs.end() - count; pair != pairs.end(); ++pair) {
      sums.prefetch(lanes + std::int64_t{pair->features[0]} * Sums::kWidth);
      sums.prefetch(lanes + std::int64_t{pair->features[1]} * Sums::kWidth);
    }
  }

  const PackedRows& packed_;
  const Centers& centers_;
  const FilterLines& lines_;
  bool sums_of_rows_ = true;  // all centers are
  std::int64_t begin_ = 0;
  std::vector<std::vector<Extra>> extras_;  // by line, in the order of the rows
};

}  // namespace arcmeans
