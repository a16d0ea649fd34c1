// `sieve`: a filter in 16 bits, bounds in 16 bits, whole cache lines of centers.
//
// *Filter.* One visit to a line (filter_lines.hpp) gives the cosines of a row to 32 centers, each
// within `error` of the truth. A row for which one center stands clear of all others is decided;
// for the others sim64 decides among those that are left.
//
// *Bounds.* For each row and center an upper bound in units of 2⁻¹³, stored less the center's
// cumulative rise: it need not be touched when the center moves, and stored + risen is the bound
// now. The same for each row and line, with the largest rise of its centers: most lines are
// dismissed by that one number. For each row a lower bound on the own center. A row whose upper
// bounds all stay below it keeps its label. Else its own line is visited, which makes the lower
// bound tight, and then the lines that still hold a bound that reaches it; where only one line
// does, that one is visited first. A visit renews all 32 bounds of the line.
//
// A center's rise is what a product with a unit vector can have gained: ‖c′ − c‖, and for rows
// without negative values ‖(c′ − c)⁺‖, which is about two thirds of it.
//
// *Sums wrap.* A bound now is below 1 + 2 (it was below the lower bound, at most 1, when it was
// last looked at, and no center moves further than 2) and not below −2, inside the 16 bits' [−4,
// 4). The bounds on the own center and of the own line are not looked at, and are renewed before
// they are needed.
//
// Memory: 2·k bytes a row, k rounded up to 32, and 2 bytes for each 32; or none: then every pass
// visits all lines.
#pragma once

#include <limits>
#include <memory>

#include "../packed.hpp"
#include "row_loop.hpp"

namespace arcmeans {

struct SieveState {
  std::int32_t* labels = nullptr;
  std::int32_t* previous = nullptr;  // out: the labels before the pass
  float* lower = nullptr;            // on the own center, in units; −∞: nothing is known
  std::int16_t* uppers = nullptr;    // [row][lane], in units less the rise; null: not kept
  std::int16_t* tops = nullptr;      // [row][line]
};

// What centers have risen by since the bounds were begun; and the lines, by the largest rise of
// their centers in each move.
struct SieveRises {
  std::vector<double> centers, lines;

  explicit SieveRises(int n_centers)
      : centers(static_cast<std::size_t>(n_centers)),
        lines(static_cast<std::size_t>((n_centers + kLineShorts - 1) / kLineShorts)) {}

  // After a move, before a pass.
  void add(const Centers& moved, bool nonnegative) {
    std::vector<double> largest(lines.size());
    for (std::size_t j = 0; j < centers.size(); ++j) {
      const double rise = moved.rise(static_cast<int>(j), nonnegative);
      centers[j] += rise;
      largest[j / kLineShorts] = std::max(largest[j / kLineShorts], rise);
    }
    for (std::size_t line = 0; line < lines.size(); ++line) lines[line] += largest[line];
  }
};

// The centers' movements in the units of the bounds, once a pass.
class SieveDrift {
 public:
  static constexpr float kUnit = 8192.0F;

  SieveDrift(const Centers& centers, const SieveRises& rises, bool nonnegative)
      : lanes_(static_cast<std::size_t>(centers.lines().count()) * kLineShorts),
        lines_(static_cast<std::size_t>(centers.lines().count()) + kLineShorts),
        fallen_(lanes_.now.size()) {
    for (int j = 0; j < centers.size(); ++j) {
      lanes_.set(j, rises.centers[static_cast<std::size_t>(j)]);
      const double fallen = centers.fall(j, nonnegative) * static_cast<double>(kUnit);
      fallen_[static_cast<std::size_t>(j)] =
          fallen > 0.0 ? static_cast<float>(fallen * (1.0 + 0x1p-22)) + 0x1p-8F : 0.0F;
    }
    for (int line = 0; line < centers.lines().count(); ++line) {
      lines_.set(line, rises.lines[static_cast<std::size_t>(line)]);
    }
  }

