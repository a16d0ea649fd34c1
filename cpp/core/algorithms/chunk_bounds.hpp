// The bounds of the sieve on the rows of one chunk: of each row a lower bound on the cosine to its
// own center, and upper bounds on its cosines to groups of centers (line_groups.hpp). The own
// center is left out of its group. Each thread of a pass has one (sieve.hpp).
//
// `r` is the number of a row in the chunk, here and in all files of the sieve. Upper bounds are in
// whole units, lower bounds in fine units. The *limit* of a row is the smallest number that an
// upper bound can be and *reach* its lower bound: in a group with a bound below it no center can
// win.
//
// What has to stay true: no upper bound is below, and no lower bound above, the cosines that it
// bounds; and the limit of a row follows its lower bound.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "core/algorithms/sieve_state.hpp"
#include "core/moves/bound_aging.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"
#include "core/support/simd_shorts.hpp"

namespace arcmeans {

class ChunkBounds {
 public:
  // Below every cosine: the upper bound of a group whose only center is the own one.
  static constexpr std::int32_t kBelowAll = -2 * static_cast<std::int32_t>(kCosineUnits);

  ChunkBounds(const PassAging& aging, const Slots& slots, const SieveState& state,
              std::size_t most_rows)
      : aging_(aging),
        slots_(slots),
        state_(state),
        groups_(aging.groups()),
        stride_(groups_.n_bound_blocks() * kCacheLineShorts),
        firsts_(groups_.firsts()),
        lower_(most_rows),
        limit_(most_rows),
        in_transit_(aging.shifts().size()) {
    if (!state.uppers) unkept_uppers_ = Buffer<std::int16_t>(most_rows * index(stride_));
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) valid_.push_back(groups_.valid(b));
  }

  // Begins a chunk. Reads the lower bound of each row as of the last move and calls use(r, known):
  // whether the row has a label and a stored lower bound. Then upper bounds follow their centers to
  // other slots.
  template <class Use>
  void start(std::int64_t begin, std::int32_t count, const Use& use) {
    begin_ = begin;
    uppers_ = state_.uppers ? state_.uppers + begin * stride_ : unkept_uppers_.data();
    for (std::int32_t r = 0; r < count; ++r) {
      const std::int32_t stored = state_.lower ? stored_lower(r) : SieveState::kUnknown;
      const bool known = label(r) >= 0 && stored != SieveState::kUnknown;
      const std::int32_t now = aging_.read_lower(stored, std::max(label(r), 0));
      set_lower(r, known ? std::max(now, kLeast) : kLeast);
      use(r, known);
    }
    if (!state_.uppers || in_transit_.empty()) return;
    for (std::int32_t r = 0; r < count; ++r) {
      take_shifts(aging_.shifts(), uppers(r), in_transit_.data());
    }
  }

  std::int32_t label(std::int32_t r) const { return state_.labels[begin_ + r]; }
  int own_slot(std::int32_t r) const { return slots_.of(label(r)); }

  // --- Lower bounds, and the limits that follow from them.

  std::int32_t lower(std::int32_t r) const { return lower_[at(r)]; }
  std::int16_t limit(std::int32_t r) const { return limit_[at(r)]; }
  // What they would be if the own center had not fallen in the last move.
  std::int32_t lower_before_fall(std::int32_t r) const {
    return lower(r) + aging_.last_fall(label(r)).most;
  }
  std::int16_t limit_before_fall(std::int32_t r) const {
    return PassAging::limit(lower_before_fall(r));
  }
  void raise_lower(std::int32_t r, std::int32_t lower) {
    set_lower(r, std::max(lower_[at(r)], lower));
  }
  // Undoes a part of the last fall: raises the stored bound by it, and reads the bound again.
  void take_fall_back(std::int32_t r, std::int32_t part) {
    stored_lower(r) = PassAging::raised(stored_lower(r), part);
    set_lower(r, std::max(kLeast, aging_.read_lower(stored_lower(r), label(r))));
  }
  // Stores the label of a row, and the lower bound, which has to be one on the center of the label.
  void store(std::int32_t r, std::int32_t label) {
    state_.labels[begin_ + r] = label;
    if (state_.lower) stored_lower(r) = aging_.lower_to_store(lower_[at(r)], label);
  }
  // By row, for loops that cannot afford a call. Whoever writes a lower bound writes its limit.
  std::int32_t* lowers() { return lower_.data(); }
  std::int16_t* limits() { return limit_.data(); }

