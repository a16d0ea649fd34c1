// Vectors of 16-bit numbers: the multiplications of the filter, and bounds that wrap.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/support/simd.hpp"

namespace arcmeans {

constexpr int kVectorShorts = kVectorBytes / 2;

using Shorts = std::int16_t __attribute__((vector_size(kVectorBytes)));

inline Shorts load(const std::int16_t* from) {
  Shorts v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// A vector whose first kCount numbers come from memory, all of them or four of eight; the others
// are zero.
template <class Vector, int kCount>
inline Vector load_first(const std::int16_t* from) {
  Vector v{};
  if constexpr (kCount * 2 == sizeof(Vector)) {
    std::memcpy(&v, from, sizeof v);
  } else {
    static_assert(kCount == 4 && sizeof(Vector) == 16);
    using Two = std::int64_t __attribute__((vector_size(16)));
    std::int64_t four;
    std::memcpy(&four, from, sizeof four);
    v = reinterpret_cast<Vector>(Two{four, 0});
  }
  return v;
}

// Two 16-bit numbers side by side, in every pair of lanes.
template <class Vector = Shorts>
inline Vector splat_pair(const std::int16_t* pair) {
  std::int32_t both;
  std::memcpy(&both, pair, sizeof both);
  return reinterpret_cast<Vector>(typename VectorsOf<sizeof(Vector) / 4>::Ints{} + both);
}

// a[0], b[0], a[1], b[1], … from the first (high: the second) half of each 16 bytes.
template <bool high, class Vector>
inline Vector interleave(Vector a, Vector b) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(Vector) == 64) {
    const auto x = reinterpret_cast<__m512i>(a), y = reinterpret_cast<__m512i>(b);
    return reinterpret_cast<Vector>(high ? _mm512_unpackhi_epi16(x, y)
                                         : _mm512_unpacklo_epi16(x, y));
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(Vector) == 32) {
    const auto x = reinterpret_cast<__m256i>(a), y = reinterpret_cast<__m256i>(b);
    return reinterpret_cast<Vector>(high ? _mm256_unpackhi_epi16(x, y)
                                         : _mm256_unpacklo_epi16(x, y));
  }
#endif
  if constexpr (sizeof(Vector) == 16) {
    return high ? __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
                : __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  }
}

// sums + (a[0]·b[0] + a[1]·b[1], a[2]·b[2] + a[3]·b[3], …), exact in 32 bits.
template <class Sums, class Vector>
inline Sums add_pair_products(Sums sums, Vector a, Vector b) {
  static_assert(sizeof(Sums) == sizeof(Vector));
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
  if constexpr (sizeof(Vector) == 64) {
    return reinterpret_cast<Sums>(_mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sums),
                                                      reinterpret_cast<__m512i>(a),
                                                      reinterpret_cast<__m512i>(b)));
  } else if constexpr (sizeof(Vector) == 32) {
    return reinterpret_cast<Sums>(_mm256_dpwssd_epi32(reinterpret_cast<__m256i>(sums),
                                                      reinterpret_cast<__m256i>(a),
                                                      reinterpret_cast<__m256i>(b)));
  } else {
    return reinterpret_cast<Sums>(_mm_dpwssd_epi32(reinterpret_cast<__m128i>(sums),
                                                   reinterpret_cast<__m128i>(a),
                                                   reinterpret_cast<__m128i>(b)));
  }
#else
#if defined(__AVX2__)
  if constexpr (sizeof(Vector) == 32) {
    return sums + reinterpret_cast<Sums>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a),
                                                           reinterpret_cast<__m256i>(b)));
  }
#endif
  if constexpr (sizeof(Vector) == 16) {
#if defined(__SSE2__)
    return sums + reinterpret_cast<Sums>(
                      _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#elif defined(__ARM_NEON) && defined(__aarch64__)
    const auto x = reinterpret_cast<int16x8_t>(a), y = reinterpret_cast<int16x8_t>(b);
    return sums + reinterpret_cast<Sums>(vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)),
                                                    vmull_high_s16(x, y)));
#else
    for (int l = 0; l < 4; ++l) sums[l] += a[2 * l] * b[2 * l] + a[2 * l + 1] * b[2 * l + 1];
    return sums;
#endif
  }
#endif
}

