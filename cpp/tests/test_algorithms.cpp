// Every algorithm gives the labels of brute force, pass by pass, on any number of threads.
#include <algorithm>
#include <limits>

#include "core/algorithms/similarities.hpp"
#include "tests/check.hpp"
#include "tests/made_rows.hpp"

using namespace made;

namespace {

constexpr int kClusters = 37;  // more than a line of centers holds

// The first of the most similar centers, by reference similarities alone.
std::vector<std::int32_t> brute_force(const Rows& rows, const Centers& centers) {
  const int k = centers.size();
  std::vector<double> similarities(index(rows.n_rows * k));
  similarity_matrix(rows, centers, 1, similarities.data());
  std::vector<std::int32_t> labels(index(rows.n_rows), -1);
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    if (rows.zero[i]) continue;
    const auto first = similarities.begin() + i * k;
    labels[index(i)] = static_cast<std::int32_t>(std::max_element(first, first + k) - first);
  }
  return labels;
}

Run run_by_brute_force(const Rows& rows, int k) {
  Centers centers = centers_of(rows, k);
  std::vector<std::int32_t> previous(index(rows.n_rows), -1);
  SumChanges changes(k);
  Run run;
  for (int pass = 0; pass < 12; ++pass) {
    run.labels.push_back(brute_force(rows, centers));
    if (run.labels.back() == previous) break;
    changes.collect(rows, previous.data(), run.labels.back().data(), 1, false, nullptr);
    centers.move(changes, 1);
    run.objectives.push_back(centers.objective(nullptr));
    previous = run.labels.back();
  }
  return run;
}

void agree(const Rows& rows) {
  const Run expected = run_by_brute_force(rows, kClusters);
  CHECK(expected.labels.size() > 3);
  for (const AlgorithmRecord* record : all_algorithms()) {
    for (const int n_threads : {1, 3}) {
      const Run found = run(record->name, rows, kClusters, n_threads, n_threads == 1 ? 0 : 7);
      if (found != expected) check::failed(__FILE__, __LINE__, record->name);
    }
  }
}

}  // namespace

TEST(sparse_rows) { agree(sparse(400, 30, false).rows()); }
TEST(sparse_rows_of_any_sign) { agree(sparse(400, 30, true).rows()); }
TEST(dense_rows) { agree(dense(400, 9).rows); }

TEST(rows_that_are_forgotten_are_visited_again) {
  const DenseRowsOf made = dense(200, 5);
  const Rows& rows = made.rows;
  for (const AlgorithmRecord* record : all_algorithms()) {
    const AllocatedAlgorithm algorithm(record->name, problem_of(rows, 8));
    Centers centers = centers_of(rows, 8);
    std::vector<std::int32_t> labels(index(rows.n_rows), -1), previous(labels);
    const Labels both{labels.data(), previous.data()};
    algorithm->assign(rows, centers, both, {1});
    const std::vector<std::int32_t> right = labels;
    const std::int64_t wrong[] = {3, 70, 199};
    for (const std::int64_t i : wrong) labels[index(i)] = (labels[index(i)] + 1) % 8;
    algorithm->forget(wrong, 3);
    algorithm->release_rows();
    // Nothing moved: a pass without the call would keep each label.
    SumChanges none(8);
    none.collect(rows, right.data(), right.data(), 1, false, nullptr);
    centers.move(none, 1);
    const Work work = algorithm->assign(rows, centers, both, {1});
    if (labels != right || work.changed != 3) check::failed(__FILE__, __LINE__, record->name);
  }
}

TEST(bounds_of_the_seeding_hold) {
  const DenseRowsOf made = dense(300, 4);
  const Rows& rows = made.rows;
  const int k = 12;
  const Run expected = run("lloyd", rows, k, 1, 0);
  for (const AlgorithmRecord* record : all_algorithms()) {
    Centers centers = centers_of(rows, k);
    std::vector<double> similarities(index(rows.n_rows * k)), lower, upper;
    similarity_matrix(rows, centers, 1, similarities.data());
    std::vector<std::int32_t> labels = brute_force(rows, centers), previous(labels.size(), -1);
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
      std::vector<double> of_row(similarities.begin() + i * k, similarities.begin() + (i + 1) * k);
      std::sort(of_row.rbegin(), of_row.rend());
      lower.push_back(std::clamp(of_row[0] - 1e-12, -1.0, 1.0));
      upper.push_back(std::clamp(of_row[1] + 1e-12, -1.0, 1.0));
    }
    const AllocatedAlgorithm algorithm(record->name, problem_of(rows, k));
    algorithm->adopt(labels.data(), lower.data(), upper.data());
    SumChanges changes(k);
    for (std::size_t pass = 1; pass < expected.labels.size(); ++pass) {
      changes.collect(rows, previous.data(), labels.data(), 1, false, nullptr);
      centers.move(changes, 1);
      algorithm->assign(rows, centers, {labels.data(), previous.data()}, {1});
      if (labels != expected.labels[pass]) check::failed(__FILE__, __LINE__, record->name);
    }
  }
}
