// `sieve`: a filter in 16 bits over whole cache lines of centers, and bounds in 16 bits that groups
// of centers share. Each thread of a pass has one `Sieve` and calls visit() for one chunk of rows
// after another (row_loop.hpp); sieve.cpp has the record.
//
// *Filter.* One visit to a filter line (filter_lines.hpp) gives the cosines of a row to 32 centers,
// each within `error` of the truth. Where the highest cosine of a row stands clear of all others,
// the row is decided; else sim64 decides among the centers that are left (exact_choice.hpp).
//
// *Bounds* (chunk_bounds.hpp). Each row has an upper bound on each group of centers, in units of
// 2⁻¹³. Stored is the bound minus the cumulative rise of the group, so stored bounds need not be
// touched when centers move: the bound now is stored + cumulative rise. The bound of the row's own
// group leaves the own center out. Each row has a lower bound on its own center; stored is the
// bound plus the cumulative fall of the center.
//
// *Scan* (line_scan.hpp). A row whose upper bounds are all below its lower bound keeps its label,
// and costs no more than the scan. Else its own line is visited, which makes the lower bound tight,
// and then the lines with a group whose bound still reaches it. A visit renews all bounds of a
// line. Rows of which nothing is known visit all lines, and so do rows that are likely to visit
// most: several lines at once.
//
// *Gains* (gain_visits.hpp). Rises and falls hold for any row. A sparse row whose bounds fail by
// them visits gain lines first, which tell what this row can have gained or lost.
//
// *Slots* (slots.hpp). Where each center has a bound of its own, the centers that move most stand
// in the same lines, and bounds follow when centers change slots.
//
// *Stored bounds wrap.* 16 bits hold cosines in [−4, 4). After a pass every bound is at least −2
// (the bound of a group that has no center but the own one) and little more than 1, and no center
// moves further than 2 until the next pass. The bounds of a row of which nothing is known are not
// looked at.
//
// What has to stay true: a row is decided only after visits, to all lines or to its own line and
// all that reach. So every bound that changes what it stands for is renewed: in particular that of
// the old own group, which left the old own center out.
//
// Memory: 64 bytes a row up to 1024 centers, and 2 for each 32 beyond; for sparse rows and up to
// 128 centers 64 for each 32. Without row state (Problem::keep_bounds) none: then every pass visits
// all lines.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/algorithms/chunk_bounds.hpp"
#include "core/algorithms/exact_choice.hpp"
#include "core/algorithms/gain_visits.hpp"
#include "core/algorithms/line_scan.hpp"
#include "core/algorithms/row_list.hpp"
#include "core/layouts/line_cosines.hpp"
#include "core/layouts/packed.hpp"
#include "core/moves/bound_aging.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

// `Visits` visits filter lines: SparseVisits or DenseVisits.
template <class Visits>
class Sieve {
 public:
  // `gains` is null where no gain lines tell of the last move.
  Sieve(const Rows& rows, const PackedRows& packed, const Centers& centers,
        const FilterLines& lines, const GroupGains* gains, const PassAging& aging,
        const SieveState& state, const PassOptions& options, Work& work)
      : aging_(aging),
        work_(work),
        groups_(aging.groups()),
        lines_(lines),
        visits_(packed, centers, lines),
        bounds_(aging, lines.slots(), state, most_rows(rows, options)),
        scan_(rows, aging, bounds_, most_rows(rows, options), work),
        exactly_(near_ties(rows, centers), groups_, lines.slots(), bounds_, visits_),
        best_(most_rows(rows, options)) {
    if (gains)
      gain_visits_.emplace(*gains, packed, aging, bounds_, visits_, most_rows(rows, options), work);
  }
  Sieve(const Sieve&) = delete;
  Sieve& operator=(const Sieve&) = delete;