  // What is to be added to stored bounds, of the lanes of a line and of lines from one on.
  const std::int16_t* lanes_now(int line) const { return lanes_.now.data() + line * kLineShorts; }
  const std::int16_t* lines_now(int line) const { return lines_.now.data() + line; }
  // What is to be taken from bounds that are stored.
  const std::int32_t* lanes_then(int line) const { return lanes_.then.data() + line * kLineShorts; }
  std::int32_t line_then(int line) const { return lines_.then[static_cast<std::size_t>(line)]; }
  float fallen(int j) const { return fallen_[static_cast<std::size_t>(j)]; }

  // A lower bound on a cosine, in units, rounded down.
  static float lower(float cosine) { return cosine * kUnit - 0x1p-8F; }

  // Upper bounds on cosines, in units, rounded up: towards zero is up where it is negative.
  static Ints upper(Floats cosines) {
    return __builtin_convertvector(cosines * kUnit + (1.0F + 0x1p-8F), Ints);
  }

 private:
  struct Risen {
    std::vector<std::int16_t> now;
    std::vector<std::int32_t> then;
    explicit Risen(std::size_t size) : now(size), then(size) {}
    void set(int at, double risen) {
      const double units = risen * static_cast<double>(kUnit) * (1.0 + 0x1p-40);
      const auto below = static_cast<std::int64_t>(std::floor(units));
      now[static_cast<std::size_t>(at)] =
          static_cast<std::int16_t>(static_cast<std::int64_t>(std::ceil(units)));
      then[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(below);
    }
  };
  Risen lanes_;
  Risen lines_;
  std::vector<float> fallen_;
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
        lanes_(std::int64_t{lines_.count()} * kLineShorts),
        extras_(static_cast<std::size_t>(lines_.count())),
        lone_(static_cast<std::size_t>(lines_.count())),
        own_(static_cast<std::size_t>(lines_.count())),
        pending_(static_cast<std::size_t>(lines_.count())) {
    if (!state.uppers) {
      const std::int64_t rows_at_a_time = std::min(options.chunk_rows, rows.n_rows);
      scratch_ = Buffer<std::int16_t>(static_cast<std::size_t>(rows_at_a_time * lanes_));
      scratch_tops_ =
          Buffer<std::int16_t>(static_cast<std::size_t>(rows_at_a_time * lines_.count()));
    }
  }

  void visit(std::int64_t begin, std::int64_t end) {
    begin_ = begin;
    end_ = end;
    active_.clear();
    for (std::int64_t i = begin; i < end; ++i) {
      if (!rows_.zero[i]) look(i);
    }
    if (packed_.any_rare()) collect_extras();
    for (int line = 0; line < lines_.count(); ++line) {
      auto& lone = lone_[static_cast<std::size_t>(line)];
      visit_line(line, lone);
      for (const std::int32_t a : lone) {
        Active& row = active_[static_cast<std::size_t>(a)];
        if (reaching(row.row, line, limit(row.lower)) != 0) {
          own_[static_cast<std::size_t>(row.own_line)].push_back(a);
        } else {
          row.kept = true;
        }
      }
      lone.clear();
    }
    for (int line = 0; line < lines_.count(); ++line) {
      auto& own = own_[static_cast<std::size_t>(line)];
      std::sort(own.begin(), own.end());
      visit_line(line, own);
    }
    for (int line = 0; line < lines_.count(); ++line) {
      auto& pending = pending_[static_cast<std::size_t>(line)];
      std::size_t kept = 0;
      for (const std::int32_t a : pending) {
        const Active& row = active_[static_cast<std::size_t>(a)];
        pending[kept] = a;
        kept += row.own_line < 0 ||
                (row.own_line != line && reaching(row.row, line, limit(row.lower)) != 0);
      }
      pending.resize(kept);
      visit_line(line, pending);
    }
    for (int line = 0; line < lines_.count(); ++line) {
      own_[static_cast<std::size_t>(line)].clear();
      extras_[static_cast<std::size_t>(line)].clear();
      pending_[static_cast<std::size_t>(line)].clear();
    }
    for (const Active& row : active_) {
      if (!row.kept) decide(row);
    }
  }

 private:
  // A row that its bounds do not keep.
  struct Active {
    std::int64_t row;
    float lower;            // on the best center, in units
    std::int32_t own_line;  // −1: nothing is known of the row
    bool kept;              // by bounds that one visit renewed
  };
  // What a rare feature adds to the cosine of one active row and one lane.
  struct Extra {
    std::int32_t active;
    std::int32_t lane;
    float value;
  };

