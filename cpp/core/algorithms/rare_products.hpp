// What rare features add to the filter cosines of sparse rows. Filter lines have the frequent
// features; of a rare feature the centers keep a list of (center, sum) (rare_lists.hpp). The visits
// to the filter lines (sparse_visits.hpp) collect the products of a chunk's active rows beforehand,
// and add those of a line to its cosines. What has to stay true: rows are collected, and read, in
// ascending order.
#pragma once

#include <algorithm>
#include <vector>

#include "core/algorithms/row_list.hpp"
#include "core/centers/centers.hpp"
#include "core/layouts/line_cosines.hpp"
#include "core/layouts/packed.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

class RareProducts {
  // Of row r with the center in a lane, in units.
  struct Product {
    std::int32_t r;
    std::int32_t lane;
    float value;
  };

 public:
  RareProducts(const PackedRows& packed, const Centers& centers, const FilterLines& lines)
      : packed_(packed),
        lists_(centers.sums().rare()),
        centers_(centers),
        slots_(lines.slots()),
        products_(index(lines.count())) {
    for (int j = 0; j < centers.size(); ++j) sums_of_rows_ &= !centers.detached(j);
  }

  // Begins a chunk.
  void start(std::int64_t begin) {
    begin_ = begin;
    for (auto& of_line : products_) of_line.clear();
  }

  // Collects the products of these rows.
  void collect(const RowList& rows) {
    if (!packed_.any_rare()) return;
    for (const std::int32_t r : rows) collect(r);
  }

  // The products of one line, from a row on. Adds those of row after row to their cosines.
  struct Reader {
    const Product* next;
    const Product* end;
    __attribute__((always_inline)) void add_to(LineCosines& cosines, std::int32_t r) {
      for (; next != end && next->r <= r; ++next) {
        if (next->r == r) cosines.add(next->lane, next->value);
      }
    }
  };
  Reader reader(int line, std::int32_t first_row) const {
    const auto& of_line = products_[index(line)];
    const Product* const end = of_line.data() + of_line.size();
    return {std::lower_bound(of_line.data(), end, first_row,
                             [](const Product& product, std::int32_t r) { return product.r < r; }),
            end};
  }

 private:
  // Where centers are the sums of their rows, a center has all single features of a row or none:
  // the first stands for all.
  void collect(std::int32_t r) {
    auto listed = packed_.rare(begin_ + r);
    const std::size_t n_shared = packed_.n_shared(begin_ + r);
    if (sums_of_rows_ && n_shared < listed.size()) {
      const auto& single = packed_.single(begin_ + r);
      const int center = lists_.center_with(listed[n_shared].feature, single.first_sum);
      if (center >= 0) {
        add(r, center, single.product);
        listed = listed.first(n_shared);
      }
    }
    for (const auto& rare : listed) {
      lists_.each(rare.feature, [&](int j, std::int64_t sum) {
        add(r, j, static_cast<double>(rare.value) * static_cast<double>(sum));
      });
    }
  }

  void add(std::int32_t r, int j, double product) {
    const auto cosine = static_cast<float>(product * centers_.scale(j) * kCosineUnits);
    const int lane = slots_.of(j) % kCacheLineShorts;
    auto& of_line = products_[index(slots_.of(j) / kCacheLineShorts)];
    // A center that has one rare feature of a row is likely to have the next one.
    if (!of_line.empty() && of_line.back().r == r && of_line.back().lane == lane) {
      of_line.back().value += cosine;
    } else {
      of_line.push_back({r, lane, cosine});
    }
  }

  const PackedRows& packed_;
  const RareLists& lists_;
  const Centers& centers_;
  const Slots& slots_;
  bool sums_of_rows_ = true;  // every center is the sum of its rows
  std::int64_t begin_ = 0;
  std::vector<std::vector<Product>> products_;  // [line], in ascending order of rows
};

}  // namespace arcmeans
