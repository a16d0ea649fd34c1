// Rows made of a seed, sparse and dense, and runs over them.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "core/algorithms/registry.hpp"
#include "core/rows/prepare.hpp"
#include "core/rows/sparse_unit_rows.hpp"
#include "core/seeding/place_row.hpp"

namespace made {

using namespace arcmeans;

// About half of the entries of each row, of either sign or of none; each tenth row is zero.
inline SparseUnitRows<float> sparse(std::int64_t n_rows, std::int32_t n_features, bool any_sign) {
  std::mt19937 random(7);
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> features;
  std::vector<float> values;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    for (std::int32_t f = 0; f < n_features && i % 10 != 9; ++f) {
      if (random() % 2) continue;
      features.push_back(f);
      values.push_back((any_sign && random() % 2 ? -1.0F : 1.0F) *
                       static_cast<float>(random() % 5 + 1));
    }
    starts.push_back(static_cast<std::int64_t>(features.size()));
  }
  return SparseUnitRows<float>(starts, features, values, n_features);
}

struct DenseRowsOf {
  std::vector<double> values;
  std::vector<std::uint8_t> zero;
  Rows rows;
};

inline DenseRowsOf dense(std::int64_t n_rows, std::int32_t n_features) {
  std::mt19937 random(8);
  std::normal_distribution<double> normal;
  DenseRowsOf made;
  made.values.resize(index(n_rows * n_features));
  for (double& value : made.values) value = normal(random);
  made.zero.resize(index(n_rows));
  unit_dense(made.values.data(), n_rows, std::int64_t{n_features}, 1, made.values.data(),
             made.zero.data());
  made.rows.n_rows = n_rows;
  made.rows.n_features = n_features;
  made.rows.values = made.values.data();
  made.rows.is_double = true;
  made.rows.zero = made.zero.data();
  made.rows.one = 0x1p50;
  return made;
}

inline Problem problem_of(const Rows& rows, int k) {
  Problem problem;
  problem.n_rows = rows.n_rows;
  problem.n_features = rows.n_features;
  problem.n_clusters = k;
  problem.sparse = rows.starts != nullptr;
  problem.n_shared = rows.n_features;
  return problem;
}

inline Centers centers_of(const Rows& rows, int k) {
  Centers centers(k, rows.n_features, rows.one, rows.n_features);
  for (int j = 0; j < k; ++j) place_row(centers, j, rows, j * 3 % rows.n_rows / 10 * 10 + j % 9);
  return centers;
}

// The labels after each pass of a run, and the objective after each move.
struct Run {
  std::vector<std::vector<std::int32_t>> labels;
  std::vector<double> objectives;
  bool operator==(const Run&) const = default;
};

inline Run run(std::string_view name, const Rows& rows, int k, int n_threads,
               std::int64_t chunk_rows, int most_passes = 12) {
  const AllocatedAlgorithm algorithm(name, problem_of(rows, k));
  Centers centers = centers_of(rows, k);
  std::vector<std::int32_t> labels(index(rows.n_rows), -1), previous(labels);
  SumChanges changes(k);
  Run run;
  for (int pass = 0; pass < most_passes; ++pass) {
    const Work work =
        algorithm->assign(rows, centers, {labels.data(), previous.data()}, {n_threads, chunk_rows});
    run.labels.push_back(labels);
    if (work.changed == 0) break;
    changes.collect(rows, previous.data(), labels.data(), n_threads, false, nullptr);
    centers.move(changes, n_threads);
    run.objectives.push_back(centers.objective(nullptr));
  }
  return run;
}

}  // namespace made
