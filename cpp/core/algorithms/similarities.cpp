#include "core/algorithms/similarities.hpp"

#include "core/algorithms/row_loop.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

void own_similarities(const Rows& rows, const Centers& centers, const std::int32_t* labels,
                      int n_threads, double* similarities) {
  with_row_type(rows, [&](const auto& typed_rows) {
    parallel_chunks(rows.n_rows, 1024, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        similarities[i] = labels[i] < 0 ? 0.0 : centers.similarity(typed_rows.row(i), labels[i]);
      }
    });
  });
}

void similarity_matrix(const Rows& rows, const Centers& centers, int n_threads,
                       double* similarities) {
  // A block of centers at a time, turned to [feature][center]: each entry of a row is added to all
  // of them at once, in the order of the entries, so each sum is that of sim64.
  constexpr int kBlock = 32;
  const std::int64_t k = centers.size();
  const auto d = index(centers.n_features());
  Buffer<double> block(d * kBlock);
  for (int first = 0; first < centers.size(); first += kBlock) {
    const int count = std::min(kBlock, centers.size() - first);
    for (int j = 0; j < count; ++j) {
      const std::int64_t* sums = centers.sums().frequent(first + j);
      for (std::size_t f = 0; f < index(centers.n_frequent()); ++f) {
        block[f * kBlock + index(j)] = static_cast<double>(sums[f]);
      }
    }
    for (std::int32_t f = centers.n_frequent(); f < centers.n_features(); ++f) {
      double* at = block.data() + std::int64_t{f} * kBlock;
      std::fill_n(at, kBlock, 0.0);
      centers.sums().rare().each(f, [&](int j, std::int64_t sum) {
        if (j >= first && j < first + count) at[j - first] = static_cast<double>(sum);
      });
    }
    with_row_type(rows, [&](const auto& typed_rows) {
      parallel_chunks(rows.n_rows, 256, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          double sums[kBlock] = {};
          const auto row = typed_rows.row(i);
          for (std::int64_t e = 0; e < row.size; ++e) {
            const double value = static_cast<double>(row.values[e]);
            const double* at = block.data() + std::int64_t{row.feature(e)} * kBlock;
            for (int j = 0; j < kBlock; ++j) sums[j] += value * at[j];
          }
          for (int j = 0; j < count; ++j) {
            similarities[i * k + first + j] = sums[j] * centers.scales()[index(first + j)];
          }
        }
      });
    });
  }
}

void nearest(const Rows& rows, Centers& centers, const std::int64_t* which, std::int64_t n,
             int n_threads, std::int32_t* labels, double* similarities) {
  const Panels& panels = Panels::of(centers);
  with_row_type(rows, [&](const auto& typed_rows) {
    parallel_chunks(n, 256, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      std::vector<float> scratch(index(panels.width()));
      Work work;
      for (std::int64_t m = begin; m < end; ++m) {
        const auto row = typed_rows.row(which[m]);
        labels[m] = best_of_all(panels, centers, row, scratch.data(), work).center;
        similarities[m] = centers.similarity(row, labels[m]);
      }
    });
  });
}

}  // namespace arcmeans