  std::int16_t* uppers(std::int64_t i) {
    return state_.uppers ? state_.uppers + i * lanes_ : scratch_.data() + (i - begin_) * lanes_;
  }

  std::int16_t* tops(std::int64_t i) {
    return state_.tops ? state_.tops + i * lines_.count()
                       : scratch_tops_.data() + (i - begin_) * lines_.count();
  }

  // 32 bounds of lines from one on, or what there are: rows that follow fill the rest, which is not
  // used, but not those of the next chunk, which may belong to another thread.
  const std::int16_t* tops_from(std::int64_t i, int first) {
    if (i + kLineShorts < end_) return tops(i) + first;
    const int count = std::min(kLineShorts, lines_.count() - first);
    std::copy_n(tops(i) + first, count, last_tops_);
    return last_tops_;
  }

  // The least whole number of units that reaches a lower bound.
  static std::int16_t limit(float lower) {
    return static_cast<std::int16_t>(std::floor(std::max(lower, -32768.0F)));
  }

  // The lanes of a line with a bound that reaches a limit.
  std::uint32_t reaching(std::int64_t i, int line, std::int16_t least) {
    return lines_.valid(line) &
           sums_reach(uppers(i) + line * kLineShorts, drift_.lanes_now(line), least);
  }

  // Calls use(line, lanes) for each line whose bound reaches a limit, with the lanes that do; there
  // may be none.
  template <class Use>
  void each_reaching(std::int64_t i, std::int16_t least, const Use& use) {
    for (int first = 0; first < lines_.count(); first += kLineShorts) {
      const int rest = lines_.count() - first;
      std::uint32_t found = sums_reach(tops_from(i, first), drift_.lines_now(first), least);
      if (rest < kLineShorts) found &= (1U << rest) - 1U;
      for (; found != 0; found &= found - 1) {
        const int line = first + __builtin_ctz(found);
        use(line, reaching(i, line, least));
      }
    }
  }

  // The bound of a line that says more than those of its lanes.
  void renew_top(std::int64_t i, int line) {
    const int now = largest_sum(uppers(i) + line * kLineShorts, drift_.lanes_now(line));
    tops(i)[line] = static_cast<std::int16_t>(now - drift_.line_then(line));
  }

  void look(std::int64_t i) {
    const auto a = static_cast<std::int32_t>(active_.size());
    const std::int32_t label = state_.labels[i];
    float lower = -std::numeric_limits<float>::infinity();
    if (state_.uppers && label >= 0) lower = state_.lower[i] -= drift_.fallen(label);
    if (lower == -std::numeric_limits<float>::infinity()) {
      for (auto& pending : pending_) pending.push_back(a);
      active_.push_back({i, lower, -1, false});
      return;
    }
    const int own = label / kLineShorts;
    int others = 0;  // lines with a bound that reaches, the own one apart
    int other = -1;
    const std::int16_t least = limit(lower);
    const bool in_own = (reaching(i, own, least) & ~(1U << (label % kLineShorts))) != 0;
    each_reaching(i, least, [&](int line, std::uint32_t lanes) {
      if (line == own) return;
      if (lanes == 0) return renew_top(i, line);
      if (others == 1) pending_[static_cast<std::size_t>(other)].push_back(a);
      if (others >= 1) pending_[static_cast<std::size_t>(line)].push_back(a);
      other = line;
      ++others;
    });
    if (others == 0 && !in_own) {
      ++work_.skipped_by_bounds;
      return;
    }
    if (others == 1 && !in_own) {
      lone_[static_cast<std::size_t>(other)].push_back(a);
    } else {
      if (others == 1) pending_[static_cast<std::size_t>(other)].push_back(a);
      own_[static_cast<std::size_t>(own)].push_back(a);
    }
    if constexpr (!kDense) prefetch_row(i);
    active_.push_back({i, lower, own, false});
  }

