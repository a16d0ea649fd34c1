// What a move can have added to the cosines of a row, and taken from them: lines beside those of
// the centers.
//
// x·c′ − x·c = x·(c′ − c) is at most x·m for a row without negative values, where m is the largest
// of 0 and of c′ − c in each feature, over a group of centers (line_groups.hpp); and at least −x·m
// with the largest of c − c′ over that group or several. For rows of any sign |x|·m holds, with the
// largest of |c′ − c|. The lines hold m for all groups, rounded up to 16 bits. One visit to them
// says what *all* centers have gained and the own one has lost: on text far less than ‖c′ − c‖,
// since a row has few of the features in which a center has changed much.
//
// Features whose sum did not change changed by the center's scale alone, all by the same share of
// what they were. Where it is a small share ε they do not go into the lines, which then cost what
// the move costs. Without negative values they can have changed a cosine by ε of itself, the
// center's `stretch`; else by ε of their length, its `slack`. Rare features are treated likewise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/bounds/bounds.hpp"
#include "core/centers/centers.hpp"
#include "core/layouts/line_groups.hpp"
#include "core/layouts/line_sums.hpp"
#include "core/support/buffer.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

class Drifts final : public CenterWatcher {
 public:
  // The drifts of these centers from their next move on, for rows of any sign or for rows without
  // negative values; what holds for any rows holds for all.
  static const Drifts& of(Centers& centers, bool any_sign) {
    const auto* found = centers.find<Drifts>();
    if (found && (found->any_sign() || !any_sign)) return *found;
    return centers.attach(std::make_unique<Drifts>(centers.size(), centers.n_frequent(),
                                                   centers.n_features(), any_sign));
  }

  // With more features sums of products might not stay below 2³¹.
  static constexpr std::int32_t kMostFeatures = 1 << 27;
  // A slack that leaves nothing: a center of which the lines do not tell.
  static constexpr double kUnknown = 4.0;

  // What a move did to a center.
  struct Move {
    const SumChange* change = nullptr;     // null: nothing, or nothing that could be told
    bool replaced = false;                 // it is another vector now
    const std::int64_t* vector = nullptr;  // the frequent features' sums after it
    double before = 0.0, scale = 0.0;      // 1/‖sum‖ before and after it
    double largest = 0.0;                  // ‖(c′ − c)⁺‖ or ‖(c′ − c)⁻‖, or more
    // ‖sum‖ before it of the features whose sums are left alone or rare; of the rare ones.
    double untouched = 0.0, rare = 0.0;

    // By which share of what they were they grew, or shrank if it is negative.
    double share() const { return scale / before - 1.0; }
    // What that does at most.
    double slack(double length) const {
      return outward_chord(std::abs(scale - before) * length, 0);
    }
  };

  // What is not in the lines of what a center has gained or lost: a number, and a share of the
  // cosine.
  struct Beside {
    double slack = kUnknown;
    double stretch = 0.0;
  };

  Drifts(int n_centers, std::int32_t n_frequent, std::int32_t n_features, bool any_sign)
      : groups_(n_centers, false),
        any_sign_(any_sign),
        n_frequent_(n_frequent),
        line_size_(static_cast<std::size_t>(n_frequent) * kLineShorts),
        lanes_(line_size_ * static_cast<std::size_t>(together() ? 1 : 2 * groups_.n_bound_lines())),
        used_(static_cast<std::size_t>(n_frequent / kBlock + 1)),
        words_(static_cast<std::size_t>(n_frequent + 63) / 64),
        present_(words_ * static_cast<std::size_t>(n_centers)),
        listed_(static_cast<std::size_t>(n_centers)),
        rare_rise_(static_cast<std::size_t>(n_features - n_frequent)),
        rare_fall_(rare_rise_.size()),
        gained_(static_cast<std::size_t>(n_centers)),
        lost_(gained_) {}

  bool any_sign() const { return any_sign_; }
  // Whether the last move is known, and large enough to be told.
  bool known() const { return largest_ >= kSmallest; }
  // Whether gains and losses share one line. Then the losses are those of as many sets of groups as
  // there are lanes left: a row asks for one loss and for the gains of all.
  bool together() const { return groups_.count() < kLineShorts; }
  // The line with what some groups have gained, those of a line of bounds, in the same lanes; that
  // with what a group has lost, and its lane.
  const std::int16_t* gains(int bound_line) const {
    return lanes_.data() + static_cast<std::size_t>(bound_line) * line_size_;
  }
  const std::int16_t* losses(int bound_line) const {
    return gains(together() ? 0 : groups_.n_bound_lines() + bound_line);
  }
  int loss_lane(int group) const {
    return together() ? groups_.count() + group % (kLineShorts - groups_.count())
                      : group % kLineShorts;
  }

