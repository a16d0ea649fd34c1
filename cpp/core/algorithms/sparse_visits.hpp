// Visits of sparse rows to filter lines and gain lines, a chunk of rows at a time, for the sieve
// (sieve.hpp). A visit is one walk over the entries of a packed row.
#pragma once

#include <algorithm>

#include "core/algorithms/rare_products.hpp"
#include "core/support/prefetch.hpp"

namespace arcmeans {

template <class Feature>
class SparseVisits {
 public:
  static constexpr bool kDense = false;

  SparseVisits(const PackedRows& packed, const Centers& centers, const FilterLines& lines)
      : packed_(packed), lines_(lines), rare_products_(packed, centers, lines) {}

  // Begins a chunk.
  void start(std::int64_t begin) {
    begin_ = begin;
    rare_products_.start(begin);
  }
  // Has to know all rows of the chunk that will visit filter lines.
  void prepare(const RowList& rows) { rare_products_.collect(rows); }

  // Calls use(r, cosines, error) for these rows, in ascending order, with their cosines to kLines
  // filter lines from `line` on. With kAnyWidth the line may be narrow, which only that of few
  // clusters is.
  template <int kLines, bool kAnyWidth, class Use>
  void visit(int line, const RowList& rows, const Use& use) {
    if (rows.empty()) return;
    const float center_error = lines_.center_error(line, kLines);
    RareProducts::Reader products[kLines];
    for (int l = 0; l < kLines; ++l) products[l] = rare_products_.reader(line + l, rows[0]);
    const auto take = [&](std::int32_t r, const auto& sums) {
      LineCosines cosines[kLines];
#pragma GCC unroll 8
      for (int l = 0; l < kLines; ++l) {
        cosines[l] = LineCosines(lines_, line + l, sums.line(l));
        products[l].add_to(cosines[l], r);
      }
      use(r, cosines, packed_.error(begin_ + r, center_error));
    };
    const auto add_up = [&](const auto& zero) {
      each_sum<false>(lines_.line(line), rows, zero, take);
    };
    if constexpr (kLines > 1) {
      add_up(SumsOfLines<kLines>{lines_.line(line + 1) - lines_.line(line)});
    } else if constexpr (kAnyWidth) {
      with_sums(lines_.width(), add_up);
    } else {
      add_up(LineSums());
    }
  }

  // Calls use(r, sums) for these rows, with the sums of the products of the row, or with kAbsolute
  // of |row|, with the numbers of a gain line.
  template <bool kAbsolute, class Use>
  void each_sum(const std::int16_t* line, const RowList& rows, const Use& use) {
    each_sum<kAbsolute>(line, rows, LineSums(), use);
  }

 private:
  // Memory is asked for in two steps, so many rows ahead: a row, then the numbers of its features.
  static constexpr std::size_t kRowsAhead = 6;
  static constexpr std::size_t kFeaturesAhead = 2;

  // The same with sums of type `Sums`; `zero` is one of them.
  template <bool kAbsolute, class Sums, class Use>
  void each_sum(const std::int16_t* line, const RowList& rows, const Sums& zero, const Use& use) {
    const std::size_t n = rows.size();
    for (std::size_t at = 0; at < n; ++at) {
      if (at + kRowsAhead < n) prefetch_row(rows[at + kRowsAhead]);
      if (at + kFeaturesAhead < n) prefetch_features(line, rows[at + kFeaturesAhead], zero);
      const auto pairs = packed_.pairs<Feature>(begin_ + rows[at]);
      Sums sums = zero;
      if constexpr (Sums::kFitsTwice) {  // two chains, so that one need not wait for the other
        Sums others = zero;
        for (auto pair = pairs.begin(); pair != pairs.end(); pair += 2) {
          add<kAbsolute>(line, pair[0], sums);
          add<kAbsolute>(line, pair[1], others);
        }
        sums.add(others);
      } else {
        for (auto& pair : pairs) add<kAbsolute>(line, pair, sums);
      }
      use(rows[at], sums);
    }
  }

  template <bool kAbsolute, class Sums>
  __attribute__((always_inline)) static void add(const std::int16_t* line,
                                                 const PackedRows::Pair<Feature>& pair,
                                                 Sums& sums) {
    const auto values = splat_pair<typename Sums::Pairs>(pair.values);
    sums.add(line + std::int64_t{pair.features[0]} * Sums::kWidth,
             line + std::int64_t{pair.features[1]} * Sums::kWidth,
             kAbsolute ? (values < 0 ? -values : values) : values);
  }

  __attribute__((always_inline)) void prefetch_row(std::int32_t r) const {
    const auto pairs = packed_.pairs<Feature>(begin_ + r);
    const auto* first = reinterpret_cast<const char*>(pairs.data());
    const auto* last = reinterpret_cast<const char*>(pairs.data() + pairs.size());
    for (; first < last; first += 64) prefetch_near(first);
  }

  // Of the last entries of a row: their features are the least frequent and not in the cache.
  template <class Sums>
  __attribute__((always_inline)) void prefetch_features(const std::int16_t* line, std::int32_t r,
                                                        const Sums& sums) const {
    const auto pairs = packed_.pairs<Feature>(begin_ + r);
    for (const auto& pair : pairs.last(std::min<std::size_t>(12, pairs.size()))) {
      sums.prefetch(line + std::int64_t{pair.features[0]} * Sums::kWidth);
      sums.prefetch(line + std::int64_t{pair.features[1]} * Sums::kWidth);
    }
  }

  const PackedRows& packed_;
  const FilterLines& lines_;
  RareProducts rare_products_;
  std::int64_t begin_ = 0;
};

}  // namespace arcmeans
