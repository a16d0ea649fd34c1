#include "centers.hpp"

#include <cmath>
#include <stdexcept>

#include "parallel.hpp"

namespace arcmeans {

namespace {

Wide product(std::int64_t a, std::int64_t b) { return static_cast<Wide>(a) * b; }

}  // namespace

Centers::Centers(int n_centers, std::int32_t n_features, double one)
    : n_centers_(n_centers),
      n_features_(n_features),
      one_(one),
      unit_(1.0 / one),
      vectors_(static_cast<std::size_t>(n_centers) * static_cast<std::size_t>(n_features)),
      panels_(n_centers, n_features),
      squared_(static_cast<std::size_t>(n_centers)),
      scale_(static_cast<std::size_t>(n_centers)),
      count_(static_cast<std::size_t>(n_centers)),
      detached_(static_cast<std::size_t>(n_centers), 1),
      cos_(static_cast<std::size_t>(n_centers), 1.0),
      sin_(static_cast<std::size_t>(n_centers)),
      pad_(static_cast<std::size_t>(n_centers)),
      chord_(static_cast<std::size_t>(n_centers)) {}

void Centers::set_length(int j, Wide squared) {
  const auto c = static_cast<std::size_t>(j);
  squared_[c] = squared;
  scale_[c] = 1.0 / std::sqrt(static_cast<double>(squared));
  panels_.set_scale(j, static_cast<float>(one_ * scale_[c]));
}

void Centers::set_movement(int j, double chord, double slack, std::int64_t terms) {
  const auto c = static_cast<std::size_t>(j);
  const Movement movement = movement_from_chord(chord + slack, terms);
  cos_[c] = movement.cos;
  sin_[c] = movement.sin;
  pad_[c] = movement.pad;
  chord_[c] = std::min(2.0, chord);
}

void Centers::place(int j, const std::int32_t* features, const std::int64_t* values,
                    std::int64_t size) {
  const auto c = static_cast<std::size_t>(j);
  for (std::int64_t e = 0; e < size; ++e) {
    if (features[e] < 0 || features[e] >= n_features_) {
      throw std::invalid_argument("a center has a feature that the rows do not have");
    }
  }
  if (squared_[c] != 0) clear_vector(j);
  detached_[c] = 1;
  count_[c] = 0;
  std::int64_t* vector = vectors_.data() + offset(j);
  const Panels::Column column = panels_.column(j);
  Wide squared = 0;
  for (std::int64_t e = 0; e < size; ++e) {
    vector[features[e]] = values[e];
    column.set(features[e], in_panel(values[e]));
    squared += product(values[e], values[e]);
  }
  set_length(j, squared);
}

double Centers::objective(const SumChanges* changes) const {
  double total = 0.0;
  for (std::size_t j = 0; j < scale_.size(); ++j) {
    Wide dot = detached_[j] ? 0 : squared_[j];
    if (changes) {
      const std::int64_t* center = vector(static_cast<int>(j));
      const SumChange& change = (*changes)[j];
      for (std::size_t e = 0; e < change.size; ++e) {
        dot += product(center[change.features[e]], change.values[e]);
      }
    }
    total += static_cast<double>(dot) * scale_[j];
  }
  return total * unit_;
}

void Centers::move(const SumChanges& changes, int n_threads) {
  parallel_chunks(n_centers_, 1, n_threads, [&](int, std::int64_t j, std::int64_t) {
    move(static_cast<int>(j), changes[static_cast<std::size_t>(j)]);
  });
}

void Centers::clear_vector(int j) {
  std::int64_t* vector = vectors_.data() + offset(j);
  const Panels::Column column = panels_.column(j);
  for (std::int32_t feature = 0; feature < n_features_; ++feature) {
    if (vector[feature] != 0) {
      vector[feature] = 0;
      column.set(feature, 0.0F);
    }
  }
}

void Centers::move(int j, const SumChange& change) {
  const auto c = static_cast<std::size_t>(j);
  cos_[c] = 1.0;
  sin_[c] = pad_[c] = chord_[c] = 0.0;
  if (!change.touched) return;
  count_[c] += change.rows;

  std::int64_t* vector = vectors_.data() + offset(j);
  const std::size_t n = change.size;
  Wide touched_before = 0;  // squares of the entries that change, before and after
  Wide touched_after = 0;
  Wide dot = 0;  // the old vector and the change
  for (std::size_t e = 0; e < n; ++e) {
    const std::int64_t before = vector[change.features[e]];
    const std::int64_t after = (detached_[c] ? 0 : before) + change.values[e];
    touched_before += product(before, before);
    touched_after += product(after, after);
    dot += product(before, change.values[e]);
  }
  const Wide untouched = squared_[c] - touched_before;
  const Wide squared = (detached_[c] ? 0 : untouched) + touched_after;
  if (count_[c] == 0 || squared == 0) {
    detached_[c] = 1;  // no direction is left: the center stays where it is
    return;
  }

  const double scale_before = scale_[c];
  set_length(j, squared);
  const Panels::Column column = panels_.column(j);
  double chord = 0.0;
  double slack = 0.0;
  if (detached_[c]) {
    // Another vector altogether: ‖c′ − c‖² = 2 − 2·cos.
    const double cos = static_cast<double>(dot) * scale_before * scale_[c];
    chord = std::sqrt(std::max(0.0, 2.0 - 2.0 * cos));
    slack = 0x1p-24;  // where the two happen to be close, the subtraction has lost digits
    clear_vector(j);
    detached_[c] = 0;
  } else {
    // ‖c′ − c‖² in float64: entries touched one by one, the others changed by the scale alone.
    const double stretch = scale_[c] - scale_before;
    double sum = static_cast<double>(untouched) * stretch * stretch;
    for (std::size_t e = 0; e < n; ++e) {
      const std::int64_t before = vector[change.features[e]];
      const double difference = static_cast<double>(before + change.values[e]) * scale_[c] -
                                static_cast<double>(before) * scale_before;
      sum += difference * difference;
    }
    chord = std::sqrt(sum);
  }
  set_movement(j, chord, slack, static_cast<std::int64_t>(n));
  for (std::size_t e = 0; e < n; ++e) {
    const std::int32_t feature = change.features[e];
    vector[feature] += change.values[e];
    column.set(feature, in_panel(vector[feature]));
  }
}

}  // namespace arcmeans
