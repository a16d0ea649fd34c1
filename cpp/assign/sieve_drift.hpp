// How the bounds of the sieve age: what centers have risen and fallen by, in the bounds' units.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../centers.hpp"

namespace arcmeans {

// What centers have risen and fallen by since the bounds were begun; and what lines have risen by,
// the largest rise of their centers in each move.
struct SieveMoves {
  std::vector<double> rises, falls, line_rises;
  // Of the last move, the part of the rises that the line of the rises tells (rises.hpp): what
  // follows from it for a row is less, and the rest can be taken back.
  bool told = false;
  std::vector<double> rooms, line_rooms;

  explicit SieveMoves(int n_centers)
      : rises(static_cast<std::size_t>(n_centers)),
        falls(rises.size()),
        line_rises(static_cast<std::size_t>((n_centers + kLineShorts - 1) / kLineShorts)),
        rooms(rises.size()),
        line_rooms(line_rises.size()) {}

  // After a move, before a pass; with the line of the rises or without.
  void add(const Centers& moved, bool nonnegative, const Rises* line) {
    told = line && line->known();
    std::vector<double> largest(line_rises.size()), largest_slack(line_rises.size());
    for (std::size_t j = 0; j < rises.size(); ++j) {
      const double rise = moved.rise(static_cast<int>(j), nonnegative);
      const double slack = told ? std::min(rise, line->slack(static_cast<int>(j))) : rise;
      rises[j] += rise;
      falls[j] += moved.fall(static_cast<int>(j), nonnegative);
      rooms[j] = rise - slack;
      largest[j / kLineShorts] = std::max(largest[j / kLineShorts], rise);
      largest_slack[j / kLineShorts] = std::max(largest_slack[j / kLineShorts], slack);
    }
    for (std::size_t l = 0; l < largest.size(); ++l) {
      line_rises[l] += largest[l];
      line_rooms[l] = largest[l] - largest_slack[l];
    }
  }
};

// The same in the units of the bounds, once a pass. What is read is rounded outward, and so is what
// is stored.
class SieveDrift {
 public:
  static constexpr int kFineBits = 8;

  SieveDrift(const SieveMoves& moves, int n_lines)
      : lanes_(static_cast<std::size_t>(n_lines) * kLineShorts),
        lines_(static_cast<std::size_t>(n_lines)),
        own_(moves.falls.size()),
        told_(moves.told),
        rooms_(lanes_.now.size()),
        line_rooms_(lines_.now.size()) {
    for (std::size_t j = 0; j < moves.rises.size(); ++j) {
      lanes_.set(j, moves.rises[j] * kCosineUnits);
      own_.set(j, moves.falls[j] * kCosineUnits * (1 << kFineBits));
      rooms_[j] = static_cast<std::int16_t>(moves.rooms[j] * kCosineUnits);
    }
    for (std::size_t line = 0; line < lines_.now.size(); ++line) {
      lines_.set(line, moves.line_rises[line] * kCosineUnits);
      line_rooms_[line] = static_cast<std::int16_t>(moves.line_rooms[line] * kCosineUnits);
    }
  }

  // What can be taken back from upper bounds, less what the line of the rises tells for the row: of
  // the lanes of a line, of a line.
  bool told() const { return told_; }
  const std::int16_t* rooms(int line) const { return rooms_.data() + line * kLineShorts; }
  std::int16_t line_room(int line) const { return line_rooms_[static_cast<std::size_t>(line)]; }

  // What is to be added to stored upper bounds: of the lanes of a line, of a line.
  const std::int16_t* lanes_now(int line) const { return lanes_.now.data() + line * kLineShorts; }
  std::int16_t line_now(int line) const { return lines_.now[static_cast<std::size_t>(line)]; }
  // What is to be taken from upper bounds to be stored.
  const std::int32_t* lanes_then(int line) const { return lanes_.then.data() + line * kLineShorts; }
  std::int32_t line_then(int line) const { return lines_.then[static_cast<std::size_t>(line)]; }

  // From a stored lower bound to that of now and back.
  std::int32_t lower_now(std::int32_t stored, std::int32_t label) const {
    return wrapped(std::int64_t{stored} - own_.now[static_cast<std::size_t>(label)]);
  }
  std::int32_t lower_then(std::int32_t lower, std::int32_t label) const {
    return wrapped(std::int64_t{lower} + own_.then[static_cast<std::size_t>(label)]);
  }

  // A lower bound on a cosine in units, in 256ths of a unit, rounded down.
  static std::int32_t lower(float cosine) {
    return static_cast<std::int32_t>(cosine * (1 << kFineBits) - 2.0F);
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
  Moved<std::int16_t> lanes_;
  Moved<std::int16_t> lines_;
  Moved<std::int32_t> own_;
  bool told_;
  std::vector<std::int16_t> rooms_, line_rooms_;
};

}  // namespace arcmeans