  // What the rare features of the active rows add. Their lists lie anywhere: they are asked for
  // some rows ahead, in two steps.
  void collect_extras() {
    constexpr std::size_t kNext = 6;
    const RareLists& lists = centers_.rare();
    const std::size_t n = active_.size();
    for (std::size_t a = 0; a < n + 2 * kNext; ++a) {
      if (a < n) {
        const std::int64_t i = active_[a].row;
        for (auto* rare = packed_.rare_begin(i); rare != packed_.rare_end(i); ++rare) {
          lists.prefetch_list(rare->feature);
        }
      }
      if (a >= kNext && a - kNext < n) {
        const std::int64_t i = active_[a - kNext].row;
        for (auto* rare = packed_.rare_begin(i); rare != packed_.rare_end(i); ++rare) {
          lists.prefetch_entries(rare->feature);
        }
      }
      if (a >= 2 * kNext) collect_extras(a - 2 * kNext);
    }
  }

  void collect_extras(std::size_t a) {
    const std::int64_t i = active_[a].row;
    for (auto* rare = packed_.rare_begin(i); rare != packed_.rare_end(i); ++rare) {
      centers_.rare().each(rare->feature, [&](int j, std::int64_t sum) {
        const double scale = centers_.scales()[static_cast<std::size_t>(j)];
        const double value = static_cast<double>(rare->value) * static_cast<double>(sum) * scale;
        extras_[static_cast<std::size_t>(j / kLineShorts)].push_back(
            {static_cast<std::int32_t>(a), j % kLineShorts, static_cast<float>(value)});
      });
    }
  }

  void visit_line(int line, const std::vector<std::int32_t>& which) {
    const std::size_t n = which.size();
    work_.lines += static_cast<std::int64_t>(n);
    work_.similarities += static_cast<std::int64_t>(n) * __builtin_popcount(lines_.valid(line));
    extra_ = extras_[static_cast<std::size_t>(line)].data();
    end_extra_ = extra_ + extras_[static_cast<std::size_t>(line)].size();
    std::size_t at = 0;
    if constexpr (kAtATime > 1) {
      for (; at + kAtATime <= n; at += kAtATime) visit_dense<kAtATime>(line, which.data() + at);
    }
    for (; at < n; ++at) {
      if constexpr (kDense) {
        visit_dense<1>(line, which.data() + at);
      } else {
        if (at + 8 < n) prefetch_row(active_[static_cast<std::size_t>(which[at + 8])].row);
        if (at + 2 < n) prefetch(line, active_[static_cast<std::size_t>(which[at + 2])].row);
        visit_sparse(line, which[at]);
      }
    }
  }

  // A row that will be visited: its entries.
  __attribute__((always_inline)) void prefetch_row(std::int64_t i) const {
    const auto entries = packed_.entries<Feature>(i);
    for (std::int64_t e = 0; e < entries.size; e += 64 / std::int64_t{sizeof(Feature)}) {
      __builtin_prefetch(entries.features + e);
    }
    for (std::int64_t e = 0; e < entries.size; e += 32) __builtin_prefetch(entries.weights + e);
  }

  // The row after next: its last entries, which are the ones not in the cache. Inlined by force:
  // GCC takes a function that only prefetches for one without effect and drops the call.
  __attribute__((always_inline)) void prefetch(int line, std::int64_t i) const {
    const auto entries = packed_.entries<Feature>(i);
    const std::int16_t* lanes = lines_.line(line);
    for (std::int64_t e = std::max<std::int64_t>(0, entries.size - 12); e < entries.size; ++e) {
      __builtin_prefetch(lanes + std::int64_t{entries.features[e]} * kLineShorts);
    }
  }

  void visit_sparse(int line, std::int32_t active) {
    const auto entries = packed_.entries<Feature>(active_[static_cast<std::size_t>(active)].row);
    const std::int16_t* lanes = lines_.line(line);
    LineSums sums;
    for (std::int64_t e = 0; e < entries.size; e += 2) {
      sums.add(lanes + std::int64_t{entries.features[e]} * kLineShorts,
               lanes + std::int64_t{entries.features[e + 1]} * kLineShorts,
               splat_pair(entries.weights + e));
    }
    take(line, active, sums);
  }

  template <int kRows>
  void visit_dense(int line, const std::int32_t* which) {
    LineSums sums[kRows];
    const std::int16_t* values[kRows];
    for (int r = 0; r < kRows; ++r) {
      values[r] = packed_.values(active_[static_cast<std::size_t>(which[r])].row);
    }
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
          sums[r].lanes[v] += pair_products(centers[v], weights);
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      take(line, which[r], sums[r]);
    }
  }

