// The rows of the data as the kernels see them: unit vectors, sparse or dense, float or double.
// Entries of a sparse row stand in ascending order of the *caller's* feature numbers, while the
// number stored is the feature's rank by falling document frequency: the order fixes the rounding
// of every sum over a row whatever the ranking, and the rank keeps frequent features together.
#pragma once

#include <cmath>
#include <cstdint>

namespace arcmeans {

// A borrowed view of the row arrays. `starts` is null for dense rows.
struct Rows {
  std::int64_t n_rows = 0;
  std::int32_t n_features = 0;
  const std::int64_t* starts = nullptr;
  const std::int32_t* features = nullptr;
  const void* values = nullptr;
  bool is_double = false;
  const double* weights = nullptr;        // null: every row weighs 1
  const std::uint8_t* zero = nullptr;     // 1 where a row has no direction
  double one = 1.0;                       // 1.0 in fixed point: a power of two
  const std::int32_t* by_rank = nullptr;  // the caller's feature of each rank; null: the same

  double weight(std::int64_t i) const { return weights ? weights[i] : 1.0; }
  // Whether row i is in the sum of its cluster: it has a direction, and weight.
  bool in_sums(std::int64_t i) const { return !zero[i] && weight(i) > 0.0; }
};

template <class T>
struct SparseRow {
  using Value = T;
  static constexpr bool dense = false;
  const std::int32_t* features;
  const T* values;
  std::int64_t size;
  std::int32_t feature(std::int64_t e) const { return features[e]; }
};

template <class T>
struct DenseRow {
  using Value = T;
  static constexpr bool dense = true;
  const T* values;
  std::int64_t size;
  std::int32_t feature(std::int64_t e) const { return static_cast<std::int32_t>(e); }
};

template <class T>
struct SparseRows : Rows {
  using Row = SparseRow<T>;
  Row row(std::int64_t i) const {
    const std::int64_t first = starts[i];
    return {features + first, static_cast<const T*>(values) + first, starts[i + 1] - first};
  }
};

template <class T>
struct DenseRows : Rows {
  using Row = DenseRow<T>;
  Row row(std::int64_t i) const {
    return {static_cast<const T*>(values) + i * n_features, n_features};
  }
};

// Calls f with the rows as the one of the four types they have.
template <class F>
auto with_row_type(const Rows& rows, const F& f) {
  if (rows.starts) {
    if (rows.is_double) return f(SparseRows<double>{rows});
    return f(SparseRows<float>{rows});
  }
  if (rows.is_double) return f(DenseRows<double>{rows});
  return f(DenseRows<float>{rows});
}

// The fixed-point value of one entry, weighted. It is rounded once at weight 1, so that a row of
// integer weight w adds exactly what w copies of it would (docs/exactness.md, "Sums").
inline std::int64_t fixed_point(double value, double one, double weight) {
  const std::int64_t unweighted = std::llrint(value * one);
  if (weight == 1.0) return unweighted;
  if (weight == std::floor(weight)) return unweighted * static_cast<std::int64_t>(weight);
  return std::llrint(static_cast<double>(unweighted) * weight);
}

}  // namespace arcmeans
