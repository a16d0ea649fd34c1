#include "neighbors.hpp"

#include <algorithm>

#include "../angles.hpp"
#include "../parallel.hpp"

namespace arcmeans {

CenterNeighbors::CenterNeighbors(int n_centers, std::int32_t n_features)
    : n_centers_(n_centers),
      count_(std::min(n_centers - 1, kMost)),
      lines_a_center_((count_ + kLineFloats - 1) / kLineFloats),
      line_floats_(n_features <= kMostFeaturesForLines ? line_floats(n_features) : 0),
      neighbors_(static_cast<std::size_t>(n_centers) * kMost),
      distances_(static_cast<std::size_t>(n_centers)),
      lines_(static_cast<std::size_t>(n_centers * lines_a_center_ * line_floats_)) {
  if (line_floats_ == 0) return;
  for (std::int64_t l = 0; l < n_centers * lines_a_center_; ++l) {
    clear_line(lines_.data() + l * line_floats_, n_features);
  }
}

std::int64_t CenterNeighbors::update(const Centers& centers, int n_threads) {
  parallel_chunks(n_centers_, 16, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    std::vector<float> similarities(static_cast<std::size_t>(centers.panels().width()));
    std::vector<Neighbor> nearest;
    for (std::int64_t a = begin; a < end; ++a) {
      find(centers, static_cast<int>(a), similarities, nearest);
      copy(centers, static_cast<int>(a));
    }
  });
  return std::int64_t{n_centers_} * (n_centers_ - 1) / 2;
}

void CenterNeighbors::find(const Centers& centers, int a, std::vector<float>& similarities,
                           std::vector<Neighbor>& nearest) {
  std::vector<std::int32_t> features;
  std::vector<double> values;
  for (std::int32_t f = 0; f < centers.n_features(); ++f) {
    if (const std::int64_t sum = centers.vector(a)[f]; sum != 0) {
      features.push_back(f);
      values.push_back(static_cast<double>(sum) * centers.scales()[static_cast<std::size_t>(a)]);
    }
  }
  const auto size = static_cast<std::int64_t>(features.size());
  const SparseRow<double> row{features.data(), values.data(), size};
  panel_similarities(centers.panels(), row, similarities.data());
  const double error = panel_error(size) + reference_error<double>(size);

  nearest.clear();
  for (int j = 0; j < n_centers_; ++j) {
    if (j != a) nearest.push_back({similarities[static_cast<std::size_t>(j)], j});
  }
  const auto nearer = [](const Neighbor& x, const Neighbor& y) {
    return x.similarity > y.similarity || (x.similarity == y.similarity && x.center < y.center);
  };
  const auto at = [&](int m) { return nearest.begin() + m; };
  Distances& distances = distances_[static_cast<std::size_t>(a)];
  std::fill_n(distances.at_least, kAnnuli + 1, std::numeric_limits<double>::infinity());
  const auto far = [&](const Neighbor& n) {
    return angle_at_least(static_cast<double>(n.similarity) + error);
  };
  auto last = nearest.end();
  for (int m = kMost, annulus = kAnnuli; m >= kLineFloats; m /= 2, --annulus) {
    if (last - nearest.begin() <= m) continue;
    std::nth_element(nearest.begin(), at(m), last, nearer);
    distances.at_least[annulus] = far(nearest[static_cast<std::size_t>(m)]);
    last = at(m);
  }
  if (!nearest.empty()) {
    const Neighbor first = *std::min_element(nearest.begin(), last, nearer);
    distances.at_least[0] = far(first);
    distances.nearest = angle_at_most(static_cast<double>(first.similarity) - error);
  }
  for (int m = 0; m < count_; ++m) {
    neighbors_[static_cast<std::size_t>(a * std::int64_t{kMost} + m)] =
        nearest[static_cast<std::size_t>(m)].center;
  }
}

void CenterNeighbors::copy(const Centers& centers, int a) {
  if (line_floats_ == 0) return;
  for (int m = 0; m < count_; ++m) {
    const std::int64_t line = a * lines_a_center_ + m / kLineFloats;
    put_center(lines_.data() + line * line_floats_, m % kLineFloats, centers, of(a)[m]);
  }
}

}  // namespace arcmeans
