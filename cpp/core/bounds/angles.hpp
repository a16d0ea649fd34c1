// The arithmetic of bounds kept as angles (yinyang, exponion, shallot); the one of cosines is in
// bounds.hpp. As an angle a bound moves by an addition, without a square root, and the cumulative
// movement of a group of centers can be taken off when the bound is read instead of when the
// centers move. Every step is rounded outward (docs/exactness.md, "Angles").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/bounds/bounds.hpp"

namespace arcmeans {

constexpr double kPi = 3.141592653589793;

// The arc cosine for the vector units: √(1 − x) times a polynomial fitted to acos(x)/√(1 − x) at
// the Chebyshev points of [0, 1]. Its relative error is below kArcError, everywhere.
constexpr double kArcError = 0x1p-28;
inline double arc(double cosine) {
  const double x = std::abs(cosine);
  const double x2 = x * x;
  const double x4 = x2 * x2;
  const double low = (1.5707963226438155 - 0.21460116073168536 * x) +
                     (0.0890301369396759 - 0.05059357388410059 * x) * x2;
  const double high = (0.03257117017449285 - 0.020727665253042607 * x) +
                      (0.011028380664656941 - 0.003974577701905952 * x) * x2;
  const double sum = low + (high + 0.0006845318159247617 * x4) * x4;
  const double angle = std::sqrt(1.0 - x) * sum;
  return cosine < 0.0 ? kPi - angle : angle;
}

// The largest angle that goes with a cosine of at least `lower`, rounded up.
inline double angle_at_most(double lower) {
  return arc(std::clamp(lower, -1.0, 1.0)) * (1.0 + kArcError);
}

// The smallest angle that goes with a cosine of at most `upper`, rounded down.
inline double angle_at_least(double upper) {
  return arc(std::clamp(upper, -1.0, 1.0)) * (1.0 - kArcError);
}

// The angle of a turn, rounded up so far that adding it needs no further care; 0 for a center that
// stayed.
inline double angle_of(Turn p) {
  if (p.pad == 0.0) return 0.0;
  return std::atan2(p.sin, p.cos) * (1.0 + 0x1p-49) + 0x1p-49;
}

// A center at more than this angle is less similar than one at `angle` or nearer, by more than
// 2·error. cos θ − cos(θ + δ) = 2·sin(θ + δ/2)·sin(δ/2) exceeds 0.6·δ·(θ + δ/2) up to a right
// angle, and 0.6·δ²/2 up to π, for δ < 0.1.
inline double beyond(double angle, double error) {
  const double most = std::sqrt(10.0 * error);
  if (most >= 0.1) return std::numeric_limits<double>::infinity();
  return angle + (angle > most && angle < 0.5 * kPi ? 5.0 * error / angle : most);
}

// A bound in float32 that is kept while its centers move: the angle plus the cumulative movement
// so far, rounded down. What is left of it later is this minus the movement by then.
inline float kept(double angle, double moved) {
  return static_cast<float>((angle + moved) * (1.0 - 0x1p-23));
}
inline float moved_by(double moved) { return static_cast<float>(moved * (1.0 + 0x1p-23)); }

// `kept − moved_by` above limit_for_kept(limit) is an angle above `limit`; and no less than this.
inline float limit_for_kept(double limit) { return static_cast<float>(limit * (1.0 + 0x1p-22)); }
inline double left_of_kept(float difference) {
  return static_cast<double>(difference) * (1.0 - 0x1p-22);
}

// The cumulative movement after one more: the sum, rounded up.
inline double moved_further(double moved, double by) {
  if (by == 0.0) return moved;
  return std::nextafter(moved + by, std::numeric_limits<double>::infinity());
}

}  // namespace arcmeans
