// `sieve`: a filter in 16 bits, bounds in 16 bits, whole cache lines of centers.
//
// *Filter.* One visit to a line (filter_lines.hpp) gives the cosines of a row to 32 centers, each
// within `error` of the truth. A row for which one center stands clear of all others is decided;
// for the others sim64 decides among those that are left.
//
// *Bounds.* For each row and center an upper bound in units of 2⁻¹³, stored less the center's
// cumulative rise: it need not be touched when the center moves, and stored + risen is the bound
// now. The same for each row and line, with the largest rise of its centers: most lines are
// dismissed by that one number, 32 rows at a time. The bound of the own line leaves the own center
// out. For each row a lower bound on the own center, stored with the center's cumulative fall.
//
// A row whose upper bounds all stay below its lower bound keeps its label, and costs no more than
// the scan. Else its own line is visited, which makes the lower bound tight, and then the lines
// that still hold a bound that reaches it; where only one line does, that one is visited first. A
// visit renews all 32 bounds of the line.
//
// A center's rise is what a product with a unit vector can have gained: ‖c′ − c‖, and for rows
// without negative values ‖(c′ − c)⁺‖, which is about two thirds of it; its fall likewise. Where
// there are many lines a row whose bounds fail in several first visits the line of the rises
// (rises.hpp), and takes back from its bounds what its own part in the last move does not come to.
//
// *Sums wrap.* A bound now is below 1 + 2 (it was below the lower bound, at most 1, when it was
// last looked at, and no center moves further than 2) and not below −2, inside the 16 bits' [−4,
// 4). The bounds on the own center and of all lines of a row of which nothing is known are not
// looked at, and are renewed before they are needed.
//
// Bounds lie by line, then by row, so that a chunk of rows reads and writes them in order.
//
// Memory: 2·k bytes a row, k rounded up to 32, and 2 bytes for each 32; or none: then every pass
// visits all lines.
#pragma once

#include <algorithm>
#include <limits>

#include "../packed.hpp"
#include "row_loop.hpp"
#include "sieve_drift.hpp"

namespace arcmeans {

struct SieveState {
  // Of rows of which nothing is known.
  static constexpr std::int32_t kUnknown = std::numeric_limits<std::int32_t>::min();

  std::int32_t* labels = nullptr;
  std::int32_t* previous = nullptr;  // out: the labels before the pass
  std::int32_t* lower = nullptr;     // on the own center, in 256ths of a unit, plus its fall
  std::int16_t* uppers = nullptr;    // [line][row][lane], in units less the rise; null: not kept
  std::int16_t* tops = nullptr;      // [line][row], likewise
};

template <class RowsOf, class Feature>
class Sieve {
  using Value = typename RowsOf::Row::Value;
  static constexpr bool kDense = RowsOf::Row::dense;
  // Dense rows go through a line so many at a time, as the registers allow.
  static constexpr int kAtATime = !kDense ? 1 : kVectorBytes == 64 ? 8 : kVectorBytes == 32 ? 3 : 1;

 public:
  Sieve(const RowsOf& rows, const PackedRows& packed, const Centers& centers,
        const SieveDrift& drift, const SieveState& state, const PassOptions& options, Work& work)
      : rows_(rows),
        packed_(packed),
        centers_(centers),
        lines_(centers.lines()),
        drift_(drift),
        state_(state),
        work_(work),
        extras_(static_cast<std::size_t>(lines_.count())),
        own_(static_cast<std::size_t>(lines_.count())),
        reaching_(static_cast<std::size_t>(lines_.count())) {
    const auto n = static_cast<std::size_t>(std::min(options.rows_at_a_time(), rows.n_rows));
    lower_.resize(n);
    limit_.resize(n + kLineShorts);
    reach_.resize(n);
    if (drift.told()) {
      most_grown_.resize(n);
      lines_reaching_.resize(n);
      grown_ = Buffer<std::int16_t>(n * kLineShorts);
    }
    if (!state.uppers) {
      const std::size_t lines = n * static_cast<std::size_t>(lines_.count());
      scratch_ = Buffer<std::int16_t>(lines * kLineShorts);
      scratch_tops_ = Buffer<std::int16_t>(lines);
    }
  }

