// What a move can have added to the cosines of a row: a line beside those of the centers.
//
// x·c′ − x·c = x·(c′ − c) is at most x·m for a row without negative values, where m is the largest
// of 0 and of c′ − c in each feature, over a group of centers. The line holds m for 32 groups,
// rounded up to 16 bits: center j is in group j mod 32, lane by lane as in the lines. One visit to
// it bounds what *all* centers have gained: on text by an eighth of ‖(c′ − c)⁺‖ for 200 centers.
//
// Features whose sum did not change changed by the center's scale alone. What that adds is the
// center's `slack`; only where that is much do they go into the line too. So the line costs what
// the move costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bounds.hpp"
#include "buffer.hpp"
#include "filter_lines.hpp"
#include "parallel.hpp"
#include "sums.hpp"

namespace arcmeans {

class Rises {
 public:
  // With more features sums of products might not stay below 2³¹.
  static constexpr std::int32_t kMostFeatures = 1 << 27;
  // A slack that leaves nothing: a center of which the line does not tell.
  static constexpr double kUnknown = 4.0;

  // What a move did to a center that is still the sum of its rows.
  struct Move {
    const SumChange* change = nullptr;     // null: it did not move, or is another one now
    const std::int64_t* vector = nullptr;  // the frequent features' sums after it
    double before = 0.0, scale = 0.0;      // 1/‖sum‖ before and after it
    double rise = 0.0;                     // ‖(c′ − c)⁺‖
    // The same of the frequent features whose sum did not change, and of all rare ones as far as
    // they changed by the scale.
    double slack = kUnknown;
    double rare_slack = kUnknown;  // that of the rare ones alone
  };

  Rises(int n_centers, std::int32_t n_frequent, std::int32_t n_features)
      : n_frequent_(n_frequent),
        group_size_((n_centers + kLineShorts - 1) / kLineShorts),
        lanes_(static_cast<std::size_t>(n_frequent) * kLineShorts),
        used_(static_cast<std::size_t>(n_frequent / kBlock + 1)),
        rare_(static_cast<std::size_t>(n_features - n_frequent)),
        slack_(static_cast<std::size_t>(n_centers), kUnknown) {}

  // Whether the last move is known, and large enough to be told.
  bool known() const { return largest_ >= kSmallest; }
  const std::int16_t* lanes() const { return lanes_.data(); }
  // Makes units of the sums of products.
  float factor() const { return factor_; }
  // ‖m‖ of any group, or more.
  float length() const { return static_cast<float>(1.0001 * longest()); }
  // The largest rise of any center in a rare feature.
  float rare(std::int32_t feature) const {
    return rare_[static_cast<std::size_t>(feature - n_frequent_)];
  }
  double slack(int j) const { return slack_[static_cast<std::size_t>(j)]; }
  void forget(int j) { slack_[static_cast<std::size_t>(j)] = kUnknown; }

