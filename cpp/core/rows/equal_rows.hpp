// Rows that are equal, entry by entry: they are found once, and labelled together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/rows/rows.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"
#include "core/support/prefetch.hpp"
#include "core/support/where.hpp"

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

// What one row and its label add to the hash of all labels.
inline std::uint64_t label_hash(std::int64_t row, std::int32_t label) {
  std::uint64_t bits = (static_cast<std::uint64_t>(row) << 32U) ^ static_cast<std::uint32_t>(label);
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
  return bits ^ (bits >> 31U);
}

// The hash of the labels of a part of the rows: a sum over its rows, so that the hashes of parts
// add up. `first` is the number of the first row.
inline std::uint64_t hash_labels(const std::int32_t* labels, std::int64_t n, std::int64_t first) {
  std::uint64_t hash = 0;
  for (std::int64_t i = 0; i < n; ++i) hash += label_hash(first + i, labels[i]);
  return hash;
}

// Gives every row the label of the distinct row that it is equal to, and keeps the hash of all
// labels up to date. Rows whose labels a pass did not change are not touched.
class EqualRows {
 public:
  // `equal_to`: for each row the distinct row that it is equal to. `first`: the number of the first
  // row.
  EqualRows(const std::int64_t* equal_to, std::int64_t n_rows, std::int64_t n_distinct,
            std::int64_t first)
      : equal_to_(equal_to, equal_to + n_rows),
        starts_(index(n_distinct) + 1),
        members_(index(n_rows)),
        first_(first) {
    for (const std::int64_t d : equal_to_) ++starts_[index(d) + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    std::vector<std::int64_t> next(starts_.begin(), starts_.end() - 1);
    for (std::int64_t i = 0; i < n_rows; ++i) {
      members_[index(next[index(at(equal_to_, i))]++)] = i;
    }
  }

  std::uint64_t hash() const { return hash_; }

  // After a pass over the distinct rows, which had the labels `before` and now have `distinct`:
  // updates labels and previous labels of all rows; returns how many labels changed. `anew` says
  // that equal rows may differ in their labels, or that the hash is not known.
  std::int64_t spread(const std::int32_t* distinct, const std::int32_t* before, bool anew,
                      std::int32_t* labels, std::int32_t* previous) {
    if (all_changed_) {
      std::copy_n(labels, equal_to_.size(), previous);
    } else {
      for (const std::int64_t d : changed_) {
        each_member(d, [&](std::int64_t i) { previous[i] = labels[i]; });
      }
    }
    changed_.clear();
    const auto n_distinct = static_cast<std::int64_t>(starts_.size()) - 1;
    each_unequal(distinct, before, n_distinct, [&](std::int64_t d) { changed_.push_back(d); });
    // Few changed rows are looked up one by one; where many changed, all rows are walked through.
    all_changed_ = anew || 8 * changed_.size() > starts_.size();
    std::int64_t count = 0;
    if (all_changed_) {
      for (std::size_t i = 0; i < equal_to_.size(); ++i) {
        const std::int32_t label = distinct[equal_to_[i]];
        count += labels[i] != label;
        labels[i] = label;
      }
      hash_ = hash_labels(labels, static_cast<std::int64_t>(equal_to_.size()), first_);
    } else {
      for (const std::int64_t d : changed_) {
        each_member(d, [&](std::int64_t i) {
          hash_ += label_hash(first_ + i, distinct[d]) - label_hash(first_ + i, labels[i]);
          labels[i] = distinct[d];
          ++count;
        });
      }
    }
    return count;
  }

 private:
  static std::int64_t at(const std::vector<std::int64_t>& from, std::int64_t i) {
    return from[index(i)];
  }
  template <class Use>
  void each_member(std::int64_t d, const Use& use) const {
    for (std::int64_t m = at(starts_, d); m < at(starts_, d + 1); ++m) use(at(members_, m));
  }

  std::vector<std::int64_t> equal_to_;
  std::vector<std::int64_t> starts_, members_;  // the rows equal to each distinct row
  std::int64_t first_;
  std::vector<std::int64_t> changed_;  // the distinct rows that the last pass gave other labels
  bool all_changed_ = true;            // any row may have another label since the last pass
  std::uint64_t hash_ = 0;
};

}  // namespace arcmeans
