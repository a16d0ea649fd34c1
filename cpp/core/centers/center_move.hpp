// What one move did to one center. Everything that follows the centers, layouts and bounds, learns
// of a move from this record and from the sum change that made it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/bounds/bounds.hpp"

namespace arcmeans {

struct CenterMove {
  enum class Kind : char {
    stayed,    // no row came or went, or no direction is left: the center is what it was
    changed,   // the sum change was added to the center's sum
    replaced,  // the sum change, which is a whole sum, took the place of a detached center's vector
    placed,    // the center was placed since the last move of all centers
  };
  // The most that ‖c′ − c‖ can be.
  static constexpr double kFarthest = 2.0;

  Kind kind = Kind::stayed;
  // 1/‖sum‖ before and after the move, of a center that changed or was replaced by a move.
  double scale_before = 0.0;
  double scale = 0.0;
  double chord = 0.0;     // ‖c′ − c‖ as computed
  double farthest = 0.0;  // ‖c′ − c‖ rounded up
  // ‖(c′ − c)⁺‖ and ‖(c′ − c)⁻‖ rounded up: the most that the product of the center with a unit
  // vector without negative values can have grown and shrunk by.
  double rise_nonnegative = 0.0;
  double fall_nonnegative = 0.0;
  // Of a center that changed: the length of its old sum in the features whose sums did not change
  // or that are rare, and in the rare features alone.
  double length_unchanged_or_rare = 0.0;
  double length_rare = 0.0;
  bool negative = false;  // a sum of this center is below zero, or was

  // The center is another than before.
  bool moved() const { return kind != Kind::stayed; }

  // The most that the product of the center with a unit vector can have grown, and shrunk by; with
  // `nonnegative`, with a unit vector without negative values.
  double rise(bool nonnegative) const { return nonnegative ? rise_nonnegative : farthest; }
  double fall(bool nonnegative) const { return nonnegative ? fall_nonnegative : farthest; }

  // Of a center that changed: a feature whose sum did not change grew by this share of what it was.
  double growth() const { return scale / scale_before - 1.0; }

  Turn turn() const { return turn_of(farthest); }

  // Records a center that changed: ‖(c′ − c)⁺‖ and ‖(c′ − c)⁻‖, each computed from so many terms.
  void changed_by(double grown, double shrunk, std::int64_t terms) {
    kind = Kind::changed;
    went(std::sqrt(grown * grown + shrunk * shrunk), 0.0, terms);
    if (negative) return;
    rise_nonnegative = outward_chord(grown, terms);
    fall_nonnegative = outward_chord(shrunk, terms);
  }

  // Records a center that was replaced: ‖c′ − c‖, and what it may have lost by rounding beside that
  // of its terms.
  void replaced_at(double distance, double lost, std::int64_t terms) {
    kind = Kind::replaced;
    went(distance, lost, terms);
  }

 private:
  void went(double distance, double lost, std::int64_t terms) {
    chord = std::min(kFarthest, distance);
    farthest = std::min(kFarthest, outward_chord(distance + lost, terms));
    rise_nonnegative = fall_nonnegative = farthest;
  }
};

// A center that was placed: where it was before is not known.
inline CenterMove placed_anew() {
  CenterMove move;
  move.kind = CenterMove::Kind::placed;
  move.farthest = move.rise_nonnegative = move.fall_nonnegative = CenterMove::kFarthest;
  return move;
}

}  // namespace arcmeans
