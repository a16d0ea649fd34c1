// What the last move can have added to the similarity of a row to a center, and taken from it,
// feature by feature, over all centers.
//
// A center is a sum times a scale, and a move makes sum + Δ and s′ of sum and s. So
//
//   x·c′ = (s′/s)·(x·c) + Σ x(f)·s′·Δ(f),
//
// and with the largest of s′·Δ(f) and the largest of −s′·Δ(f) over all centers, a walk over the
// row's entries tells by how much any center can have come closer to the row than another, but for
// the ratios s′/s. Features whose sum did not change cost nothing and add nothing.
//
// The largest ratio counts for all rows. So a center that has become much shorter, as one that lost
// half of its rows, is told in full: with the ratio 1 and c′ − c in place of s′·Δ, in all of its
// features. One that is another vector now has the ratio 0: it is its change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/centers/centers.hpp"
#include "core/support/buffer.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

class FeatureChanges final : public CenterWatcher {
 public:
  // The changes of these centers by feature from their next move on. `most_read` says how many
  // features of centers may be looked at, to tell some in full.
  static const FeatureChanges& of(Centers& centers, std::int64_t most_read) {
    if (const auto* found = centers.find<FeatureChanges>()) return *found;
    return centers.attach(
        std::make_unique<FeatureChanges>(centers.size(), centers.n_features(), most_read));
  }

  // Changes are in 2⁻²¹ of a similarity for a value of 1.
  static constexpr float kUnits = 0x1p21F;
  // Rows with more entries may have changed by more than 31 bits can tell: they are as long as
  // √entries by the sum of their values, and no gain or loss is above kMost.
  static constexpr std::int64_t kMostEntries = 1 << 13;
  static constexpr double kMost = 2.0;

  // What a move did to a center.
  struct Move {
    const SumChange* change = nullptr;  // null: nothing
    bool replaced = false;              // it is another vector now
    double before = 0.0, scale = 0.0;   // 1/‖sum‖ before and after it
    bool in_full = false;

    double ratio() const {
      if (replaced) return 0.0;
      return !change || in_full ? 1.0 : scale / before;
    }
  };

  FeatureChanges(int n_centers, std::int32_t n_features, std::int64_t most_read)
      : most_read_(most_read),
        changes_(static_cast<std::size_t>(n_features)),
        used_(static_cast<std::size_t>(n_features / kBlock + 1)),
        ratios_(static_cast<std::size_t>(n_centers), 1.0F) {}

  // Whether there was a move, and nothing in it that cannot be told.
  bool known() const { return known_; }
  // By feature: the most that one center has gained and another lost, together; not below zero.
  const float* data() const { return changes_.data(); }
  // The ratio of each center, to the precision of a float, and the largest.
  const float* ratios() const { return ratios_.data(); }
  float most() const { return most_; }

  void placed(const Centers&, int) override { known_ = false; }

  void moved(const Centers& centers, const SumChanges& changes, int n_threads) override {
    std::vector<Move> moves(ratios_.size());
    for (std::size_t j = 0; j < moves.size(); ++j) {
      const CenterMove& its = centers.last_move()[j];
      if (!its.moved()) continue;
      moves[j] = {&changes[j], its.kind == CenterMove::Kind::replaced, its.scale_before, its.scale};
    }
    choose_in_full(moves);
    const auto another = [](const Move& move) { return move.replaced; };
    known_ = !std::all_of(moves.begin(), moves.end(), another);
    most_ = 1.0F;
    for (std::size_t j = 0; j < moves.size(); ++j) {
      known_ = known_ && tellable(moves[j]);
      ratios_[j] = static_cast<float>(moves[j].ratio());
      most_ = std::max(most_, ratios_[j]);
    }
    parallel_chunks(static_cast<std::int64_t>(changes_.size()), kBlock, n_threads,
                    [&](int, std::int64_t begin, std::int64_t end) {
                      clear(begin, end);
                      if (known_) follow(moves, centers.sums(), begin, end);
                    });
  }

