// How the bounds of the sieve age: by how much centers have risen and fallen since the bounds were
// begun, as lengths and, for one pass, in the units of the bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/layouts/line_groups.hpp"
#include "core/layouts/places.hpp"
#include "core/moves/group_gains.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

// What all moves since the bounds were begun have done to them: of each center the sum of its
// falls; of each group of centers that share a bound the sum of its rises, where the rise of a
// group in one move is the largest of its centers.
struct BoundAging {
  LineGroups groups;
  std::vector<double> falls, rises;
  // The places of the centers in the bounds, and the steps that take the bounds there from the
  // places before the last move. Where centers share bounds they keep their places.
  Places places;
  std::vector<Places::Step> steps;
  // Whether gain lines tell of the last move. Then `rise_rooms` and `fall_rooms` are the part of
  // the last rises and falls that the lines tell of: what they tell for one row is less, and the
  // difference can be taken back. The lines leave out shares of the cosines: `stretches` of gains,
  // `shrinkings` of losses.
  bool told = false;
  std::vector<double> rise_rooms, fall_rooms;
  std::vector<double> stretches, shrinkings, last_falls;

  BoundAging(int n_centers, bool dense)
      : groups(n_centers, dense),
        falls(index(n_centers)),
        rises(index(groups.count())),
        places(n_centers),
        rise_rooms(rises.size()),
        fall_rooms(falls.size()),
        stretches(rises.size()),
        shrinkings(falls.size()),
        last_falls(falls.size()) {}

  // Adds the last move, after which centers stand at these places; `gains` may be null.
  void add(const Centers& centers, const Places& now, bool nonnegative, const GroupGains* gains) {
    told = gains && gains->known();
    steps = places.steps_to(now);
    places = now;
    std::vector<double> scratch(steps.size());
    take_steps(steps, rises.data(), scratch.data());
    std::vector<double> largest(rises.size()), largest_slack(rises.size());
    std::fill(stretches.begin(), stretches.end(), 0.0);
    for (int j = 0; j < centers.size(); ++j) {
      const std::size_t c = index(j), group = index(groups.of(places.of(j)));
      const double rise = centers.last_move(j).rise(nonnegative);
      const double fall = centers.last_move(j).fall(nonnegative);
      const GroupGains::Untold gain = told ? gains->untold_gain(j) : GroupGains::Untold{};
      const GroupGains::Untold loss = told ? gains->untold_loss(j) : GroupGains::Untold{};
      falls[c] += fall;
      last_falls[c] = fall;
      fall_rooms[c] = std::max(0.0, fall - loss.slack);
      shrinkings[c] = loss.stretch;
      largest[group] = std::max(largest[group], rise);
      largest_slack[group] = std::max(largest_slack[group], std::min(rise, gain.slack));
      stretches[group] = std::max(stretches[group], gain.stretch);
    }
    for (std::size_t group = 0; group < rises.size(); ++group) {
      rises[group] += largest[group];
      rise_rooms[group] = largest[group] - largest_slack[group];
    }
  }
};

// The same for one pass, in the units of the bounds. A pass reads bounds as they are now: stored
// upper bound + rise, stored lower bound − fall. It stores bounds as if they had been begun with:
// upper bound − rise, lower bound + fall. Both are rounded outward.
class PassAging {
 public:
  // Lower bounds are kept in 2⁻⁸ of a unit.
  static constexpr int kFineBits = 8;

  explicit PassAging(const BoundAging& aging)
      : groups_(aging.groups),
        steps_(aging.steps),
        rises_((aging.rises.size() + kCacheLineShorts - 1) / kCacheLineShorts * kCacheLineShorts),
        falls_(aging.falls.size()),
        told_(aging.told),
        rise_rooms_(rises_.now.size()),
        stretches_(rises_.now.size()),
        losses_(falls_.now.size()) {
    for (std::size_t group = 0; group < aging.rises.size(); ++group) {
      rises_.set(group, aging.rises[group] * kCosineUnits);
      rise_rooms_[group] = static_cast<std::int16_t>(aging.rise_rooms[group] * kCosineUnits);
      stretches_[group] = static_cast<float>(aging.stretches[group] * (1.0 + 0x1p-20));
    }
    for (std::size_t j = 0; j < aging.falls.size(); ++j) {
      falls_.set(j, aging.falls[j] * kCosineUnits * (1 << kFineBits));
      const double fine = kCosineUnits * (1 << kFineBits);
      losses_[j] = {static_cast<std::int32_t>(aging.fall_rooms[j] * fine),
                    static_cast<std::int32_t>(aging.last_falls[j] * fine) + 2,
                    static_cast<float>(aging.shrinkings[j] * (1.0 + 0x1p-20))};
    }
  }

