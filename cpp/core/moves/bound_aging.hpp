// How the bounds of the sieve age. The sieve keeps bounds on the cosines of each row, and does not
// rewrite them when centers move. It sums up what all moves since the first pass did, R and F, and
// stores each bound relative to the sums of the pass t that found it:
//
//   an upper bound u on a group is stored as u − R(t) and read in pass t′ as u − R(t) + R(t′),
//   R: all rises of the group;
//   a lower bound l on the own center is stored as l + F(t) and read as l + F(t) − F(t′),
//   F: all falls of the own center.
//
// R and F are rounded down to store and up to read, so R(t′) − R(t) and F(t′) − F(t) are never too
// small. The stored numbers wrap, and so do R and F as integers: only differences count
// (sieve.hpp).
//
// The sieve adds every move to its one BoundAging, and makes a PassAging of it for each pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/layouts/line_groups.hpp"
#include "core/layouts/slots.hpp"
#include "core/moves/group_gains.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

// The sums over all moves and what is needed of the last move, as cosines in float64.
struct BoundAging {
  LineGroups groups;
  // By group the sum of its rises, by center the sum of its falls. The rise of a group in one move
  // is the largest rise of its centers.
  std::vector<double> rises, falls;
  // The slots of the centers after the last move, and the shifts that lead there from the slots
  // before it. Where centers share bounds there are no shifts.
  Slots slots;
  std::vector<Slots::Shift> shifts;
  // Whether the gain lines tell of the last move. Then each row gets back the part of the last rise
  // and fall that is more than its own gain and loss:
  //   (rise − slack) − (what the gain line says + stretch · cosine).
  bool told = false;
  std::vector<double> rises_less_slack, gain_stretches;              // by group
  std::vector<double> last_falls, falls_less_slack, loss_stretches;  // by center

  BoundAging(int n_centers, bool dense)
      : groups(n_centers, dense),
        rises(index(groups.count())),
        falls(index(n_centers)),
        slots(n_centers),
        rises_less_slack(rises.size()),
        gain_stretches(rises.size()),
        last_falls(falls.size()),
        falls_less_slack(falls.size()),
        loss_stretches(falls.size()) {}

  // Adds the last move. `slots_after` are the slots after it; `gains` may be null.
  void add(const Centers& centers, const Slots& slots_after, bool nonnegative,
           const GroupGains* gains) {
    told = gains && gains->known();
    shifts = slots.shifts_to(slots_after);
    slots = slots_after;
    std::vector<double> scratch(shifts.size());
    take_shifts(shifts, rises.data(), scratch.data());
    std::vector<double> largest_rise(rises.size()), largest_slack(rises.size());
    std::fill(gain_stretches.begin(), gain_stretches.end(), 0.0);
    for (int j = 0; j < centers.size(); ++j) {
      const std::size_t c = index(j), group = index(groups.of(slots.of(j)));
      const double rise = centers.last_move(j).rise(nonnegative);
      const double fall = centers.last_move(j).fall(nonnegative);
      const GroupGains::LeftOut gain = told ? gains->left_out_of_gain(j) : GroupGains::LeftOut{};
      const GroupGains::LeftOut loss = told ? gains->left_out_of_loss(j) : GroupGains::LeftOut{};
      falls[c] += fall;
      last_falls[c] = fall;
      falls_less_slack[c] = std::max(0.0, fall - loss.slack);
      loss_stretches[c] = loss.stretch;
      largest_rise[group] = std::max(largest_rise[group], rise);
      largest_slack[group] = std::max(largest_slack[group], std::min(rise, gain.slack));
      gain_stretches[group] = std::max(gain_stretches[group], gain.stretch);
    }
    for (std::size_t group = 0; group < rises.size(); ++group) {
      rises[group] += largest_rise[group];
      rises_less_slack[group] = largest_rise[group] - largest_slack[group];
    }
  }
};

// The same in whole units for upper bounds, in fine units for lower bounds.
class PassAging {
 public:
  static constexpr int kFineBits = 8;
  static constexpr int kFine = 1 << kFineBits;  // fine units of a unit

  explicit PassAging(const BoundAging& aging)
      : groups_(aging.groups),
        shifts_(aging.shifts),
        rises_((aging.rises.size() + kCacheLineShorts - 1) / kCacheLineShorts * kCacheLineShorts),
        falls_(aging.falls.size()),
        told_(aging.told),
        rises_less_slack_(rises_.to_read.size()),
        gain_stretches_(rises_.to_read.size()),
        last_falls_(aging.falls.size()) {
    // Stretches are enlarged by more than the rounding to float32.
    for (std::size_t group = 0; group < aging.rises.size(); ++group) {
      rises_.set(group, aging.rises[group] * kCosineUnits);
      rises_less_slack_[group] =
          static_cast<std::int16_t>(aging.rises_less_slack[group] * kCosineUnits);
      gain_stretches_[group] = static_cast<float>(aging.gain_stretches[group] * (1.0 + 0x1p-20));
    }
    for (std::size_t j = 0; j < aging.falls.size(); ++j) {
      constexpr double fine = kCosineUnits * kFine;
      falls_.set(j, aging.falls[j] * fine);
      last_falls_[j] = {static_cast<std::int32_t>(aging.last_falls[j] * fine) + 2,
                        static_cast<std::int32_t>(aging.falls_less_slack[j] * fine),
                        static_cast<float>(aging.loss_stretches[j] * (1.0 + 0x1p-20))};
    }
  }

