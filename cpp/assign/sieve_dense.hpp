// `sieve` for dense rows: a filter in 16 bits, bounds in 16 bits for every center, whole cache
// lines of centers.
//
// As sieve.hpp, but a row has all features, so that nothing is said of a move by those it has: a
// bound for each center does better there than one for a group. Beside them, for each row and line,
// the largest, with the largest rise of the line's centers: most lines are dismissed by that one
// number, 32 rows at a time.
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
#include "sieve_state.hpp"

namespace arcmeans {

template <class RowsOf>
class DenseSieve {
  using Value = typename RowsOf::Row::Value;
  // Rows go through a line so many at a time, as the registers allow.
  static constexpr int kAtATime = kVectorBytes == 64 ? 8 : kVectorBytes == 32 ? 3 : 1;

 public:
  DenseSieve(const RowsOf& rows, const PackedRows& packed, const Centers& centers,
             const SieveDrift& drift, const SieveState& state, const PassOptions& options,
             Work& work)
      : rows_(rows),
        packed_(packed),
        centers_(centers),
        lines_(centers.lines()),
        drift_(drift),
        state_(state),
        work_(work),
        own_(static_cast<std::size_t>(lines_.count())),
        reaching_(static_cast<std::size_t>(lines_.count())) {
    const auto n = static_cast<std::size_t>(std::min(options.rows_at_a_time(), rows.n_rows));
    lower_.resize(n);
    limit_.resize(n + kLineShorts);
    reach_.resize(n);
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
    for (int line = 0; line < lines_.count(); ++line) scan(line);
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
    }
  }

 private:
  // How many lines hold a bound that reaches a row's lower bound: one, not the own; or the own or
  // more than one; and far more where nothing is known of the row.
  static constexpr std::int32_t kLone = 1;
  static constexpr std::int32_t kSeveral = 2;
  static constexpr std::int32_t kAll = 1 << 30;
  // In place of a label while rows are decided.
  static constexpr std::int32_t kNobody = -1;
  static constexpr std::int32_t kMany = -2;
  // A limit that no bound reaches, and one that any does.
  static constexpr std::int16_t kNever = std::numeric_limits<std::int16_t>::max();
  static constexpr std::int16_t kAlways = std::numeric_limits<std::int16_t>::min();
  static constexpr std::int32_t kLeast = -2 * (kCosineUnits << SieveDrift::kFineBits);

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

  // Finds the rows with a bound in this line that reaches.
  void scan(int line) {
    auto& found = reaching_[at(line)];
    each_reached(line, [&](std::int32_t r) {
      std::int32_t& reach = reach_[at(r)];
      if (reach < kAll) {
        const bool own = label(r) / kLineShorts == line;
        const std::uint32_t others =
            lines_.valid(line) & (own ? ~(1U << (label(r) % kLineShorts)) : ~0U);
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

  void visit_line(int line, const std::vector<std::int32_t>& which) {
    const std::size_t n = which.size();
    work_.lines += static_cast<std::int64_t>(n);
    work_.similarities += static_cast<std::int64_t>(n) * __builtin_popcount(lines_.valid(line));
    rounding_ = lines_.rounding(line);
    std::size_t w = 0;
    for (; w + kAtATime <= n; w += kAtATime) visit_rows<kAtATime>(line, which.data() + w);
    for (; w < n; ++w) visit_rows<1>(line, which.data() + w);
  }

  template <int kRows>
  void visit_rows(int line, const std::int32_t* which) {
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
    const float up = SieveDrift::upwards(error);
    const LineCosines cosines(lines_, line, sums);
    cosines.store(up, drift_.lanes_then(line), uppers(line, r));
    const float best = cosines.largest();
    const auto bound = static_cast<std::int32_t>(best + up);
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
    const double error = 3.0 * reference_error<Value>(exact.size) + 0x1p-24;
    const Choice best = choose(centers_, exact, candidates_, [&](int j, double similarity) {
      // So that near ties need not be decided again before one of the two centers moves.
      const auto upper = static_cast<std::int32_t>(std::ceil((similarity + error) * kCosineUnits));
      const int line = j / kLineShorts, lane = j % kLineShorts;
      uppers(line, r)[lane] = static_cast<std::int16_t>(upper - drift_.lanes_then(line)[lane]);
    });
    raise(r, SieveDrift::lower(static_cast<float>((best.similarity - error) * kCosineUnits)));
    return best.center;
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
  std::vector<int> candidates_;
  float rounding_ = 0.0F;  // of the line in hand
  std::vector<std::int32_t> lone_;
  std::vector<std::vector<std::int32_t>> own_;       // by line: rows of which it is the own line
  std::vector<std::vector<std::int32_t>> reaching_;  // by line: rows with a bound that reaches
};

}  // namespace arcmeans
