// The scan of the sieve (sieve.hpp): by the bounds of a chunk, which rows are *active*, that is
// have to visit filter lines, and which lines each of them visits. An active row visits
//
// - all lines, if nothing is known of it, or if it is likely to visit most lines;
// - else its own line, the line of its own center, and after it the lines that still reach.
//
// A row without a direction is never active and keeps the label −1.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "core/algorithms/chunk_bounds.hpp"
#include "core/algorithms/row_list.hpp"
#include "core/rows/rows.hpp"

namespace arcmeans {

class LineScan {
 public:
  LineScan(const Rows& rows, const PassAging& aging, const ChunkBounds& bounds,
           std::size_t most_rows, Work& work)
      : rows_(rows),
        aging_(aging),
        bounds_(bounds),
        work_(work),
        groups_(aging.groups()),
        likely_for_all_(likely_for_all(groups_)),
        visits_all_(most_rows),
        line_uppers_(by_line_uppers() ? most_rows * index(groups_.n_lines()) : 0),
        active_(most_rows),
        all_lines_(most_rows) {
    for (int line = 0; line < groups_.n_lines(); ++line) {
      own_.emplace_back(most_rows);
      reaching_.emplace_back(most_rows);
    }
  }

  void set_known(std::int32_t r, bool known) { visits_all_[index(r)] = !known; }

  // Finds the active rows of a chunk: those of which nothing is known, and those with a group that
  // reaches.
  void find_active(std::int64_t begin, std::int32_t count) {
    for (RowList* list : {&active_, &all_lines_}) list->clear();
    for (RowList& list : own_) list.clear();
    for (RowList& list : reaching_) list.clear();
    for (std::int32_t r = 0; r < count; ++r) {
      if (rows_.zero[begin + r]) continue;
      const bool active =
          by_line_uppers() ? list_by_line_uppers(r) : visits_all(r) || bounds_.any_reaches(r);
      work_.skipped_by_bounds += !active;
      active_.add(r, active);
    }
  }
  // Leaves the active rows that still are, after the upper bounds have fallen.
  void drop_settled() {
    const std::size_t before = active_.size();
    active_.keep([&](std::int32_t r) { return visits_all(r) || bounds_.any_reaches(r); });
    work_.skipped_by_bounds += static_cast<std::int64_t>(before - active_.size());
  }
  // Lists the active rows by the lines that they visit.
  void list_lines() {
    if (!by_line_uppers()) {
      for (const std::int32_t r : active_) list_by_groups(r);
    }
    for (const std::int32_t r : active_) {
      if (!visits_all(r)) own_[index(own_line(r))].add(r);
    }
  }

  bool visits_all(std::int32_t r) const { return visits_all_[index(r)]; }
  const RowList& active() const { return active_; }
  const RowList& all_lines() const { return all_lines_; }
  // The rows that visit a line as their own.
  const RowList& own(int line) const { return own_[index(line)]; }
  // The rows that visit a line as another, if it reaches their limits as they are now.
  const RowList& still_reaching(int line) {
    reaching_[index(line)].keep([&](std::int32_t r) {
      return by_line_uppers() ? line_upper(r, line) >= bounds_.limit(r)
                              : bounds_.line_reaches(r, line);
    });
    return reaching_[index(line)];
  }

 private:
  // How many lines beside its own a row has to be likely to visit, so that it visits all: half of
  // them, where that may pay and one block of bounds has the groups of all lines.
  static int likely_for_all(const LineGroups& groups) {
    if (kMostLines == 1 || groups.n_bound_blocks() > 1) return std::numeric_limits<int>::max();
    return std::max(1, (groups.n_lines() - 1) / 2);
  }

  // Where each center has a bound of its own, in several lines, the scan notes the largest upper
  // bound of each line, and `still_reaching` does not read the bounds again. No gain lines change
  // them in between (SieveAlgorithm::by_gains).
  bool by_line_uppers() const { return groups_.group_size() == 1 && groups_.n_lines() > 1; }
  std::int16_t& line_upper(std::int32_t r, int line) {
    return line_uppers_[index(r) * own_.size() + index(line)];
  }
  int own_line(std::int32_t r) const { return bounds_.own_slot(r) / kCacheLineShorts; }

  // Lanes without a center have the lowest bounds of all, so they are never the largest.
  bool list_by_line_uppers(std::int32_t r) {
    std::uint32_t found = 0;
    for (int line = 0; line < groups_.n_lines(); ++line) {
      line_upper(r, line) =
          largest_sum(bounds_.uppers(r) + line * kCacheLineShorts, aging_.rises_to_read(line));
      found |= std::uint32_t{line_upper(r, line) >= bounds_.limit(r)} << line;
    }
    if (visits_all(r)) {
      all_lines_.add(r);
    } else {
      list_row(r, found, 0, 1);
    }
    return visits_all(r) || found != 0;
  }

  void list_by_groups(std::int32_t r) {
    if (visits_all(r)) return all_lines_.add(r);
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) {
      const int first_line = groups_.line(b * kCacheLineShorts);
      const std::uint32_t found = bounds_.lines_reaching(r, b, bounds_.limit(r));
      list_row(r, found, first_line, groups_.per_line());
    }
  }

  // Puts a row onto the lists of the lines that were found to reach, its own left out; or onto the
  // list of the rows that visit all lines. In `found`, the bit of line l is (l − first_line) ·
  // spacing.
  void list_row(std::int32_t r, std::uint32_t found, int first_line, int spacing) {
    const int own = (own_line(r) - first_line) * spacing;
    const std::uint32_t others = found & ~(own >= 0 && own < kCacheLineShorts ? 1U << own : 0U);
    if (std::popcount(others) >= likely_for_all_ &&
        std::popcount(others & likely_lines(r)) >= likely_for_all_) {
      visits_all_[index(r)] = true;
      return all_lines_.add(r);
    }
    for (std::uint32_t left = others; left != 0; left &= left - 1) {
      reaching_[index(first_line + std::countr_zero(left) / spacing)].add(r);
    }
  }

  // The lines that would still reach if the own center had not fallen in the last move: a visit to
  // the own line mostly finds that it has hardly come away from this row.
  std::uint32_t likely_lines(std::int32_t r) {
    return bounds_.lines_reaching(r, 0, bounds_.limit_before_fall(r));
  }

  const Rows& rows_;
  const PassAging& aging_;
  const ChunkBounds& bounds_;
  Work& work_;
  LineGroups groups_;
  int likely_for_all_;
  std::vector<char> visits_all_;           // by row
  std::vector<std::int16_t> line_uppers_;  // [row][line], where by_line_uppers()
  RowList active_, all_lines_;
  std::vector<RowList> own_, reaching_;  // by line
};

}  // namespace arcmeans
