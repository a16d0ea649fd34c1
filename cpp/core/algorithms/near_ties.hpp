// sim64 of one row to the centers of a near tie. Near ties are few, so sim64 is asked for by a
// virtual call: the caller (exact_choice.hpp) is compiled once, and not for each type of rows.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/centers/centers.hpp"
#include "core/rows/rows.hpp"

namespace arcmeans {

struct Choice {
  int center = -1;
  double similarity = -std::numeric_limits<double>::infinity();
};

class NearTies {
 public:
  virtual ~NearTies() = default;

  // The reference error of row i.
  virtual double error(std::int64_t i) const = 0;
  // sim64 of row i to each of these centers.
  virtual void similarities(std::int64_t i, const std::vector<int>& centers,
                            double* similarities) const = 0;

  // The candidate with the largest sim64 to row i. Calls use(candidate, similarity) for each.
  // Candidates have to be in ascending order, for the tie rule.
  template <class Use>
  Choice choose(std::int64_t i, const std::vector<int>& candidates, const Use& use) {
    similarities_.resize(candidates.size());
    similarities(i, candidates, similarities_.data());
    Choice best;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      use(candidates[c], similarities_[c]);
      if (similarities_[c] > best.similarity) best = {candidates[c], similarities_[c]};
    }
    return best;
  }

 private:
  std::vector<double> similarities_;
};

template <class RowsOf>
class NearTiesOf final : public NearTies {
 public:
  NearTiesOf(const RowsOf& rows, const Centers& centers) : rows_(rows), centers_(centers) {}

  double error(std::int64_t i) const override {
    return reference_error<typename RowsOf::Row::Value>(rows_.row(i).size);
  }
  // Two centers at a time, whose numbers then come from memory at the same time.
  void similarities(std::int64_t i, const std::vector<int>& centers,
                    double* similarities) const override {
    const auto row = rows_.row(i);
    std::size_t c = 0;
    for (; c + 2 <= centers.size(); c += 2) {
      centers_.template similarities<2>(row, centers.data() + c, similarities + c);
    }
    if (c < centers.size()) similarities[c] = centers_.similarity(row, centers[c]);
  }

 private:
  RowsOf rows_;
  const Centers& centers_;
};

inline std::unique_ptr<NearTies> near_ties(const Rows& rows, const Centers& centers) {
  return with_row_type(rows, [&](const auto& typed_rows) -> std::unique_ptr<NearTies> {
    return std::make_unique<NearTiesOf<std::decay_t<decltype(typed_rows)>>>(typed_rows, centers);
  });
}

}  // namespace arcmeans
