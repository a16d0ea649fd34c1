// From the caller's arrays to unit rows. The length of a row is summed in ascending order of its
// features, after scaling by a power of two, so that the container, the ranking and a power of two
// in the data change no bit, and nothing overflows or underflows.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/rows/rows.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

// The bits of |x|, as an unsigned number: they are in the order of |x|, with NaN above all numbers.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
Bits<T> size_bits(T x) {
  return std::bit_cast<Bits<T>>(x) & (~Bits<T>{0} >> 1U);
}

// What a look at compressed sparse rows found. A row is −1 where there is no such row.
struct Inspection {
  bool canonical = true;  // indices ascending, none twice
  bool has_zeros = false;
  std::int64_t bad_index_row = -1;
  std::int64_t not_finite_row = -1;
};

// Whether the entries of consecutive rows have one of the flaws that Inspection tells of. The loops
// have no early end, and flags are as wide as the numbers they look at, so that the compiler makes
// vectors of them.
struct Flaws {
  bool outside, descents, infinite, zeros;

  template <class Index, class T>
  Flaws(const std::int64_t* starts, const Index* indices, const T* values, std::int64_t n_rows,
        std::int64_t n_features) {
    using Unsigned = std::make_unsigned_t<Index>;
    const std::int64_t first = starts[0], end = starts[n_rows];
    const auto most = static_cast<Unsigned>(n_features);
    Unsigned too_large = 0, falls = 0;
    for (std::int64_t e = first; e < end; ++e) {
      too_large |= static_cast<Unsigned>(static_cast<Unsigned>(indices[e]) >= most);
    }
    // A fall between the last index of a row and the first of the next does not count.
    for (std::int64_t e = first + 1; e < end; ++e) {
      falls += static_cast<Unsigned>(indices[e - 1] >= indices[e]);
    }
    for (std::int64_t i = 1; i < n_rows; ++i) {
      const bool between = first < starts[i] && starts[i] < starts[i + 1];
      falls -= static_cast<Unsigned>(between && indices[starts[i] - 1] >= indices[starts[i]]);
    }
    Bits<T> not_finite = 0, nothing = 0;
    for (std::int64_t e = first; e < end; ++e) {
      const Bits<T> bits = size_bits(values[e]);
      not_finite |= static_cast<Bits<T>>(bits >= size_bits(std::numeric_limits<T>::infinity()));
      nothing |= static_cast<Bits<T>>(bits == 0);
    }
    outside = too_large != 0;
    descents = falls != 0;
    infinite = not_finite != 0;
    zeros = nothing != 0;
  }
};

// Reads all entries once; adds the number of rows with each feature to `frequency`.
template <class Index, class T>
Inspection inspect(const std::int64_t* starts, const Index* indices, const T* values,
                   std::int64_t n_rows, std::int64_t n_features, std::int64_t* frequency) {
  // A loop over a short row is over before it pays: many rows are looked at together, and one by
  // one where something is wrong.
  constexpr std::int64_t kRows = 64;
  Inspection found;
  for (std::int64_t begin = 0; begin < n_rows; begin += kRows) {
    const std::int64_t end = std::min(n_rows, begin + kRows);
    const auto flaws_of = [&](std::int64_t i, std::int64_t count) {
      return Flaws(starts + i, indices, values, count, n_features);
    };
    const Flaws flaws = flaws_of(begin, end - begin);
    found.has_zeros |= flaws.zeros;
    found.canonical &= !flaws.descents;
    for (std::int64_t i = begin; i < end && (flaws.outside || flaws.infinite); ++i) {
      const Flaws own = flaws_of(i, 1);
      if (own.infinite && found.not_finite_row < 0) found.not_finite_row = i;
      if (own.outside) {
        found.bad_index_row = i;
        return found;
      }
    }
    for (std::int64_t e = starts[begin]; e < starts[end]; ++e) ++frequency[indices[e]];
  }
  return found;
}

// ⌊log2 x⌋ and 2^exponent for numbers and powers that are not subnormal, without a call.
inline int exponent_of(double x) {
  const auto biased = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52U);
  return biased > 0 ? biased - 1023 : std::ilogb(x);
}
inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

// Writes the unit vector of one row; false, and zeros, where it has no direction.
template <class T>
bool unit_row(const T* values, std::int64_t size, T* unit) {
  Bits<T> most = 0;
  for (std::int64_t e = 0; e < size; ++e) most = std::max(most, size_bits(values[e]));
  const auto largest = static_cast<double>(std::bit_cast<T>(most));
  if (largest == 0.0) {
    for (std::int64_t e = 0; e < size; ++e) unit[e] = T{0};
    return false;
  }
  const int exponent = exponent_of(largest);
  // Two exact steps: 2^−exponent alone may not be a double.
  const double half = power_of_two(-(exponent / 2));
  const double rest = power_of_two(-(exponent - exponent / 2));
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

// Copies the sparse rows `which`; the m-th of them begins at to[m].
template <class T>
void copy_rows(const std::int64_t* starts, const std::int32_t* features, const T* values,
               const std::int64_t* which, std::int64_t n, const std::int64_t* to, int n_threads,
               std::int32_t* to_features, T* to_values) {
  parallel_chunks(n, 4096, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t m = begin; m < end; ++m) {
      const std::int64_t from = starts[which[m]], size = to[m + 1] - to[m];
      for (std::int64_t e = 0; e < size; ++e) to_features[to[m] + e] = features[from + e];
      for (std::int64_t e = 0; e < size; ++e) to_values[to[m] + e] = values[from + e];
    }
  });
}

// A hash of the direction of each of the rows `which`, over the caller's features: the same in any
// container, for any ranking, wherever the row stands.
inline void hash_rows(const Rows& rows, const std::int64_t* which, std::int64_t n, int n_threads,
                      std::uint64_t* hashes) {
  with_row_type(rows, [&](const auto& typed_rows) {
    parallel_chunks(n, 4096, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t m = begin; m < end; ++m) {
        const auto row = typed_rows.row(which[m]);
        std::uint64_t hash = 0x9E3779B97F4A7C15U;
        auto mix = [&hash](std::uint64_t bits) {
          hash = (hash ^ bits) * 0xFF51AFD7ED558CCDU;
          hash ^= hash >> 32U;
        };
        for (std::int64_t e = 0; e < row.size; ++e) {
          const auto value = static_cast<double>(row.values[e]);
          if (value == 0.0) continue;
          const std::int32_t feature = row.feature(e);
          mix(static_cast<std::uint64_t>(rows.by_rank ? rows.by_rank[feature] : feature));
          mix(std::bit_cast<std::uint64_t>(value));
        }
        hashes[m] = hash;
      }
    });
  });
}

}  // namespace arcmeans
