// `sieve`: a filter in 16 bits over whole cache lines of centers, and bounds in 16 bits that groups
// of centers share.
//
// *Filter.* One visit to a line (filter_lines.hpp) gives the cosines of a row to 32 centers, each
// within `error` of the truth. A row for which one center stands clear of all others is decided;
// for the others sim64 decides among those that are left.
//
// *Bounds.* For each row and group of centers (line_groups.hpp) an upper bound in units of 2⁻¹³,
// stored less the group's cumulative rise: it need not be touched when centers move, and stored +
// risen is the bound now. That of the own group leaves the own center out. For each row a lower
// bound on the own center, stored with the center's cumulative fall.
//
// *Gains*, of sparse rows. Rises and falls are lengths, ‖c′ − c‖ or for rows without negative
// values ‖(c′ − c)⁺‖ and ‖(c′ − c)⁻‖: what a product with any unit vector can have gained or lost.
// A row whose bounds fail by them visits the gain lines (group_gains.hpp), which tell what the
// cosines of this row can have gained and lost in the last move; the difference is taken back.
//
// *Places.* Where each center has a bound of its own, those that move most stand in the same lines
// (places.hpp), and bounds follow when they change places.
//
// A row whose upper bounds all stay below its lower bound keeps its label, and costs no more than
// the scan. Else its own line is visited, which makes the lower bound tight, and then the lines
// with a group whose bound still reaches it. A visit renews all bounds of the line. Rows of which
// nothing is known visit all lines, and so do dense rows that are likely to visit most: several
// lines at once.
//
// *Sums wrap.* A bound now is below 1 + 2 (it was below the lower bound, at most 1, when it was
// last looked at, and no center moves further than 2) and not below −2, inside the 16 bits' [−4,
// 4). The bounds of a row of which nothing is known are not looked at.
//
// Memory: 64 bytes a row up to 1024 centers, and 2 for each 32 beyond; for sparse rows and up to
// 128 centers 64 for each 32. Or none: then every pass visits all lines.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "core/algorithms/chunk_bounds.hpp"
#include "core/algorithms/exact_choice.hpp"
#include "core/algorithms/row_list.hpp"
#include "core/algorithms/row_loop.hpp"
#include "core/layouts/line_cosines.hpp"
#include "core/layouts/packed.hpp"
#include "core/moves/bound_aging.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

template <class Visits>
class Sieve {
 public:
  Sieve(const Rows& rows, std::unique_ptr<NearTies> near_ties, const PackedRows& packed,
        const Centers& centers, const PassAging& aging, const SieveState& state,
        const PassOptions& options, Work& work)
      : rows_(rows),
        packed_(packed),
        centers_(centers),
        aging_(aging),
        work_(work),
        groups_(aging.groups()),
        lines_(centers.watcher<FilterLines>()),
        gains_(centers.find<GroupGains>()),
        places_(lines_.places()),
        visits_(packed, centers),
        bounds_(aging, state, rows_at_once(rows, options)),
        exactly_(std::move(near_ties), centers, groups_),
        enough_(enough(groups_.n_lines())) {
    const std::size_t n = rows_at_once(rows, options);
    for (RowList* list : {&active_, &told_, &reached_, &whole_}) *list = RowList(n);
    for (int line = 0; line < groups_.n_lines(); ++line) {
      own_.emplace_back(n);
      reaching_.emplace_back(n);
    }
    for (int b = 0; b < groups_.n_bound_blocks(); ++b)
      by_losses_.emplace_back(aging.told() ? n : 0);
    visits_all_.resize(n);
    best_.resize(n);
    if (by_tops()) tops_.resize(n * own_.size());
  }

  void visit(std::int64_t begin, std::int64_t end) {
    begin_ = begin;
    count_ = static_cast<std::int32_t>(end - begin);
    visits_.start(begin);
    bounds_.start(begin, count_, [&](std::int32_t r, bool known) {
      visits_all_[at(r)] = !known;
      best_[at(r)] = {kNothing, kNothing, 0, ChunkBounds::kNothing, 0};
    });
    if (by_tops()) {
      scan_lines();
    } else {
      scan();
    }
    if constexpr (!Visits::kDense) {
      if (aging_.told()) take_excess_back();
    }
    visits_.prepare(active_);
    if (groups_.n_lines() > 1) {
      if (!by_tops()) list_lines();
      visit_lines();
    } else {  // nothing to choose from
      visit_all(active_);
    }
    for (const std::int32_t r : active_) decide(r);
  }

