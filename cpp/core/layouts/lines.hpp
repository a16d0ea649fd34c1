// Lines: sixteen centers side by side in float32, apart from the panels of all centers, for the
// algorithms that visit a few centers at a time. A line is [1 + feature][16] floats of unit
// centers; its first sixteen are what a sum begins with: 0, or −8 in a lane without a center, which
// then loses to any cosine. Its similarities are within panel_error of sim64, as those of the
// panels are: the center is rounded once where those round the sum, the scale and their product.
#pragma once

#include <cstdint>

#include "core/centers/centers.hpp"
#include "core/support/simd.hpp"

namespace arcmeans {

constexpr float kNoCenter = -8.0F;

inline std::int64_t line_floats(std::int32_t n_features) {
  return (std::int64_t{n_features} + 1) * kLineFloats;
}

inline void clear_line(float* line, std::int32_t n_features) {
  std::fill_n(line, kLineFloats, kNoCenter);
  std::fill_n(line + kLineFloats, std::int64_t{n_features} * kLineFloats, 0.0F);
}

inline void put_center(float* line, int lane, const Centers& centers, int j) {
  const double scale = centers.scale(j);
  float* to = line + lane;
  *to = 0.0F;
  for (std::int32_t f = 0; f < centers.n_features(); ++f) {
    to += kLineFloats;
    *to = static_cast<float>(static_cast<double>(centers.sums().value(j, f)) * scale);
  }
}

// The similarities of one row to the centers of one line, in registers.
struct LineSimilarities {
  Floats lanes[kVectorsPerLine];

  template <class Row>
  LineSimilarities(const Row& row, const float* line) {
    constexpr int kChains = 4 / kVectorsPerLine > 0 ? 4 / kVectorsPerLine : 1;
    Floats sums[kChains][kVectorsPerLine] = {};
#pragma GCC unroll 4
    for (int v = 0; v < kVectorsPerLine; ++v) sums[0][v] = load(line + v * kVectorFloats);
    const float* first = line + kLineFloats;
    std::int64_t e = 0;
    for (; e + kChains <= row.size; e += kChains) {
#pragma GCC unroll 4
      for (int c = 0; c < kChains; ++c) add(sums[c], row, e + c, first);
    }
    for (; e < row.size; ++e) add(sums[0], row, e, first);
#pragma GCC unroll 4
    for (int v = 0; v < kVectorsPerLine; ++v) {
      lanes[v] = sums[0][v];
#pragma GCC unroll 4
      for (int c = 1; c < kChains; ++c) lanes[v] += sums[c][v];
    }
  }

  float largest() const {
    Floats most = lanes[0];
#pragma GCC unroll 4
    for (int v = 1; v < kVectorsPerLine; ++v) most = larger(most, lanes[v]);
    return arcmeans::largest(most);
  }
  void store(float* to) const {
    for (int v = 0; v < kVectorsPerLine; ++v) arcmeans::store(to + v * kVectorFloats, lanes[v]);
  }
  // As if the lane had no center.
  void drop(int lane) {
    for (int v = 0; v < kVectorsPerLine; ++v) {
      Ints number;
      for (int l = 0; l < kVectorFloats; ++l) number[l] = v * kVectorFloats + l;
      lanes[v] = number == lane ? splat(kNoCenter) : lanes[v];
    }
  }

 private:
  template <class Row>
  static void add(Floats (&sums)[kVectorsPerLine], const Row& row, std::int64_t e,
                  const float* first) {
    const float* at = first + std::int64_t{row.feature(e)} * kLineFloats;
    const Floats value = splat(static_cast<float>(row.values[e]));
#pragma GCC unroll 4
    for (int v = 0; v < kVectorsPerLine; ++v) {
      sums[v] = multiply_add(value, load(at + v * kVectorFloats), sums[v]);
    }
  }
};

}  // namespace arcmeans