 private:
  static constexpr std::int32_t kBlock = 8192;

  // A ratio that is worth it.
  static constexpr double kMuchShorter = 1.0 + 1.0 / 256.0;

  // Those with the largest ratios, as many as may be looked at.
  void choose_in_full(std::vector<Move>& moves) const {
    std::vector<Move*> shorter;
    for (Move& move : moves) {
      if (move.change && move.ratio() > kMuchShorter) shorter.push_back(&move);
    }
    std::sort(shorter.begin(), shorter.end(),
              [](const Move* a, const Move* b) { return a->ratio() > b->ratio(); });
    const std::size_t most =
        static_cast<std::size_t>(most_read_) / std::max<std::size_t>(1, changes_.size());
    if (shorter.size() > most) shorter.resize(most);
    for (Move* move : shorter) move->in_full = true;
  }

  static bool tellable(const Move& move) {
    if (!move.change || move.replaced || move.in_full) return true;
    const auto* first = move.change->values.data();
    return std::all_of(first, first + move.change->size(),
                       [&](std::int64_t value) {
                         return std::abs(static_cast<double>(value)) * move.scale < kMost;
                       }) &&
           move.scale < kMost * move.before;
  }

  void clear(std::int64_t begin, std::int64_t end) {
    char& used = used_[static_cast<std::size_t>(begin / kBlock)];
    if (used) std::fill(changes_.data() + begin, changes_.data() + end, 0.0F);
    used = 0;
  }

  // The changes of some features.
  void follow(const std::vector<Move>& moves, const SumVectors& sums, std::int64_t begin,
              std::int64_t end) {
    std::vector<float> gains, losses;
    for (std::size_t j = 0; j < moves.size(); ++j) {
      const Move& move = moves[j];
      const auto center = static_cast<int>(j);
      if (!move.change) continue;
      const std::int32_t* features = move.change->features.data();
      const auto* last = features + move.change->size();
      const auto* at = std::lower_bound(features, last, static_cast<std::int32_t>(begin));
      if (!move.in_full && (at == last || *at >= end)) continue;
      gains.resize(static_cast<std::size_t>(end - begin));
      losses.resize(gains.size());
      const auto add = [&](std::int64_t feature, double change) {
        // Larger by far more than all rounding there is, that of a row's length included.
        const auto size =
            static_cast<float>(change * (static_cast<double>(kUnits) * (1.0 + 0x1p-20)));
        const auto f = static_cast<std::size_t>(feature - begin);
        gains[f] = std::max(gains[f], size);
        losses[f] = std::max(losses[f], -size);
      };
      if (move.in_full) {
        // As if no sum had changed; what that says of those that have, below, is too much at worst.
        sums.each_of(center, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end),
                     [&](std::int32_t f, std::int64_t sum) {
                       add(f, static_cast<double>(sum) * (move.scale - move.before));
                     });
      }
      for (; at != last && *at < end; ++at) {
        const std::int64_t change = move.change->values[static_cast<std::size_t>(at - features)];
        if (!move.in_full) {
          add(*at, static_cast<double>(change) * move.scale);
          continue;
        }
        const std::int64_t after = sums.value(center, *at);
        add(*at, static_cast<double>(after) * move.scale -
                     static_cast<double>(after - change) * move.before);
      }
    }
    used_[static_cast<std::size_t>(begin / kBlock)] = !gains.empty();
    float* changes = changes_.data() + begin;
    for (std::size_t f = 0; f < gains.size(); ++f) changes[f] = gains[f] + losses[f];
  }

  std::int64_t most_read_;
  Buffer<float> changes_;   // by feature
  std::vector<char> used_;  // by block of features: it holds anything
  std::vector<float> ratios_;
  float most_ = 1.0F;
  bool known_ = false;
};

}  // namespace arcmeans
