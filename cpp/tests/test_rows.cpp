// Rows made ready: lengths, ranks, and what is refused.
#include <cmath>
#include <limits>

#include "tests/check.hpp"
#include "tests/made_rows.hpp"

using namespace made;

TEST(rows_have_length_one_or_no_direction) {
  const auto made = sparse(100, 20, true);
  const Rows& rows = made.rows();
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    const auto row = SparseRows<float>{rows}.row(i);
    double squared = 0.0;
    for (std::int64_t e = 0; e < row.size; ++e) {
      squared += static_cast<double>(row.values[e]) * static_cast<double>(row.values[e]);
    }
    CHECK(rows.zero[i] == (i % 10 == 9));
    CHECK(rows.zero[i] || std::abs(squared - 1.0) < 1e-6);
  }
}

TEST(features_are_ranked_by_how_many_rows_have_them) {
  const std::vector<std::int64_t> starts{0, 1, 3, 5};
  const std::vector<std::int32_t> features{2, 0, 2, 1, 2};
  const std::vector<double> values{1, 1, 1, 1, 1};
  const SparseUnitRows<double> made(starts, features, values, 3);
  const Rows& rows = made.rows();
  CHECK(rows.by_rank[0] == 2 && rows.by_rank[1] == 0 && rows.by_rank[2] == 1);
  for (std::size_t e = 0; e < features.size(); ++e) {
    CHECK(rows.by_rank[rows.features[e]] == features[e]);
  }
}

TEST(bad_rows_are_refused) {
  const std::vector<std::int64_t> starts{0, 2};
  const auto refused = [&](std::vector<std::int32_t> features, std::vector<double> values) {
    CHECK_THROWS(SparseUnitRows<double>(starts, features, values, 3), std::invalid_argument);
  };
  refused({0, 3}, {1, 1});
  refused({-1, 2}, {1, 1});
  refused({1, 0}, {1, 1});
  refused({1, 1}, {1, 1});
  refused({0, 1}, {1, 0});
  refused({0, 1}, {1, std::numeric_limits<double>::quiet_NaN()});
  refused({0, 1}, {1, std::numeric_limits<double>::infinity()});
}
