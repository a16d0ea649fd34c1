// From the caller's arrays to unit rows. The length of a row is summed in ascending order of its
// features, after scaling by a power of two, so that the container, the ranking and a power of two
// in the data change no bit, and nothing overflows or underflows.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "parallel.hpp"
#include "rows.hpp"

namespace arcmeans {

// What a look at compressed sparse rows found. Rows are −1 where all is well.
struct Inspection {
  bool canonical = true;  // indices ascending, none twice
  bool has_zeros = false;
  std::int64_t bad_index_row = -1;
  std::int64_t not_finite_row = -1;
};

// Reads all entries once; adds the number of rows with each feature to `frequency`.
template <class Index, class T>
Inspection inspect(const std::int64_t* starts, const Index* indices, const T* values,
                   std::int64_t n_rows, std::int64_t n_features, std::int64_t* frequency) {
  Inspection found;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    std::int64_t before = -1;
    for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
      const auto feature = static_cast<std::int64_t>(indices[e]);
      if (feature < 0 || feature >= n_features) {
        found.bad_index_row = i;
        return found;
      }
      if (!std::isfinite(values[e]) && found.not_finite_row < 0) found.not_finite_row = i;
      if (values[e] == T{0}) found.has_zeros = true;
      if (feature <= before) found.canonical = false;
      before = feature;
      ++frequency[feature];
    }
  }
  return found;
}

// Writes the unit vector of one row; false, and zeros, where it has no direction.
template <class T>
bool unit_row(const T* values, std::int64_t size, T* unit) {
  double largest = 0.0;
  for (std::int64_t e = 0; e < size; ++e) {
    largest = std::fmax(largest, std::fabs(static_cast<double>(values[e])));
  }
  if (largest == 0.0) {
    for (std::int64_t e = 0; e < size; ++e) unit[e] = T{0};
    return false;
  }
  // Two exact steps: 2^−exponent alone may not be a double.
  const int exponent = std::ilogb(largest);
  const double half = std::ldexp(1.0, -(exponent / 2));
  const double rest = std::ldexp(1.0, -(exponent - exponent / 2));
  double squares = 0.0;
  for (std::int64_t e = 0; e < size; ++e) {
    const double value = static_cast<double>(values[e]) * half * rest;
    squares += value * value;
  }
  const double length = std::sqrt(squares);
  for (std::int64_t e = 0; e < size; ++e) {
    unit[e] = static_cast<T>(static_cast<double>(values[e]) * half * rest / length);
  }
  return true;
}

// Unit rows of canonical sparse rows; features become ranks. In place where the arrays are shared.
template <class Index, class T>
void unit_sparse(const std::int64_t* starts, const Index* indices, const T* values,
                 const std::int32_t* rank, std::int64_t n_rows, int n_threads,
                 std::int32_t* features, T* unit, std::uint8_t* zero) {
  parallel_chunks(n_rows, 4096, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = starts[i];
      const std::int64_t size = starts[i + 1] - first;
      zero[i] = !unit_row(values + first, size, unit + first);
      for (std::int64_t e = first; e < first + size; ++e) features[e] = rank[indices[e]];
    }
  });
}

// Unit rows of dense rows; returns the first row that is not finite, or −1.
template <class T>
std::int64_t unit_dense(const T* values, std::int64_t n_rows, std::int64_t n_features,
                        int n_threads, T* unit, std::uint8_t* zero) {
  std::atomic<std::int64_t> not_finite{n_rows};
  parallel_chunks(n_rows, 1024, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* row = values + i * n_features;
      bool finite = true;
      for (std::int64_t f = 0; f < n_features; ++f) finite = finite && std::isfinite(row[f]);
      if (finite) {
        zero[i] = !unit_row(row, n_features, unit + i * n_features);
      } else {
        std::int64_t first = not_finite;
        while (i < first && !not_finite.compare_exchange_weak(first, i)) {
        }
      }
    }
  });
  return not_finite == n_rows ? -1 : not_finite.load();
}

// A hash of the direction of each row asked for, by the caller's features: the same in any
// container, at any place, for any ranking.
inline void hash_rows(const Rows& rows, const std::int64_t* which, std::int64_t n, int n_threads,
                      std::uint64_t* hashes) {
  visit(rows, [&](const auto& typed) {
    parallel_chunks(n, 4096, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t m = begin; m < end; ++m) {
        const auto row = typed.row(which[m]);
        std::uint64_t hash = 0x9E3779B97F4A7C15U;
        auto mix = [&hash](std::uint64_t bits) {
          hash = (hash ^ bits) * 0xFF51AFD7ED558CCDU;
          hash ^= hash >> 32U;
        };
        for (std::int64_t e = 0; e < row.size; ++e) {
          const auto value = static_cast<double>(row.values[e]);
          if (value == 0.0) continue;
          const std::int32_t feature = row.feature(e);
          std::uint64_t bits = 0;
          std::memcpy(&bits, &value, sizeof bits);
          mix(static_cast<std::uint64_t>(rows.by_rank ? rows.by_rank[feature] : feature));
          mix(bits);
        }
        hashes[m] = hash;
      }
    });
  });
}

}  // namespace arcmeans
