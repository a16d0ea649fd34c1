// Vectors of floats by the vector extensions of the compilers: one source for SSE2, AVX2+FMA,
// AVX-512 and NEON. A vector is as wide as the instruction set allows; a cache line is 64 bytes
// everywhere.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace arcmeans {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

constexpr int kCacheLineFloats = 16;
constexpr int kCacheLineShorts = 32;
constexpr int kVectorFloats = kVectorBytes / 4;
constexpr int kVectorsPerCacheLine = kCacheLineFloats / kVectorFloats;

using Floats = float __attribute__((vector_size(kVectorBytes)));
using Ints = std::int32_t __attribute__((vector_size(kVectorBytes)));

// Vectors of kCount numbers, a power of two.
template <int kCount>
struct VectorsOf {
  typedef float Floats __attribute__((vector_size(kCount * sizeof(float))));
  typedef std::int32_t Ints __attribute__((vector_size(kCount * sizeof(std::int32_t))));
  typedef std::int16_t Shorts __attribute__((vector_size(kCount * sizeof(std::int16_t))));
};

inline Floats load(const float* from) {
  Floats v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

inline void store(float* to, Floats v) { std::memcpy(to, &v, sizeof v); }

inline Floats splat(float x) { return Floats{} + x; }

// a·b + c, fused where the instruction set can: contraction is off everywhere, so it is said here.
inline Floats multiply_add(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__ARM_NEON)
  return vfmaq_f32(c, a, b);
#else
  return a * b + c;
#endif
}

inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }

// One bit for each pair of numbers: whether the first is at least the second.
inline std::uint32_t at_least(Floats a, Floats b) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ);
#elif defined(__AVX__)
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ)));
#elif defined(__SSE2__)
  return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_cmpge_ps(a, b)));
#else
  std::uint32_t bits = 0;
  for (int l = 0; l < kVectorFloats; ++l) bits |= static_cast<std::uint32_t>(a[l] >= b[l]) << l;
  return bits;
#endif
}

// Folds a vector to one number by halves; `op` takes two vectors of any width, or two numbers.
template <class Vector, class Op>
inline auto fold(Vector v, Op op) {
  if constexpr (sizeof(Vector) == 64) {
    return fold(op(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
                   __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)),
                op);
  } else if constexpr (sizeof(Vector) == 32) {
    return fold(
        op(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7)),
        op);
  } else {
    v = op(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
    v = op(v, __builtin_shufflevector(v, v, 1, 0, 3, 2));
    return v[0];
  }
}

// Two vectors as one, the second behind the first.
template <class Vector>
inline auto join(Vector a, Vector b) {
  if constexpr (sizeof(Vector) == 32) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  } else {
    static_assert(sizeof(Vector) == 16);
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
  }
}

// A vector as the first part of a wider one, with zeros behind it.
template <class Wide, class Vector>
inline Wide widened(Vector v) {
  if constexpr (sizeof(Wide) == sizeof(Vector)) {
    return v;
  } else {
    return widened<Wide>(join(v, Vector{}));
  }
}

inline Ints load_ints(const std::int32_t* from) {
  Ints v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

inline Ints first_lanes() {
  Ints lanes;
  for (int l = 0; l < kVectorFloats; ++l) lanes[l] = l;
  return lanes;
}

inline float largest(Floats v) {
  return fold(v, [](auto a, auto b) { return a > b ? a : b; });
}

// For each number modulo `kGroups` the largest of the lanes with that number. kGroups is at most
// the width of the vector.
template <int kGroups, class Vector>
inline typename VectorsOf<kGroups>::Floats largest_modulo(Vector v) {
  const auto larger_half = [](auto low, auto high) { return low > high ? low : high; };
  if constexpr (sizeof(Vector) == kGroups * sizeof(float)) {
    return v;
  } else if constexpr (sizeof(Vector) == 64) {
    return largest_modulo<kGroups>(
        larger_half(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
                    __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)));
  } else if constexpr (sizeof(Vector) == 32) {
    return largest_modulo<kGroups>(larger_half(__builtin_shufflevector(v, v, 0, 1, 2, 3),
                                               __builtin_shufflevector(v, v, 4, 5, 6, 7)));
  } else if constexpr (sizeof(Vector) == 16) {
    return largest_modulo<kGroups>(
        larger_half(__builtin_shufflevector(v, v, 0, 1), __builtin_shufflevector(v, v, 2, 3)));
  } else {
    return typename VectorsOf<1>::Floats{v[0] > v[1] ? v[0] : v[1]};
  }
}

inline std::int32_t largest(Ints v) {
  return fold(v, [](auto a, auto b) { return a > b ? a : b; });
}

}  // namespace arcmeans
