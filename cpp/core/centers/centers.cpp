#include "core/centers/centers.hpp"

#include <cmath>

#include "core/support/parallel.hpp"

namespace arcmeans {

namespace {

Wide product(std::int64_t a, std::int64_t b) { return static_cast<Wide>(a) * b; }

}  // namespace

Centers::Centers(int n_centers, std::int32_t n_features, double one, std::int32_t n_frequent)
    : one_(one),
      sums_(n_centers, n_features, n_frequent),
      states_(index(n_centers)),
      scale_(index(n_centers)),
      count_(index(n_centers)),
      last_move_(index(n_centers)) {}

void Centers::set_length(int j, Wide squared) {
  states_[index(j)].squared = squared;
  scale_[index(j)] = 1.0 / std::sqrt(static_cast<double>(squared));
}

void Centers::clear_frequent(int j) {
  for (const auto& watcher : watchers_) watcher->clearing(*this, j);
  sums_.clear_frequent(j);
}

void Centers::place(int j, const std::int32_t* features, const std::int64_t* values,
                    std::int64_t size) {
  for (std::int64_t e = 0; e < size; ++e) {
    if (features[e] < 0 || features[e] >= n_features()) {
      throw std::invalid_argument("a center has a feature that the rows do not have");
    }
  }
  State& state = states_[index(j)];
  if (state.squared != 0) {
    clear_frequent(j);
    std::vector<char> marked(states_.size());
    marked[index(j)] = 1;
    sums_.clear_rare(marked);
  }
  state.detached = true;
  count_[index(j)] = 0;
  state.squared_rare = 0;
  Wide squared = 0;
  for (std::int64_t e = 0; e < size; ++e) {
    sums_.set(j, features[e], values[e]);
    const Wide square = product(values[e], values[e]);
    squared += square;
    if (features[e] >= n_frequent()) state.squared_rare += square;
  }
  set_length(j, squared);
  last_move_[index(j)] = placed_anew();
  for (const auto& watcher : watchers_) watcher->placed(*this, j);
}

double Centers::objective(const SumChanges* changes) const {
  double total = 0.0;
  for (int j = 0; j < size(); ++j) {
    Wide dot = detached(j) ? 0 : states_[index(j)].squared;
    if (changes) {
      const SumChange& change = (*changes)[index(j)];
      for (std::size_t e = 0; e < change.size(); ++e) {
        dot += product(sums_.value(j, change.features[e]), change.values[e]);
      }
    }
    total += static_cast<double>(dot) * scale(j);
  }
  return total * (1.0 / one_);
}

void Centers::move(const SumChanges& changes, int n_threads) {
  parallel_each(size(), n_threads,
                [&](int, int j) { last_move_[index(j)] = move(j, changes[index(j)]); });
  if (n_frequent() < n_features()) move_rare(changes);
  for (const auto& watcher : watchers_) watcher->moved(*this, changes, n_threads);
}

// The lists of rare features are read while all centers move, and written to after.
void Centers::move_rare(const SumChanges& changes) {
  std::vector<char> replaced(states_.size());
  bool any = false;
  for (std::size_t j = 0; j < replaced.size(); ++j) {
    replaced[j] = last_move_[j].kind == CenterMove::Kind::replaced;
    any |= replaced[j] != 0;
  }
  if (any) sums_.clear_rare(replaced);
  for (int j = 0; j < size(); ++j) {
    if (last_move(j).moved()) sums_.add_rare(j, changes[index(j)]);
  }
}

// Sums of squares over the features in which a center's sum changes.
struct Centers::Squares {
  Wide before = 0;  // of the old sums
  Wide after = 0;   // of the new ones
  Wide rare_before = 0;
  Wide rare_after = 0;
  Wide dot = 0;           // of a detached center: the old vector times the new sum
  bool negative = false;  // a new sum is below zero
};

Centers::Squares Centers::squares_of(int j, const SumChange& change) const {
  const bool replaces = detached(j);
  Squares squares;
  for (std::size_t e = 0; e < change.size(); ++e) {
    const std::int64_t before = sums_.value(j, change.features[e]);
    const std::int64_t after = (replaces ? 0 : before) + change.values[e];
    squares.before += product(before, before);
    squares.after += product(after, after);
    if (change.features[e] >= n_frequent()) {
      squares.rare_before += product(before, before);
      squares.rare_after += product(after, after);
    }
    if (replaces) squares.dot += product(before, after);
    squares.negative |= after < 0;
  }
  return squares;
}

CenterMove Centers::move(int j, const SumChange& change) {
  CenterMove move;
  if (!change.touched) return move;
  State& state = states_[index(j)];
  count_[index(j)] += change.rows;
  const Squares squares = squares_of(j, change);
  const Wide untouched = state.squared - squares.before;
  const Wide squared = (state.detached ? 0 : untouched) + squares.after;
  if (count_[index(j)] == 0 || squared == 0) {
    state.detached = true;  // no direction is left: the center stays where it is
    return move;
  }

  state.negative |= squares.negative;
  move.negative = state.negative;
  move.scale_before = scale(j);
  set_length(j, squared);
  move.scale = scale(j);
  const auto terms = static_cast<std::int64_t>(change.size());
  if (state.detached) {
    // ‖c′ − c‖² = 2 − 2·cos. Where the two vectors are close, the subtraction has lost digits.
    const double cos = static_cast<double>(squares.dot) * move.scale_before * move.scale;
    move.replaced_at(std::sqrt(std::max(0.0, 2.0 - 2.0 * cos)), 0x1p-24, terms);
    clear_frequent(j);
    state.detached = false;
    state.squared_rare = squares.rare_after;
  } else {
    const Difference difference = difference_of(j, change, static_cast<double>(untouched), move);
    move.changed_by(difference.positive, difference.negative, terms);
    move.length_unchanged_or_rare = std::sqrt(static_cast<double>(untouched + squares.rare_before));
    move.length_rare = std::sqrt(static_cast<double>(state.squared_rare));
    state.squared_rare += squares.rare_after - squares.rare_before;
  }
  sums_.add_frequent(j, change);
  return move;
}

// ‖(c′ − c)⁺‖ and ‖(c′ − c)⁻‖ in float64, from the scales before and after and the old sums: the
// entries that change one by one; the others, of this squared length, change by the scale alone.
Centers::Difference Centers::difference_of(int j, const SumChange& change, double untouched,
                                           const CenterMove& move) const {
  const double stretch = move.scale - move.scale_before;
  double positive = 0.0;
  double negative = 0.0;
  (stretch > 0.0 ? positive : negative) = untouched * stretch * stretch;
  for (std::size_t e = 0; e < change.size(); ++e) {
    const std::int64_t before = sums_.value(j, change.features[e]);
    const double difference = static_cast<double>(before + change.values[e]) * move.scale -
                              static_cast<double>(before) * move.scale_before;
    // Without a branch, which would be mispredicted too often.
    const double square = difference * difference;
    positive += difference > 0.0 ? square : 0.0;
    negative += difference > 0.0 ? 0.0 : square;
  }
  return {std::sqrt(positive), std::sqrt(negative)};
}

}  // namespace arcmeans
