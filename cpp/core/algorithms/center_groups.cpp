#include "core/algorithms/center_groups.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/support/parallel.hpp"

namespace arcmeans {

namespace {

constexpr int kLeastForStrips = 4;

}  // namespace

CenterGroups::CenterGroups(const std::int32_t* group_of, int n_centers, int n_groups,
                           std::int32_t n_features)
    : group_of_(group_of, group_of + n_centers),
      member_number_(group_of_.size()),
      starts_(index(n_groups) + 1),
      members_(index(n_centers)),
      strip_floats_(arcmeans::strip_floats(n_features)),
      first_strip_(index(n_groups), -1),
      moved_(index(n_groups)),
      moved_up_(index(n_groups)) {
  for (const std::int32_t g : group_of_) {
    if (g < 0 || g >= n_groups) throw std::invalid_argument("a center is in a group that is not");
    ++starts_[index(g) + 1];
  }
  for (std::size_t g = 1; g < starts_.size(); ++g) starts_[g] += starts_[g - 1];
  std::vector<int> next(starts_.begin(), starts_.end() - 1);
  for (int j = 0; j < n_centers; ++j) {
    const auto g = index(group_of_[index(j)]);
    member_number_[index(j)] = next[g] - starts_[g];
    members_[index(next[g]++)] = j;
  }
  std::int64_t n_strips = 0;
  for (int g = 0; g < n_groups; ++g) {
    if (count(g) < kLeastForStrips) continue;
    first_strip_[index(g)] = n_strips;
    n_strips += (count(g) + kCacheLineFloats - 1) / kCacheLineFloats;
  }
  strips_ = Buffer<float>(index(n_strips * strip_floats_));
  for (std::int64_t l = 0; l < n_strips; ++l) {
    clear_strip(strips_.data() + l * strip_floats_, n_features);
  }
}

void CenterGroups::update(const Centers& centers, const TurnAngles& turns, int n_threads) {
  parallel_chunks(size(), 1, n_threads, [&](int, std::int64_t at, std::int64_t) {
    const int g = static_cast<int>(at);
    double largest_turn = 0.0;
    for (int m = 0; m < count(g); ++m) {
      const int j = begin(g)[m];
      // There is no bound yet on where a placed center was before.
      if (centers.last_move(j).kind != CenterMove::Kind::placed) {
        largest_turn = std::max(largest_turn, turns[j]);
      }
    }
    moved_[index(g)] = moved_further(moved(g), largest_turn);
    moved_up_[index(g)] = moved_by(moved(g));
    copy_to_strips(centers, g);
  });
  fresh_ = false;
}

void CenterGroups::copy_to_strips(const Centers& centers, int g) {
  if (!strips(g)) return;
  for (int m = 0; m < count(g); ++m) {
    const int j = begin(g)[m];
    if (!fresh_ && !centers.last_move(j).moved()) continue;
    put_in_strip(strip(g, m), m % kCacheLineFloats, centers, j);
  }
}

}  // namespace arcmeans
