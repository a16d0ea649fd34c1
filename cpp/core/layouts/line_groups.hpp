// Groups of the centers of a line, for bounds that many centers share. A center is meant by its
// place in the lines (places.hpp).
//
// The more centers there are, the more share a bound, so that up to 1024 centers the bounds of a
// row are one cache line; or up to four, one bound for each of up to 128 centers, for sparse rows,
// whose visits cost more. Lane l of a line is in its group l modulo their number, which is a power
// of two: the largest of each is found by folding vectors in half.
#pragma once

#include <cstdint>

#include "core/support/simd.hpp"

namespace arcmeans {

class LineGroups {
 public:
  LineGroups(int n_centers, bool dense)
      : n_centers_(n_centers),
        n_lines_((n_centers + kLineShorts - 1) / kLineShorts),
        bits_(dense ? for_dense(n_lines_) : for_sparse(n_lines_)),
        n_bound_lines_((count() + kLineShorts - 1) / kLineShorts) {}

  // Of a line.
  int per_line() const { return 1 << bits_; }
  int of(int place) const { return (place / kLineShorts << bits_) + (place & (per_line() - 1)); }
  int line(int group) const { return group >> bits_; }
  int n_lines() const { return n_lines_; }
  int count() const { return n_lines() << bits_; }
  // Cache lines of bounds, of 32 groups each.
  int n_bound_lines() const { return n_bound_lines_; }
  // The most centers in one.
  int size() const { return kLineShorts >> bits_; }
  // One bit for each group of a line of bounds that has a center.
  std::uint32_t valid(int bound_line) const {
    std::uint32_t bits = 0;
    for (int l = 0; l < kLineShorts; ++l) {
      const int group = bound_line * kLineShorts + l;
      const int first = line(group) * kLineShorts + (group & (per_line() - 1));
      if (first < n_centers_) bits |= 1U << l;
    }
    return bits;
  }
  // One bit for the first group of each line of a line of bounds.
  std::uint32_t firsts() const {
    std::uint32_t bits = 0;
    for (int l = 0; l < kLineShorts; l += per_line()) bits |= 1U << l;
    return bits;
  }
  // The line of bounds with the groups of a line, and their bits there.
  int bound_line(int line) const { return (line << bits_) / kLineShorts; }
  std::uint32_t bits(int line) const {
    return (~0U >> (kLineShorts - per_line())) << ((line << bits_) % kLineShorts);
  }

 private:
  static int for_sparse(int n_lines) {
    return n_lines <= 4 ? 5 : n_lines <= 7 ? 2 : n_lines <= 16 ? 1 : 0;
  }
  static int for_dense(int n_lines) {
    int bits = 5;
    while (bits > 0 && (n_lines << bits) > kLineShorts) --bits;
    return bits;
  }

  int n_centers_;
  // Asked for with every row, so not worked out again.
  int n_lines_;
  int bits_;
  int n_bound_lines_;
};

}  // namespace arcmeans