  // Makes units of the sums of products.
  float factor() const { return factor_; }
  // ‖m‖ of any group, or more.
  float length() const { return static_cast<float>(1.0001 * longest()); }
  // The most that any center has gained and lost in a rare feature.
  float rare_rise(std::int32_t feature) const {
    return rare_rise_[static_cast<std::size_t>(feature - n_frequent_)];
  }
  float rare_fall(std::int32_t feature) const {
    return rare_fall_[static_cast<std::size_t>(feature - n_frequent_)];
  }
  const Beside& gained(int j) const { return gained_[static_cast<std::size_t>(j)]; }
  const Beside& lost(int j) const { return lost_[static_cast<std::size_t>(j)]; }
  void placed(const Centers&, int center) override { forget(center); }

  void moved(const Centers& centers, const SumChanges& changes, int n_threads) override {
    std::vector<Move> moves(gained_.size());
    for (std::size_t j = 0; j < moves.size(); ++j) {
      const CenterMove& its = centers.last_move()[j];
      if (!its.moved()) continue;
      // Where sums below zero meet rows without, a share of the cosine says nothing.
      const bool replaced = its.kind == CenterMove::Kind::replaced || (its.negative && !any_sign_);
      const double largest = std::max(its.rise(!any_sign_), its.fall(!any_sign_));
      moves[j] = {
          &changes[j],          replaced,       centers.sums().frequent(static_cast<int>(j)),
          its.scale_before,     its.scale,      largest,
          its.length_untouched, its.length_rare};
    }
    follow(moves, n_threads);
  }

 private:
  void forget(int j) {
    gained_[static_cast<std::size_t>(j)] = lost_[static_cast<std::size_t>(j)] = Beside{};
  }

