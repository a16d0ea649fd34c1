// Reference similarities of rows to centers, without a pass.
#pragma once

#include <cstdint>

#include "core/centers/centers.hpp"
#include "core/rows/rows.hpp"

namespace arcmeans {

// sim64 of each row to the center it is labelled with; rows without a label get 0.
void own_similarities(const Rows& rows, const Centers& centers, const std::int32_t* labels,
                      int n_threads, double* similarities);

// sim64 of every row to every center, [row][center]; 0 for rows without a direction.
void similarity_matrix(const Rows& rows, const Centers& centers, int n_threads,
                       double* similarities);

// The most similar center of each row named, by sim64 and the tie rule, and that similarity.
void nearest(const Rows& rows, Centers& centers, const std::int64_t* which, std::int64_t n,
             int n_threads, std::int32_t* labels, double* similarities);

}  // namespace arcmeans