// Stores the low 16 bits of each number.
inline void store_shorts(std::int16_t* to, Ints v) {
  using Half = std::int16_t __attribute__((vector_size(kVectorBytes / 2)));
  const Half low = __builtin_convertvector(v, Half);
  std::memcpy(to, &low, sizeof low);
}

// Folds a vector to one number by halves, as fold does.
template <class Vector, class Op>
inline auto fold_shorts(Vector v, Op op) {
  if constexpr (sizeof(Vector) == 64) {
    return fold_shorts(
        op(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
           __builtin_shufflevector(v, v, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
                                   31)),
        op);
  } else if constexpr (sizeof(Vector) == 32) {
    return fold_shorts(op(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
                          __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)),
                       op);
  } else {
    v = op(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
    v = op(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
    v = op(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
    return v[0];
  }
}

inline std::int16_t largest(Shorts v) {
  return fold_shorts(v, [](auto a, auto b) { return a > b ? a : b; });
}

// One bit for each pair of numbers: whether the first is at least the second.
inline std::uint32_t at_least(Shorts a, Shorts b) {
#if defined(__AVX512BW__)
  return _mm512_cmpge_epi16_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b));
#elif defined(__AVX2__)
  const auto yes = reinterpret_cast<__m256i>(a >= b);
  const auto packed =
      _mm_packs_epi16(_mm256_castsi256_si128(yes), _mm256_extracti128_si256(yes, 1));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(packed));
#elif defined(__SSE2__)
  const auto packed = _mm_packs_epi16(reinterpret_cast<__m128i>(a >= b), _mm_setzero_si128());
  return static_cast<std::uint32_t>(_mm_movemask_epi8(packed));
#else
  std::uint32_t bits = 0;
  for (int l = 0; l < kVectorShorts; ++l) bits |= static_cast<std::uint32_t>(a[l] >= b[l]) << l;
  return bits;
#endif
}

// a + b, wrapped to 16 bits.
inline Shorts wrapped_sum(Shorts a, Shorts b) {
  using Unsigned = std::uint16_t __attribute__((vector_size(kVectorBytes)));
  return reinterpret_cast<Shorts>(reinterpret_cast<Unsigned>(a) + reinterpret_cast<Unsigned>(b));
}

// The sums a + b of as many numbers as a vector has floats, each wrapped to 16 bits.
inline Floats load_wrapped_sums(const std::int16_t* a, const std::int16_t* b) {
  using Half = std::uint16_t __attribute__((vector_size(kVectorBytes / 2)));
  using Signed = std::int16_t __attribute__((vector_size(kVectorBytes / 2)));
  Half x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return __builtin_convertvector(
      __builtin_convertvector(reinterpret_cast<Signed>(static_cast<Half>(x + y)), Ints), Floats);
}

// One bit for each of 32 numbers: whether a + b, wrapped to 16 bits, is at least `limit`.
inline std::uint32_t sums_reach(const std::int16_t* a, const std::int16_t* b, std::int16_t limit) {
  std::uint32_t reach = 0;
  for (int l = 0; l < kCacheLineShorts; l += kVectorShorts) {
    reach |= at_least(wrapped_sum(load(a + l), load(b + l)), Shorts{} + limit) << l;
  }
  return reach;
}

// The largest of 32 numbers a + b, each wrapped to 16 bits.
inline std::int16_t largest_sum(const std::int16_t* a, const std::int16_t* b) {
  Shorts top = wrapped_sum(load(a), load(b));
  for (int l = kVectorShorts; l < kCacheLineShorts; l += kVectorShorts) {
    const Shorts next = wrapped_sum(load(a + l), load(b + l));
    top = top > next ? top : next;
  }
  return largest(top);
}

// For each of 32 lanes: takes high − low from the number where high is above low; wraps.
inline void take_excess(std::int16_t* numbers, const std::int16_t* high, const std::int16_t* low) {
  for (int l = 0; l < kCacheLineShorts; l += kVectorShorts) {
    const Shorts excess = load(high + l) - load(low + l);
    const Shorts taken = wrapped_sum(load(numbers + l), excess > 0 ? -excess : Shorts{});
    std::memcpy(numbers + l, &taken, sizeof taken);
  }
}

}  // namespace arcmeans
