// What one pass over the rows did. Counted where it happens, always.
#pragma once

#include <cstdint>

namespace arcmeans {

struct Work {
  std::int64_t similarities = 0;         // row–center pairs computed
  std::int64_t lines = 0;                // visits of a row to a cache line of centers
  std::int64_t center_similarities = 0;  // center–center pairs computed
  std::int64_t reused = 0;               // row–center pairs known from the seeding
  std::int64_t exact_decisions = 0;      // rows whose float32 similarities could not decide
  std::int64_t skipped_by_bounds = 0;    // rows kept without leaving the bounds u and l
  std::int64_t skipped_by_centers = 0;   // rows kept by s(a) ≤ l
  std::int64_t changed = 0;              // rows with another label than before

  void add(const Work& other) {
    similarities += other.similarities;
    lines += other.lines;
    center_similarities += other.center_similarities;
    reused += other.reused;
    exact_decisions += other.exact_decisions;
    skipped_by_bounds += other.skipped_by_bounds;
    skipped_by_centers += other.skipped_by_centers;
    changed += other.changed;
  }
};

}  // namespace arcmeans
