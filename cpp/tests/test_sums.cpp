// Sums of clusters are integers: exact in any order, and gone without a trace.
#include "tests/check.hpp"
#include "tests/made_rows.hpp"

using namespace made;

namespace {

std::vector<std::int64_t> all_sums(const Centers& centers) {
  std::vector<std::int64_t> sums;
  for (int j = 0; j < centers.size(); ++j) {
    for (std::int32_t f = 0; f < centers.n_features(); ++f) {
      sums.push_back(centers.sums().value(j, f));
    }
  }
  return sums;
}

std::vector<std::int32_t> labels_by(std::int64_t n, int k, int step) {
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < n; ++i) labels.push_back(static_cast<std::int32_t>(i * step % k));
  return labels;
}

}  // namespace

TEST(any_way_to_the_same_labels_gives_the_same_sums) {
  const int k = 5;
  const auto made = sparse(200, 25, true);
  const Rows& rows = made.rows();
  const std::vector<std::int32_t> none(index(rows.n_rows), -1);
  const auto first = labels_by(rows.n_rows, k, 3), last = labels_by(rows.n_rows, k, 7);
  SumChanges changes(k);

  Centers straight = centers_of(rows, k);
  changes.collect(rows, none.data(), last.data(), 1, false, nullptr);
  straight.move(changes, 1);
  Centers around = centers_of(rows, k);
  changes.collect(rows, none.data(), first.data(), 3, false, nullptr);
  around.move(changes, 2);
  changes.collect(rows, first.data(), last.data(), 2, false, nullptr);
  around.move(changes, 3);
  CHECK(all_sums(straight) == all_sums(around));
  CHECK(straight.scales() == around.scales());
  CHECK(straight.objective(nullptr) == around.objective(nullptr));
  CHECK(straight.counts() == around.counts());
}

TEST(a_cluster_that_loses_its_rows_keeps_its_vector) {
  const int k = 2;
  const auto made = sparse(40, 12, false);
  const Rows& rows = made.rows();
  const std::vector<std::int32_t> none(index(rows.n_rows), -1), zero(index(rows.n_rows), 0);
  std::vector<std::int32_t> both = labels_by(rows.n_rows, k, 1);
  Centers centers = centers_of(rows, k);
  SumChanges changes(k);
  changes.collect(rows, none.data(), both.data(), 1, false, nullptr);
  centers.move(changes, 1);
  CHECK(!centers.detached(1));
  const auto before = all_sums(centers);
  changes.collect(rows, both.data(), zero.data(), 1, false, nullptr);
  centers.move(changes, 1);
  CHECK(centers.detached(1));
  CHECK(centers.counts()[1] == 0);
  const auto after = all_sums(centers);
  CHECK(std::equal(before.begin() + 12, before.end(), after.begin() + 12));
}
