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

  // Puts another number into a lane, or adds to the number there.
  void set(int lane, float value) {
    each_vector([&](Floats& v, Ints here) { v = here == lane ? splat(value) : v; });
  }
  void add(int lane, float value) {
    each_vector([&](Floats& v, Ints here) { v += here == lane ? splat(value) : Floats{}; });
  }

  // Stores for each lane (cosine + plus), rounded towards zero to a whole number, − less[lane], in
  // 16 bits that wrap.
  void store(float plus, const std::int32_t* less, std::int16_t* to) const {
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      const Ints sum = __builtin_convertvector(lanes[v] + splat(plus), Ints);
      store_shorts(to + v * kVectorFloats, sum - load_ints(less + v * kVectorFloats));
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

  // One bit for each lane: whether its cosine is at least this.
  std::uint32_t at_least(float value) const {
    std::uint32_t bits = 0;
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      bits |= arcmeans::at_least(lanes[v], splat(value)) << (v * kVectorFloats);
    }
    return bits;
  }

  // For each number modulo `kGroups`, a power of two, the largest cosine of the lanes with that
  // number.
  template <int kGroups>
  __attribute__((always_inline)) typename VectorsOf<kGroups>::Floats largest_of() const {
    Floats tops[LineSums::kVectors];
    std::memcpy(tops, lanes, sizeof tops);
    constexpr int kLeft = std::max(1, kGroups / kVectorFloats);
#pragma GCC unroll 8
    for (int n = LineSums::kVectors / 2; n >= kLeft; n /= 2) {
#pragma GCC unroll 8
      for (int v = 0; v < n; ++v) tops[v] = larger(tops[v], tops[v + n]);
    }
    if constexpr (kGroups > kVectorFloats) {
      typename VectorsOf<kGroups>::Floats all;
      std::memcpy(&all, tops, sizeof all);
      return all;
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
