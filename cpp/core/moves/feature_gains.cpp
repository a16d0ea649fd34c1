#include "core/moves/feature_gains.hpp"

#include <algorithm>
#include <cmath>

#include "core/support/parallel.hpp"

namespace arcmeans {

struct FeatureGains::MovedCenter {
  const SumChange* change = nullptr;  // null where it stayed
  const CenterMove* move = nullptr;
  bool in_full = false;

  bool replaced() const { return change && move->kind == CenterMove::Kind::replaced; }
  // What the cosine is multiplied by in the move, beside what the gains and losses tell.
  double ratio() const {
    if (replaced()) return 0.0;
    return !change || in_full ? 1.0 : move->scale / move->scale_before;
  }
  // Whether neither a gain or loss nor the ratio is too large.
  bool can_be_told() const {
    if (!change || replaced() || in_full) return true;
    return std::all_of(change->values.begin(), change->values.end(),
                       [&](std::int64_t value) {
                         return std::abs(static_cast<double>(value)) * move->scale < kMost;
                       }) &&
           move->scale < kMost * move->scale_before;
  }
};

const FeatureGains& FeatureGains::of(Centers& centers, std::int64_t most_read) {
  if (const auto* found = centers.find<FeatureGains>()) return *found;
  return centers.attach(std::make_unique<FeatureGains>(centers, most_read));
}

FeatureGains::FeatureGains(const Centers& centers, std::int64_t most_read)
    : most_read_(most_read),
      gains_plus_losses_(index(centers.n_features())),
      written_(index(centers.n_features() / kRange + 1)),
      ratios_(index(centers.size()), 1.0F) {}

void FeatureGains::moved(const Centers& centers, const SumChanges& changes, int n_threads) {
  std::vector<MovedCenter> all(ratios_.size());
  for (std::size_t j = 0; j < all.size(); ++j) {
    const CenterMove& move = centers.last_move()[j];
    if (move.moved()) all[j] = {&changes[j], &move};
  }
  choose_in_full(all);
  known_ = !std::all_of(all.begin(), all.end(), [](const MovedCenter& c) { return c.replaced(); });
  largest_ratio_ = 1.0F;
  for (std::size_t j = 0; j < all.size(); ++j) {
    known_ = known_ && all[j].can_be_told();
    ratios_[j] = static_cast<float>(all[j].ratio());
    largest_ratio_ = std::max(largest_ratio_, ratios_[j]);
  }
  parallel_chunks(centers.n_features(), kRange, n_threads,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    clear(begin, end);
                    if (known_) write(all, centers.sums(), begin, end);
                  });
}

// The centers with the largest ratios, as many as `most_read_` allows.
void FeatureGains::choose_in_full(std::vector<MovedCenter>& all) const {
  constexpr double kLargeRatio = 1.0 + 1.0 / 256.0;
  std::vector<MovedCenter*> chosen;
  for (MovedCenter& center : all) {
    if (center.change && center.ratio() > kLargeRatio) chosen.push_back(&center);
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const MovedCenter* a, const MovedCenter* b) { return a->ratio() > b->ratio(); });
  const std::size_t most = index(most_read_) / std::max<std::size_t>(1, gains_plus_losses_.size());
  if (chosen.size() > most) chosen.resize(most);
  for (MovedCenter* center : chosen) center->in_full = true;
}

void FeatureGains::clear(std::int64_t begin, std::int64_t end) {
  char& written = written_[index(begin / kRange)];
  if (written) {
    std::fill(gains_plus_losses_.data() + begin, gains_plus_losses_.data() + end, 0.0F);
  }
  written = 0;
}

// Writes gain + loss of a range of features.
void FeatureGains::write(const std::vector<MovedCenter>& all, const SumVectors& sums,
                         std::int64_t begin, std::int64_t end) {
  std::vector<float> gains, losses;
  const auto raise = [&](std::int64_t feature, double change) {
    // 2⁻²⁰ more, which is more than all rounding, that of the length of a row included.
    const auto gain =
        static_cast<float>(change * (static_cast<double>(kCountsPerCosine) * (1.0 + 0x1p-20)));
    const std::size_t f = index(feature - begin);
    gains[f] = std::max(gains[f], gain);
    losses[f] = std::max(losses[f], -gain);
  };
  for (std::size_t j = 0; j < all.size(); ++j) {
    const auto& [change, move, in_full] = all[j];
    if (!change) continue;
    const std::int32_t* features = change->features.data();
    const auto* last = features + change->size();
    const auto* at = std::lower_bound(features, last, static_cast<std::int32_t>(begin));
    if (!in_full && (at == last || *at >= end)) continue;
    gains.resize(index(end - begin));
    losses.resize(gains.size());
    const auto center = static_cast<int>(j);
    if (in_full) {
      // As if no sum had changed. A feature whose sum changed comes again below; here it makes gain
      // and loss too large at worst.
      const double scale_change = move->scale - move->scale_before;
      sums.each_of(center, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end),
                   [&](std::int32_t f, std::int64_t sum) {
                     raise(f, static_cast<double>(sum) * scale_change);
                   });
    }
    for (; at != last && *at < end; ++at) {
      const std::int64_t difference = change->values[index(at - features)];
      if (!in_full) {
        raise(*at, static_cast<double>(difference) * move->scale);
        continue;
      }
      const std::int64_t after = sums.value(center, *at);
      raise(*at, static_cast<double>(after) * move->scale -
                     static_cast<double>(after - difference) * move->scale_before);
    }
  }
  written_[index(begin / kRange)] = !gains.empty();
  float* to = gains_plus_losses_.data() + begin;
  for (std::size_t f = 0; f < gains.size(); ++f) to[f] = gains[f] + losses[f];
}

}  // namespace arcmeans