  void visit(std::int64_t begin, std::int64_t end) {
    begin_ = begin;
    count_ = static_cast<std::int32_t>(end - begin);
    recall();
    if (drift_.told()) lower_by_rises();
    for (int line = 0; line < lines_.count(); ++line) scan(line);
    if (packed_.any_rare()) collect_extras();
    for (int line = 0; line < lines_.count(); ++line) visit_lone(line);
    for (std::int32_t r = 0; r < count_; ++r) {
      work_.skipped_by_bounds += reach_[at(r)] == 0 && !rows_.zero[begin_ + r];
      if (reach_[at(r)] >= kSeveral && reach_[at(r)] < kAll) {
        own_[at(label(r) / kLineShorts)].push_back(r);
      }
    }
    for (int line = 0; line < lines_.count(); ++line) visit_line(line, own_[at(line)]);
    for (int line = 0; line < lines_.count(); ++line) visit_rest(line);
    decide();
    for (int line = 0; line < lines_.count(); ++line) {
      own_[at(line)].clear();
      reaching_[at(line)].clear();
      extras_[at(line)].clear();
    }
  }

 private:
  // How many lines hold a bound that reaches a row's lower bound: one, not the own; or the own or
  // more than one; and far more where nothing is known of the row.
  static constexpr std::int32_t kLone = 1;
  static constexpr std::int32_t kSeveral = 2;
  static constexpr std::int32_t kAll = 1 << 30;
  // From so many lines on a visit to the line of the rises comes first.
  static constexpr std::int32_t kQuiteSome = 4;
  // In place of a label while rows are decided.
  static constexpr std::int32_t kNobody = -1;
  static constexpr std::int32_t kMany = -2;
  // A limit that no bound reaches, and one that any does.
  static constexpr std::int16_t kNever = std::numeric_limits<std::int16_t>::max();
  static constexpr std::int16_t kAlways = std::numeric_limits<std::int16_t>::min();
  // The most that a row's part in a move is told to be: it leaves nothing of any rise.
  static constexpr float kMostGrown = 32000.0F;
  static constexpr std::int32_t kLeast = -2 * (kCosineUnits << SieveDrift::kFineBits);

  // What a rare feature adds to the cosine of one row and one lane, in units.
  struct Extra {
    std::int32_t row;
    std::int32_t lane;
    float value;
  };

  // Rows are named by their place in the chunk.
  static std::size_t at(std::int32_t place) { return static_cast<std::size_t>(place); }
  std::int32_t label(std::int32_t r) const { return state_.labels[begin_ + r]; }

  std::int16_t* uppers(int line, std::int32_t r) {
    return state_.uppers ? state_.uppers + (line * rows_.n_rows + begin_ + r) * kLineShorts
                         : scratch_.data() + (std::int64_t{line} * count_ + r) * kLineShorts;
  }
  std::int16_t* tops(int line) {
    return state_.tops ? state_.tops + line * rows_.n_rows + begin_
                       : scratch_tops_.data() + std::int64_t{line} * count_;
  }

  // The lower bounds of the chunk.
  void recall() {
    for (std::int32_t r = 0; r < count_; ++r) {
      const std::int32_t label = state_.labels[begin_ + r];
      const std::int32_t stored = state_.lower ? state_.lower[begin_ + r] : SieveState::kUnknown;
      const bool known = label >= 0 && stored != SieveState::kUnknown;
      const std::int32_t now = drift_.lower_now(stored, std::max(label, 0));
      // No cosine is below −1, so a lower bound that has fallen further says no less at −2.
      lower_[at(r)] = known ? std::max(now, kLeast) : SieveState::kUnknown;
      limit_[at(r)] = known ? SieveDrift::limit(lower_[at(r)]) : kAlways;
      reach_[at(r)] = known ? 0 : kAll;
    }
    for (std::int32_t r = 0; r < count_; ++r) {
      if (!rows_.zero[begin_ + r]) continue;
      limit_[at(r)] = kNever;
      reach_[at(r)] = 0;
    }
    std::fill_n(limit_.begin() + count_, kLineShorts, kNever);
  }
  // Calls use(row) for each row of which the bound of a line reaches the limit.
  template <class Use>
  void each_reached(int line, const Use& use) {
    const std::int16_t* bounds = tops(line);
    std::int16_t last[kLineShorts] = {};
    std::uint32_t found = 0;  // of the 32 rows before `first`
    for (std::int32_t first = 0; first < count_ + kLineShorts; first += kLineShorts) {
      std::uint32_t next = 0;
      if (first < count_) {
        const std::int16_t* from = bounds + first;
        if (count_ - first < kLineShorts) {  // what follows may be another thread's
          std::copy_n(from, count_ - first, last);
          from = last;
        }
        next = sums_reach(from, drift_.line_now(line), limit_.data() + first);
        for (std::uint32_t ahead = next; ahead != 0; ahead &= ahead - 1) {
          __builtin_prefetch(uppers(line, first + __builtin_ctz(ahead)));
        }
      }
      for (; found != 0; found &= found - 1) {
        const std::int32_t r = first - kLineShorts + __builtin_ctz(found);
        if (limit_[at(r)] != kNever) use(r);  // what a row without a direction holds is anything
      }
      found = next;
    }
  }