  void follow(const std::vector<Move>& moves, int n_threads) {
    largest_ = 0.0;
    for (std::size_t j = 0; j < moves.size(); ++j) {
      const Move& move = moves[j];
      forget(static_cast<int>(j));
      if (!tells(move)) continue;
      gained_[j] = beside(move, move.share());
      lost_[j] = beside(move, -move.share());
      largest_ = std::max(largest_, move.largest);
    }
    const double steps = kLongest / longest();
    factor_ = static_cast<float>(kCosineUnits / (kUnitRow * steps) * (1.0 + 0x1p-20));
    parallel_chunks(n_frequent_, kBlock, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      clear(begin, end);
      for (std::size_t j = 0; j < moves.size(); ++j) {
        if (moves[j].change) follow(static_cast<int>(j), moves[j], steps, begin, end);
      }
    });
    for (std::size_t j = 0; j < moves.size(); ++j) {
      if (moves[j].change) listed_[j] |= moves[j].replaced || in_full(moves[j]);
    }
    write_rare(moves);
  }

  static constexpr double kSmallest = 1e-6;
  // Up to which features whose sum did not change stay out of the lines.
  static constexpr double kSmallShare = 0.02;
  // The length of a group in the lines. A sum of products is at most (kUnitRow + ½√n)·(that + √n).
  static constexpr double kLongest = 30000.0;
  // Features at a time: their lanes stay in the second cache while all centers write theirs.
  static constexpr std::int32_t kBlock = 2048;

  // ‖m‖ of the centers of a lane, or more.
  double longest() const {
    const int left = kLineShorts - groups_.count();
    const int sets = together() ? (groups_.count() + left - 1) / left : 1;
    return std::sqrt(static_cast<double>(sets * groups_.size())) * largest_;
  }
  std::int16_t* lane(const std::int16_t* line, int lane) {
    return lanes_.data() + (line - lanes_.data()) + line_position(lane, kLineShorts);
  }

  static bool tells(const Move& move) { return move.change && !move.replaced; }
  // Whether all features of a center go into the lines.
  static bool in_full(const Move& move) {
    return tells(move) && std::abs(move.share()) > kSmallShare;
  }

  Beside beside(const Move& move, double share) const {
    const bool all = in_full(move);
    if (any_sign_) return {move.slack(all ? move.rare : move.untouched), 0.0};
    if (share <= 0.0) return {0.0, 0.0};
    return all ? Beside{move.slack(move.rare), 0.0} : Beside{0.0, share * (1.0 + 0x1p-40)};
  }

  void clear(std::int64_t begin, std::int64_t end) {
    char& used = used_[static_cast<std::size_t>(begin / kBlock)];
    for (std::size_t line = 0; used && line < lanes_.size(); line += line_size_) {
      std::fill_n(lanes_.data() + line + begin * kLineShorts, (end - begin) * kLineShorts,
                  std::int16_t{0});
    }
    used = 0;
  }

  // What a center has gained and lost in some of the features: in all that it has, or in those
  // whose sum changed.
  void follow(int j, const Move& move, double steps, std::int64_t begin, std::int64_t end) {
    const int group = groups_.of(j);
    const int line = group / kLineShorts;
    std::int16_t* gained = lane(gains(line), group % kLineShorts);
    std::int16_t* lost = lane(losses(line), loss_lane(group));
    const bool tell = tells(move) && known();
    const auto raise = [&](std::int64_t feature, double change) {
      // A step more than it is, which is far more than its rounding.
      const double size = change == 0.0 ? 0.0 : std::abs(change) * steps + 1.0;
      const auto most = [&](std::int16_t* lanes) {
        std::int16_t& number = lanes[feature * kLineShorts];
        number = std::max(number, static_cast<std::int16_t>(size));
      };
      // Without a branch by the sign, which would be mispredicted too often.
      most(change > 0.0 ? gained : lost);
      if (any_sign_) most(change > 0.0 ? lost : gained);
    };

    std::uint64_t* present = present_.data() + static_cast<std::size_t>(j) * words_;
    const std::int64_t first = begin / 64, last = (end + 63) / 64;
    if (move.replaced) std::fill(present + first, present + last, 0);
    if (in_full(move) && !listed_[static_cast<std::size_t>(j)]) {
      for (std::int64_t f = begin; f < end; ++f) {
        present[f / 64] |= std::uint64_t{move.vector[f] != 0} << (f % 64);
      }
    }
    std::uint64_t left[kBlock / 64];  // those whose sum did not change
    std::copy(present + first, present + last, left);

    const std::int32_t* features = move.change->features.data();
    const auto* end_of_change = features + move.change->size();
    const auto* at = std::lower_bound(features, end_of_change, static_cast<std::int32_t>(begin));
    if (in_full(move) || (tell && at != end_of_change && *at < end)) {
      used_[static_cast<std::size_t>(begin / kBlock)] = 1;
    }
    for (; at != end_of_change && *at < end; ++at) {
      present[*at / 64] |= std::uint64_t{1} << (*at % 64);
      left[*at / 64 - first] &= ~(std::uint64_t{1} << (*at % 64));
      if (!tell) continue;
      const std::int64_t now = move.vector[*at];
      const std::int64_t before =
          now - move.change->values[static_cast<std::size_t>(at - features)];
      raise(*at, static_cast<double>(now) * move.scale - static_cast<double>(before) * move.before);
    }
    if (!tell || !in_full(move)) return;
    for (std::int64_t w = first; w < last; ++w) {
      for (std::uint64_t bits = left[w - first]; bits != 0; bits &= bits - 1) {
        const std::int64_t feature = 64 * w + __builtin_ctzll(bits);
        raise(feature, static_cast<double>(move.vector[feature]) * (move.scale - move.before));
      }
    }
  }

  // What the scale does to them is in the slack or the share, so only the change of the sum counts.
  void write_rare(const std::vector<Move>& moves) {
    for (const std::int32_t feature : rare_used_) {
      const auto f = static_cast<std::size_t>(feature - n_frequent_);
      rare_rise_[f] = rare_fall_[f] = 0.0F;
    }
    rare_used_.clear();
    for (const Move& move : moves) {
      if (!tells(move)) continue;
      for (std::size_t e = move.change->size(); e-- > 0;) {
        const std::int32_t feature = move.change->features[e];
        if (feature < n_frequent_) break;
        const auto f = static_cast<std::size_t>(feature - n_frequent_);
        const auto gained = static_cast<float>(static_cast<double>(move.change->values[e]) *
                                               move.scale * (1.0 + 0x1p-20));
        const float size = std::abs(gained);
        if (gained > 0.0F || any_sign_) rare_rise_[f] = std::max(rare_rise_[f], size);
        if (gained < 0.0F || any_sign_) rare_fall_[f] = std::max(rare_fall_[f], size);
        rare_used_.push_back(feature);
      }
    }
  }

  LineGroups groups_;
  bool any_sign_;
  std::int32_t n_frequent_;
  std::size_t line_size_;
  double largest_ = 0.0;  // the largest rise or fall
  float factor_ = 0.0F;
  Buffer<std::int16_t> lanes_;  // [line][feature][lane]
  std::vector<char> used_;      // by block: it holds anything
  // By center, a bit for each frequent feature that it has, or has had; and whether all are there.
  std::size_t words_;
  Buffer<std::uint64_t> present_;
  std::vector<char> listed_;
  std::vector<float> rare_rise_, rare_fall_;
  std::vector<std::int32_t> rare_used_;
  std::vector<Beside> gained_, lost_;
};

}  // namespace arcmeans
