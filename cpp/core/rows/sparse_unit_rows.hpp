// Unit rows made of a sparse matrix, with the arrays that they look into.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/rows/prepare.hpp"
#include "core/rows/rows.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

template <class T>
class SparseUnitRows {
 public:
  // Of compressed sparse rows: row i has the entries from starts[i] to starts[i + 1] − 1. Throws
  // std::invalid_argument where features of a row do not ascend, a feature is out of range, or a
  // value is zero or not finite.
  SparseUnitRows(std::span<const std::int64_t> starts, std::span<const std::int32_t> features,
                 std::span<const T> values, std::int32_t n_features, int n_threads = 1)
      : starts_(starts.begin(), starts.end()),
        features_(features.size()),
        values_(values.size()),
        zero_(starts.size() - 1),
        by_rank_(index(n_features)) {
    rows_.n_rows = static_cast<std::int64_t>(zero_.size());
    rows_.n_features = n_features;
    std::vector<std::int64_t> frequency(index(n_features));
    check(inspect(starts.data(), features.data(), values.data(), rows_.n_rows,
                  std::int64_t{n_features}, frequency.data()));
    std::iota(by_rank_.begin(), by_rank_.end(), 0);
    std::stable_sort(by_rank_.begin(), by_rank_.end(), [&](std::int32_t a, std::int32_t b) {
      return frequency[index(a)] > frequency[index(b)];
    });
    std::vector<std::int32_t> rank(by_rank_.size());
    for (std::int32_t r = 0; r < n_features; ++r) rank[index(by_rank_[index(r)])] = r;
    unit_sparse(starts.data(), features.data(), values.data(), rank.data(), rows_.n_rows, n_threads,
                features_.data(), values_.data(), zero_.data());
    rows_.starts = starts_.data();
    rows_.features = features_.data();
    rows_.values = values_.data();
    rows_.is_double = sizeof(T) == sizeof(double);
    rows_.zero = zero_.data();
    rows_.by_rank = by_rank_.data();
    // Sums of all rows stay below 2⁶¹.
    while (rows_.one > 0x1p61 / static_cast<double>(rows_.n_rows)) rows_.one *= 0.5;
  }
  SparseUnitRows(const SparseUnitRows&) = delete;
  SparseUnitRows& operator=(const SparseUnitRows&) = delete;

  const Rows& rows() const { return rows_; }

 private:
  void check(const Inspection& found) const {
    const std::int64_t row = std::max(found.bad_index_row, found.not_finite_row);
    if (row >= 0) throw std::invalid_argument("row " + std::to_string(row) + " has a bad entry");
    if (!found.canonical) throw std::invalid_argument("features of a row should ascend");
    if (found.has_zeros) throw std::invalid_argument("stored values should not be zero");
  }

  std::vector<std::int64_t> starts_;
  std::vector<std::int32_t> features_;
  std::vector<T> values_;
  std::vector<std::uint8_t> zero_;
  std::vector<std::int32_t> by_rank_;
  Rows rows_{.one = 0x1p61};
};

}  // namespace arcmeans
