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

// The similarities of a row to the centers of a panel, lane by lane: the largest, where it stands
// and the second largest.
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

// `Top` is what is kept of a row from panel to panel: it takes the next by
// meet(lanes, first_center, margin), inlined by force. Centers within the margin of each other are
// for sim64 to decide.
template <class RowsOf, class Top>
class PanelVisits {
 public:
  PanelVisits(const RowsOf& rows, const Panels& panels, std::int64_t most_rows)
      : rows_(rows), panels_(panels), tops_(index(most_rows)) {}

  // Calls use(row, top) for some rows, named by their places after `begin`, those without a
  // direction left out.
  template <class Which, class Use>
  void visit(std::int64_t begin, const Which& which, const Use& use) {
    if (which.size() == 0) return;
    for (std::size_t w = 0; w < which.size(); ++w) tops_[w] = {};
    for (const Panel& panel : panels_.all()) {
      with_cache_lines(panel,
                       [&](auto cache_lines) { visit_panel<cache_lines()>(panel, begin, which); });
    }
    for (std::size_t w = 0; w < which.size(); ++w) {
      if (!rows_.zero[begin + which[w]]) use(which[w], tops_[w]);
    }
  }

 private:
  template <int kCacheLines, class Which>
  void visit_panel(const Panel& panel, std::int64_t begin, const Which& which) {
    const std::size_t n = which.size();
    const bool are_short = short_rows(begin, which);
    const std::size_t ahead = are_short ? 8 : 2;
    for (std::size_t w = 0; w < n; ++w) {
      if (!RowsOf::Row::dense && w + ahead < n) {
        const auto row = rows_.row(begin + which[w + ahead]);
        if (are_short) {
          prefetch<kCacheLines, true>(panel, row);
        } else {
          prefetch<kCacheLines, false>(panel, row);
        }
      }
      if (rows_.zero[begin + which[w]]) continue;
      const auto row = rows_.row(begin + which[w]);
      const PanelSimilarities<kCacheLines> of(row, panel);
      // Rounded up: the margin must not shrink when it becomes a float.
      const auto margin = static_cast<float>(panel_error(row.size) * (2.0 + 0x1p-20));
      tops_[w].meet(LaneTops(of), panel.first_center, margin);
    }
  }

  // A sparse row is asked for two rows ahead: its last features, which are the rarest and not in
  // the cache. Short rows are over before they have come, and are asked for earlier.
  template <class Which>
  bool short_rows(std::int64_t begin, const Which& which) const {
    if (RowsOf::Row::dense) return false;
    const std::int64_t first = begin + which[0];
    const std::int64_t end = begin + which[which.size() - 1] + 1;
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
