// Bounds that follow a move hold for every position of row and centers, on a plane and off it.
#include <cmath>
#include <random>

#include "core/bounds/angles.hpp"
#include "core/bounds/bounds.hpp"
#include "tests/check.hpp"

using namespace arcmeans;

namespace {

struct Vector {
  double x, y, z;
};

double product(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

Vector unit(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Vector v{normal(random), normal(random), normal(random)};
  const double length = std::sqrt(product(v, v));
  return {v.x / length, v.y / length, v.z / length};
}

double distance(const Vector& a, const Vector& b) {
  const Vector d{a.x - b.x, a.y - b.y, a.z - b.z};
  return std::sqrt(product(d, d));
}

}  // namespace

TEST(bounds_on_cosines_follow_a_move) {
  std::mt19937 random(1);
  for (int n = 0; n < 20000; ++n) {
    const Vector row = unit(random), before = unit(random);
    Vector after = unit(random);
    if (n % 2) {  // a small move
      after = {before.x + 0.01 * after.x, before.y + 0.01 * after.y, before.z + 0.01 * after.z};
      const double length = std::sqrt(product(after, after));
      after = {after.x / length, after.y / length, after.z / length};
    }
    const Turn turn = turn_of(outward_chord(distance(before, after), 3));
    const double cosine = product(row, before), now = product(row, after);
    CHECK(lower_after(std::max(-1.0, cosine - 1e-15), turn) <= now + 1e-15);
    CHECK(upper_after(std::min(1.0, cosine + 1e-15), turn) >= now - 1e-15);
  }
}

TEST(a_center_that_stayed_moves_no_bound) {
  for (const double bound : {-1.0, -0.3, 0.0, 0.7, 1.0}) {
    CHECK(lower_after(bound, Turn{}) == bound);
    CHECK(upper_after(bound, Turn{}) == bound || bound == 1.0);
  }
}

TEST(angles_are_rounded_outward) {
  for (int n = -1000; n <= 1000; ++n) {
    const double cosine = n / 1000.0;
    CHECK(angle_at_most(cosine) >= std::acos(cosine) * (1.0 - 1e-15));
    CHECK(angle_at_least(cosine) <= std::acos(cosine) * (1.0 + 1e-15));
    CHECK(angle_at_most(cosine) - angle_at_least(cosine) < 1e-6);
  }
}
