#include "centers.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "parallel.hpp"

namespace arcmeans {

namespace {

Square square(std::int64_t value) {
  const auto magnitude = static_cast<Square>(value < 0 ? -value : value);
  return magnitude * magnitude;
}

}  // namespace

// A row that joined (+1) or left (−1) a cluster.
struct Centers::Member {
  std::int64_t row;
  int sign;
};

// The change of one sum, feature by feature: values, and the list of the features touched.
struct Centers::Scratch {
  std::vector<std::int64_t> change;
  std::vector<char> seen;
  std::vector<std::int32_t> touched;

  void touch(std::int32_t feature) {
    if (touched.size() < change.size() && !seen[static_cast<std::size_t>(feature)]) {
      seen[static_cast<std::size_t>(feature)] = 1;
      touched.push_back(feature);
    }
  }
  template <class Row>
  void add(const Row& row, double one, double weight, int sign) {
    if (Row::dense && touched.empty()) {
      touched.resize(change.size());
      std::iota(touched.begin(), touched.end(), 0);
    }
    for (std::int64_t e = 0; e < row.size; ++e) {
      const std::int32_t feature = row.feature(e);
      if constexpr (!Row::dense) touch(feature);
      change[static_cast<std::size_t>(feature)] +=
          sign * fixed_point(static_cast<double>(row.values[e]), one, weight);
    }
  }
  void clear() {
    for (const std::int32_t feature : touched) {
      change[static_cast<std::size_t>(feature)] = 0;
      seen[static_cast<std::size_t>(feature)] = 0;
    }
    touched.clear();
  }
};

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

void Centers::set_length(int j, Square squared) {
  const auto c = static_cast<std::size_t>(j);
  squared_[c] = squared;
  scale_[c] = 1.0 / std::sqrt(static_cast<double>(squared));
  panels_.set_scale(j, static_cast<float>(one_ * scale_[c]));
}

void Centers::place(int j, const std::int32_t* features, const std::int64_t* values,
                    std::int64_t size) {
  std::int64_t* vector = vectors_.data() + offset(j);
  const Panels::Column column = panels_.column(j);
  Square squared = 0;
  for (std::int64_t e = 0; e < size; ++e) {
    vector[features[e]] = values[e];
    column.set(features[e], in_panel(values[e]));
    squared += square(values[e]);
  }
  set_length(j, squared);
}

double Centers::length_of_sums() const {
  double total = 0.0;
  for (std::size_t j = 0; j < scale_.size(); ++j) {
    if (!detached_[j]) total += std::sqrt(static_cast<double>(squared_[j]));
  }
  return total * unit_;
}

void Centers::move(const Rows& rows, const std::int32_t* previous, const std::int32_t* labels,
                   int n_threads) {
  // The rows that joined or left, grouped by cluster in the order of rows.
  const auto k = static_cast<std::size_t>(n_centers_);
  std::vector<std::int64_t> starts(k + 1);
  auto each_member = [&](const auto& use) {
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
      if (previous[i] == labels[i] || !rows.counts(i)) continue;
      if (previous[i] >= 0) use(previous[i], Member{i, -1});
      if (labels[i] >= 0) use(labels[i], Member{i, +1});
    }
  };
  each_member([&](std::int32_t j, Member) { ++starts[static_cast<std::size_t>(j) + 1]; });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<Member> members(static_cast<std::size_t>(starts[k]));
  std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
  each_member([&](std::int32_t j, Member member) {
    members[static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++)] = member;
  });

  std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(1, n_threads)));
  visit(rows, [&](const auto& typed) {
    parallel_chunks(n_centers_, 1, n_threads, [&](int thread, std::int64_t c, std::int64_t) {
      Scratch& mine = scratch[static_cast<std::size_t>(thread)];
      mine.change.resize(static_cast<std::size_t>(n_features_));
      mine.seen.resize(static_cast<std::size_t>(n_features_));
      const auto j = static_cast<std::size_t>(c);
      move_center(typed, labels, static_cast<int>(c), members.data() + starts[j],
                  starts[j + 1] - starts[j], mine);
    });
  });
}

template <class RowsOf>
void Centers::move_center(const RowsOf& rows, const std::int32_t* labels, int j,
                          const Member* members, std::int64_t n_members, Scratch& scratch) {
  const auto c = static_cast<std::size_t>(j);
  cos_[c] = 1.0;
  sin_[c] = pad_[c] = chord_[c] = 0.0;
  if (n_members == 0) return;
  for (std::int64_t m = 0; m < n_members; ++m) count_[c] += members[m].sign;
  if (count_[c] == 0) {
    detached_[c] = 1;  // the last row left: the center stays where it is
    return;
  }
  for (std::int64_t m = 0; m < n_members; ++m) {
    const std::int64_t i = members[m].row;
    scratch.add(rows.row(i), one_, rows.weight(i), members[m].sign);
  }
  apply(j, scratch);
  if (squared_[c] == 0) point_at_first_row(rows, labels, j, scratch);
}

// Rows that cancel have no mean direction; the center takes that of the first of them.
template <class RowsOf>
void Centers::point_at_first_row(const RowsOf& rows, const std::int32_t* labels, int j,
                                 Scratch& scratch) {
  std::int64_t i = 0;
  while (labels[i] != j || !rows.counts(i)) ++i;
  scratch.add(rows.row(i), one_, 1.0, +1);
  apply(j, scratch);
  const auto c = static_cast<std::size_t>(j);
  detached_[c] = 1;
  chord_[c] = 2.0;
  cos_[c] = -1.0;
  sin_[c] = 0.0;
  pad_[c] = kUpdatePad;
}

// Adds the change to the vector, and takes length, panel and movement from the entries touched.
void Centers::apply(int j, Scratch& scratch) {
  const auto c = static_cast<std::size_t>(j);
  std::int64_t* vector = vectors_.data() + offset(j);
  const bool replace = detached_[c] != 0;
  if (replace) {
    for (std::int32_t feature = 0; feature < n_features_; ++feature) {
      if (vector[feature] != 0) scratch.touch(feature);
    }
  }

  Square touched_before = 0;
  Square touched_after = 0;
  for (const std::int32_t feature : scratch.touched) {
    const std::int64_t before = vector[feature];
    std::int64_t& after = scratch.change[static_cast<std::size_t>(feature)];
    if (!replace) after += before;
    touched_before += square(before);
    touched_after += square(after);
  }
  const Square untouched = squared_[c] - touched_before;
  const double scale_before = scale_[c];
  set_length(j, untouched + touched_after);
  const double scale_after = squared_[c] == 0 ? 0.0 : scale_[c];

  // ‖c′ − c‖² in float64: entries touched one by one, the others changed by the scale alone.
  const double stretch = scale_after - scale_before;
  double chord = static_cast<double>(untouched) * stretch * stretch;
  const Panels::Column column = panels_.column(j);
  for (const std::int32_t feature : scratch.touched) {
    const std::int64_t after = scratch.change[static_cast<std::size_t>(feature)];
    const double difference = static_cast<double>(after) * scale_after -
                              static_cast<double>(vector[feature]) * scale_before;
    chord += difference * difference;
    vector[feature] = after;
    column.set(feature, in_panel(after));
  }
  chord_[c] = std::min(2.0, std::sqrt(chord));
  const auto terms = static_cast<std::int64_t>(scratch.touched.size());
  const Movement movement = movement_from_chord(chord_[c], terms);
  cos_[c] = movement.cos;
  sin_[c] = movement.sin;
  pad_[c] = movement.pad;
  detached_[c] = 0;
  scratch.clear();
}

}  // namespace arcmeans
