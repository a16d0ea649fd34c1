// The cosines of a row to the centers of a filter line, in registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/layouts/filter_lines.hpp"
#include "core/layouts/line_sums.hpp"
#include "core/support/simd_shorts.hpp"

namespace arcmeans {

// The cosines of one row to the centers of one filter line, lane by lane, in units.
struct LineCosines {
  Floats lanes[LineSums::kVectors];

  LineCosines() {}  // not initialized: all lanes are written before they are read
  LineCosines(const FilterLines& lines, int line, const LineSums& sums) {
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      const int lane = v * kVectorFloats;
      lanes[v] = multiply_add(__builtin_convertvector(sums.lanes[v], Floats),
                              load(lines.factors(line) + lane), load(lines.offsets(line) + lane));
    }
  }

  // Puts another cosine into a lane, or adds to the cosine there.
  void set(int lane, float value) {
    each_vector([&](Floats& v, Ints here) { v = here == lane ? splat(value) : v; });
  }
  void add(int lane, float value) {
    each_vector([&](Floats& v, Ints here) { v += here == lane ? splat(value) : Floats{}; });
  }

  // Stores for each lane the number cosine + addend, its fraction cut off, − taken[lane], in 16
  // bits that wrap.
  void store(float addend, const std::int32_t* taken, std::int16_t* to) const {
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      const Ints sum = __builtin_convertvector(lanes[v] + splat(addend), Ints);
      store_shorts(to + v * kVectorFloats, sum - load_ints(taken + v * kVectorFloats));
    }
  }

  // The largest cosine of several lines.
  template <int kLines>
  static float largest(const LineCosines (&of)[kLines]) {
    Floats top = of[0].lanes[0];
#pragma GCC unroll 8
    for (const LineCosines& line : of) {
#pragma GCC unroll 8
      for (const Floats& v : line.lanes) top = larger(top, v);
    }
    return arcmeans::largest(top);
  }

  // One bit for each lane: whether its cosine is ≥ value.
  std::uint32_t at_least(float value) const {
    std::uint32_t bits = 0;
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      bits |= arcmeans::at_least(lanes[v], splat(value)) << (v * kVectorFloats);
    }
    return bits;
  }

  // The largest cosine of each group: lane l is in group l modulo kGroups, a power of two.
  template <int kGroups>
  __attribute__((always_inline)) typename VectorsOf<kGroups>::Floats largest_by_group() const {
    Floats tops[LineSums::kVectors];
    std::memcpy(tops, lanes, sizeof tops);
    constexpr int kVectorsLeft = std::max(1, kGroups / kVectorFloats);
#pragma GCC unroll 8
    for (int n = LineSums::kVectors / 2; n >= kVectorsLeft; n /= 2) {
#pragma GCC unroll 8
      for (int v = 0; v < n; ++v) tops[v] = larger(tops[v], tops[v + n]);
    }
    if constexpr (kGroups > kVectorFloats) {
      typename VectorsOf<kGroups>::Floats joined;
      std::memcpy(&joined, tops, sizeof joined);
      return joined;
    } else {
      return largest_modulo<kGroups>(tops[0]);
    }
  }

 private:
  template <class Use>
  __attribute__((always_inline)) void each_vector(const Use& use) {
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) use(lanes[v], first_lanes() + v * kVectorFloats);
  }
};

}  // namespace arcmeans