  // The lanes of a line with a bound that reaches a row's limit.
  std::uint32_t reaching(int line, std::int32_t r) {
    return lines_.valid(line) & sums_reach(uppers(line, r), drift_.lanes_now(line), limit_[at(r)]);
  }

  // The bound of a line for a row, from those of some of its lanes.
  void renew_top(int line, std::int32_t r, std::uint32_t lanes) {
    const int now = largest_sum(uppers(line, r), drift_.lanes_now(line), lanes, -2 * kCosineUnits);
    tops(line)[r] = static_cast<std::int16_t>(now - drift_.line_then(line));
  }

  // Rows for which quite some lines reach visit that of the rises first: what it leaves of the last
  // move's rises is taken back, from the bounds of lines here and from those of lanes in the scan.
  void lower_by_rises() {
    std::fill(most_grown_.begin(), most_grown_.end(), kNever);
    std::fill(lines_reaching_.begin(), lines_reaching_.end(), std::int16_t{0});
    for (int line = 0; line < lines_.count(); ++line) {
      const std::int16_t* bounds = tops(line);
      const std::int16_t now = drift_.line_now(line);
      for (std::int32_t r = 0; r < count_; ++r) {
        const bool reaches = wrapped_sum(bounds[r], now) >= limit_[at(r)];
        lines_reaching_[at(r)] = static_cast<std::int16_t>(lines_reaching_[at(r)] + reaches);
      }
    }
    growing_.clear();
    for (std::int32_t r = 0; r < count_; ++r) {
      if (lines_reaching_[at(r)] < kQuiteSome || reach_[at(r)] == kAll) continue;
      if (!rows_.zero[begin_ + r]) growing_.push_back(r);
    }
    if (growing_.empty()) return;
    work_.lines += static_cast<std::int64_t>(growing_.size());
    each_sum(centers_.rises()->lanes(), growing_,
             [&](std::int32_t r, const LineSums& sums) { take_growth(r, sums); });
    for (int line = 0; line < lines_.count(); ++line) {
      std::int16_t* bounds = tops(line);
      const std::int16_t room = drift_.line_room(line);
      for (std::int32_t r = 0; r < count_; ++r) {
        bounds[r] = static_cast<std::int16_t>(bounds[r] - std::max(0, room - most_grown_[at(r)]));
      }
    }
  }

  // A row's part in the rises of the last move, in units rounded up.
  void take_growth(std::int32_t r, const LineSums& sums) {
    const Rises& rises = *centers_.rises();
    const std::int64_t i = begin_ + r;
    // One unit to round up, and a thousandth for what rounding hides in each feature.
    float beside = 1.001F + packed_.error(i, 0.0F) * rises.length();
    for (auto* rare = packed_.rare_begin(i); rare != packed_.rare_end(i); ++rare) {
      beside += rare->value * rises.rare(rare->feature) * (1.001F * kCosineUnits);
    }
    Floats top = splat(0.0F);
    std::int16_t* grown = growth(r);
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      const Floats growth = multiply_add(__builtin_convertvector(sums.lanes[v], Floats),
                                         splat(rises.factor()), splat(beside));
      const Floats capped = growth < splat(kMostGrown) ? growth : splat(kMostGrown);
      top = larger(top, capped);
      store_shorts(grown + v * kVectorFloats, __builtin_convertvector(capped, Ints));
    }
    most_grown_[at(r)] = static_cast<std::int16_t>(largest(top));
  }

  bool grew(std::int32_t r) const { return !most_grown_.empty() && most_grown_[at(r)] != kNever; }
  std::int16_t* growth(std::int32_t r) { return grown_.data() + std::int64_t{r} * kLineShorts; }

