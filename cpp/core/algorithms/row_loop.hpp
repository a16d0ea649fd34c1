// The loop over rows that every algorithm shares. It hands out chunks of rows to threads, has a
// visitor of the algorithm label the rows of each chunk, counts the labels that changed and adds up
// the work.
#pragma once

#include <cstdint>
#include <vector>

#include "core/algorithms/algorithm.hpp"
#include "core/layouts/panels.hpp"
#include "core/support/index.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

// The best center of a row.
struct Best {
  int center = 0;
  double similarity = 0.0;  // of the center: within `error` of sim64
  double second = -1.0;     // no sim64 of another center is above second + error
  double error = 0.0;
};

// The largest two of `width` float32 similarities, and the first center with the largest.
inline Best best_two(const float* similarities, int width) {
  Floats first = load(similarities);  // lane by lane
  Floats second = splat(-std::numeric_limits<float>::infinity());
  Ints where = Ints{};
  for (int j = kVectorFloats; j < width; j += kVectorFloats) {
    const Floats next = load(similarities + j);
    const Ints wins = next > first;
    second = larger(second, wins ? first : next);
    first = wins ? next : first;
    where = wins ? Ints{} + j : where;
  }
  const float top = largest(first);
  Ints lane;
  for (int l = 0; l < kVectorFloats; ++l) lane[l] = l;
  const Ints at = first == top ? where + lane : Ints{} + width;
  const int center = -largest(-at);
  const float next_best = largest(at == center ? second : first);
  return {center, static_cast<double>(top), static_cast<double>(next_best), 0.0};
}

// Finds the best center among all by one visit to the panels; sim64 decides where float32 cannot.
// Leaves the float32 similarities in `similarities`.
template <class Row>
Best best_of_all(const Panels& panels, const Centers& centers, const Row& row, float* similarities,
                 Work& work) {
  const int k = centers.size();
  panel_similarities(panels, row, similarities);
  work.similarities += k;
  const double error = panel_error(row.size);
  Best best = best_two(similarities, panels.width());
  best.error = error;
  // Centers below this have a smaller sim64 than the best.
  const double least = best.similarity - 2.0 * error;
  if (best.second < least) return best;

  ++work.exact_decisions;
  const double top = best.similarity;
  if (top == 0.0 && panels.share_no_feature(row)) {
    best.center = 0;  // as similar as all others
    return best;
  }
  best.similarity = -std::numeric_limits<double>::infinity();
  for (int j = 0; j < k; ++j) {
    if (static_cast<double>(similarities[j]) < least) continue;
    const double exact = centers.similarity(row, j);
    if (exact > best.similarity) {  // the tie rule: the smallest j keeps an equal similarity
      best.similarity = exact;
      best.center = j;
    }
  }
  best.second = top;
  return best;
}

// A pass: make_visitor(work) makes one visitor for each thread. Its visit(begin, end) writes the
// labels of the rows of a chunk over the old ones.
template <class RowsOf, class MakeVisitor>
Work pass_over_rows(const RowsOf& rows, const Labels& state, const PassOptions& options,
                    const MakeVisitor& make_visitor) {
  std::vector<Work> work(index(options.n_threads));
  using Visitor = decltype(make_visitor(work[0]));
  std::vector<std::unique_ptr<Visitor>> visitors(work.size());
  parallel_chunks(rows.n_rows, options.rows_at_a_time(), options.n_threads,
                  [&](int thread, std::int64_t begin, std::int64_t end) {
                    const auto t = index(thread);
                    // Made where it stays: parts of a visitor may refer to each other.
                    if (!visitors[t]) visitors[t].reset(new Visitor(make_visitor(work[t])));
                    for (std::int64_t i = begin; i < end; ++i) state.previous[i] = state.labels[i];
                    visitors[t]->visit(begin, end);
                    for (std::int64_t i = begin; i < end; ++i) {
                      work[t].changed += state.previous[i] != state.labels[i];
                    }
                  });
  Work sum;
  for (const Work& part : work) sum.add(part);
  return sum;
}

// Visitors that take one row at a time derive from this and define `int label(i, row, label)`: from
// the label of the last pass, or −1, to the one of this pass. `State` is the labels and the rest of
// the row state.
template <class Visitor, class RowsOf, class State = Labels>
class RowVisitor {
 public:
  RowVisitor(const RowsOf& rows, const Centers& centers, const Panels& panels, const State& state,
             Work& work)
      : rows_(rows),
        centers_(centers),
        state_(state),
        work_(work),
        panels_(panels),
        similarities_(index(panels_.width())) {}

  void visit(std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (rows_.zero[i]) continue;
      state_.labels[i] = static_cast<Visitor*>(this)->label(i, rows_.row(i), int{state_.labels[i]});
    }
  }

 protected:
  using Row = typename RowsOf::Row;
  using Value = typename Row::Value;

  // sim64 to one center, counted.
  double similarity(const Row& row, int j) {
    ++work_.similarities;
    return centers_.similarity(row, j);
  }
  // The best of all centers, counted; similarities() are then those of this row, in float32.
  Best best_of_all(const Row& row) {
    return arcmeans::best_of_all(panels_, centers_, row, similarities_.data(), work_);
  }
  const float* similarities() const { return similarities_.data(); }

  const RowsOf& rows_;
  const Centers& centers_;
  const State& state_;
  Work& work_;

 private:
  const Panels& panels_;
  std::vector<float> similarities_;
};

}  // namespace arcmeans
