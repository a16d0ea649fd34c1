// The places at which arrays differ, or are not zero, in ascending order. The answers for 64 places
// become the bits of one number: a branch for each place would be mispredicted wherever some arrays
// differ and some do not.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/support/simd.hpp"

namespace arcmeans {

using Longs = std::int64_t __attribute__((vector_size(kVectorBytes)));
constexpr int kVectorLongs = kVectorBytes / 8;

inline Longs load_longs(const std::int64_t* from) {
  Longs v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// One bit for each lane of a comparison: whether it is true.
inline std::uint64_t true_lanes(Ints v) {
#if defined(__AVX512DQ__)
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(v));
#elif defined(__AVX__)
  return static_cast<std::uint64_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(v)));
#elif defined(__SSE2__)
  return static_cast<std::uint64_t>(_mm_movemask_ps(reinterpret_cast<__m128>(v)));
#else
  std::uint64_t bits = 0;
  for (int l = 0; l < kVectorFloats; ++l) bits |= static_cast<std::uint64_t>(v[l] & 1) << l;
  return bits;
#endif
}
inline std::uint64_t true_lanes(Longs v) {
#if defined(__AVX512DQ__)
  return _mm512_movepi64_mask(reinterpret_cast<__m512i>(v));
#elif defined(__AVX__)
  return static_cast<std::uint64_t>(_mm256_movemask_pd(reinterpret_cast<__m256d>(v)));
#elif defined(__SSE2__)
  return static_cast<std::uint64_t>(_mm_movemask_pd(reinterpret_cast<__m128d>(v)));
#else
  std::uint64_t bits = 0;
  for (int l = 0; l < kVectorLongs; ++l) bits |= static_cast<std::uint64_t>(v[l] & 1) << l;
  return bits;
#endif
}

// Calls use(place) for every place whose bit is set; bits(first, count) gives the bits of `count`
// places from `first` on, 64 or at the end fewer.
template <class Bits, class Use>
void each_place(std::int64_t size, const Bits& bits, const Use& use) {
  for (std::int64_t first = 0; first < size; first += 64) {
    std::uint64_t found = bits(first, std::min<std::int64_t>(64, size - first));
    for (; found != 0; found &= found - 1) use(first + std::countr_zero(found));
  }
}

// Calls use(place) where two arrays differ.
template <class Use>
void each_unequal(const std::int32_t* a, const std::int32_t* b, std::int64_t size, const Use& use) {
  const auto bits = [&](std::int64_t first, std::int64_t count) {
    const std::int32_t *x = a + first, *y = b + first;
    std::uint64_t found = 0;
    std::int64_t n = 0;
    for (; n + kVectorFloats <= count; n += kVectorFloats) {
      found |= true_lanes(load_ints(x + n) != load_ints(y + n)) << n;
    }
    for (; n < count; ++n) found |= static_cast<std::uint64_t>(x[n] != y[n]) << n;
    return found;
  };
  each_place(size, bits, use);
}

// Calls use(place) for flags that are −1 and not 0.
template <class Use>
void each_true(const std::int32_t* flags, std::int64_t size, const Use& use) {
  const auto bits = [&](std::int64_t first, std::int64_t count) {
    std::uint64_t found = 0;
    std::int64_t n = 0;
    for (; n + kVectorFloats <= count; n += kVectorFloats) {
      found |= true_lanes(load_ints(flags + first + n)) << n;
    }
    for (; n < count; ++n) found |= static_cast<std::uint64_t>(flags[first + n] & 1) << n;
    return found;
  };
  each_place(size, bits, use);
}

// Calls use(place) for numbers that are not zero.
template <class Use>
void each_nonzero(const std::int64_t* numbers, std::int64_t size, const Use& use) {
  const auto bits = [&](std::int64_t first, std::int64_t count) {
    const std::int64_t* x = numbers + first;
    std::uint64_t found = 0;
    std::int64_t n = 0;
    for (; n + kVectorLongs <= count; n += kVectorLongs) {
      // With Clang a comparison gives a vector of another type.
      found |= true_lanes(reinterpret_cast<Longs>(load_longs(x + n) != 0)) << n;
    }
    for (; n < count; ++n) found |= static_cast<std::uint64_t>(x[n] != 0) << n;
    return found;
  };
  each_place(size, bits, use);
}

}  // namespace arcmeans
