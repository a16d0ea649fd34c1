// `lloyd`, the paper's Standard algorithm: every row against every center, no bounds, no memory
// between iterations beyond the labels.
//
// A chunk of rows goes through the centers panel by panel, so that the frequent features of one
// panel stay in the cache. For each row the best float32 similarity so far is kept, and whether any
// other came within twice the error bound of it; such a row is decided by sim64.
#pragma once

#include "row_loop.hpp"

namespace arcmeans {

template <class RowsOf>
class Lloyd {
 public:
  Lloyd(const RowsOf& rows, const Centers& centers, const RowState& state,
        const PassOptions& options, Work& work)
      : rows_(rows),
        centers_(centers),
        state_(state),
        work_(work),
        best_(static_cast<std::size_t>(options.rows_at_a_time())),
        similarities_(static_cast<std::size_t>(centers.panels().width())) {}

  void visit(std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) best_[static_cast<std::size_t>(i - begin)] = {};
    for (const Panel& panel : centers_.panels().all()) {
      with_lines(panel, [&](auto lines) { visit_panel<lines()>(panel, begin, end); });
    }
    for (std::int64_t i = begin; i < end; ++i) {
      if (rows_.zero[i]) continue;
      const Candidate& best = best_[static_cast<std::size_t>(i - begin)];
      if (best.contested) {
        state_.labels[i] = best_of_all(centers_, rows_.row(i), similarities_.data(), work_).center;
      } else {
        work_.similarities += centers_.size();
        state_.labels[i] = best.center;
      }
    }
  }

 private:
  struct Candidate {
    float similarity = -std::numeric_limits<float>::infinity();
    std::int32_t center = 0;
    bool contested = false;
  };

  template <int kLines>
  void visit_panel(const Panel& panel, std::int64_t begin, std::int64_t end) {
    const bool ahead = short_rows(begin, end);
    for (std::int64_t i = begin; i < end; ++i) {
      if (ahead && i + kAhead < end) prefetch<kLines>(panel, rows_.row(i + kAhead));
      if (rows_.zero[i]) continue;
      const auto row = rows_.row(i);
      const PanelSimilarities<kLines> of(row, panel);
      // Rounded up: the margin must not shrink when it becomes a float.
      const auto margin = static_cast<float>(panel_error(row.size) * (2.0 + 0x1p-20));
      meet(best_[static_cast<std::size_t>(i - begin)], of, panel.first_center, margin);
    }
  }

  // What short rows read lies anywhere, and such a row is over before it has come: it is asked for
  // some rows ahead.
  static constexpr std::int64_t kAhead = 8;
  bool short_rows(std::int64_t begin, std::int64_t end) const {
    return !RowsOf::Row::dense && rows_.starts[end] - rows_.starts[begin] < 8 * (end - begin);
  }
  // Inlined by force: GCC takes a function that only prefetches for one without effect.
  template <int kLines, class Row>
  __attribute__((always_inline)) static void prefetch(const Panel& panel, const Row& row) {
    for (std::int64_t e = 0; e < row.size; ++e) {
      const float* line = panel.sums.data() + std::int64_t{row.feature(e)} * panel.width();
#pragma GCC unroll 8
      for (int l = 0; l < kLines; ++l) __builtin_prefetch(line + l * kLineFloats);
    }
  }

  // The best of a panel against the best so far.
  template <int kLines>
  static void meet(Candidate& best, const PanelSimilarities<kLines>& of, int first_center,
                   float margin) {
    Floats first = of.lanes[0];  // lane by lane: the largest, where it stands, the second largest
    Floats second = splat(-std::numeric_limits<float>::infinity());
    Ints where = Ints{};
#pragma GCC unroll 16
    for (int v = 1; v < of.kVectors; ++v) {
      const Ints wins = of.lanes[v] > first;
      second = larger(second, wins ? first : of.lanes[v]);
      first = wins ? of.lanes[v] : first;
      where = wins ? Ints{} + v : where;
    }
    const float top = largest(first);
    if (top < best.similarity - margin) return;
    const Floats near = splat(top - margin);
    const std::uint32_t reach = at_least(first, near);
    const int rivals = __builtin_popcount(reach) + __builtin_popcount(at_least(second, near));
    const bool clear = top > best.similarity + margin;
    if (clear) {  // among rivals sim64 decides, whichever stands here
      const int lane = __builtin_ctz(reach);
      best.center = first_center + where[lane] * kVectorFloats + lane;
    }
    best.contested = rivals > 1 || !clear;
    best.similarity = larger_of(best.similarity, top);
  }

  static float larger_of(float a, float b) { return a > b ? a : b; }

  const RowsOf& rows_;
  const Centers& centers_;
  const RowState& state_;
  Work& work_;
  std::vector<Candidate> best_;
  std::vector<float> similarities_;
};

}  // namespace arcmeans
