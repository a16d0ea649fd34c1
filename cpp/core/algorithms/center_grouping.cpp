#include "core/algorithms/center_grouping.hpp"

#include <algorithm>

#include "core/algorithms/registry.hpp"
#include "core/seeding/place_row.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

namespace {

constexpr int kPasses = 5;

// Centers as unit rows in float32.
class CenterRows {
 public:
  explicit CenterRows(const Centers& centers) : zero_(index(centers.size())) {
    starts_.push_back(0);
    for (const std::int64_t size : centers.sums().sizes()) starts_.push_back(starts_.back() + size);
    const auto n = index(starts_.back());
    features_.resize(n);
    values_.resize(n);
    std::vector<std::int64_t> sums(n);
    centers.sums().entries(starts_.data(), nullptr, features_.data(), sums.data());
    for (std::size_t j = 0; j < zero_.size(); ++j) {
      for (std::int64_t e = starts_[j]; e < starts_[j + 1]; ++e) {
        const auto at = index(e);
        values_[at] =
            static_cast<float>(static_cast<double>(sums[at]) * centers.scale(static_cast<int>(j)));
      }
    }
    rows_.n_rows = centers.size();
    rows_.n_features = centers.n_features();
    rows_.starts = starts_.data();
    rows_.features = features_.data();
    rows_.values = values_.data();
    rows_.zero = zero_.data();
    rows_.one = 0x1p40;  // fewer than 2²³ centers add up to less than 2⁶³
  }

  const Rows& rows() const { return rows_; }

 private:
  std::vector<std::int64_t> starts_;
  std::vector<std::int32_t> features_;
  std::vector<float> values_;
  std::vector<std::uint8_t> zero_;
  Rows rows_;
};

}  // namespace

Grouping grouped(const Centers& centers, int n_groups, int n_threads) {
  const int k = centers.size();
  Grouping grouping;
  grouping.group_of.resize(index(k));
  for (int j = 0; j < k; ++j) grouping.group_of[index(j)] = j % n_groups;
  if (n_groups == 1 || n_groups == k) return grouping;

  const CenterRows center_rows(centers);
  const Rows& rows = center_rows.rows();
  Centers group_centers(n_groups, rows.n_features, rows.one, rows.n_features);
  for (int g = 0; g < n_groups; ++g) {
    place_row(group_centers, g, rows, std::int64_t{g} * k / n_groups);
  }
  std::vector<std::int32_t> previous = grouping.group_of;
  std::fill(grouping.group_of.begin(), grouping.group_of.end(), -1);
  const Labels labels{grouping.group_of.data(), previous.data()};
  const auto lloyd = algorithm_record("lloyd").make({}, {});
  SumChanges changes(n_groups);
  for (int pass = 0; pass < kPasses; ++pass) {
    const Work work = lloyd->assign(rows, group_centers, labels, {n_threads, 256});
    grouping.similarities += work.similarities;
    if (work.changed == 0) break;
    changes.collect(rows, labels.previous, labels.labels, n_threads, false, nullptr);
    group_centers.move(changes, n_threads);
  }
  return grouping;
}

}  // namespace arcmeans
