// The kernel of sparse rows: sums of the products of a row and a line, lane by lane, in registers.
//
// It takes two entries of a row at a time, interleaves their two features of the line and
// multiplies pairs. Interleaving works within 16 bytes, so lanes are stored in the order that
// brings the sums out in the order of the centers.
//
// A line has 32 lanes for each feature, which is a cache line; or 16, 8 or 4, where there are no
// more centers: so many more of its features are near. With widths between there would be features
// that lie in two cache lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/support/simd.hpp"

namespace arcmeans {

// How many lanes the only line has for each feature with so many centers.
constexpr int line_width(int n_centers) {
  return n_centers <= 4 ? 4 : n_centers <= 8 ? 8 : n_centers <= 16 ? 16 : kLineShorts;
}

// How many lanes of such a line are read by one vector: eight or more.
constexpr int lanes_read(int width) { return std::min(kVectorShorts, std::max(8, width)); }

// Where a lane is stored so that interleaving by halves of 16 bytes brings it to its place.
inline int line_position(int lane, int width) {
  const int read = lanes_read(width);
  const int blocks = read / 8;
  const int within = lane % read;
  const int half = within / (4 * blocks);
  const int block = within % (4 * blocks) / 4;
  return lane - within + 8 * block + 4 * half + within % 4;
}

// The sums of one row and the first lanes of a line of such a width.
template <int kLanes, int kWidthOf>
struct SumsOf {
  static constexpr int kWidth = kWidthOf;
  static constexpr int kRead = lanes_read(kWidth);
  static constexpr int kVectors = (2 * kLanes + kRead - 1) / kRead;
  using Pairs = typename VectorsOf<kRead>::Shorts;
  using Sums = typename VectorsOf<kRead / 2>::Ints;
  Sums lanes[kVectors] = {};

  // Two entries of a sparse row: their features of the line, and their two weights everywhere.
  __attribute__((always_inline)) void add(const std::int16_t* first, const std::int16_t* second,
                                          Pairs weights) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Pairs a = load_first<Pairs, std::min(kWidth, kRead)>(first + v / 2 * kRead);
      const Pairs b = load_first<Pairs, std::min(kWidth, kRead)>(second + v / 2 * kRead);
      const Pairs both = v % 2 == 0 ? interleave<false>(a, b) : interleave<true>(a, b);
      lanes[v] = add_pair_products(lanes[v], both, weights);
    }
  }
  void add(const SumsOf& others) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) lanes[v] += others.lanes[v];
  }

  // Those of all lanes: zero in the others.
  SumsOf<kLineShorts, kLineShorts> line() const {
    SumsOf<kLineShorts, kLineShorts> sums;
    if constexpr (sizeof(Sums) == sizeof(Ints)) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums.lanes[v] = lanes[v];
    } else {
      sums.lanes[0] = widened<Ints>(join(lanes[0], kVectors > 1 ? lanes[kVectors - 1] : Sums{}));
    }
    return sums;
  }
};

// Those of a whole line.
using LineSums = SumsOf<kLineShorts, kLineShorts>;

// Calls use(lanes), a constant, with the least multiple of eight that is at least so many: of a
// line that is not full the others need not be added up.
template <class Use>
__attribute__((always_inline)) inline void with_lanes(int used, const Use& use) {
  if (used <= 8) return use(std::integral_constant<int, 8>());
  if (used <= 16) return use(std::integral_constant<int, 16>());
  if (used <= 24) return use(std::integral_constant<int, 24>());
  use(std::integral_constant<int, kLineShorts>());
}

// Calls use(sums), empty ones, of the kind for a line of such a width that holds so many centers.
template <class Use>
__attribute__((always_inline)) inline void with_sums(int used, int width, const Use& use) {
  if (width == 4) return use(SumsOf<4, 4>());
  if (width == 8) return use(SumsOf<8, 8>());
  if (width == 16) return use(SumsOf<16, 16>());
  with_lanes(used, [&](auto lanes) { use(SumsOf<lanes, kLineShorts>()); });
}

}  // namespace arcmeans
