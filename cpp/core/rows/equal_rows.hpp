// Rows that are equal, entry by entry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/rows/rows.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"
#include "core/support/prefetch.hpp"

namespace arcmeans {

// The distinct rows: the first of each set of equal rows; and for each row which of the distinct
// rows it is equal to.
struct DistinctRows {
  std::vector<std::int64_t> first, equal_to;

  DistinctRows(const Rows& rows, const std::uint64_t* hashes) : equal_to(index(rows.n_rows)) {
    with_row_type(rows, [&](const auto& typed_rows) { find(typed_rows, hashes); });
  }

 private:
  // A place in the hash table holds the number of a row, from 1 on, and above it some bits of the
  // hash of the row. Other bits of the hash say at which place the search for a row begins; where
  // another row has taken a place, the search goes on at the next.
  static constexpr int kRowBits = 40;
  static constexpr std::uint64_t kRow = (std::uint64_t{1} << kRowBits) - 1;

  template <class RowsOf>
  void find(const RowsOf& rows, const std::uint64_t* hashes) {
    if (static_cast<std::uint64_t>(rows.n_rows) >= kRow) {
      throw std::invalid_argument("too many rows to look for equal ones");
    }
    std::size_t size = 64;
    while (size < 2 * equal_to.size()) size *= 2;
    Buffer<std::uint64_t> table(size);
    const auto place = [&](std::int64_t i) { return hashes[i] & (size - 1); };
    const auto alike = [&](std::uint64_t taken, std::int64_t i) {
      return taken != 0 && ((taken ^ hashes[i]) & ~kRow) == 0;
    };
    // The row at the place where the search for row i begins, or 0.
    const auto named = [&](std::int64_t i) {
      return std::max<std::int64_t>(0, row_of(table[place(i)]));
    };
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
      // The table, and the rows that it names, are read at places that nobody can foresee: they are
      // asked for early in three steps, whether rows turn out to be alike or not.
      if (i + 24 < rows.n_rows) prefetch_near(&table[place(i + 24)]);
      if (i + 16 < rows.n_rows) prefetch_place(rows, named(i + 16));
      if (i + 8 < rows.n_rows) prefetch_entries(rows, named(i + 8));
      std::size_t at = place(i);
      while (table[at] != 0 && !(alike(table[at], i) && equal(rows, row_of(table[at]), i))) {
        at = (at + 1) & (size - 1);
      }
      if (table[at] == 0) {
        table[at] = (hashes[i] & ~kRow) | static_cast<std::uint64_t>(i + 1);
        equal_to[index(i)] = static_cast<std::int64_t>(first.size());
        first.push_back(i);
      } else {
        equal_to[index(i)] = equal_to[index(row_of(table[at]))];
      }
    }
  }

  static std::int64_t row_of(std::uint64_t taken) {
    return static_cast<std::int64_t>(taken & kRow) - 1;
  }

  template <class RowsOf>
  __attribute__((always_inline)) void prefetch_place(const RowsOf& rows, std::int64_t i) const {
    prefetch_near(&equal_to[index(i)]);
    if constexpr (!RowsOf::Row::dense) prefetch_near(&rows.starts[i]);
  }
  template <class RowsOf>
  __attribute__((always_inline)) static void prefetch_entries(const RowsOf& rows, std::int64_t i) {
    const auto row = rows.row(i);
    prefetch_near(row.values);
    if constexpr (!RowsOf::Row::dense) prefetch_near(row.features);
  }

  template <class RowsOf>
  static bool equal(const RowsOf& rows, std::int64_t i, std::int64_t j) {
    const auto a = rows.row(i);
    const auto b = rows.row(j);
    if (a.size != b.size) return false;
    for (std::int64_t e = 0; e < a.size; ++e) {
      if (a.feature(e) != b.feature(e) || !(a.values[e] == b.values[e])) return false;
    }
    return true;
  }
};

}  // namespace arcmeans
