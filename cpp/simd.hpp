// Vectors of floats by the compilers' vector extensions: one source for SSE2, AVX2+FMA, AVX-512
// and NEON. The width is the widest the instruction set has; a `line` is one cache line, 16 floats,
// whatever the width.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__FMA__) || defined(__AVX512F__)
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

constexpr int kLineFloats = 16;
constexpr int kVectorFloats = kVectorBytes / 4;
constexpr int kVectorsPerLine = kLineFloats / kVectorFloats;

using Floats = float __attribute__((vector_size(kVectorBytes)));
using Ints = std::int32_t __attribute__((vector_size(kVectorBytes)));

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

// Folds a vector to one number by halves; `op` works on vectors of every width.
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

inline float largest(Floats v) {
  return fold(v, [](auto a, auto b) { return a > b ? a : b; });
}
inline std::int32_t largest(Ints v) {
  return fold(v, [](auto a, auto b) { return a > b ? a : b; });
}
inline std::int32_t total(Ints v) {
  return fold(v, [](auto a, auto b) { return a + b; });
}

}  // namespace arcmeans
