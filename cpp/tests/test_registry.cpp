// The records of the algorithms.
#include <set>
#include <string>

#include "core/algorithms/registry.hpp"
#include "tests/check.hpp"

using namespace arcmeans;

TEST(names_are_apart) {
  std::set<std::string> names;
  for (const AlgorithmRecord* record : all_algorithms()) {
    CHECK(names.insert(record->name).second);
    CHECK(&algorithm_record(record->name) == record);
  }
  CHECK(names.size() == 10);
  CHECK_THROWS(algorithm_record("loyd"), std::invalid_argument);
  CHECK_THROWS(algorithm_record(""), std::invalid_argument);
}

TEST(bytes_of_row_states) {
  Problem problem{.n_rows = 1000, .n_features = 10, .n_clusters = 100};
  CHECK(algorithm_record("lloyd").row_bytes(problem) == 0);
  CHECK(algorithm_record("hamerly").row_bytes(problem) == 16'000);
  CHECK(algorithm_record("elkan").row_bytes(problem) == 408'000);
  CHECK(algorithm_record("yinyang").row_bytes(problem) == 36'000);
  problem.n_groups = 7;
  CHECK(algorithm_record("yinyang").row_bytes(problem) == 44'000);
  CHECK(algorithm_record("sieve").row_bytes(problem) == 68'000);
  problem.sparse = true;  // a bound for each of up to 128 centers
  CHECK(algorithm_record("sieve").row_bytes(problem) == 260'000);
  problem.keep_bounds = false;
  CHECK(algorithm_record("sieve").row_bytes(problem) == 0);
}

TEST(row_state_begins_with_nothing_known) {
  const Problem problem{.n_rows = 3, .n_features = 2, .n_clusters = 2};
  const AllocatedAlgorithm hamerly("hamerly", problem);
  CHECK(hamerly.state.size() == 2);
  const auto* lower = reinterpret_cast<const double*>(hamerly.state[0].data());
  const auto* upper = reinterpret_cast<const double*>(hamerly.state[1].data());
  for (int i = 0; i < 3; ++i) CHECK(lower[i] == -1.0 && upper[i] == 1.0);
}
