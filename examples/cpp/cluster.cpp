// Clusters the rows of a sparse matrix by the C++ core alone: assign, collect, move, until no row
// changes its label.
#include <arcmeans.hpp>
#include <cstdio>
#include <vector>

int main() {
  // Eight documents over six words: rows of word counts, compressed. Two topics use three words
  // each.
  const std::vector<std::int64_t> starts{0, 2, 4, 7, 9, 11, 13, 15, 18};
  const std::vector<std::int32_t> words{0, 1, 1, 2, 0, 1, 2, 3, 4, 4, 5, 3, 5, 0, 2, 3, 4, 5};
  const std::vector<float> counts{2, 1, 3, 1, 1, 1, 1, 2, 1, 1, 2, 3, 1, 1, 2, 1, 1, 1};
  const int k = 2, n_threads = 1;
  const arcmeans::SparseUnitRows<float> data(starts, words, counts, 6);
  const arcmeans::Rows& rows = data.rows();

  arcmeans::Centers centers(k, rows.n_features, rows.one, rows.n_features);
  for (int j = 0; j < k; ++j) arcmeans::place_row(centers, j, rows, j * rows.n_rows / k);

  std::vector<std::int32_t> labels(static_cast<std::size_t>(rows.n_rows), -1), previous(labels);
  const arcmeans::AllocatedAlgorithm algorithm(
      "simplified-hamerly",
      {.n_rows = rows.n_rows, .n_features = rows.n_features, .n_clusters = k, .sparse = true});
  arcmeans::SumChanges changes(k);
  int passes = 0;
  for (;; ++passes) {
    const arcmeans::Work work =
        algorithm->assign(rows, centers, {labels.data(), previous.data()}, {n_threads});
    if (work.changed == 0) break;
    changes.collect(rows, previous.data(), labels.data(), n_threads, false, nullptr);
    centers.move(changes, n_threads);
  }
  std::printf("labels:");
  for (const std::int32_t label : labels) std::printf(" %d", label);
  std::printf("\nobjective %.6f after %d moves\n", centers.objective(nullptr), passes);
}
