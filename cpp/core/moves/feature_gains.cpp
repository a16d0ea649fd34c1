#include "core/moves/feature_gains.hpp"

#include <algorithm>
#include <cmath>

#include "core/support/parallel.hpp"

namespace arcmeans {

struct FeatureGains::Telling {
  const SumChange* change = nullptr;
  const CenterMove* move = nullptr;
  bool in_full = false;

  bool replaced() const { return change && move->kind == CenterMove::Kind::replaced; }
  double ratio() const {
    if (replaced()) return 0.0;
    return !change || in_full ? 1.0 : move->scale / move->scale_before;
  }
  // Whether no change, nor the ratio, is too large.
  bool possible() const {
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
      sums_(index(centers.n_features())),
      used_(index(centers.n_features() / kBlock + 1)),
      ratios_(index(centers.size()), 1.0F) {}

void FeatureGains::moved(const Centers& centers, const SumChanges& changes, int n_threads) {
  std::vector<Telling> all(ratios_.size());
  for (std::size_t j = 0; j < all.size(); ++j) {
    const CenterMove& move = centers.last_move()[j];
    if (move.moved()) all[j] = {&changes[j], &move};
  }
  choose_in_full(all);
  known_ = !std::all_of(all.begin(), all.end(), [](const Telling& c) { return c.replaced(); });
  largest_ratio_ = 1.0F;
  for (std::size_t j = 0; j < all.size(); ++j) {
    known_ = known_ && all[j].possible();
    ratios_[j] = static_cast<float>(all[j].ratio());
    largest_ratio_ = std::max(largest_ratio_, ratios_[j]);
  }
  parallel_chunks(centers.n_features(), kBlock, n_threads,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    clear(begin, end);
                    if (known_) write(all, centers.sums(), begin, end);
                  });
}

// The centers with the largest ratios, as many as may be looked at.
void FeatureGains::choose_in_full(std::vector<Telling>& all) const {
  constexpr double kMuchShorter = 1.0 + 1.0 / 256.0;
  std::vector<Telling*> shorter;
  for (Telling& center : all) {
    if (center.change && center.ratio() > kMuchShorter) shorter.push_back(&center);
  }
  std::sort(shorter.begin(), shorter.end(),
            [](const Telling* a, const Telling* b) { return a->ratio() > b->ratio(); });
  const std::size_t most = index(most_read_) / std::max<std::size_t>(1, sums_.size());
  if (shorter.size() > most) shorter.resize(most);
  for (Telling* center : shorter) center->in_full = true;
}

void FeatureGains::clear(std::int64_t begin, std::int64_t end) {
  char& used = used_[index(begin / kBlock)];
  if (used) std::fill(sums_.data() + begin, sums_.data() + end, 0.0F);
  used = 0;
}

// Writes the sums of the features of a block.
void FeatureGains::write(const std::vector<Telling>& all, const SumVectors& sums,
                         std::int64_t begin, std::int64_t end) {
  std::vector<float> gains, losses;
  const auto meet = [&](std::int64_t feature, double change) {
    // Larger by far more than all rounding there is, that of a row's length included.
    const auto gain = static_cast<float>(change * (static_cast<double>(kUnits) * (1.0 + 0x1p-20)));
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
      // As if no sum had changed. Features whose sums changed are met again below; meeting them
      // here makes their gain and loss too large at worst.
      const double stretch = move->scale - move->scale_before;
      sums.each_of(
          center, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end),
          [&](std::int32_t f, std::int64_t sum) { meet(f, static_cast<double>(sum) * stretch); });
    }
    for (; at != last && *at < end; ++at) {
      const std::int64_t difference = change->values[index(at - features)];
      if (!in_full) {
        meet(*at, static_cast<double>(difference) * move->scale);
        continue;
      }
      const std::int64_t after = sums.value(center, *at);
      meet(*at, static_cast<double>(after) * move->scale -
                    static_cast<double>(after - difference) * move->scale_before);
    }
  }
  used_[index(begin / kBlock)] = !gains.empty();
  float* to = sums_.data() + begin;
  for (std::size_t f = 0; f < gains.size(); ++f) to[f] = gains[f] + losses[f];
}

}  // namespace arcmeans