 private:
  // From so many lines on a visit to the gain lines comes first.
  static constexpr int kQuiteSome = 2;
  // Up to so many lines a row is put onto their lists without a branch for each.
  static constexpr int kFewLines = 4;
  static constexpr float kNothing = ChunkBounds::kNothing;

  // Of the lines visited so far, in units: the cosine of the best center, an upper bound on it, and
  // its place; a bound on the others of its group; and whether any other reaches the lower bound.
  // That is asked here, while bounds are not rounded to whole units yet: half as many do.
  struct Best {
    float cosine;
    float reach;
    std::int32_t place;
    std::int16_t rest;
    std::int16_t near;
  };

  // From how many lines likely to be visited on, beside the own, a row visits all: never where a
  // visit is to one line, or where lines are more than the bits of a list.
  static int enough(int n_lines) {
    if (!Visits::kAllWhereLikely || n_lines > kCacheLineShorts) return kCacheLineShorts + 1;
    return std::max(1, (n_lines - 1) / 2);
  }

  static std::size_t rows_at_once(const Rows& rows, const PassOptions& options) {
    return index(std::min(options.rows_at_a_time(), rows.n_rows));
  }

  // Rows are named by their place in the chunk.
  static std::size_t at(std::int32_t place) { return index(place); }
  int own_place(std::int32_t r) const { return places_.of(bounds_.label(r)); }
  int own_line(std::int32_t r) const { return own_place(r) / kCacheLineShorts; }

  // Where each center has a bound of its own and there are lines to choose from, the highest bound
  // of each line is noted for when the row's lower bound has risen: the bounds are not looked at
  // again.
  bool by_tops() const { return groups_.group_size() == 1 && groups_.n_lines() > 1; }
  std::int16_t& top(std::int32_t r, int line) { return tops_[at(r) * own_.size() + index(line)]; }

  // Finds the rows of which nothing is known or with a bound that reaches.
  void scan() {
    active_.clear();
    for (std::int32_t r = 0; r < count_; ++r) {
      if (rows_.zero[begin_ + r]) continue;
      add_active(r, visits_all_[at(r)] || bounds_.reaches(r));
    }
  }
  void add_active(std::int32_t r, bool active) {
    work_.skipped_by_bounds += !active;
    active_.add(r, active);
  }

  // The same by the highest bounds of lines, with the lists that `list_lines` makes elsewhere.
  // Lanes without a center hold what an empty lane's cosine gave, which is below all.
  void scan_lines() {
    active_.clear();
    whole_.clear();
    for (std::int32_t r = 0; r < count_; ++r) {
      if (rows_.zero[begin_ + r]) continue;
      std::uint32_t found = 0;
      for (int line = 0; line < groups_.n_lines(); ++line) {
        const std::int16_t highest =
            largest_sum(bounds_.uppers(r) + line * kCacheLineShorts, aging_.rises_to_read(line));
        top(r, line) = highest;
        found |= std::uint32_t{highest >= bounds_.limit(r)} << line;
      }
      if (visits_all_[at(r)]) {
        whole_.add(r);
      } else {
        list_row(r, found, 0, 1);
      }
      add_active(r, visits_all_[at(r)] || found != 0);
    }
  }

  // Puts a row onto the lists of the lines found to reach, but its own; or onto that of the rows
  // that visit all lines, where most of them are likely to. The first bit is for line `first`, and
  // that of the next line stands so many further.
  void list_row(std::int32_t r, std::uint32_t found, int first, int spacing) {
    const int own = (own_line(r) - first) * spacing;
    const std::uint32_t others = found & ~(own >= 0 && own < kCacheLineShorts ? 1U << own : 0U);
    if (std::popcount(others) >= enough_ && std::popcount(others & likely(r)) >= enough_) {
      visits_all_[at(r)] = true;
      return whole_.add(r);
    }
    if (groups_.n_lines() <= kFewLines) {
      for (int line = 0; line < groups_.n_lines(); ++line) {
        reaching_[at(line)].add(r, (others >> line * spacing & 1) != 0);
      }
    } else {
      for (std::uint32_t left = others; left != 0; left &= left - 1) {
        reaching_[at(first + std::countr_zero(left) / spacing)].add(r);
      }
    }
  }

