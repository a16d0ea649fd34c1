// The arithmetic of bounds on cosines, all of it. Equation numbers are those of Schubert, Lang and
// Feher, "Accelerating Spherical k-Means". A bound here is about the true cosine between a row and
// a center; every step is rounded outward, so a bound that says "cannot win" is right about the
// rounded reference similarity too (docs/exactness.md, "Bounds").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace arcmeans {

// By which angle one center turned in a move, as cos and sin of the angle between its old and its
// new direction. The pad covers the rounding of one bound update; all of it is exact (1, 0, 0) for
// a center that kept its rows, which is known from membership and never from arithmetic.
struct Turn {
  double cos = 1.0;  // p(j)
  double sin = 0.0;  // √(1 − p(j)²)
  double pad = 0.0;
};

constexpr double kUpdatePad = 0x1p-50;

// ‖c′ − c‖, computed from so many terms, made larger by what their rounding can have taken away.
inline double outward_chord(double chord, std::int64_t terms) {
  return chord * (1.0 + static_cast<double>(terms + 8) * 0x1p-52) + 0x1p-49;
}

// The turn of a center that went no farther than this, which is rounded up; zero where it stayed.
inline Turn turn_of(double farthest) {
  if (farthest == 0.0) return {};
  if (farthest >= 2.0) return {-1.0, 0.0, kUpdatePad};
  return {1.0 - 0.5 * farthest * farthest, farthest * std::sqrt(1.0 - 0.25 * farthest * farthest),
          kUpdatePad};
}

inline double sine(double cosine) { return std::sqrt((1.0 - cosine) * (1.0 + cosine)); }

// Eq. (6): cos(θl + θp). Past a sum of π, that is p < −l, nothing better than −1 is known.
inline double lower_after(double lower, Turn p) {
  if (p.cos < -lower) return -1.0;
  return std::max(-1.0, lower * p.cos - sine(lower) * p.sin - p.pad);
}

// Eq. (7): cos(θu − θp). A bound only while θp ≤ θu, that is p > u; beyond, the row may lie in the
// center's new direction and the bound is 1.
inline double upper_after(double upper, Turn p) {
  const double moved = std::min(1.0, upper * p.cos + sine(upper) * p.sin + p.pad);
  return p.cos > upper ? moved : 1.0;
}

// The number of floats stored for a bound is n·k, so they are kept in float32, rounded up.
inline float rounded_up(double bound) { return static_cast<float>(std::min(1.0, bound + 0x1p-24)); }

// Eq. (7) for all centers of a row at once. A bound whose center did not move stays as it is.
inline void upper_after(float* upper, std::int64_t n, const double* cos, const double* sin,
                        const double* pad) {
  for (std::int64_t j = 0; j < n; ++j) {
    const double u = static_cast<double>(upper[j]);
    const double moved = u * cos[j] + sine(u) * sin[j] + (pad[j] > 0.0 ? pad[j] + 0x1p-24 : 0.0);
    const double bound = cos[j] > u || pad[j] == 0.0 ? moved : 1.0;
    upper[j] = static_cast<float>(bound < 1.0 ? bound : 1.0);
  }
}

// The ways to move Hamerly's one upper bound for all other centers, given the extreme turns
// p′ (the smallest p(j), the largest turn) and p″ (the largest p(j)) among them.
enum class HamerlyUpdate : int {
  tight,  // Eq. (7) with p′: the best, since cos(θu − θp) grows with θp while θp ≤ θu
  eq8,    // u·p″ + √((1 − u²)(1 − p′²))
  eq9,    // u + √((1 − u²)(1 − p′²))
};

// Eqs. (8) and (9) are bounds only for u ≥ 0 and p′ > u: outside they are replaced as in
// docs/exactness.md, by p′ for p″ where u < 0 and by 1 where p′ ≤ u.
inline double upper_after(double upper, Turn largest, Turn smallest, HamerlyUpdate update) {
  if (update == HamerlyUpdate::tight || upper < 0.0 || largest.cos <= upper) {
    return upper_after(upper, largest);
  }
  const double factor = update == HamerlyUpdate::eq8 ? smallest.cos : 1.0;
  return std::min(1.0, upper * factor + sine(upper) * largest.sin + largest.pad);
}

// cc(i,j) = √((⟨c(i), c(j)⟩ + 1)/2), the cosine of half the angle between two centers.
inline double cosine_of_half_angle(double similarity) {
  return std::min(1.0, std::sqrt(0.5 * (similarity + 1.0)) + kUpdatePad);
}

// |sim64 − cos| for a row of `size` entries: float64 summation of the products, the conversion of
// the sums to float64, the scale, and the row's length, which is 1 only up to its rounding.
template <class T>
double reference_error(std::int64_t size) {
  constexpr double length_error = sizeof(T) == 4 ? 0x1p-22 : 0x1p-51;
  return static_cast<double>(size + 8) * 0x1p-52 + length_error;
}

// |float32 panel similarity − sim64| for a row of `size` entries; infinite where float32 can say
// nothing. (size + 8)·2⁻²⁴ to first order.
inline double panel_error(std::int64_t size) {
  const double relative = static_cast<double>(size + 8) * 0x1p-24;
  if (relative >= 0.5) return std::numeric_limits<double>::infinity();
  return relative / (1.0 - relative);
}

// The filter rounds a row to whole numbers times 1/kRowMultiplier, and a center to whole numbers
// times 1/length, with its length in the filter line (filter_lines.hpp).
constexpr double kRowMultiplier = 32767.0;

// How many units a cosine of 1 has: the sieve counts cosines from the filter, and bounds on them,
// in units.
constexpr int kCosineUnits = 8192;

// |filter − x·c| ≤ row_filter_error + Σ|r| · center_filter_error, where r is the row that x was
// rounded to. For the row: ‖x − r‖, of which the square is given, since ‖c‖ = 1; the conversion of
// the sum to float32, the factor and their product (2⁻²²); and the rare entries, which are added in
// float32 one by one.
inline double row_filter_error(double squared_rounding, std::int64_t rare) {
  return 1.0001 * std::sqrt(squared_rounding) + static_cast<double>(rare + 2) * 0x1p-23;
}
// For a center of this length: half of 1/length in each feature.
inline double center_filter_error(double length) { return 0.5001 / length; }

}  // namespace arcmeans
