#include "center_groups.hpp"

#include <algorithm>
#include <stdexcept>

#include "../parallel.hpp"

namespace arcmeans {

namespace {

constexpr int kLeastForPanels = 4;

}  // namespace

CenterGroups::CenterGroups(const std::int32_t* group_of, int n_centers, int n_groups,
                           std::int32_t n_features)
    : group_of_(group_of, group_of + n_centers),
      starts_(static_cast<std::size_t>(n_groups) + 1),
      members_(static_cast<std::size_t>(n_centers)),
      panels_(static_cast<std::size_t>(n_groups)),
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
    members_[static_cast<std::size_t>(next[g]++)] = j;
  }
  for (int g = 0; g < n_groups; ++g) {
    largest_ = std::max(largest_, count(g));
    if (count(g) >= kLeastForPanels) {
      panels_[static_cast<std::size_t>(g)] = std::make_unique<Panels>(count(g), n_features);
    }
  }
}

void CenterGroups::update(const Centers& centers, const Turns& turns, int n_threads) {
  parallel_chunks(size(), 1, n_threads, [&](int, std::int64_t at, std::int64_t) {
    const int g = static_cast<int>(at);
    double by = 0.0;
    for (int m = 0; m < count(g); ++m) by = std::max(by, turns[begin(g)[m]]);
    moved_[static_cast<std::size_t>(g)] = moved_further(moved(g), by);
    moved_up_[static_cast<std::size_t>(g)] = moved_by(moved(g));
    copy(centers, g);
  });
  fresh_ = false;
}

void CenterGroups::copy(const Centers& centers, int g) {
  Panels* panels = panels_[static_cast<std::size_t>(g)].get();
  if (!panels) return;
  const double unit = 1.0 / centers.one();
  for (int m = 0; m < count(g); ++m) {
    const int j = begin(g)[m];
    if (!fresh_ && centers.pad()[j] == 0.0) continue;
    const std::int64_t* vector = centers.vector(j);
    const Panels::Column column = panels->column(m);
    for (std::int32_t f = 0; f < centers.n_features(); ++f) {
      column.set(f, static_cast<float>(static_cast<double>(vector[f]) * unit));
    }
    const double scale = centers.one() * centers.scales()[static_cast<std::size_t>(j)];
    panels->set_scale(m, static_cast<float>(scale));
  }
}

}  // namespace arcmeans