  const LineGroups& groups() const { return groups_; }
  // Takes upper bounds from their places in the last pass to their places in this one.
  const std::vector<Places::Step>& steps() const { return steps_; }

  // --- What can be taken back of the last move, less what the gain lines tell for the row.

  bool told() const { return told_; }
  // Of the upper bounds of a block of groups, and the shares of a cosine that the lines leave out.
  const std::int16_t* rise_rooms(int block) const {
    return rise_rooms_.data() + block * kCacheLineShorts;
  }
  const float* stretches(int block) const { return stretches_.data() + block * kCacheLineShorts; }
  // Of a lower bound, in 2⁻⁸ of a unit.
  struct Loss {
    std::int32_t room;
    std::int32_t fall;  // all of the last fall
    float shrinking;
  };
  const Loss& loss(std::int32_t label) const { return losses_[index(label)]; }

  // --- Upper bounds.

  // What is added to the stored upper bounds of a block of groups.
  const std::int16_t* rises_now(int block) const {
    return rises_.now.data() + block * kCacheLineShorts;
  }
  // What is taken from the upper bounds of a block of groups before they are stored.
  const std::int32_t* rises_then(int block) const {
    return rises_.then.data() + block * kCacheLineShorts;
  }
  // An upper bound in whole units is the cosine plus this, rounded towards zero: that is up where
  // the sum is negative.
  static float upwards(float error) { return error + (1.0F + 0x1p-8F); }
  static std::int32_t upper(float cosine, float error) {
    return static_cast<std::int32_t>(cosine + upwards(error));
  }
  // An upper bound that is not rounded to whole units is the cosine plus this.
  static float beyond(float error) { return error + 0x1p-7F; }

  // --- Lower bounds, in 2⁻⁸ of a unit.

  // From a stored lower bound to the bound now, and back.
  std::int32_t lower_now(std::int32_t stored, std::int32_t label) const {
    return wrapped(std::int64_t{stored} - falls_.now[index(label)]);
  }
  std::int32_t lower_then(std::int32_t lower, std::int32_t label) const {
    return wrapped(std::int64_t{lower} + falls_.then[index(label)]);
  }
  // A stored lower bound, raised.
  static std::int32_t raised(std::int32_t stored, std::int32_t by) {
    return wrapped(std::int64_t{stored} + by);
  }
  // A lower bound on a cosine in units, rounded down.
  static std::int32_t lower(float cosine) {
    return static_cast<std::int32_t>(cosine * (1 << kFineBits) - 2.0F);
  }
  // A lower bound in units, exactly.
  static float in_units(std::int32_t lower) {
    return static_cast<float>(lower) * (1.0F / (1 << kFineBits));
  }
  // The least upper bound, in whole units, that reaches a lower bound.
  static std::int16_t limit(std::int32_t lower) {
    return static_cast<std::int16_t>(lower >> kFineBits);
  }

 private:
  static std::int32_t wrapped(std::int64_t number) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
  }

  // Rises or falls in units: rounded up to read bounds, and down to store them.
  template <class Now>
  struct Rounded {
    std::vector<Now> now;
    std::vector<std::int32_t> then;
    explicit Rounded(std::size_t size) : now(size), then(size) {}
    void set(std::size_t at, double units) {
      units *= 1.0 + 0x1p-40;
      now[at] = static_cast<Now>(static_cast<std::int64_t>(std::ceil(units)));
      then[at] = static_cast<std::int32_t>(static_cast<std::int64_t>(std::floor(units)));
    }
  };

  LineGroups groups_;
  std::vector<Places::Step> steps_;
  Rounded<std::int16_t> rises_;
  Rounded<std::int32_t> falls_;
  bool told_;
  std::vector<std::int16_t> rise_rooms_;
  std::vector<float> stretches_;
  std::vector<Loss> losses_;
};

}  // namespace arcmeans
