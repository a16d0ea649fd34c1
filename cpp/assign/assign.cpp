#include "assign.hpp"

#include <stdexcept>

#include "elkan.hpp"
#include "hamerly.hpp"
#include "lloyd.hpp"
#include "simplified_elkan.hpp"
#include "simplified_hamerly.hpp"

namespace arcmeans {

Work assign(Algorithm algorithm, const Rows& rows, const Centers& centers, const RowState& state,
            const PassOptions& options, HamerlyUpdate update, CenterTests* tests) {
  return visit(rows, [&](const auto& typed) -> Work {
    using RowsOf = std::decay_t<decltype(typed)>;
    switch (algorithm) {
      case Algorithm::lloyd:
        return pass_over_rows(typed, state, options, [&](Work& work) {
          return Lloyd<RowsOf>(typed, centers, state, options, work);
        });
      case Algorithm::simplified_elkan:
        return simplified_elkan(typed, centers, state, options);
      case Algorithm::elkan:
        return elkan(typed, centers, state, options, *tests);
      case Algorithm::simplified_hamerly:
        return simplified_hamerly(typed, centers, state, options, update);
      case Algorithm::hamerly:
        return hamerly(typed, centers, state, options, update, *tests);
    }
    throw std::invalid_argument("unknown algorithm");
  });
}

void own_similarities(const Rows& rows, const Centers& centers, const std::int32_t* labels,
                      int n_threads, double* similarities) {
  visit(rows, [&](const auto& typed) {
    parallel_chunks(rows.n_rows, 1024, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        similarities[i] = labels[i] < 0 ? 0.0 : centers.similarity(typed.row(i), labels[i]);
      }
    });
  });
}

void similarity_matrix(const Rows& rows, const Centers& centers, int n_threads,
                       double* similarities) {
  const std::int64_t k = centers.size();
  visit(rows, [&](const auto& typed) {
    parallel_chunks(rows.n_rows, 64, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      // Center by center: the frequent features of one stay in the cache for a chunk of rows.
      for (int j = 0; j < centers.size(); ++j) {
        for (std::int64_t i = begin; i < end; ++i) {
          similarities[i * k + j] = rows.zero[i] ? 0.0 : centers.similarity(typed.row(i), j);
        }
      }
    });
  });
}

void nearest(const Rows& rows, const Centers& centers, const std::int64_t* which, std::int64_t n,
             int n_threads, std::int32_t* labels, double* similarities) {
  visit(rows, [&](const auto& typed) {
    parallel_chunks(n, 256, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
      std::vector<float> scratch(static_cast<std::size_t>(centers.panels().width()));
      Work work;
      for (std::int64_t m = begin; m < end; ++m) {
        const auto row = typed.row(which[m]);
        labels[m] = best_of_all(centers, row, scratch.data(), work).center;
        similarities[m] = centers.similarity(row, labels[m]);
      }
    });
  });
}

}  // namespace arcmeans
