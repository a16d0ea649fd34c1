#include "core/algorithms/center_groups.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/support/parallel.hpp"

namespace arcmeans {

namespace {

constexpr int kLeastForLines = 4;

}  // namespace

CenterGroups::CenterGroups(const std::int32_t* group_of, int n_centers, int n_groups,
                           std::int32_t n_features)
    : group_of_(group_of, group_of + n_centers),
      place_(group_of_.size()),
      starts_(static_cast<std::size_t>(n_groups) + 1),
      members_(static_cast<std::size_t>(n_centers)),
      line_floats_(arcmeans::line_floats(n_features)),
      first_line_(static_cast<std::size_t>(n_groups), -1),
      moved_(static_cast<std::size_t>(n_groups)),
      moved_up_(static_cast<std::size_t>(n_groups)) {
  for (const std::int32_t g : group_of_) {
    if (g < 0 || g >= n_groups) throw std::invalid_argument("a center is in a group that is not");
    ++starts_[static_cast<std::size_t>(g) + 1];
  }
  for (std::size_t g = 1; g < starts_.size(); ++g) starts_[g] += starts_[g - 1];
  std::vector<int> next(starts_.begin(), starts_.end() - 1);
  for (int j = 0; j < n_centers; ++j) {
    const auto g = static_cast<std::size_t>(group_of_[static_cast<std::size_t>(j)]);
    place_[static_cast<std::size_t>(j)] = next[g] - starts_[g];
    members_[static_cast<std::size_t>(next[g]++)] = j;
  }
  std::int64_t n_lines = 0;
  for (int g = 0; g < n_groups; ++g) {
    if (count(g) < kLeastForLines) continue;
    first_line_[static_cast<std::size_t>(g)] = n_lines;
    n_lines += (count(g) + kLineFloats - 1) / kLineFloats;
  }
  lines_ = Buffer<float>(static_cast<std::size_t>(n_lines * line_floats_));
  for (std::int64_t l = 0; l < n_lines; ++l) {
    clear_line(lines_.data() + l * line_floats_, n_features);
  }
}

void CenterGroups::update(const Centers& centers, const TurnAngles& turns, int n_threads) {
  parallel_chunks(size(), 1, n_threads, [&](int, std::int64_t at, std::int64_t) {
    const int g = static_cast<int>(at);
    double by = 0.0;
    for (int m = 0; m < count(g); ++m) {
      const int j = begin(g)[m];
      // Bounds on a center that was placed begin with where it is.
      if (centers.last_move(j).kind != CenterMove::Kind::placed) by = std::max(by, turns[j]);
    }
    moved_[static_cast<std::size_t>(g)] = moved_further(moved(g), by);
    moved_up_[static_cast<std::size_t>(g)] = moved_by(moved(g));
    copy(centers, g);
  });
  fresh_ = false;
}

void CenterGroups::copy(const Centers& centers, int g) {
  if (!lines(g)) return;
  for (int m = 0; m < count(g); ++m) {
    const int j = begin(g)[m];
    if (!fresh_ && !centers.last_move(j).moved()) continue;
    put_center(line(g, m), m % kLineFloats, centers, j);
  }
}

}  // namespace arcmeans