  // Finds the rows with a bound in this line that reaches.
  void scan(int line) {
    auto& found = reaching_[at(line)];
    each_reached(line, [&](std::int32_t r) {
      std::int32_t& reach = reach_[at(r)];
      if (reach < kAll) {
        const bool own = label(r) / kLineShorts == line;
        const std::uint32_t others =
            lines_.valid(line) & (own ? ~(1U << (label(r) % kLineShorts)) : ~0U);
        if (grew(r)) take_excess(uppers(line, r), drift_.rooms(line), growth(r));
        if ((reaching(line, r) & others) == 0) return renew_top(line, r, others);
        reach += own ? kSeveral : kLone;
        if (own) return;
      }
      found.push_back(r);
    });
  }

  // Rows that only this line can take away. Where it does not they are done with; the others are
  // left to their own line.
  void visit_lone(int line) {
    auto& found = reaching_[at(line)];
    lone_.clear();
    std::size_t rest = 0;
    for (const std::int32_t r : found) {
      if (reach_[at(r)] == kLone) {
        lone_.push_back(r);
      } else {
        found[rest++] = r;
      }
    }
    found.resize(rest);
    visit_line(line, lone_);
    for (const std::int32_t r : lone_) {
      if (reaching(line, r) != 0) reach_[at(r)] = kSeveral;
    }
  }

  // Rows with a bound in this line that still reaches.
  void visit_rest(int line) {
    auto& found = reaching_[at(line)];
    std::size_t rest = 0;
    for (const std::int32_t r : found) {
      found[rest] = r;
      rest += reach_[at(r)] >= kAll || reaching(line, r) != 0;
    }
    found.resize(rest);
    visit_line(line, found);
  }

  // What the rare features of the rows that are to be visited add. Their lists lie anywhere: they
  // are asked for some rows ahead, in two steps.
  void collect_extras() {
    constexpr std::size_t kNext = 6;
    const RareLists& lists = centers_.rare();
    active_.clear();
    for (std::int32_t r = 0; r < count_; ++r) {
      if (reach_[at(r)] != 0) active_.push_back(r);
    }
    const std::size_t n = active_.size();
    for (std::size_t a = 0; a < n + 2 * kNext; ++a) {
      if (a < n) {
        const std::int64_t i = begin_ + active_[a];
        for (auto* rare = packed_.rare_begin(i); rare != packed_.rare_end(i); ++rare) {
          lists.prefetch_list(rare->feature);
        }
      }
      if (a >= kNext && a - kNext < n) {
        const std::int64_t i = begin_ + active_[a - kNext];
        for (auto* rare = packed_.rare_begin(i); rare != packed_.rare_end(i); ++rare) {
          lists.prefetch_entries(rare->feature);
        }
      }
      if (a >= 2 * kNext) collect_extras(active_[a - 2 * kNext]);
    }
  }

  void collect_extras(std::int32_t r) {
    const std::int64_t i = begin_ + r;
    for (auto* rare = packed_.rare_begin(i); rare != packed_.rare_end(i); ++rare) {
      const double value = static_cast<double>(rare->value) * kCosineUnits;
      centers_.rare().each(rare->feature, [&](int j, std::int64_t sum) {
        const double scale = centers_.scales()[at(j)];
        extras_[at(j / kLineShorts)].push_back(
            {r, j % kLineShorts, static_cast<float>(value * static_cast<double>(sum) * scale)});
      });
    }
  }

  void visit_line(int line, const std::vector<std::int32_t>& which) {
    const std::size_t n = which.size();
    work_.lines += static_cast<std::int64_t>(n);
    work_.similarities += static_cast<std::int64_t>(n) * __builtin_popcount(lines_.valid(line));
    rounding_ = lines_.rounding(line);
    extra_ = extras_[at(line)].data();
    end_extra_ = extra_ + extras_[at(line)].size();
    if constexpr (kDense) {
      std::size_t w = 0;
      for (; w + kAtATime <= n; w += kAtATime) visit_dense<kAtATime>(line, which.data() + w);
      for (; w < n; ++w) visit_dense<1>(line, which.data() + w);
    } else {
      each_sum(lines_.line(line), which,
               [&](std::int32_t r, const LineSums& sums) { take(line, r, sums); });
    }
  }

  // Calls use(row, sums) for some rows, with the sums of their products with a line.
  template <class Use>
  void each_sum(const std::int16_t* lanes, const std::vector<std::int32_t>& which, const Use& use) {
    const std::size_t n = which.size();
    for (std::size_t w = 0; w < n; ++w) {
      if (w + 6 < n) prefetch_row(which[w + 6]);
      if (w + 2 < n) prefetch(lanes, which[w + 2]);
      LineSums sums;
      for (const auto& pair : packed_.pairs<Feature>(begin_ + which[w])) {
        sums.add(lanes + std::int64_t{pair.features[0]} * kLineShorts,
                 lanes + std::int64_t{pair.features[1]} * kLineShorts, splat_pair(pair.weights));
      }
      use(which[w], sums);
    }
  }

