// Rows against all centers, in float32. A chunk of rows goes through the centers panel by panel, so
// that the frequent features of one panel stay in the cache.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "core/algorithms/row_loop.hpp"
#include "core/support/index.hpp"
#include "core/support/prefetch.hpp"

namespace arcmeans {

// The similarities of a row to the centers of a panel, vector over vector: for each lane of the
// vectors the largest, the number of its vector, and the second largest.
struct LaneTops {
  Floats first;
  Floats second = splat(-std::numeric_limits<float>::infinity());
  Ints where = Ints{};

  template <int kCacheLines>
  explicit LaneTops(const PanelSimilarities<kCacheLines>& of) : first(of.lanes[0]) {
#pragma GCC unroll 16
    for (int v = 1; v < of.kVectors; ++v) {
      const Ints wins = of.lanes[v] > first;
      second = larger(second, wins ? first : of.lanes[v]);
      first = wins ? of.lanes[v] : first;
      where = wins ? Ints{} + v : where;
    }
  }
  // The lane of the panel with the largest of a lane of the vectors.
  int panel_lane(int lane) const { return where[lane] * kVectorFloats + lane; }
};

// `Top` is what is known of a row from panel to panel. Its meet(lanes, first_center, margin),
// inlined by force, takes the next panel. Between centers within the margin, twice the panel error,
// sim64 has to decide.
template <class RowsOf, class Top>
class PanelVisits {
 public:
  PanelVisits(const RowsOf& rows, const Panels& panels, std::int64_t most_rows)
      : rows_(rows), panels_(panels), tops_(index(most_rows)) {}

  // Calls use(r, top) for these rows, of all rows begin + r; not for rows without a direction.
  template <class List, class Use>
  void visit(std::int64_t begin, const List& list, const Use& use) {
    if (list.size() == 0) return;
    for (std::size_t at = 0; at < list.size(); ++at) tops_[at] = {};
    for (const Panel& panel : panels_.all()) {
      with_cache_lines(panel,
                       [&](auto cache_lines) { visit_panel<cache_lines()>(panel, begin, list); });
    }
    for (std::size_t at = 0; at < list.size(); ++at) {
      if (!rows_.zero[begin + list[at]]) use(list[at], tops_[at]);
    }
  }

 private:
  template <int kCacheLines, class List>
  void visit_panel(const Panel& panel, std::int64_t begin, const List& list) {
    const std::size_t n = list.size();
    const bool are_short = short_rows(begin, list);
    const std::size_t ahead = are_short ? 8 : 2;
    for (std::size_t at = 0; at < n; ++at) {
      if (!RowsOf::Row::dense && at + ahead < n) {
        const auto row = rows_.row(begin + list[at + ahead]);
        if (are_short) {
          prefetch<kCacheLines, true>(panel, row);
        } else {
          prefetch<kCacheLines, false>(panel, row);
        }
      }
      if (rows_.zero[begin + list[at]]) continue;
      const auto row = rows_.row(begin + list[at]);
      const PanelSimilarities<kCacheLines> of(row, panel);
      // Rounded up: the margin must not shrink when it becomes a float.
      const auto margin = static_cast<float>(panel_error(row.size) * (2.0 + 0x1p-20));
      tops_[at].meet(LaneTops(of), panel.first_center, margin);
    }
  }

  // Memory is asked for the last features of a sparse row, list are the rarest and not in the
  // cache, two rows ahead. Short rows are over before their features have come: eight rows ahead.
  template <class List>
  bool short_rows(std::int64_t begin, const List& list) const {
    if (RowsOf::Row::dense) return false;
    const std::int64_t first = begin + list[0];
    const std::int64_t end = begin + list[list.size() - 1] + 1;
    return rows_.starts[end] - rows_.starts[first] < 8 * (end - first);
  }
  template <int kCacheLines, bool kNear, class Row>
  __attribute__((always_inline)) static void prefetch(const Panel& panel, const Row& row) {
    for (std::int64_t e = std::max<std::int64_t>(0, row.size - 16); e < row.size; ++e) {
      const float* feature = panel.sums.data() + std::int64_t{row.feature(e)} * panel.width();
#pragma GCC unroll 8
      for (int l = 0; l < kCacheLines; ++l) {
        if constexpr (kNear) {
          prefetch_near(feature + l * kCacheLineFloats);
        } else {
          prefetch_far(feature + l * kCacheLineFloats);
        }
      }
    }
  }

  const RowsOf& rows_;
  const Panels& panels_;
  std::vector<Top> tops_;
};

}  // namespace arcmeans
