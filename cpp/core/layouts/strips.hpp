// Strips: sixteen centers side by side in float32, apart from the panels of all centers, for the
// algorithms that visit a few centers at a time. A strip is [1 + feature][16] floats of unit
// centers. Its first sixteen floats are what the sums begin with: 0, or −8 in a lane without a
// center, which then loses to any cosine. The similarities to a strip are within panel_error of
// sim64, as those to a panel are: a strip rounds each center once, where a panel rounds the sum,
// the scale and their product.
#pragma once

#include <cstdint>

#include "core/centers/centers.hpp"
#include "core/support/simd.hpp"

namespace arcmeans {

constexpr float kNoCenter = -8.0F;

inline std::int64_t strip_floats(std::int32_t n_features) {
  return (std::int64_t{n_features} + 1) * kCacheLineFloats;
}

// Makes a strip without centers.
inline void clear_strip(float* strip, std::int32_t n_features) {
  std::fill_n(strip, kCacheLineFloats, kNoCenter);
  std::fill_n(strip + kCacheLineFloats, std::int64_t{n_features} * kCacheLineFloats, 0.0F);
}

// Copies a center into a lane.
inline void put_in_strip(float* strip, int lane, const Centers& centers, int j) {
  const double scale = centers.scale(j);
  float* const first = strip + kCacheLineFloats + lane;
  strip[lane] = 0.0F;
  for (std::int32_t f = 0; f < centers.n_features(); ++f) {
    const auto sum = static_cast<double>(centers.sums().value(j, f));
    first[std::int64_t{f} * kCacheLineFloats] = static_cast<float>(sum * scale);
  }
}

// The similarities of one row to the centers of one strip, in registers.
struct StripSimilarities {
  Floats lanes[kVectorsPerCacheLine];

  template <class Row>
  StripSimilarities(const Row& row, const float* strip) {
    constexpr int kChains = 4 / kVectorsPerCacheLine > 0 ? 4 / kVectorsPerCacheLine : 1;
    Floats sums[kChains][kVectorsPerCacheLine] = {};
#pragma GCC unroll 4
    for (int v = 0; v < kVectorsPerCacheLine; ++v) sums[0][v] = load(strip + v * kVectorFloats);
    const float* first = strip + kCacheLineFloats;
    std::int64_t e = 0;
    for (; e + kChains <= row.size; e += kChains) {
#pragma GCC unroll 4
      for (int c = 0; c < kChains; ++c) add(sums[c], row, e + c, first);
    }
    for (; e < row.size; ++e) add(sums[0], row, e, first);
#pragma GCC unroll 4
    for (int v = 0; v < kVectorsPerCacheLine; ++v) {
      lanes[v] = sums[0][v];
#pragma GCC unroll 4
      for (int c = 1; c < kChains; ++c) lanes[v] += sums[c][v];
    }
  }

  float largest() const {
    Floats most = lanes[0];
#pragma GCC unroll 4
    for (int v = 1; v < kVectorsPerCacheLine; ++v) most = larger(most, lanes[v]);
    return arcmeans::largest(most);
  }
  void store(float* to) const {
    for (int v = 0; v < kVectorsPerCacheLine; ++v)
      arcmeans::store(to + v * kVectorFloats, lanes[v]);
  }
  // Makes a lane one without a center.
  void drop(int lane) {
    for (int v = 0; v < kVectorsPerCacheLine; ++v) {
      Ints number;
      for (int l = 0; l < kVectorFloats; ++l) number[l] = v * kVectorFloats + l;
      lanes[v] = number == lane ? splat(kNoCenter) : lanes[v];
    }
  }

 private:
  template <class Row>
  static void add(Floats (&sums)[kVectorsPerCacheLine], const Row& row, std::int64_t e,
                  const float* first) {
    const float* at = first + std::int64_t{row.feature(e)} * kCacheLineFloats;
    const Floats value = splat(static_cast<float>(row.values[e]));
#pragma GCC unroll 4
    for (int v = 0; v < kVectorsPerCacheLine; ++v) {
      sums[v] = multiply_add(value, load(at + v * kVectorFloats), sums[v]);
    }
  }
};

}  // namespace arcmeans
