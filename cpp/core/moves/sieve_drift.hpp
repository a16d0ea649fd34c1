// How the bounds of the sieve age: what centers have risen and fallen by, in the bounds' units.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/layouts/filter_lines.hpp"
#include "core/moves/drifts.hpp"

namespace arcmeans {

// What has happened since the bounds were begun: of each center how far it fell; of each group of
// centers that share a bound the largest rise of any of them in each move.
struct SieveMoves {
  LineGroups groups;
  std::vector<double> falls, rises;
  // Where the centers stand in the bounds, and what brings the bounds there, before the next pass.
  // Where centers share bounds they keep their places.
  Places places;
  std::vector<Places::Step> steps;
  // Of the last move, the part of rises and falls that lines tell (drifts.hpp): what follows from
  // them for a row is less, and the rest can be taken back. Beside it, shares of the cosines.
  bool told = false;
  std::vector<double> rise_rooms, fall_rooms;
  std::vector<double> stretches, shrinkings, last_falls;

  SieveMoves(int n_centers, bool dense)
      : groups(n_centers, dense),
        falls(static_cast<std::size_t>(n_centers)),
        rises(static_cast<std::size_t>(groups.count())),
        places(n_centers),
        rise_rooms(rises.size()),
        fall_rooms(falls.size()),
        stretches(rises.size()),
        shrinkings(falls.size()),
        last_falls(falls.size()) {}

  // After a move, before a pass; with lines that tell of it or without.
  void add(const Centers& centers, const Places& now, bool nonnegative, const Drifts* drifts) {
    told = drifts && drifts->known();
    steps = places.steps_to(now);
    places = now;
    std::vector<double> scratch(steps.size());
    take_steps(steps, rises.data(), scratch.data());
    std::vector<double> largest(rises.size()), largest_slack(rises.size());
    std::vector<double> largest_stretch(rises.size());
    for (int j = 0; j < centers.size(); ++j) {
      const auto c = static_cast<std::size_t>(j);
      const auto group = static_cast<std::size_t>(groups.of(places.of(j)));
      const double rise = centers.last_move(j).rise(nonnegative);
      const double fall = centers.last_move(j).fall(nonnegative);
      const Drifts::Beside gained = told ? drifts->gained(j) : Drifts::Beside{};
      const Drifts::Beside lost = told ? drifts->lost(j) : Drifts::Beside{};
      falls[c] += fall;
      last_falls[c] = fall;
      fall_rooms[c] = std::max(0.0, fall - lost.slack);
      shrinkings[c] = lost.stretch;
      largest[group] = std::max(largest[group], rise);
      largest_slack[group] = std::max(largest_slack[group], std::min(rise, gained.slack));
      largest_stretch[group] = std::max(largest_stretch[group], gained.stretch);
    }
    for (std::size_t group = 0; group < rises.size(); ++group) {
      rises[group] += largest[group];
      rise_rooms[group] = largest[group] - largest_slack[group];
    }
    stretches = largest_stretch;
  }
};

// The same in the units of the bounds, once a pass. What is read is rounded outward, and so is what
// is stored.
class SieveDrift {
 public:
  static constexpr int kFineBits = 8;

  explicit SieveDrift(const SieveMoves& moves)
      : groups_(moves.groups),
        steps_(moves.steps),
        lanes_((moves.rises.size() + kLineShorts - 1) / kLineShorts * kLineShorts),
        own_(moves.falls.size()),
        told_(moves.told),
        rise_rooms_(lanes_.now.size()),
        stretches_(lanes_.now.size()),
        losses_(own_.now.size()) {
    for (std::size_t group = 0; group < moves.rises.size(); ++group) {
      lanes_.set(group, moves.rises[group] * kCosineUnits);
      rise_rooms_[group] = static_cast<std::int16_t>(moves.rise_rooms[group] * kCosineUnits);
      stretches_[group] = static_cast<float>(moves.stretches[group] * (1.0 + 0x1p-20));
    }
    for (std::size_t j = 0; j < moves.falls.size(); ++j) {
      own_.set(j, moves.falls[j] * kCosineUnits * (1 << kFineBits));
      const double fine = kCosineUnits * (1 << kFineBits);
      losses_[j] = {static_cast<std::int32_t>(moves.fall_rooms[j] * fine),
                    static_cast<std::int32_t>(moves.last_falls[j] * fine) + 2,
                    static_cast<float>(moves.shrinkings[j] * (1.0 + 0x1p-20))};
    }
  }

