// Groups of the centers of a filter line, for bounds that several centers share. A group consists
// of slots in the filter lines (slots.hpp), not of numbers of centers.
//
// The more centers there are, the more of them share a bound: up to 1024 centers the bounds of a
// row fill one cache line. For sparse rows, whose visits cost more, up to 128 centers have a bound
// each, in up to four cache lines. The number of groups of a line is a power of two, and lane l of
// the line is in group l modulo that number: the largest cosine of each group is found by folding
// vectors in half.
//
// A *block of bounds* is the bounds on 32 groups, one cache line.
#pragma once

#include <cstdint>

#include "core/support/simd.hpp"

namespace arcmeans {

class LineGroups {
 public:
  LineGroups(int n_centers, bool dense)
      : n_centers_(n_centers),
        n_lines_((n_centers + kCacheLineShorts - 1) / kCacheLineShorts),
        bits_(dense ? for_dense(n_lines_) : for_sparse(n_lines_)),
        n_bound_blocks_((count() + kCacheLineShorts - 1) / kCacheLineShorts) {}

  // How many groups a line has.
  int per_line() const { return 1 << bits_; }
  int of(int slot) const { return (slot / kCacheLineShorts << bits_) + (slot & (per_line() - 1)); }
  int line(int group) const { return group >> bits_; }
  int n_lines() const { return n_lines_; }
  int count() const { return n_lines() << bits_; }
  int n_bound_blocks() const { return n_bound_blocks_; }
  // The most centers of a group.
  int group_size() const { return kCacheLineShorts >> bits_; }
  // One bit for each group of a block of bounds: whether it has a center.
  std::uint32_t valid(int bound_block) const {
    std::uint32_t bits = 0;
    for (int l = 0; l < kCacheLineShorts; ++l) {
      const int group = bound_block * kCacheLineShorts + l;
      const int first = line(group) * kCacheLineShorts + (group & (per_line() - 1));
      if (first < n_centers_) bits |= 1U << l;
    }
    return bits;
  }
  // One bit for each group of a block of bounds: whether it is the first group of its line.
  std::uint32_t firsts() const {
    std::uint32_t bits = 0;
    for (int l = 0; l < kCacheLineShorts; l += per_line()) bits |= 1U << l;
    return bits;
  }
  // The block of bounds with the groups of a line, and the bits of those groups there.
  int bound_block(int line) const { return (line << bits_) / kCacheLineShorts; }
  std::uint32_t bits(int line) const {
    return (~0U >> (kCacheLineShorts - per_line())) << ((line << bits_) % kCacheLineShorts);
  }

 private:
  static int for_sparse(int n_lines) {
    return n_lines <= 4 ? 5 : n_lines <= 7 ? 2 : n_lines <= 16 ? 1 : 0;
  }
  static int for_dense(int n_lines) {
    int bits = 5;
    while (bits > 0 && (n_lines << bits) > kCacheLineShorts) --bits;
    return bits;
  }

  int n_centers_;
  // Every row asks for these numbers, so they are worked out once.
  int n_lines_;
  int bits_;
  int n_bound_blocks_;
};

}  // namespace arcmeans
