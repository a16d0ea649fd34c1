#include "core/algorithms/center_tests.hpp"

#include <algorithm>

#include "core/support/parallel.hpp"

namespace arcmeans {

CenterTests::CenterTests(int n_centers, bool pairs)
    : nearest_(static_cast<std::size_t>(n_centers)),
      pairs_(pairs ? nearest_.size() * nearest_.size() : 0) {}

std::int64_t CenterTests::update(const Centers& centers, int n_threads) {
  const std::size_t k = nearest_.size();
  const bool keep_pairs = !pairs_.empty();
  std::vector<int> moved;
  for (int j = 0; j < centers.size(); ++j) {
    if (fresh_ || centers.pad()[j] > 0.0) moved.push_back(j);
  }
  const auto m = static_cast<std::int64_t>(moved.size());
  if (m == 0) return 0;
  if (!keep_pairs && m < centers.size()) {  // s(i) alone cannot be mended: take all again
    fresh_ = true;
    return update(centers, n_threads);
  }
  fresh_ = false;

  parallel_chunks(m, 1, n_threads, [&](int, std::int64_t at, std::int64_t) {
    const int i = moved[static_cast<std::size_t>(at)];
    std::vector<std::int32_t> features;
    std::vector<double> values;
    for (std::int32_t f = 0; f < centers.n_features(); ++f) {
      if (const std::int64_t sum = centers.vector(i)[f]; sum != 0) {
        features.push_back(f);
        values.push_back(static_cast<double>(sum) * centers.scales()[static_cast<std::size_t>(i)]);
      }
    }
    const auto size = static_cast<std::int64_t>(features.size());
    const SparseRow<double> row{features.data(), values.data(), size};
    std::vector<float> similarities(static_cast<std::size_t>(centers.panels().width()));
    panel_similarities(centers.panels(), row, similarities.data());
    const double error = panel_error(size) + reference_error<double>(size);
    float nearest = 0.0F;
    for (std::size_t j = 0; j < k; ++j) {
      const double upper = static_cast<double>(similarities[j]) + error;
      const float cc = rounded_up(half_angle(std::clamp(upper, -1.0, 1.0)));
      if (keep_pairs) pairs_[static_cast<std::size_t>(i) * k + j] = cc;
      if (static_cast<int>(j) != i) nearest = std::max(nearest, cc);
    }
    nearest_[static_cast<std::size_t>(i)] = nearest;
  });
  if (keep_pairs && m < centers.size()) {  // the other half of the pairs, and s(i) of all
    for (std::size_t i = 0; i < k; ++i) {
      for (const int j : moved) {
        pairs_[i * k + static_cast<std::size_t>(j)] = pairs_[static_cast<std::size_t>(j) * k + i];
      }
      nearest_[i] = 0.0F;
      for (std::size_t j = 0; j < k; ++j) {
        if (j != i) nearest_[i] = std::max(nearest_[i], pairs_[i * k + j]);
      }
    }
  }
  return m * (m - 1) / 2 + m * (centers.size() - m);
}

}  // namespace arcmeans
