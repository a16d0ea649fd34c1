// One pass of one algorithm: the door to everything in this folder.
#pragma once

#include "core/algorithms/center_tests.hpp"
#include "core/algorithms/row_loop.hpp"
#include "core/algorithms/sieve_state.hpp"
#include "core/algorithms/tally.hpp"
#include "core/layouts/packed.hpp"
#include "core/moves/sieve_drift.hpp"

namespace arcmeans {

enum class Algorithm : int { lloyd, simplified_elkan, elkan, simplified_hamerly, hamerly };

Work assign(Algorithm algorithm, const Rows& rows, Centers& centers, const RowState& state,
            const PassOptions& options, HamerlyUpdate update);

// The same for the sieve, which keeps another kind of bounds.
Work sift(const Rows& rows, const PackedRows& packed, Centers& centers, SieveMoves& moves,
          const SieveState& state, PassOptions options);

// And for tally.
Work tally(const Rows& rows, Centers& centers, const TallyState& state, const PassOptions& options);

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