  // Gives the rows of a chunk, of all rows those from `begin` on and before `end`, their labels.
  void visit(std::int64_t begin, std::int64_t end) {
    const auto count = static_cast<std::int32_t>(end - begin);
    begin_ = begin;
    visits_.start(begin);
    bounds_.start(begin, count, [&](std::int32_t r, bool known) {
      scan_.set_known(r, known);
      best_[index(r)] = {};
    });
    scan_.find_active(begin, count);
    if constexpr (!Visits::kDense) {  // dense rows have no gain lines
      if (gain_visits_) {
        gain_visits_->take_excess_back(begin, scan_);
        scan_.drop_settled();
      }
    }
    visits_.prepare(scan_.active());
    if (groups_.n_lines() == 1) {
      visit_all(scan_.active());
    } else {
      scan_.list_lines();
      visit_all(scan_.all_lines());
      for (int l = 0; l < groups_.n_lines(); ++l) visit_line(l, scan_.own(l));
      for (int l = 0; l < groups_.n_lines(); ++l) visit_line(l, scan_.still_reaching(l));
    }
    for (const std::int32_t r : scan_.active()) decide(r);
  }

 private:
  // What the lines visited so far say of a row, in units.
  struct Best {
    float cosine = ChunkBounds::kBelowAll;  // of the best center, from the filter
    float upper = ChunkBounds::kBelowAll;   // bound on the cosine of the best center
    std::int32_t slot = 0;                  // of the best center
    // Bound on the cosines of the other centers of its group.
    std::int16_t group_upper = ChunkBounds::kBelowAll;
    // Whether a second center reaches the lower bound of the row. It is asked while bounds are not
    // yet rounded to whole units: after that, twice as many centers would reach.
    std::int16_t near_tie = 0;
  };

  static std::size_t most_rows(const Rows& rows, const PassOptions& options) {
    return index(std::min(options.rows_at_a_time(), rows.n_rows));
  }

  // Visits all lines from `line` on, as many at a time as one visit takes.
  template <int kLines = kMostLines>
  void visit_all(const RowList& rows, int line = 0) {
    for (; line + kLines <= groups_.n_lines(); line += kLines) visit_line<kLines>(line, rows);
    if constexpr (kLines > 1) visit_all<kLines / 2>(rows, line);
  }

  // Visits a line, or this number of lines, the first of which is `line`.
  template <int kLines = 1>
  void visit_line(int line, const RowList& rows) {
    const auto n = static_cast<std::int64_t>(rows.size());
    work_.lines += n * kLines;
    work_.similarities += n * lines_.used(line, kLines);
    switch (groups_.per_line()) {
      case 1:
        return take_lines<1, kLines>(line, rows);
      case 2:
        return take_lines<2, kLines>(line, rows);
      case 4:
        return take_lines<4, kLines>(line, rows);
      case 8:
        return take_lines<8, kLines>(line, rows);
      case 16:
        return take_lines<16, kLines>(line, rows);
      default:
        return take_lines<kCacheLineShorts, kLines>(line, rows);
    }
  }

