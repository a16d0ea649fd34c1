#include "core/algorithms/center_tests.hpp"

#include <algorithm>
#include <numeric>

#include "core/centers/center_row.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

CenterTests& CenterTests::of(Centers& centers, bool pairs) {
  auto* found = centers.find<CenterTests>();
  if (found && (!pairs || !found->pairs_.empty())) return *found;
  return centers.attach(std::make_unique<CenterTests>(centers.size(), pairs));
}

CenterTests::CenterTests(int n_centers, bool pairs)
    : outdated_(index(n_centers), 1),
      nearest_(index(n_centers)),
      pairs_(pairs ? nearest_.size() * nearest_.size() : 0) {}

std::int64_t CenterTests::update(const Centers& centers, const Panels& panels, int n_threads) {
  const bool keep_pairs = !pairs_.empty();
  std::vector<int> outdated;
  for (int j = 0; j < centers.size(); ++j) {
    if (outdated_[index(j)]) outdated.push_back(j);
  }
  if (outdated.empty()) return 0;
  if (!keep_pairs) {  // s(i) does not say which center it is of: all are found again
    outdated.resize(index(centers.size()));
    std::iota(outdated.begin(), outdated.end(), 0);
  }
  std::fill(outdated_.begin(), outdated_.end(), 0);
  const auto m = static_cast<std::int64_t>(outdated.size());
  parallel_chunks(m, 1, n_threads, [&](int, std::int64_t at, std::int64_t) {
    find(centers, panels, outdated[index(at)]);
  });
  if (keep_pairs && m < centers.size()) mirror(outdated);
  return m * (m - 1) / 2 + m * (centers.size() - m);
}

// s(i), and cc(i,j) for all j.
void CenterTests::find(const Centers& centers, const Panels& panels, int i) {
  const std::size_t k = nearest_.size();
  CenterRow center;
  const SparseRow<double> row = center.take(centers, i);
  std::vector<float> similarities(index(panels.width()));
  panel_similarities(panels, row, similarities.data());
  const double error = panel_error(row.size) + reference_error<double>(row.size);
  float nearest = 0.0F;
  for (std::size_t j = 0; j < k; ++j) {
    const double upper = static_cast<double>(similarities[j]) + error;
    const float cc = rounded_up(cosine_of_half_angle(std::clamp(upper, -1.0, 1.0)));
    if (!pairs_.empty()) pairs_[index(i) * k + j] = cc;
    if (j != index(i)) nearest = std::max(nearest, cc);
  }
  nearest_[index(i)] = nearest;
}

// cc(i,j) for all i where j was found, and s(i) of all centers.
void CenterTests::mirror(const std::vector<int>& found) {
  const std::size_t k = nearest_.size();
  for (std::size_t i = 0; i < k; ++i) {
    for (const int j : found) pairs_[i * k + index(j)] = pairs_[index(j) * k + i];
    nearest_[i] = 0.0F;
    for (std::size_t j = 0; j < k; ++j) {
      if (j != i) nearest_[i] = std::max(nearest_[i], pairs_[i * k + j]);
    }
  }
}

}  // namespace arcmeans