  // What can be taken back, less what the lines of the drifts tell for the row: from the upper
  // bounds of a line of groups; of the own center's fall, in 256ths. And the share of a cosine that
  // those lines do not tell.
  struct Loss {
    std::int32_t room;
    std::int32_t fall;  // all of it
    float shrinking;
  };
  const LineGroups& groups() const { return groups_; }
  // To the places of now, of bounds as the last pass left them.
  const std::vector<Places::Step>& steps() const { return steps_; }
  bool told() const { return told_; }
  const std::int16_t* rise_rooms(int line) const { return rise_rooms_.data() + line * kLineShorts; }
  const float* stretches(int line) const { return stretches_.data() + line * kLineShorts; }
  const Loss& loss(std::int32_t label) const { return losses_[static_cast<std::size_t>(label)]; }

  // What is to be added to the stored upper bounds of a line of groups.
  const std::int16_t* lanes_now(int line) const { return lanes_.now.data() + line * kLineShorts; }
  // What is to be taken from upper bounds to be stored.
  const std::int32_t* lanes_then(int line) const { return lanes_.then.data() + line * kLineShorts; }

  // From a stored lower bound to that of now and back.
  std::int32_t lower_now(std::int32_t stored, std::int32_t label) const {
    return wrapped(std::int64_t{stored} - own_.now[static_cast<std::size_t>(label)]);
  }
  std::int32_t lower_then(std::int32_t lower, std::int32_t label) const {
    return wrapped(std::int64_t{lower} + own_.then[static_cast<std::size_t>(label)]);
  }

  // A stored lower bound, raised.
  static std::int32_t raised(std::int32_t stored, std::int32_t by) {
    return wrapped(std::int64_t{stored} + by);
  }

  // An upper bound in units is the cosine and this; rounding towards zero is up where it is
  // negative.
  static float upwards(float error) { return error + (1.0F + 0x1p-8F); }
  static std::int32_t upper(float cosine, float error) {
    return static_cast<std::int32_t>(cosine + upwards(error));
  }
  // The same for one that is not rounded to whole units.
  static float beyond(float error) { return error + 0x1p-7F; }
  // A lower bound on a cosine in units, in 256ths of a unit, rounded down.
  static std::int32_t lower(float cosine) {
    return static_cast<std::int32_t>(cosine * (1 << kFineBits) - 2.0F);
  }
  // The same in units again, exactly.
  static float in_units(std::int32_t lower) {
    return static_cast<float>(lower) * (1.0F / (1 << kFineBits));
  }
  // The least whole number of units that reaches it.
  static std::int16_t limit(std::int32_t lower) {
    return static_cast<std::int16_t>(lower >> kFineBits);
  }

 private:
  static std::int32_t wrapped(std::int64_t number) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
  }

  template <class Now>
  struct Moved {
    std::vector<Now> now;
    std::vector<std::int32_t> then;
    explicit Moved(std::size_t size) : now(size), then(size) {}
    void set(std::size_t at, double units) {
      units *= 1.0 + 0x1p-40;
      now[at] = static_cast<Now>(static_cast<std::int64_t>(std::ceil(units)));
      then[at] = static_cast<std::int32_t>(static_cast<std::int64_t>(std::floor(units)));
    }
  };
  LineGroups groups_;
  std::vector<Places::Step> steps_;
  Moved<std::int16_t> lanes_;
  Moved<std::int32_t> own_;
  bool told_;
  std::vector<std::int16_t> rise_rooms_;
  std::vector<float> stretches_;
  std::vector<Loss> losses_;
};

}  // namespace arcmeans
