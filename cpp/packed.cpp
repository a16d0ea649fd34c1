#include "packed.hpp"

#include <atomic>

namespace arcmeans {

namespace {

constexpr std::int64_t kRowsAtATime = 4096;

// Features whose lines stay in the cache stand first in a row: those after them are asked for
// early.
constexpr std::int32_t kHot = 4096;

template <class T>
std::int16_t weight(T value) {
  return static_cast<std::int16_t>(std::lrint(static_cast<double>(value) * kUnitRow));
}

}  // namespace

PackedRows::PackedRows(const Rows& rows, std::int32_t n_frequent, int n_threads)
    : n_frequent_(n_frequent),
      dense_(!rows.starts),
      narrow_(n_frequent <= 65536),
      errors_(static_cast<std::size_t>(rows.n_rows)) {
  visit(rows, [&](const auto& typed) { pack(typed, n_threads); });
}

template <class T>
void PackedRows::pack(const SparseRows<T>& rows, int n_threads) {
  const auto n = static_cast<std::size_t>(rows.n_rows);
  starts_.resize(n + 1);
  rare_starts_.resize(n + 1);
  parallel_chunks(
      rows.n_rows, kRowsAtATime, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const auto row = rows.row(i);
          std::int64_t rare = 0;
          for (std::int64_t e = 0; e < row.size; ++e) {
            rare += row.features[e] >= n_frequent_;
          }
          const std::int64_t frequent = row.size - rare;
          starts_[static_cast<std::size_t>(i) + 1] = frequent + frequent % 2;
          rare_starts_[static_cast<std::size_t>(i) + 1] = rare;
          errors_[static_cast<std::size_t>(i)] =
              static_cast<float>(filter_error(frequent, rare) + 3.0 * reference_error<T>(row.size));
        }
      });
  for (std::size_t i = 0; i < n; ++i) {
    starts_[i + 1] += starts_[i];
    rare_starts_[i + 1] += rare_starts_[i];
  }
  const auto size = static_cast<std::size_t>(starts_[n]);
  if (narrow_) {
    narrow_features_ = Buffer<std::uint16_t>(size);
  } else {
    wide_features_ = Buffer<std::uint32_t>(size);
  }
  weights_ = Buffer<std::int16_t>(size);
  rare_.resize(static_cast<std::size_t>(rare_starts_[n]));
  std::atomic<bool> negative{false};
  parallel_chunks(
      rows.n_rows, kRowsAtATime, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
        bool below_zero = false;
        for (std::int64_t i = begin; i < end; ++i) {
          const auto row = rows.row(i);
          const auto start = static_cast<std::size_t>(starts_[static_cast<std::size_t>(i)]);
          std::size_t hot = start;
          std::size_t cold = static_cast<std::size_t>(starts_[static_cast<std::size_t>(i) + 1]);
          Rare* rare = rare_.data() + rare_starts_[static_cast<std::size_t>(i)];
          for (std::int64_t e = 0; e < row.size; ++e) {
            const std::int32_t feature = row.features[e];
            below_zero |= row.values[e] < T{0};
            if (feature >= n_frequent_) {
              *rare++ = {feature, static_cast<float>(row.values[e])};
              continue;
            }
            const std::size_t at = feature < kHot ? hot++ : --cold;
            weights_[at] = weight(row.values[e]);
            if (narrow_) {
              narrow_features_[at] = static_cast<std::uint16_t>(feature);
            } else {
              wide_features_[at] = static_cast<std::uint32_t>(feature);
            }
          }
        }
        if (below_zero) negative = true;
      });
  nonnegative_ = !negative;
}

template <class T>
void PackedRows::pack(const DenseRows<T>& rows, int n_threads) {
  stride_ = rows.n_features + rows.n_features % 2;
  weights_ = Buffer<std::int16_t>(static_cast<std::size_t>(rows.n_rows * stride_));
  const double error = filter_error(rows.n_features, 0) + 3.0 * reference_error<T>(rows.n_features);
  std::atomic<bool> negative{false};
  parallel_chunks(rows.n_rows, kRowsAtATime, n_threads,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    bool below_zero = false;
                    for (std::int64_t i = begin; i < end; ++i) {
                      const T* values = rows.row(i).values;
                      std::int16_t* weights = weights_.data() + i * stride_;
                      for (std::int32_t f = 0; f < rows.n_features; ++f) {
                        weights[f] = weight(values[f]);
                        below_zero |= values[f] < T{0};
                      }
                      errors_[static_cast<std::size_t>(i)] = static_cast<float>(error);
                    }
                    if (below_zero) negative = true;
                  });
  nonnegative_ = !negative;
}

}  // namespace arcmeans
