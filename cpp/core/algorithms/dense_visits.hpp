// Visits of dense rows to filter lines, a chunk of rows at a time, for the sieve (sieve.hpp).
#pragma once

#include <algorithm>

#include "core/algorithms/row_list.hpp"
#include "core/centers/centers.hpp"
#include "core/layouts/line_cosines.hpp"
#include "core/layouts/packed.hpp"
#include "core/support/prefetch.hpp"

namespace arcmeans {

class DenseVisits {
 public:
  static constexpr bool kDense = true;

  DenseVisits(const PackedRows& packed, const Centers&, const FilterLines& lines)
      : packed_(packed), lines_(lines) {}

  // Begins a chunk.
  void start(std::int64_t begin) { begin_ = begin; }

  void prepare(const RowList&) {}

  // Calls use(r, cosines, error) for these rows, in ascending order, with their cosines to kLines
  // filter lines from `line` on. Lines for dense rows are never narrow.
  template <int kLines, bool /*kAnyWidth*/, class Use>
  void visit(int line, const RowList& rows, const Use& use) {
    const float center_error = lines_.center_error(line, kLines);
    for (std::size_t first = 0; first < rows.size(); first += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, rows.size() - first);
      const std::size_t next = std::min(first + 2 * kAtOnce, rows.size());
      for (std::size_t n = first + kAtOnce; n < next; ++n) prefetch(rows[n]);
      Sums sums[kLines];
      for (int l = 0; l < kLines; ++l) {
        add_up(lines_.line(line + l), rows.begin() + first, count, sums[l]);
      }
      for (std::size_t n = 0; n < count; ++n) {
        const std::int32_t r = rows[first + n];
        LineCosines cosines[kLines];
#pragma GCC unroll 8
        for (int l = 0; l < kLines; ++l) {
          cosines[l] = LineCosines(lines_, line + l, sums[l].of_row[n]);
        }
        use(r, cosines, packed_.error(begin_ + r, center_error));
      }
    }
  }

 private:
  // So many rows go through a line at once: as the registers allow.
  static constexpr std::size_t kAtOnce = kVectorBytes == 64 ? 8 : kVectorBytes == 32 ? 3 : 1;

  union Sums {
    Sums() {}  // left as it comes: all of it is written
    LineSums of_row[kAtOnce];
  };

  __attribute__((always_inline)) void prefetch(std::int32_t r) const {
    packed_.prefetch_head(begin_ + r);
    const auto* values = reinterpret_cast<const char*>(packed_.values(begin_ + r));
    const std::int64_t bytes = packed_.stride() * 2;
    for (std::int64_t at = 0; at < bytes; at += 64) prefetch_near(values + at);
    prefetch_near(values + bytes - 1);
  }

  // Adds up the products of `count` rows with a line. Of fewer than kAtOnce rows the last one is
  // taken again.
  void add_up(const std::int16_t* lanes, const std::int32_t* rows, std::size_t count,
              Sums& to) const {
    const std::int16_t* values[kAtOnce];
    for (std::size_t n = 0; n < kAtOnce; ++n) {
      values[n] = packed_.values(begin_ + rows[std::min(n, count - 1)]);
    }
    Ints sums[kAtOnce][LineSums::kVectors];
#pragma GCC unroll 8
    for (auto& row : sums) {
#pragma GCC unroll 8
      for (Ints& vector : row) vector = Ints{};
    }
    for (std::int64_t f = 0; f < packed_.stride(); f += 2, lanes += 2 * kCacheLineShorts) {
      Shorts centers[LineSums::kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < LineSums::kVectors; ++v) centers[v] = load(lanes + v * 2 * kVectorFloats);
#pragma GCC unroll 8
      for (std::size_t n = 0; n < kAtOnce; ++n) {
        const Shorts weights = splat_pair(values[n] + f);
#pragma GCC unroll 8
        for (int v = 0; v < LineSums::kVectors; ++v) {
          sums[n][v] = add_pair_products(sums[n][v], centers[v], weights);
        }
      }
    }
#pragma GCC unroll 8
    for (std::size_t n = 0; n < kAtOnce; ++n) {
#pragma GCC unroll 8
      for (int v = 0; v < LineSums::kVectors; ++v) to.of_row[n].lanes[v] = sums[n][v];
    }
  }

  const PackedRows& packed_;
  const FilterLines& lines_;
  std::int64_t begin_ = 0;
};

}  // namespace arcmeans
