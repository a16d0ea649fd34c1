// Panels: the centers laid out for the float32 kernel, [panel][feature][center], a whole number of
// cache lines for each feature. Sixteen similarities cost what one similarity costs where each
// center is a row of its own: there, each entry brings in a cache line and uses four bytes of it.
//
// A panel holds the *sums* of the centers; the kernel multiplies by the scale of the center at the
// end. So when a center moves, only the features whose sums change are written. A lane without a
// center has scale 0 and offset −8: it loses to any cosine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"
#include "core/rows/rows.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"
#include "core/support/parallel.hpp"
#include "core/support/simd.hpp"

namespace arcmeans {

// The most cache lines that a feature has in a panel: the registers hold the sums of so many.
constexpr int kMostCacheLines = kVectorBytes == 64 ? 8 : kVectorBytes == 32 ? 4 : 2;

struct Panel {
  int cache_lines = 0;
  int first_center = 0;
  // Similarity = Σ value · sum over the features · scale + offset.
  Buffer<float> sums;    // [feature][lane]
  Buffer<float> scale;   // [lane]
  Buffer<float> offset;  // [lane]
  int width() const { return cache_lines * kCacheLineFloats; }
};

class Panels final : public CenterWatcher {
 public:
  // The panels of these centers, made when first asked for.
  static const Panels& of(Centers& centers) {
    if (const auto* found = centers.find<Panels>()) return *found;
    return centers.attach(std::make_unique<Panels>(centers));
  }

  explicit Panels(const Centers& centers) : Panels(centers.size(), centers.n_features()) {
    for (int j = 0; j < centers.size(); ++j) {
      if (centers.is_placed(j)) placed(centers, j);
    }
  }

  Panels(int n_centers, std::int32_t n_features) : lanes_(index(n_centers)) {
    const int cache_lines = (n_centers + kCacheLineFloats - 1) / kCacheLineFloats;
    const int n_panels = (cache_lines + kMostCacheLines - 1) / kMostCacheLines;
    int center = 0;
    for (int p = 0; p < n_panels; ++p) {
      Panel panel;
      panel.cache_lines = cache_lines * (p + 1) / n_panels - cache_lines * p / n_panels;
      panel.first_center = center;
      const auto width = index(panel.width());
      panel.sums = Buffer<float>(width * index(n_features));
      panel.scale = Buffer<float>(width);
      panel.offset = Buffer<float>(width);
      std::fill_n(panel.offset.data(), width, -8.0F);
      for (int lane = 0; lane < panel.width(); ++lane, ++center) {
        if (center < n_centers) lanes_[index(center)] = {p, lane};
      }
      panels_.push_back(std::move(panel));
    }
    width_ = center;
  }

  const std::vector<Panel>& all() const { return panels_; }
  // The lanes of all panels together: as many as there are centers, and the padding.
  int width() const { return width_; }

  void clearing(const Centers& centers, int center) override {
    const Column column = this->column(center);
    centers.sums().each_of(center, [&](std::int32_t f, std::int64_t) { column.set(f, 0.0F); });
  }
  void placed(const Centers& centers, int center) override {
    set_scale(centers, center);
    const Column column = this->column(center);
    const double per_one = 1.0 / centers.one();
    centers.sums().each_of(
        center, [&](std::int32_t f, std::int64_t sum) { column.set(f, rounded(sum, per_one)); });
  }
  void moved(const Centers& centers, const SumChanges& changes, int n_threads) override {
    parallel_each(centers.size(), n_threads, [&](int, int center) {
      if (!centers.last_move(center).moved()) return;
      set_scale(centers, center);
      const Column column = this->column(center);
      const double per_one = 1.0 / centers.one();
      for (const std::int32_t f : changes[index(center)].features) {
        column.set(f, rounded(centers.sums().value(center, f), per_one));
      }
    });
  }

  // Whether no center has any of the features of a row. Then its reference similarities are zero.
  template <class Row>
  bool share_no_feature(const Row& row) const {
    Ints any = {};
    for (const Panel& panel : panels_) {
      for (std::int64_t e = 0; e < row.size; ++e) {
        const float* sums = panel.sums.data() + std::int64_t{row.feature(e)} * panel.width();
        for (int l = 0; l < panel.width(); l += kVectorFloats) any |= load(sums + l) != 0.0F;
      }
    }
    return largest(-any) == 0;  // a comparison gives −1 where it is true
  }