  // A row that will be visited: its entries.
  __attribute__((always_inline)) void prefetch_row(std::int32_t r) const {
    const auto pairs = packed_.pairs<Feature>(begin_ + r);
    const auto* first = reinterpret_cast<const char*>(pairs.begin());
    const auto* last = reinterpret_cast<const char*>(pairs.end());
    for (; first < last; first += 64) __builtin_prefetch(first);
  }

  // The row after next: its last entries, which are the ones not in the cache. Inlined by force:
  // GCC takes a function that only prefetches for one without effect and drops the call.
  __attribute__((always_inline)) void prefetch(const std::int16_t* lanes, std::int32_t r) const {
    const auto pairs = packed_.pairs<Feature>(begin_ + r);
    const auto count = std::min<std::ptrdiff_t>(6, pairs.end() - pairs.begin());
    for (auto* pair = pairs.end() - count; pair != pairs.end(); ++pair) {
      __builtin_prefetch(lanes + std::int64_t{pair->features[0]} * kLineShorts);
      __builtin_prefetch(lanes + std::int64_t{pair->features[1]} * kLineShorts);
    }
  }

  template <int kRows>
  void visit_dense(int line, const std::int32_t* which) {
    LineSums sums[kRows];
    const std::int16_t* values[kRows];
    for (int r = 0; r < kRows; ++r) values[r] = packed_.values(begin_ + which[r]);
    const std::int16_t* lanes = lines_.line(line);
    for (std::int64_t f = 0; f < packed_.stride(); f += 2, lanes += 2 * kLineShorts) {
      Shorts centers[LineSums::kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < LineSums::kVectors; ++v) centers[v] = load(lanes + v * 2 * kVectorFloats);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const Shorts weights = splat_pair(values[r] + f);
#pragma GCC unroll 8
        for (int v = 0; v < LineSums::kVectors; ++v) {
          sums[r].lanes[v] = add_pair_products(sums[r].lanes[v], centers[v], weights);
        }
      }
    }
    for (int r = 0; r < kRows; ++r) take(line, which[r], sums[r]);
  }

  // The cosines of a line: new bounds, and perhaps a higher one on the best center.
  void take(int line, std::int32_t r, const LineSums& sums) {
    const float error = packed_.error(begin_ + r, rounding_);
    const Floats up = splat(error + (1.0F + 0x1p-8F));
    Floats cosines[LineSums::kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      const int lane = v * kVectorFloats;
      cosines[v] =
          multiply_add(__builtin_convertvector(sums.lanes[v], Floats),
                       load(lines_.factors(line) + lane), load(lines_.offsets(line) + lane));
    }
    while (extra_ != end_extra_ && extra_->row < r) ++extra_;
    for (; extra_ != end_extra_ && extra_->row == r; ++extra_) {
#pragma GCC unroll 8
      for (int v = 0; v < LineSums::kVectors; ++v) {
        const Ints here = first_lanes() + v * kVectorFloats == extra_->lane;
        cosines[v] += here ? splat(extra_->value) : Floats{};
      }
    }
    Floats top = cosines[0];
    std::int16_t* upper = uppers(line, r);
    const std::int32_t* then = drift_.lanes_then(line);
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      top = larger(top, cosines[v]);
      // Towards zero is up where it is negative.
      const Ints bounds = __builtin_convertvector(cosines[v] + up, Ints);
      store_shorts(upper + v * kVectorFloats, bounds - load_ints(then + v * kVectorFloats));
    }
    const float best = largest(top);
    const auto bound = static_cast<std::int32_t>(best + up[0]);
    tops(line)[r] = static_cast<std::int16_t>(bound - drift_.line_then(line));
    raise(r, SieveDrift::lower(best - error));
  }

  void raise(std::int32_t r, std::int32_t lower) {
    lower_[at(r)] = std::max(lower_[at(r)], lower);
    limit_[at(r)] = SieveDrift::limit(lower_[at(r)]);
  }

  // The labels of the rows visited: the one center that reaches the lower bound, or sim64's choice
  // among several.
  void decide() {
    bool any = false;
    for (std::int32_t r = 0; r < count_; ++r) {
      if (reach_[at(r)] < kSeveral) limit_[at(r)] = kNever;
      any |= reach_[at(r)] >= kSeveral;
      reach_[at(r)] = kNobody;
    }
    if (!any) return;
    for (int line = 0; line < lines_.count(); ++line) {
      each_reached(line, [&](std::int32_t r) {
        const std::uint32_t lanes = reaching(line, r);
        if (lanes == 0) return;
        std::int32_t& winner = reach_[at(r)];
        const bool one = winner == kNobody && (lanes & (lanes - 1)) == 0;
        winner = one ? line * kLineShorts + __builtin_ctz(lanes) : kMany;
      });
    }
    for (std::int32_t r = 0; r < count_; ++r) {
      const std::int32_t winner = reach_[at(r)];
      if (winner != kNobody) settle(r, winner == kMany ? decide_exactly(r) : winner);
    }
  }

  void settle(std::int32_t r, std::int32_t label) {
    state_.labels[begin_ + r] = label;
    if (!state_.lower) return;
    state_.lower[begin_ + r] = drift_.lower_then(lower_[at(r)], label);
    const int line = label / kLineShorts;
    renew_top(line, r, lines_.valid(line) & ~(1U << (label % kLineShorts)));
  }

  std::int32_t decide_exactly(std::int32_t r) {
    ++work_.exact_decisions;
    candidates_.clear();
    for (int line = 0; line < lines_.count(); ++line) {
      if (wrapped_sum(tops(line)[r], drift_.line_now(line)) < limit_[at(r)]) continue;
      for (std::uint32_t lanes = reaching(line, r); lanes != 0; lanes &= lanes - 1) {
        candidates_.push_back(line * kLineShorts + __builtin_ctz(lanes));
      }
    }
    const auto exact = rows_.row(begin_ + r);
    double best = -std::numeric_limits<double>::infinity();
    std::int32_t label = -1;
    const double error = 3.0 * reference_error<Value>(exact.size) + 0x1p-24;
    const auto consider = [&](int j, double similarity) {
      // So that near ties need not be decided again before one of the two centers moves.
      const auto upper = static_cast<std::int32_t>(std::ceil((similarity + error) * kCosineUnits));
      const int line = j / kLineShorts, lane = j % kLineShorts;
      uppers(line, r)[lane] = static_cast<std::int16_t>(upper - drift_.lanes_then(line)[lane]);
      if (similarity > best) {  // the tie rule: the smallest j keeps an equal similarity
        best = similarity;
        label = j;
      }
    };
    std::size_t c = 0;
    for (; c + 2 <= candidates_.size(); c += 2) {
      double two[2];
      centers_.template similarities<2>(exact, candidates_.data() + c, two);
      consider(candidates_[c], two[0]);
      consider(candidates_[c + 1], two[1]);
    }
    if (c < candidates_.size())
      consider(candidates_[c], centers_.similarity(exact, candidates_[c]));
    raise(r, SieveDrift::lower(static_cast<float>((best - error) * kCosineUnits)));
    return label;
  }

  const RowsOf& rows_;
  const PackedRows& packed_;
  const Centers& centers_;
  const FilterLines& lines_;
  const SieveDrift& drift_;
  const SieveState& state_;
  Work& work_;
  std::int64_t begin_ = 0;
  std::int32_t count_ = 0;
  std::vector<std::int32_t> lower_;  // of each row on its best center, in 256ths of a unit
  std::vector<std::int16_t> limit_;  // the least upper bound that reaches it, in units
  std::vector<std::int32_t> reach_;  // kLone, kSeveral, kAll; at the end the label
  Buffer<std::int16_t> scratch_;
  Buffer<std::int16_t> scratch_tops_;
  std::vector<std::int16_t> lines_reaching_;
  std::vector<std::int32_t> growing_;     // rows that visit the line of the rises
  std::vector<std::int16_t> most_grown_;  // the most of what they find there, in units
  Buffer<std::int16_t> grown_;            // lane by lane
  std::vector<std::int32_t> active_;
  std::vector<int> candidates_;
  std::vector<std::vector<Extra>> extras_;  // by line, in the order of the rows
  float rounding_ = 0.0F;                   // of the line in hand
  const Extra* extra_ = nullptr;            // those of the line in hand still to come
  const Extra* end_extra_ = nullptr;
  std::vector<std::int32_t> lone_;
  std::vector<std::vector<std::int32_t>> own_;       // by line: rows of which it is the own line
  std::vector<std::vector<std::int32_t>> reaching_;  // by line: rows with a bound that reaches
};

}  // namespace arcmeans