  // --- Upper bounds. They lie here as they are stored: bound − cumulative rise of the group.

  std::int64_t stride() const { return stride_; }
  std::int16_t* uppers(std::int32_t r) { return uppers_ + r * stride_; }
  const std::int16_t* uppers(std::int32_t r) const { return uppers_ + r * stride_; }
  void set_upper(std::int32_t r, int group, std::int32_t bound) {
    uppers(r)[group] = static_cast<std::int16_t>(bound - aging_.rises_to_store(0)[group]);
  }

  // The groups of a block of bounds that reach a limit, or the row's own limit: a bit for each.
  std::uint32_t groups_reaching(std::int32_t r, int b, std::int16_t limit) const {
    return valid_[index(b)] &
           sums_reach(uppers(r) + b * kCacheLineShorts, aging_.rises_to_read(b), limit);
  }
  std::uint32_t groups_reaching(std::int32_t r, int b) const {
    return groups_reaching(r, b, limit(r));
  }
  bool any_reaches(std::int32_t r) const {
    std::uint32_t any = 0;
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) any |= groups_reaching(r, b);
    return any != 0;
  }
  // A filter line reaches if one of its groups does.
  bool line_reaches(std::int32_t r, int line) const {
    return (groups_reaching(r, groups_.bound_block(line)) & groups_.bits(line)) != 0;
  }
  // The filter lines that reach a limit by groups of a block of bounds: the bit of the first group
  // of each line. A line has a power of two of groups, and so each turn doubles how many count.
  std::uint32_t lines_reaching(std::int32_t r, int b, std::int16_t limit) const {
    std::uint32_t found = groups_reaching(r, b, limit);
    for (int bit = 1; bit < groups_.per_line(); bit *= 2) found |= found >> bit;
    return found & firsts_;
  }
  int count_lines_reaching(std::int32_t r) const {
    int count = 0;
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) {
      count += std::popcount(lines_reaching(r, b, limit(r)));
    }
    return count;
  }

 private:
  // Every upper bound reaches a lower bound of −2, so none needs to be lower.
  static constexpr std::int32_t kLeast = kBelowAll * PassAging::kFine;

  static std::size_t at(std::int32_t r) { return index(r); }
  std::int32_t& stored_lower(std::int32_t r) const { return state_.lower[begin_ + r]; }
  void set_lower(std::int32_t r, std::int32_t lower) {
    lower_[at(r)] = lower;
    limit_[at(r)] = PassAging::limit(lower);
  }

  const PassAging& aging_;
  const Slots& slots_;
  const SieveState& state_;
  LineGroups groups_;
  std::int64_t stride_;   // from the upper bounds of a row to those of the next
  std::uint32_t firsts_;  // of the bits of a block of bounds: the first group of each filter line
  std::int64_t begin_ = 0;
  std::int16_t* uppers_ = nullptr;      // of the chunk, in the row state or in `unkept_uppers_`
  Buffer<std::int16_t> unkept_uppers_;  // where the row state has none
  std::vector<std::int32_t> lower_;
  std::vector<std::int16_t> limit_;
  std::vector<std::int16_t> in_transit_;  // upper bounds whose centers change slots
  std::vector<std::uint32_t> valid_;      // by block of bounds, a bit for each group with centers
};

}  // namespace arcmeans