  // For lines of `kGroups` groups: takes the cosines of each row into its bounds and its best.
  template <int kGroups, int kLines>
  void take_lines(int line, const RowList& rows) {
    // Each center has a bound of its own. Only then are there so few centers that a line may be
    // narrow.
    constexpr bool kOwnBounds = kGroups == kCacheLineShorts;
    // Held here: they are looked up for every row, and a call would have the sums leave the
    // registers.
    std::int16_t* const uppers = bounds_.uppers(0) + line * kGroups;
    const std::int64_t stride = bounds_.stride();
    const std::int32_t* const rises = aging_.rises_to_store(0) + line * kGroups;
    Best* const bests = best_.data();
    std::int32_t* const lowers = bounds_.lowers();
    std::int16_t* const limits = bounds_.limits();
    visits_.template visit<kLines, kOwnBounds>(
        line, rows, [=](std::int32_t r, const LineCosines(&cosines)[kLines], float error) {
          std::int16_t* const stored = uppers + r * stride;
#pragma GCC unroll 8
          for (int l = 0; l < kLines; ++l) {
            if constexpr (kOwnBounds) {
              cosines[l].store(PassAging::whole_addend(error), rises + l * kGroups,
                               stored + l * kGroups);
            } else {
              store_groups<kGroups>(
                  cosines[l].template largest_by_group<kGroups>() + PassAging::whole_addend(error),
                  rises + l * kGroups, stored + l * kGroups);
            }
          }
          const float cosine = LineCosines::largest(cosines);
          lowers[r] = std::max(lowers[r], PassAging::lower(cosine - error));
          limits[r] = PassAging::limit(lowers[r]);
          const float lower = PassAging::in_units(lowers[r]);
          int n_reaching = 0;
#pragma GCC unroll 8
          for (const LineCosines& of_line : cosines) {
            n_reaching += std::popcount(of_line.at_least(lower - PassAging::float_addend(error)));
          }
          const float upper = cosine + PassAging::float_addend(error);
          Best& best = bests[r];
          const bool wins = cosine > best.cosine;
          const float second_upper = wins ? best.upper : upper;
          best.near_tie |= static_cast<std::int16_t>((n_reaching > 1) | (second_upper >= lower));
          if (!wins) return;
          int lane = 0;  // the first with this cosine: found last
#pragma GCC unroll 8
          for (int l = kLines - 1; l >= 0; --l) {
            const std::uint32_t found = cosines[l].at_least(cosine);
            lane = found != 0 ? l * kCacheLineShorts + std::countr_zero(found) : lane;
          }
          best.cosine = cosine;
          best.upper = upper;
          best.slot = line * kCacheLineShorts + lane;
          if constexpr (!kOwnBounds) {
            LineCosines others = cosines[lane / kCacheLineShorts];
            others.set(lane % kCacheLineShorts, ChunkBounds::kBelowAll);
            const auto largest = others.template largest_by_group<kGroups>();
            best.group_upper =
                static_cast<std::int16_t>(PassAging::upper(largest[lane % kGroups], error));
          }
        });
  }

  // Stores the upper bounds of the groups of a line: in whole units, minus the cumulative rises.
  template <int kGroups>
  __attribute__((always_inline)) static void store_groups(
      typename VectorsOf<kGroups>::Floats uppers, const std::int32_t* rises, std::int16_t* stored) {
    using Vectors = VectorsOf<kGroups>;
    typename Vectors::Ints minus;
    std::memcpy(&minus, rises, sizeof minus);
    const auto shorts = __builtin_convertvector(
        __builtin_convertvector(uppers, typename Vectors::Ints) - minus, typename Vectors::Shorts);
    std::memcpy(stored, &shorts, sizeof shorts);
  }

  // Stores the label of an active row: the best center, or where another center reaches the lower
  // bound the choice of sim64. Each visit may raise the lower bound, so a near tie that one visit
  // found may be none now. The bound of a group leaves the best center out; where sim64 chooses
  // another center, `exactly_` stores the bounds of both groups anew.
  void decide(std::int32_t r) {
    const Best& best = best_[index(r)];
    bounds_.set_upper(r, groups_.of(best.slot), best.group_upper);
    const bool exact = best.near_tie && bounds_.any_reaches(r);
    work_.exact_decisions += exact;
    bounds_.store(r, exact ? exactly_(begin_ + r, r, best.slot) : lines_.slots().center(best.slot));
  }

  const PassAging& aging_;
  Work& work_;
  LineGroups groups_;
  const FilterLines& lines_;
  Visits visits_;
  ChunkBounds bounds_;
  LineScan scan_;
  ExactChoice<Visits> exactly_;
  std::optional<GainVisits<Visits>> gain_visits_;
  std::int64_t begin_ = 0;
  std::vector<Best> best_;  // by row
};

}  // namespace arcmeans
