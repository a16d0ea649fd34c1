// What an algorithm is: passes over a part of the rows, and a record that says what the algorithm
// keeps of each row, what memory it needs and where it wins.
//
// A pass gives every row the label of its most similar center. Algorithms differ in the
// similarities they avoid and in what they keep for that between passes, never in a bit of a label.
// Each is one file, which ends with its record; registry.cpp lists the records.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "core/algorithms/work.hpp"
#include "core/bounds/bounds.hpp"
#include "core/centers/centers.hpp"
#include "core/rows/rows.hpp"

namespace arcmeans {

// What is to be clustered, as far as algorithms and the choice of one depend on it.
struct Problem {
  std::int64_t n_rows = 0;
  std::int32_t n_features = 0;
  int n_clusters = 1;
  bool sparse = false;
  std::int64_t n_entries = 0;  // stored in all sparse rows; 0: not known
  // Sparse rows: features from this rank on are in one row at most, among all that make up centers.
  std::int32_t n_shared = 0;
  // Options that some algorithms read.
  int n_groups = 0;         // of centers, for yinyang; 0: one for twenty centers
  bool keep_bounds = true;  // false: an algorithm that can do without row state does so
  HamerlyUpdate hamerly_update = HamerlyUpdate::tight;
};

enum class NumberType : char { int16, int32, float32, float64 };

inline std::int64_t bytes_of(NumberType type) {
  return type == NumberType::int16 ? 2 : type == NumberType::float64 ? 8 : 4;
}

// One array of the row state: numbers that an algorithm keeps of each row between passes. The
// caller says where they lie, [row][column], on cache lines of their own, and fills them with the
// initial number; without one the algorithm does.
struct StateArray {
  const char* name;
  NumberType type;
  std::int64_t columns = 1;
  std::optional<double> initial = std::nullopt;
};

// Where the arrays of a row state lie, in the order in which the record names them.
using RowState = std::vector<void*>;

// The labels of the rows. −1 labels a row without direction, and before the first pass every row.
struct Labels {
  std::int32_t* labels = nullptr;
  std::int32_t* previous = nullptr;  // out: the labels before the pass
};

struct PassOptions {
  int n_threads = 1;
  std::int64_t chunk_rows = 0;  // that a thread takes at a time; 0: what suits the algorithm

  std::int64_t rows_at_a_time() const { return chunk_rows > 0 ? chunk_rows : 1024; }
};

// What an algorithm knows of one part of the rows, and its passes over that part.
class Algorithm {
 public:
  Algorithm() = default;
  Algorithm(const Algorithm&) = delete;
  Algorithm& operator=(const Algorithm&) = delete;
  virtual ~Algorithm() = default;

  // One pass: overwrites the labels.
  virtual Work assign(const Rows& rows, Centers& centers, const Labels& labels,
                      const PassOptions& options) = 0;
  // Takes over what the seeding learned of each row: at most the cosine to the center of its label,
  // and at least the cosine to every other center.
  virtual void adopt(const std::int32_t* /*labels*/, const double* /*lower*/,
                     const double* /*upper*/) {}
  // Drops the bounds of rows whose label did not come from a pass.
  virtual void forget(const std::int64_t* /*rows*/, std::int64_t /*n*/) {}
  // Drops copies of the rows; the next pass makes them again.
  virtual void release_rows() {}
};

// What "auto" has to see to before it takes an algorithm: room for this much.
struct AutoNeeds {
  std::int64_t row_bytes = 0;     // of row state
  std::int64_t center_bytes = 0;  // of what is kept of the centers
};

struct AlgorithmRecord {
  const char* name;
  const char* keeps;            // between passes, in one sentence
  const char* wins;             // where, in one sentence
  bool takes_sparse = true;     // rows
  bool takes_dense = true;      // rows
  bool needs_row_state = true;  // false: it can do without (Problem::keep_bounds)
  bool in_full =
      true;  // it reads so many reference similarities that centers had better be in full
  bool checks_memory = false;  // it grows with the clusters: a fit checks that there is room
  double largest_ball = 0.0;   // see auto.py; 0: "auto" does not look
  std::vector<StateArray> (*row_state)(const Problem&);
  // Of what it keeps of centers, and of copies of the rows.
  std::int64_t (*other_bytes)(const Problem&);
  // Whether "auto" takes it, if there is room for what it returns.
  std::optional<AutoNeeds> (*auto_takes)(const Problem&);
  std::unique_ptr<Algorithm> (*make)(const Problem&, const RowState&);

  // Of the row state.
  std::int64_t row_bytes(const Problem& problem) const {
    std::int64_t bytes = 0;
    for (const StateArray& array : row_state(problem)) {
      bytes += bytes_of(array.type) * array.columns;
    }
    return bytes * problem.n_rows;
  }
};

// For records of which a part needs no words.
inline std::vector<StateArray> no_row_state(const Problem&) { return {}; }
inline std::int64_t no_other_bytes(const Problem&) { return 0; }
inline std::optional<AutoNeeds> never_by_auto(const Problem&) { return std::nullopt; }

}  // namespace arcmeans
