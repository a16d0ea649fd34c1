// Postings: for each feature the list of the rows that have it. A seed is a sparse row, so only
// rows that share a feature with the seed have a similarity other than zero; a walk over the lists
// of the seed's features touches a small part of the matrix (3 % of the entries for arXiv
// abstracts).
//
// The walk takes the entries of the seed in their order, which is the caller's order of features.
// So the products of each row are added in the order in which sim64 adds them, with the same bits.
// A feature that more than half of the rows have is a full column instead of a list: a column is no
// larger, and is read from end to end. Ranks go by falling frequency, so the columns come first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/rows/rows.hpp"
#include "core/support/index.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

template <class T>
class Postings {
 public:
  explicit Postings(const SparseRows<T>& rows)
      : n_rows_(rows.n_rows), starts_(index(rows.n_features) + 1) {
    for (std::int64_t e = 0; e < rows.starts[rows.n_rows]; ++e) {
      ++starts_[index(rows.features[e]) + 1];
    }
    while (n_columns_ < rows.n_features && 2 * starts_[index(n_columns_) + 1] > n_rows_) {
      starts_[index(n_columns_) + 1] = 0;
      ++n_columns_;
    }
    for (std::size_t f = 1; f < starts_.size(); ++f) starts_[f] += starts_[f - 1];
    columns_.resize(index(n_columns_) * index(n_rows_));
    rows_.resize(index(starts_.back()));
    values_.resize(rows_.size());
    std::vector<std::int64_t> next(starts_.begin(), starts_.end() - 1);
    for (std::int64_t i = 0; i < n_rows_; ++i) {
      const auto row = rows.row(i);
      for (std::int64_t e = 0; e < row.size; ++e) {
        const std::int32_t feature = row.feature(e);
        if (feature < n_columns_) {
          columns_[index(feature * n_rows_ + i)] = row.values[e];
          continue;
        }
        const auto at = index(next[index(feature)]++);
        rows_[at] = static_cast<std::uint32_t>(i);
        values_[at] = row.values[e];
      }
    }
  }

  // How many entries a walk over the lists of these features reads.
  std::int64_t entries(const std::int32_t* features, std::int64_t size) const {
    std::int64_t total = 0;
    for (std::int64_t e = 0; e < size; ++e) {
      const auto f = index(features[e]);
      total += features[e] < n_columns_ ? n_rows_ : starts_[f + 1] - starts_[f];
    }
    return total;
  }

  // Adds value · weight to the sum of each row in [begin, end) that has the feature.
  void add(std::int32_t feature, double weight, std::int64_t begin, std::int64_t end,
           double* sums) const {
    if (feature < n_columns_) {
      const T* column = columns_.data() + feature * n_rows_;
      for (std::int64_t i = begin; i < end; ++i) {
        sums[i] += static_cast<double>(column[i]) * weight;
      }
      return;
    }
    const std::uint32_t* first = rows_.data() + starts_[index(feature)];
    const std::uint32_t* last = rows_.data() + starts_[index(feature) + 1];
    if (begin > 0) first = std::lower_bound(first, last, static_cast<std::uint32_t>(begin));
    if (end < n_rows_) last = std::lower_bound(first, last, static_cast<std::uint32_t>(end));
    const T* value = values_.data() + (first - rows_.data());
    for (; first != last; ++first, ++value) {
      sums[*first] += static_cast<double>(*value) * weight;
    }
  }

 private:
  std::int64_t n_rows_;
  std::int32_t n_columns_ = 0;
  std::vector<T> columns_;            // [feature][row]
  std::vector<std::int64_t> starts_;  // [feature]
  std::vector<std::uint32_t> rows_;
  std::vector<T> values_;
};

}  // namespace arcmeans