  // The cosines of a line: new bounds, and perhaps a better center.
  void take(int line, std::int32_t active, const LineSums& sums) {
    Active& row = active_[static_cast<std::size_t>(active)];
    Floats cosines[LineSums::kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      const int lane = v * kVectorFloats;
      cosines[v] =
          multiply_add(__builtin_convertvector(sums.lanes[v], Floats),
                       load(lines_.factors(line) + lane), load(lines_.offsets(line) + lane));
    }
    while (extra_ != end_extra_ && extra_->active < active) ++extra_;
    for (; extra_ != end_extra_ && extra_->active == active; ++extra_) {
#pragma GCC unroll 8
      for (int v = 0; v < LineSums::kVectors; ++v) {
        const Ints here = first_lanes() + v * kVectorFloats == extra_->lane;
        cosines[v] += here ? splat(extra_->value) : Floats{};
      }
    }
    const float error = packed_.error(row.row);
    Floats top = cosines[0];
    std::int16_t* upper = uppers(row.row) + line * kLineShorts;
#pragma GCC unroll 8
    for (int v = 0; v < LineSums::kVectors; ++v) {
      top = larger(top, cosines[v]);
      const Ints bound = SieveDrift::upper(cosines[v] + error) -
                         load_ints(drift_.lanes_then(line) + v * kVectorFloats);
      store_shorts(upper + v * kVectorFloats, bound);
    }
    const float best = largest(top);
    const auto bound =
        static_cast<std::int32_t>((best + error) * SieveDrift::kUnit + 1.0F + 0x1p-8F);
    tops(row.row)[line] = static_cast<std::int16_t>(bound - drift_.line_then(line));
    row.lower = std::max(row.lower, SieveDrift::lower(best - error));
  }

  // The label: the one center that reaches the lower bound, or sim64's choice among several.
  void decide(const Active& row) {
    const std::int16_t least = limit(row.lower);
    std::int32_t label = -1;
    bool several = false;
    each_reaching(row.row, least, [&](int line, std::uint32_t lanes) {
      if (lanes == 0) return;
      several |= label >= 0 || (lanes & (lanes - 1)) != 0;
      label = line * kLineShorts + __builtin_ctz(lanes);
    });
    float lower = row.lower;
    if (several) label = decide_exactly(row, least, lower);
    state_.labels[row.row] = label;
    if (state_.lower) state_.lower[row.row] = lower;
  }

  std::int32_t decide_exactly(const Active& row, std::int16_t least, float& lower) {
    ++work_.exact_decisions;
    candidates_.clear();
    each_reaching(row.row, least, [&](int line, std::uint32_t lanes) {
      for (; lanes != 0; lanes &= lanes - 1) {
        candidates_.push_back(line * kLineShorts + __builtin_ctz(lanes));
      }
    });
    const auto exact = rows_.row(row.row);
    double best = -std::numeric_limits<double>::infinity();
    std::int32_t label = -1;
    const auto consider = [&](int j, double similarity) {
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
    const double least_cosine = best - 3.0 * reference_error<Value>(exact.size);
    lower = std::max(lower, SieveDrift::lower(static_cast<float>(least_cosine - 0x1p-24)));
    return label;
  }

  const RowsOf& rows_;
  const PackedRows& packed_;
  const Centers& centers_;
  const FilterLines& lines_;
  const SieveDrift& drift_;
  const SieveState& state_;
  Work& work_;
  std::int64_t lanes_;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::int16_t last_tops_[kLineShorts] = {};
  Buffer<std::int16_t> scratch_;
  Buffer<std::int16_t> scratch_tops_;
  std::vector<Active> active_;
  std::vector<int> candidates_;
  std::vector<std::vector<Extra>> extras_;  // by line, in the order of the active rows
  const Extra* extra_ = nullptr;            // those of the line in hand still to come
  const Extra* end_extra_ = nullptr;
  std::vector<std::vector<std::int32_t>> lone_;     // by line: rows that only it can take away
  std::vector<std::vector<std::int32_t>> own_;      // by line: rows of which it is the own line
  std::vector<std::vector<std::int32_t>> pending_;  // by line: rows with a bound that reaches
};

}  // namespace arcmeans
