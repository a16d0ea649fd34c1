#include "core/layouts/packed.hpp"

#include <atomic>

#include "core/support/index.hpp"

namespace arcmeans {

namespace {

constexpr std::int64_t kRowsAtATime = 4096;

// The first features of the ranking are hot: their numbers in the filter lines stay in the cache.
// They stand first in a row; the numbers of the others are asked for early.
constexpr std::int32_t kHot = 4096;

// Calls use(i) for every row.
template <class Use>
void each_row(std::int64_t n_rows, int n_threads, const Use& use) {
  parallel_chunks(n_rows, kRowsAtATime, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) use(i);
  });
}

// Rounds the values of a row, and adds up the error of that.
class Rounding {
 public:
  template <class T>
  std::int16_t operator()(T value) {
    const double exact = static_cast<double>(value) * kRowMultiplier;
    const std::int64_t rounded = std::lrint(exact);
    const double missed = exact - static_cast<double>(rounded);
    squared_ += missed * missed;
    spread_ += std::abs(rounded);
    return static_cast<std::int16_t>(rounded);
  }

  template <class T>
  PackedRows::Error error(std::int64_t size, std::int64_t rare) const {
    const double of_row = row_filter_error(squared_ / (kRowMultiplier * kRowMultiplier), rare);
    return {static_cast<float>((of_row + 3.0 * reference_error<T>(size)) * kCosineUnits),
            static_cast<float>(static_cast<double>(spread_) / kRowMultiplier)};
  }

 private:
  double squared_ = 0.0;
  std::int64_t spread_ = 0;
};

}  // namespace

PackedRows::PackedRows(const Rows& rows, std::int32_t n_frequent, std::int32_t n_shared,
                       int n_threads)
    : n_frequent_(n_frequent),
      n_shared_(n_shared),
      dense_(!rows.starts),
      narrow_(n_frequent <= 65536),
      heads_(index(rows.n_rows) + 1) {
  with_row_type(rows, [&](const auto& typed_rows) { pack(typed_rows, n_threads); });
}

template <class T>
void PackedRows::pack(const SparseRows<T>& rows, int n_threads) {
  const auto n = index(rows.n_rows);
  rare_starts_.resize(n + 1);
  each_row(rows.n_rows, n_threads, [&](std::int64_t i) {
    const auto row = rows.row(i);
    std::int64_t rare = 0;
    for (std::int64_t e = 0; e < row.size; ++e) rare += row.features[e] >= n_frequent_;
    // An even number of pairs: what fills up are entries of value 0.
    heads_[index(i) + 1].start = (row.size - rare + 3) / 4 * 2;
    rare_starts_[index(i) + 1] = rare;
  });
  for (std::size_t i = 0; i < n; ++i) {
    heads_[i + 1].start += heads_[i].start;
    rare_starts_[i + 1] += rare_starts_[i];
  }
  rare_.resize(index(rare_starts_[n]));
  if (any_rare()) {
    n_shared_of_.resize(n);
    single_.resize(n);
  }
  if (narrow_) {
    pack_pairs(rows, n_threads, narrow_pairs_);
  } else {
    pack_pairs(rows, n_threads, wide_pairs_);
  }
}

template <class T, class Feature>
void PackedRows::pack_pairs(const SparseRows<T>& rows, int n_threads,
                            Buffer<Pair<Feature>>& pairs) {
  pairs = Buffer<Pair<Feature>>(index(heads_.back().start));
  std::atomic<bool> negative{false};
  each_row(rows.n_rows, n_threads, [&](std::int64_t i) {
    const auto row = rows.row(i);
    // Frequent features are written from both ends of the row's pairs, rare ones from both ends of
    // its rare entries.
    auto hot = 2 * index(heads_[index(i)].start);
    auto cold = 2 * index(heads_[index(i) + 1].start);
    Rare* const rare = rare_.data() + rare_starts_[index(i)];
    Rare* const rare_end = rare_.data() + rare_starts_[index(i) + 1];
    Rare* shared = rare;
    Rare* single = rare_end;
    Single together;
    Rounding rounded;
    bool below_zero = false;
    for (std::int64_t e = 0; e < row.size; ++e) {
      const std::int32_t feature = row.features[e];
      below_zero |= row.values[e] < T{0};
      if (feature >= n_frequent_) {
        const auto value = static_cast<double>(row.values[e]);
        *(feature < n_shared_ ? shared++ : --single) = {feature, static_cast<float>(value)};
        if (feature >= n_shared_) {  // the last one stands first
          together.first_sum = fixed_point(value, rows.one, rows.weight(i));
          together.product += value * static_cast<double>(together.first_sum);
        }
        continue;
      }
      // Without a branch, which would be mispredicted too often.
      const bool is_hot = feature < kHot;
      cold -= is_hot ? 0U : 1U;
      const std::size_t at = is_hot ? hot : cold;
      hot += is_hot ? 1U : 0U;
      pairs[at / 2].features[at % 2] = static_cast<Feature>(feature);
      pairs[at / 2].values[at % 2] = rounded(row.values[e]);
    }
    if (below_zero) negative.store(true, std::memory_order_relaxed);
    heads_[index(i)].error = rounded.template error<T>(row.size, rare_end - rare);
    if (!any_rare()) return;
    n_shared_of_[index(i)] = static_cast<std::int32_t>(shared - rare);
    single_[index(i)] = together;
  });
  nonnegative_ = !negative;
}

template <class T>
void PackedRows::pack(const DenseRows<T>& rows, int n_threads) {
  stride_ = rows.n_features + rows.n_features % 2;
  values_ = Buffer<std::int16_t>(index(rows.n_rows * stride_));
  std::atomic<bool> negative{false};
  each_row(rows.n_rows, n_threads, [&](std::int64_t i) {
    const T* values = rows.row(i).values;
    std::int16_t* to = values_.data() + i * stride_;
    Rounding rounded;
    bool below_zero = false;
    for (std::int32_t f = 0; f < rows.n_features; ++f) {
      to[f] = rounded(values[f]);
      below_zero |= values[f] < T{0};
    }
    if (below_zero) negative.store(true, std::memory_order_relaxed);
    heads_[index(i)].error = rounded.template error<T>(rows.n_features, 0);
  });
  nonnegative_ = !negative;
}

}  // namespace arcmeans