 private:
  // Where the sums of one center stand: feature f at [f · stride].
  struct Column {
    float* first;
    std::int64_t stride;
    void set(std::int32_t feature, float sum) const { first[feature * stride] = sum; }
  };
  Column column(int center) {
    const LaneOf at = lanes_[index(center)];
    Panel& panel = panels_[index(at.panel)];
    return {panel.sums.data() + at.lane, panel.width()};
  }
  static float rounded(std::int64_t sum, double per_one) {
    return static_cast<float>(static_cast<double>(sum) * per_one);
  }
  void set_scale(const Centers& centers, int center) {
    const LaneOf at = lanes_[index(center)];
    Panel& panel = panels_[index(at.panel)];
    panel.scale[index(at.lane)] = static_cast<float>(centers.one() * centers.scale(center));
    panel.offset[index(at.lane)] = 0.0F;
  }

  struct LaneOf {
    int panel;
    int lane;
  };
  std::vector<Panel> panels_;
  std::vector<LaneOf> lanes_;  // by center
  int width_ = 0;
};

// The similarities of one row to the centers of one panel, in registers.
template <int kCacheLines>
struct PanelSimilarities {
  static constexpr int kVectors = kCacheLines * kVectorsPerCacheLine;
  Floats lanes[kVectors];

  // Inlined by force, or they would leave the registers.
  template <class Row>
  __attribute__((always_inline)) PanelSimilarities(const Row& row, const Panel& panel) {
    // Additions that depend on each other wait for each other: with few cache lines there are
    // registers for several independent sums.
    constexpr int kChains = kVectors >= 4 ? 1 : 4 / kVectors;
    Floats sums[kChains][kVectors] = {};
    const float* first = panel.sums.data();
    std::int64_t e = 0;
    for (; e + kChains <= row.size; e += kChains) {
#pragma GCC unroll 4
      for (int c = 0; c < kChains; ++c) add(sums[c], row, e + c, first);
    }
    for (; e < row.size; ++e) add(sums[0], row, e, first);
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      Floats sum = sums[0][v];
#pragma GCC unroll 4
      for (int c = 1; c < kChains; ++c) sum += sums[c][v];
      const int lane = v * kVectorFloats;
      lanes[v] =
          multiply_add(sum, load(panel.scale.data() + lane), load(panel.offset.data() + lane));
    }
  }

 private:
  template <class Row>
  static void add(Floats (&sums)[kVectors], const Row& row, std::int64_t e, const float* first) {
    const float* lanes = first + std::int64_t{row.feature(e)} * (kCacheLines * kCacheLineFloats);
    const Floats value = splat(static_cast<float>(row.values[e]));
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = multiply_add(value, load(lanes + v * kVectorFloats), sums[v]);
    }
  }
};

// Calls f with the panel's number of cache lines as a compile-time constant.
template <int kCacheLines = kMostCacheLines, class F>
void with_cache_lines(const Panel& panel, const F& f) {
  if constexpr (kCacheLines > 0) {
    if (panel.cache_lines == kCacheLines) {
      f(std::integral_constant<int, kCacheLines>{});
    } else {
      with_cache_lines<kCacheLines - 1>(panel, f);
    }
  }
}

// The similarities of one row to all centers; `similarities` has room for panels.width() floats.
template <class Row>
__attribute__((noinline)) void panel_similarities(const Panels& panels, const Row& row,
                                                  float* similarities) {
  for (const Panel& panel : panels.all()) {
    with_cache_lines(panel, [&](auto cache_lines) {
      const PanelSimilarities<cache_lines()> of(row, panel);
      for (int v = 0; v < of.kVectors; ++v) {
        store(similarities + panel.first_center + v * kVectorFloats, of.lanes[v]);
      }
    });
  }
}

// Compiled once, in panels.cpp.
extern template void panel_similarities(const Panels&, const SparseRow<float>&, float*);
extern template void panel_similarities(const Panels&, const SparseRow<double>&, float*);
extern template void panel_similarities(const Panels&, const DenseRow<float>&, float*);
extern template void panel_similarities(const Panels&, const DenseRow<double>&, float*);

}  // namespace arcmeans
