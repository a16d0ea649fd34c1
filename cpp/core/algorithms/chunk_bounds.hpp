// What the sieve knows of the rows of a chunk: upper bounds on their cosines to groups of centers
// and a lower bound on that to their own, as they are now. Rows are named by their place in the
// chunk; bounds are in units (sieve.hpp).
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
  // Of no center: below all cosines.
  static constexpr std::int32_t kNothing = -2 * static_cast<std::int32_t>(kCosineUnits);

  ChunkBounds(const PassAging& aging, const SieveState& state, std::size_t most_rows)
      : aging_(aging),
        state_(state),
        groups_(aging.groups()),
        stride_(groups_.n_bound_blocks() * kCacheLineShorts),
        firsts_(groups_.firsts()),
        lower_(most_rows),
        limit_(most_rows),
        followed_(aging.shifts().size()) {
    if (!state.uppers) scratch_ = Buffer<std::int16_t>(most_rows * index(stride_));
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) valid_.push_back(groups_.valid(b));
  }

  // The rows from here on are those of the chunk: calls use(row, known) for each, whether anything
  // is known of it. Upper bounds follow the centers to their places.
  template <class Use>
  void start(std::int64_t begin, std::int32_t count, const Use& use) {
    begin_ = begin;
    uppers_ = state_.uppers ? state_.uppers + begin * stride_ : scratch_.data();
    for (std::int32_t r = 0; r < count; ++r) {
      const std::int32_t stored = state_.lower ? stored_lower(r) : SieveState::kUnknown;
      const bool known = label(r) >= 0 && stored != SieveState::kUnknown;
      const std::int32_t now = aging_.read_lower(stored, std::max(label(r), 0));
      set_lower(r, known ? std::max(now, kLeast) : kLeast);
      use(r, known);
    }
    if (!state_.uppers || followed_.empty()) return;
    for (std::int32_t r = 0; r < count; ++r) {
      take_shifts(aging_.shifts(), uppers(r), followed_.data());
    }
  }

  std::int32_t label(std::int32_t r) const { return state_.labels[begin_ + r]; }

  // --- On the own center, in fine units; a group reaches it with an upper bound ≥ the limit.

  std::int32_t lower(std::int32_t r) const { return lower_[at(r)]; }
  std::int16_t limit(std::int32_t r) const { return limit_[at(r)]; }
  // The limit if the own center had not fallen in the last move.
  std::int16_t limit_before_fall(std::int32_t r) const {
    return PassAging::limit(lower(r) + aging_.last_fall(label(r)).most);
  }
  void raise(std::int32_t r, std::int32_t lower) { set_lower(r, std::max(lower_[at(r)], lower)); }
  // Takes some of the last fall back, of what is kept too.
  void take_back(std::int32_t r, std::int32_t by) {
    stored_lower(r) = PassAging::raised(stored_lower(r), by);
    set_lower(r, lower_now(r));
  }
  // Before the last fall.
  std::int32_t lower_before(std::int32_t r) const {
    return aging_.read_lower(stored_lower(r), label(r)) + aging_.last_fall(label(r)).most;
  }
  void keep(std::int32_t r, std::int32_t label) {
    state_.labels[begin_ + r] = label;
    if (state_.lower) stored_lower(r) = aging_.lower_to_store(lower_[at(r)], label);
  }
  std::int32_t* lowers() { return lower_.data(); }
  std::int16_t* limits() { return limit_.data(); }

  // --- On groups of centers, as they are stored: less what is to be taken from them.

  std::int64_t stride() const { return stride_; }
  std::int16_t* uppers(std::int32_t r) { return uppers_ + r * stride_; }
  const std::int16_t* uppers(std::int32_t r) const { return uppers_ + r * stride_; }
  void set_upper(std::int32_t r, int group, std::int32_t bound) {
    uppers(r)[group] = static_cast<std::int16_t>(bound - aging_.rises_to_store(0)[group]);
  }

  // The groups of a line of bounds that reach a limit, the row's own.
  std::uint32_t reaching(int b, std::int32_t r) const { return reaching(b, r, limit(r)); }
  std::uint32_t reaching(int b, std::int32_t r, std::int16_t limit) const {
    return valid_[index(b)] &
           sums_reach(uppers(r) + b * kCacheLineShorts, aging_.rises_to_read(b), limit);
  }
  bool reaches(std::int32_t r) const {
    std::uint32_t any = 0;
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) any |= reaching(b, r);
    return any != 0;
  }
  bool line_reaches(int line, std::int32_t r) const {
    return (reaching(groups_.bound_block(line), r) & groups_.bits(line)) != 0;
  }
  // The lines that have one of those, each by the bit of its first group.
  std::uint32_t lines_reaching(int b, std::int32_t r, std::int16_t limit) const {
    std::uint32_t found = reaching(b, r, limit);
    for (int bit = 1; bit < groups_.per_line(); bit *= 2) found |= found >> bit;
    return found & firsts_;
  }
  int count_lines_reaching(std::int32_t r) const {
    int count = 0;
    for (int b = 0; b < groups_.n_bound_blocks(); ++b) {
      count += std::popcount(lines_reaching(b, r, limit(r)));
    }
    return count;
  }

 private:
  // No cosine is below −1, so a lower bound that has fallen further says no less at −2.
  static constexpr std::int32_t kLeast = kNothing * PassAging::kFine;

  static std::size_t at(std::int32_t r) { return index(r); }
  std::int32_t& stored_lower(std::int32_t r) const { return state_.lower[begin_ + r]; }
  std::int32_t lower_now(std::int32_t r) const {
    return std::max(kLeast, aging_.read_lower(stored_lower(r), label(r)));
  }
  void set_lower(std::int32_t r, std::int32_t lower) {
    lower_[at(r)] = lower;
    limit_[at(r)] = PassAging::limit(lower);
  }

  const PassAging& aging_;
  const SieveState& state_;
  LineGroups groups_;
  std::int64_t stride_;   // from row to row
  std::uint32_t firsts_;  // of the bits of a line of bounds, those of the first groups of lines
  std::int64_t begin_ = 0;
  std::int16_t* uppers_ = nullptr;  // of the chunk
  Buffer<std::int16_t> scratch_;    // where none are kept
  std::vector<std::int32_t> lower_;
  std::vector<std::int16_t> limit_;
  std::vector<std::int16_t> followed_;  // bounds on their way to other places
  std::vector<std::uint32_t> valid_;    // by line of bounds: groups with centers
};

}  // namespace arcmeans