  // Takes the next move.
  void follow(const std::vector<Move>& moves, int n_threads) {
    largest_ = 0.0;
    for (std::size_t j = 0; j < moves.size(); ++j) {
      slack_[j] = in_full(moves[j]) ? moves[j].rare_slack : moves[j].slack;
      if (moves[j].change) largest_ = std::max(largest_, moves[j].rise);
    }
    const double steps = kLongest / longest();
    factor_ = static_cast<float>(kCosineUnits / (kUnitRow * steps) * (1.0 + 0x1p-20));
    parallel_chunks(n_frequent_, kBlock, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      const auto block = static_cast<std::size_t>(begin / kBlock);
      std::int16_t* lanes = lanes_.data() + begin * kLineShorts;
      if (used_[block]) std::fill_n(lanes, (end - begin) * kLineShorts, std::int16_t{0});
      used_[block] = 0;
      if (!known()) return;
      Block write{static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end), lanes, steps,
                  std::vector<double>(static_cast<std::size_t>(end - begin))};
      for (std::size_t j = 0; j < moves.size(); ++j) {
        if (moves[j].change && write.center(moves[j], static_cast<int>(j % kLineShorts))) {
          used_[block] = 1;
        }
      }
    });
    write_rare(moves);
  }

 private:
  static constexpr double kSmallest = 1e-6;
  // The length of a group in the line. A sum of products is at most (kUnitRow + ½√n)·(that + √n).
  static constexpr double kLongest = 30000.0;
  // Features at a time: their lanes stay in the second cache while all centers write theirs.
  static constexpr std::int32_t kBlock = 8192;

  double longest() const { return std::sqrt(static_cast<double>(group_size_)) * largest_; }

  // Whether all features of a center go into the line.
  static bool in_full(const Move& move) { return move.change && move.slack > 0.004; }

  // Some of the features.
  struct Block {
    std::int32_t begin, end;
    std::int16_t* lanes;
    double steps;
    std::vector<double> gained;

    // Writes what a center has gained; true if there may be anything.
    bool center(const Move& move, int lane) {
      const std::int32_t* features = move.change->features.data();
      const auto* last = features + move.change->size;
      const auto* at = std::lower_bound(features, last, begin);
      const std::int64_t* value = move.change->values.data() + (at - features);
      std::int16_t* first = lanes + line_position(lane);
      const auto touched = [&](const auto& use) {
        for (; at != last && *at < end; ++at, ++value) {
          const std::int64_t now = move.vector[*at];
          use(*at - begin, static_cast<double>(now) * move.scale -
                               static_cast<double>(now - *value) * move.before);
        }
      };
      if (in_full(move)) {
        for (std::int32_t f = 0; f < end - begin; ++f) {
          gained[static_cast<std::size_t>(f)] =
              static_cast<double>(move.vector[begin + f]) * (move.scale - move.before);
        }
        touched([&](std::int32_t f, double gain) { gained[static_cast<std::size_t>(f)] = gain; });
        for (std::int32_t f = 0; f < end - begin; ++f) {
          raise(first, f, gained[static_cast<std::size_t>(f)]);
        }
        return true;
      }
      const bool any = at != last && *at < end;
      touched([&](std::int32_t f, double gain) { raise(first, f, gain); });
      return any;
    }

    // To at least what was gained, but for the rounding of its two products, 2⁻⁵¹.
    void raise(std::int16_t* first, std::int32_t f, double gain) const {
      if (gain <= 0.0) return;
      std::int16_t& most = first[std::int64_t{f} * kLineShorts];
      most = std::max(most, static_cast<std::int16_t>(gain * steps + 1.0));
    }
  };

  // What the scale does to them is in the slack, so only the change of the sum counts.
  void write_rare(const std::vector<Move>& moves) {
    for (const std::int32_t feature : rare_used_) {
      rare_[static_cast<std::size_t>(feature - n_frequent_)] = 0.0F;
    }
    rare_used_.clear();
    for (const Move& move : moves) {
      if (!move.change) continue;
      for (std::size_t e = move.change->size; e-- > 0;) {
        const std::int32_t feature = move.change->features[e];
        if (feature < n_frequent_) break;
        const double gained = static_cast<double>(move.change->values[e]) * move.scale;
        if (gained <= 0.0) continue;
        float& most = rare_[static_cast<std::size_t>(feature - n_frequent_)];
        most = std::max(most, static_cast<float>(gained * (1.0 + 0x1p-20)));
        rare_used_.push_back(feature);
      }
    }
  }

  std::int32_t n_frequent_;
  int group_size_;
  double largest_ = 0.0;  // the largest rise
  float factor_ = 0.0F;
  Buffer<std::int16_t> lanes_;  // [feature][group]
  std::vector<char> used_;      // by block: it holds anything
  std::vector<float> rare_;
  std::vector<std::int32_t> rare_used_;
  std::vector<double> slack_;
};

}  // namespace arcmeans