  // The lines that would still reach if the row had lost nothing to its own center in the last
  // move, which is what a visit to its own line mostly tells.
  std::uint32_t likely(std::int32_t r) {
    return bounds_.lines_reaching(0, r, bounds_.limit_before_fall(r));
  }

  // Takes back the part of the last rises and falls that is more than what the gain lines tell for
  // the row.
  void take_excess_back() {
    const GroupGains& gains = *gains_;
    told_.clear();
    for (const std::int32_t r : active_) {
      told_.add(r, !visits_all_[at(r)] && bounds_.count_lines_reaching(r) >= kQuiteSome);
    }
    if (gains.one_line()) {
      each_told(gains.gain_line(0), told_, [&](std::int32_t r, const LineSums& sums) {
        take_losses(r, sums);
        take_gains(0, r, sums);
      });
    } else {
      for (const std::int32_t r : told_) {
        by_losses_[at(groups_.of(own_place(r)) / kCacheLineShorts)].add(r);
      }
      for (int b = 0; b < groups_.n_bound_blocks(); ++b) {
        each_told(gains.loss_line(b), by_losses_[at(b)],
                  [&](std::int32_t r, const LineSums& sums) { take_losses(r, sums); });
        by_losses_[at(b)].clear();
      }
      for (int b = 0; b < groups_.n_bound_blocks(); ++b) {
        reached_.clear();
        for (const std::int32_t r : told_) reached_.add(r, bounds_.reaching(b, r) != 0);
        each_told(gains.gain_line(b), reached_,
                  [&](std::int32_t r, const LineSums& sums) { take_gains(b, r, sums); });
      }
    }
    const std::size_t before = active_.size();
    active_.keep([&](std::int32_t r) { return visits_all_[at(r)] || bounds_.reaches(r); });
    work_.skipped_by_bounds += static_cast<std::int64_t>(before - active_.size());
  }

  template <class Use>
  void each_told(const std::int16_t* lanes, const RowList& which, const Use& use) {
    work_.lines += static_cast<std::int64_t>(which.size());
    if (gains_->signed_rows()) {
      visits_.template each_sum<true>(lanes, which, use);
    } else {
      visits_.template each_sum<false>(lanes, which, use);
    }
  }

  // What is added to the sum of products of a row with a gain line, in units: a thousandth for what
  // rounding hides in each feature, the rounding of the row, and the gains in its rare features.
  template <class Rare>
  float beside(std::int32_t r, const Rare& rare_gain) const {
    float sum = 0.001F + packed_.error(begin_ + r, 0.0F) * gains_->length();
    visits_.each_rare(r, [&](const auto& rare) {
      sum += std::abs(rare.value) * rare_gain(rare.feature) * (1.001F * kCosineUnits);
    });
    return sum;
  }

