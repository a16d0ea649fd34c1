// The kernel of sparse rows: the sums of the products of a row with a filter line, lane by lane, in
// registers.
//
// The kernel takes two entries of a row at a time, interleaves the lanes of their two features and
// multiplies in pairs. Interleaving works within 16 bytes, so lanes are stored in the order that
// brings the sums out in the order of the centers.
//
// A filter line has 32 lanes for each feature, which fill a cache line. Where there are at most 16,
// 8 or 4 centers it has 16, 8 or 4 lanes: then a cache holds more features. With a width in
// between, a feature would lie in two cache lines.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/support/prefetch.hpp"
#include "core/support/simd_shorts.hpp"

namespace arcmeans {

// How many lanes a filter line has for each feature with this number of centers.
constexpr int line_width(int n_centers) {
  return n_centers <= 4 ? 4 : n_centers <= 8 ? 8 : n_centers <= 16 ? 16 : kCacheLineShorts;
}

// How many lanes of a filter line of this width one vector reads: eight or more.
constexpr int lanes_read(int width) { return std::min(kVectorShorts, std::max(8, width)); }

// Where a lane is stored. Of each 16 bytes that a vector reads, `interleave` takes the first four
// lanes for one vector of sums and the other four for the next one.
inline int line_position(int lane, int width) {
  const int read = lanes_read(width);
  const int pieces = read / 8;  // of 16 bytes
  const int within = lane % read;
  const int half = within / (4 * pieces);
  const int piece = within % (4 * pieces) / 4;
  return lane - within + 8 * piece + 4 * half + within % 4;
}

// The sums of one row with the lanes of a filter line of this width, in vectors of half as many
// lanes as are read.
template <int kWidthOf>
struct SumsOf {
  static constexpr int kWidth = kWidthOf;
  static constexpr bool kFitsTwice = true;  // the registers hold two of these
  static constexpr int kRead = lanes_read(kWidth);
  static constexpr int kVectors = (2 * kWidth + kRead - 1) / kRead;
  using Pairs = typename VectorsOf<kRead>::Shorts;
  using Sums = typename VectorsOf<kRead / 2>::Ints;
  Sums lanes[kVectors] = {};

  __attribute__((always_inline)) void prefetch(const std::int16_t* feature) const {
    prefetch_far(feature);
  }
  // Adds the products of two entries of a sparse row: the lanes of their features, and the values
  // of the entries in every pair.
  __attribute__((always_inline)) void add(const std::int16_t* first, const std::int16_t* second,
                                          Pairs values) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Pairs a = load_first<Pairs, std::min(kWidth, kRead)>(first + v / 2 * kRead);
      const Pairs b = load_first<Pairs, std::min(kWidth, kRead)>(second + v / 2 * kRead);
      const Pairs both = v % 2 == 0 ? interleave<false>(a, b) : interleave<true>(a, b);
      lanes[v] = add_pair_products(lanes[v], both, values);
    }
  }

  void add(const SumsOf& others) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) lanes[v] += others.lanes[v];
  }

  // These sums as those of a full filter line, with zeros in the other lanes. (There is one line.)
  SumsOf<kCacheLineShorts> line(int) const {
    SumsOf<kCacheLineShorts> sums;
    if constexpr (sizeof(Sums) == sizeof(Ints)) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums.lanes[v] = lanes[v];
    } else {
      sums.lanes[0] = widened<Ints>(join(lanes[0], kVectors > 1 ? lanes[kVectors - 1] : Sums{}));
    }
    return sums;
  }
};

// The sums of one row with a full filter line.
using LineSums = SumsOf<kCacheLineShorts>;

// How many filter lines one visit takes at most: the registers hold the sums of so many.
constexpr int kMostLines = kVectorBytes / 16;

// The sums of one row with several filter lines, `apart` numbers from one to the next. The row is
// read once for all of them.
template <int kLines>
struct SumsOfLines {
  static constexpr int kWidth = kCacheLineShorts;
  static constexpr bool kFitsTwice = false;
  using Pairs = LineSums::Pairs;
  std::int64_t apart;
  LineSums lines[kLines] = {};

  __attribute__((always_inline)) void prefetch(const std::int16_t* feature) const {
#pragma GCC unroll 8
    for (int l = 0; l < kLines; ++l) prefetch_far(feature + l * apart);
  }
  __attribute__((always_inline)) void add(const std::int16_t* first, const std::int16_t* second,
                                          Pairs values) {
#pragma GCC unroll 8
    for (int l = 0; l < kLines; ++l) lines[l].add(first + l * apart, second + l * apart, values);
  }
  const LineSums& line(int l) const { return lines[l]; }
};

// Calls use(sums) with sums that are zero, of the type for a filter line of this width.
template <class Use>
__attribute__((always_inline)) inline void with_sums(int width, const Use& use) {
  if (width == 4) return use(SumsOf<4>());
  if (width == 8) return use(SumsOf<8>());
  if (width == 16) return use(SumsOf<16>());
  use(LineSums());
}

}  // namespace arcmeans