  const LineGroups& groups() const { return groups_; }
  // Upper bounds follow the centers by these shifts, before they are read.
  const std::vector<Slots::Shift>& shifts() const { return shifts_; }

  // --- Of the last move: what a row may get back (BoundAging).

  bool told() const { return told_; }
  // By group of a block of bounds, rounded down and up.
  const std::int16_t* rises_less_slack(int bound_block) const {
    return rises_less_slack_.data() + bound_block * kCacheLineShorts;
  }
  const float* gain_stretches(int bound_block) const {
    return gain_stretches_.data() + bound_block * kCacheLineShorts;
  }
  // By center, in fine units: `most` is no less than all that reading took off for the last move.
  struct LastFall {
    std::int32_t most;
    std::int32_t less_slack;
    float stretch;
  };
  const LastFall& last_fall(std::int32_t center) const { return last_falls_[index(center)]; }

  // --- Upper bounds, by group of a block of bounds.

  // R(t′), added to a stored bound to read it.
  const std::int16_t* rises_to_read(int bound_block) const {
    return rises_.to_read.data() + bound_block * kCacheLineShorts;
  }
  // R(t), taken from a bound to store it.
  const std::int32_t* rises_to_store(int bound_block) const {
    return rises_.to_store.data() + bound_block * kCacheLineShorts;
  }
  // Cosine + whole_addend, made a whole number by cutting off its fraction, is an upper bound: the
  // 1 makes up for what is cut off a positive number, and 2⁻⁸ for the rounding of the float32 sum.
  static float whole_addend(float error) { return error + (1.0F + 0x1p-8F); }
  static std::int32_t upper(float cosine, float error) {
    return static_cast<std::int32_t>(cosine + whole_addend(error));
  }
  // Cosine + float_addend is an upper bound in float32: 2⁻⁷ is for the rounding of this sum and of
  // the one that it is compared with.
  static float float_addend(float error) { return error + 0x1p-7F; }

  // --- Lower bounds on a center, in fine units.

  std::int32_t read_lower(std::int32_t stored, std::int32_t center) const {
    return wrapped(std::int64_t{stored} - falls_.to_read[index(center)]);
  }
  std::int32_t lower_to_store(std::int32_t lower, std::int32_t center) const {
    return wrapped(std::int64_t{lower} + falls_.to_store[index(center)]);
  }
  // A stored lower bound, raised.
  static std::int32_t raised(std::int32_t stored, std::int32_t by) {
    return wrapped(std::int64_t{stored} + by);
  }
  // A lower bound on a cosine in units, rounded down: 2 is more than the cutting off of a fraction
  // and the rounding of the float32 numbers add.
  static std::int32_t lower(float cosine) {
    return static_cast<std::int32_t>(cosine * kFine - 2.0F);
  }
  // A lower bound in units. Exact, since a lower bound has at most 23 bits.
  static float in_units(std::int32_t lower) { return static_cast<float>(lower) * (1.0F / kFine); }
  // A group reaches a lower bound, and is looked at, where its upper bound is ≥ this.
  static std::int16_t limit(std::int32_t lower) {
    return static_cast<std::int16_t>(lower >> kFineBits);
  }

 private:
  static std::int32_t wrapped(std::int64_t number) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
  }

  // R or F as integers that wrap, rounded up to read bounds and down to store them. 2⁻⁴⁰ is for the
  // rounding of the float64 sums. What it can hide of a rise that is tiny beside R is far less than
  // a unit, and by `limit` an upper bound that does not reach is a unit below the lower bound.
  template <class Read>
  struct Sums {
    std::vector<Read> to_read;
    std::vector<std::int32_t> to_store;
    explicit Sums(std::size_t size) : to_read(size), to_store(size) {}
    void set(std::size_t at, double sum) {
      sum *= 1.0 + 0x1p-40;
      to_read[at] = static_cast<Read>(static_cast<std::int64_t>(std::ceil(sum)));
      to_store[at] = static_cast<std::int32_t>(static_cast<std::int64_t>(std::floor(sum)));
    }
  };

  LineGroups groups_;
  std::vector<Slots::Shift> shifts_;
  Sums<std::int16_t> rises_;  // by group, padded to whole blocks of bounds
  Sums<std::int32_t> falls_;  // by center
  bool told_;
  std::vector<std::int16_t> rises_less_slack_;
  std::vector<float> gain_stretches_;
  std::vector<LastFall> last_falls_;
};

}  // namespace arcmeans