  void take_gains(int b, std::int32_t r, const LineSums& sums) {
    const GroupGains& gains = *gains_;
    const Floats rest = splat(1.0F + beside(r, [&](std::int32_t f) { return gains.rare_gain(f); }));
    std::int16_t* const uppers = bounds_.uppers(r) + b * kCacheLineShorts;
    std::int16_t gained[kCacheLineShorts];
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      const int lane = v * kVectorFloats;
      const Floats cosines = load_wrapped_sums(uppers + lane, aging_.rises_to_read(b) + lane);
      const Floats stretched =
          multiply_add(larger(cosines, Floats{}), load(aging_.gain_stretches(b) + lane), rest);
      const Floats gain = multiply_add(__builtin_convertvector(sums.lanes[v], Floats),
                                       splat(gains.factor()), stretched);
      const Floats capped = gain < splat(kMostGained) ? gain : splat(kMostGained);
      store_shorts(gained + lane, __builtin_convertvector(capped, Ints));
    }
    take_excess(uppers, aging_.rises_less_slack(b), gained);
  }

  void take_losses(std::int32_t r, const LineSums& sums) {
    const GroupGains& gains = *gains_;
    const int lane = gains.loss_lane(groups_.of(own_place(r)));
    const int number = sums.lanes[lane / kVectorFloats][lane % kVectorFloats];
    const PassAging::LastFall& fall = aging_.last_fall(bounds_.label(r));
    const float rest = beside(r, [&](std::int32_t f) { return gains.rare_loss(f); });
    const float lost = std::min(static_cast<float>(number) * gains.factor() + rest, kMostGained);
    const float fine = lost * PassAging::kFine +
                       fall.stretch * static_cast<float>(std::max(0, bounds_.lower_before(r))) +
                       3.0F;
    bounds_.take_back(r, std::max(0, fall.less_slack - static_cast<std::int32_t>(fine)));
  }

  // Visits what each row needs of the lines.
  void visit_lines() {
    visit_all(whole_);
    for (const std::int32_t r : active_) {
      if (!visits_all_[at(r)]) own_[at(own_line(r))].add(r);
    }
    for (int line = 0; line < groups_.n_lines(); ++line) visit_line(line, own_[at(line)]);
    for (int line = 0; line < groups_.n_lines(); ++line) visit_rest(line);
    for (auto& rows : own_) rows.clear();
    for (auto& rows : reaching_) rows.clear();
  }

  // For each line the rows with a bound that reaches there, but those of which it is the own line.
  void list_lines() {
    whole_.clear();
    for (const std::int32_t r : active_) {
      if (visits_all_[at(r)]) {
        whole_.add(r);
        continue;
      }
      for (int b = 0; b < groups_.n_bound_blocks(); ++b) {
        const int first = groups_.line(b * kCacheLineShorts);
        list_row(r, bounds_.lines_reaching(b, r, bounds_.limit(r)), first, groups_.per_line());
      }
    }
  }

  // Rows with a bound in this line that still reaches.
  void visit_rest(int line) {
    const bool tops = by_tops();
    reaching_[at(line)].keep([&](std::int32_t r) {
      return tops ? top(r, line) >= bounds_.limit(r) : bounds_.line_reaches(line, r);
    });
    visit_line(line, reaching_[at(line)]);
  }

  // Visits all lines from one on, as many at a time as one visit takes.
  template <int kLines = Visits::kMostLines>
  void visit_all(const RowList& which, int line = 0) {
    for (; line + kLines <= groups_.n_lines(); line += kLines) visit_line<kLines>(line, which);
    if constexpr (kLines > 1) visit_all<kLines / 2>(which, line);
  }

  // Visits a line, or some one after another.
  template <int kLines = 1>
  void visit_line(int line, const RowList& which) {
    const auto n = static_cast<std::int64_t>(which.size());
    work_.lines += n * kLines;
    work_.similarities += n * lines_.used(line, kLines);
    switch (groups_.per_line()) {
      case 1:
        return take_lines<1, kLines>(line, which);
      case 2:
        return take_lines<2, kLines>(line, which);
      case 4:
        return take_lines<4, kLines>(line, which);
      case 8:
        return take_lines<8, kLines>(line, which);
      case 16:
        return take_lines<16, kLines>(line, which);
      default:
        return take_lines<kCacheLineShorts, kLines>(line, which);
    }
  }

  // The cosines of lines: new bounds, and perhaps a higher one on the best center.
  template <int kGroups, int kLines>
  void take_lines(int line, const RowList& which) {
    constexpr bool kAlone = kGroups == kCacheLineShorts;
    // Held here: it is looked up for every row, and a call would have the sums leave the registers.
    std::int16_t* const uppers = bounds_.uppers(0) + line * kGroups;
    const std::int64_t stride = bounds_.stride();
    const std::int32_t* const rises = aging_.rises_to_store(0) + line * kGroups;
    Best* const bests = best_.data();
    std::int32_t* const lowers = bounds_.lowers();
    std::int16_t* const limits = bounds_.limits();
    visits_.template visit<kLines, kAlone>(
        line, which, [=](std::int32_t r, const LineCosines(&cosines)[kLines], float error) {
          std::int16_t* const to = uppers + r * stride;
#pragma GCC unroll 8
          for (int l = 0; l < kLines; ++l) {
            if constexpr (kAlone) {
              cosines[l].store(PassAging::whole_addend(error), rises + l * kGroups,
                               to + l * kGroups);
            } else {
              const auto tops = cosines[l].template largest_of<kGroups>();
              store_groups<kGroups>(tops + PassAging::whole_addend(error), rises + l * kGroups,
                                    to + l * kGroups);
            }
          }
          const float top = LineCosines::largest(cosines);
          lowers[r] = std::max(lowers[r], PassAging::lower(top - error));
          limits[r] = PassAging::limit(lowers[r]);
          const float least = PassAging::in_units(lowers[r]);
          int near = 0;
#pragma GCC unroll 8
          for (const LineCosines& its : cosines) {
            near += std::popcount(its.at_least(least - PassAging::float_addend(error)));
          }
          const float reach = top + PassAging::float_addend(error);
          Best& best = bests[r];
          const bool wins = top > best.cosine;
          const float loser = wins ? best.reach : reach;
          best.near |= static_cast<std::int16_t>((near > 1) | (loser >= least));
          if (!wins) return;
          int lane = 0;
#pragma GCC unroll 8
          for (int l = kLines - 1; l >= 0; --l) {
            const std::uint32_t here = cosines[l].at_least(top);
            lane = here != 0 ? l * kCacheLineShorts + std::countr_zero(here) : lane;
          }
          best.cosine = top;
          best.reach = reach;
          best.place = line * kCacheLineShorts + lane;
          if constexpr (!kAlone) {
            LineCosines its = cosines[lane / kCacheLineShorts];
            its.set(lane % kCacheLineShorts, kNothing);
            const auto others = its.template largest_of<kGroups>();
            best.rest = static_cast<std::int16_t>(PassAging::upper(others[lane % kGroups], error));
          }
        });
  }

  // Bounds in whole units, less what is to be taken from them to be stored.
  template <int kGroups>
  __attribute__((always_inline)) static void store_groups(
      typename VectorsOf<kGroups>::Floats bounds, const std::int32_t* less, std::int16_t* to) {
    using Vectors = VectorsOf<kGroups>;
    typename Vectors::Ints taken;
    std::memcpy(&taken, less, sizeof taken);
    const auto stored = __builtin_convertvector(
        __builtin_convertvector(bounds, typename Vectors::Ints) - taken, typename Vectors::Shorts);
    std::memcpy(to, &stored, sizeof stored);
  }

  // The label of a row visited: the one center that reaches the lower bound, or sim64's choice
  // among several. Lower bounds rise from line to line, so those that were near may not be now.
  void decide(std::int32_t r) {
    const Best& best = best_[at(r)];
    bounds_.set_upper(r, groups_.of(best.place), best.rest);
    const bool exact = best.near && bounds_.reaches(r);
    work_.exact_decisions += exact;
    bounds_.keep(r, exact ? exactly_(begin_ + r, r, best.place, bounds_, visits_)
                          : places_.center(best.place));
  }

  // The most that a row's part in a move is told to be: it leaves nothing of any rise.
  static constexpr float kMostGained = 32000.0F;

  const Rows& rows_;
  const PackedRows& packed_;
  const Centers& centers_;
  const PassAging& aging_;
  Work& work_;
  LineGroups groups_;
  const FilterLines& lines_;
  const GroupGains* gains_;
  const Places& places_;
  Visits visits_;
  ChunkBounds bounds_;
  ExactChoice<Visits> exactly_;
  int enough_;
  std::int64_t begin_ = 0;
  std::int32_t count_ = 0;
  std::vector<char> visits_all_;    // by row: it visits all lines
  std::vector<std::int16_t> tops_;  // of each row and line, at the beginning
  std::vector<Best> best_;
  RowList active_, told_, reached_, whole_;
  std::vector<RowList> own_;        // by line: rows of which it is the own line
  std::vector<RowList> reaching_;   // by line: rows with a bound that reaches
  std::vector<RowList> by_losses_;  // by line of bounds: rows of an own group
};

}  // namespace arcmeans
