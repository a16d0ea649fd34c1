#include "core/centers/centers.hpp"

#include <cmath>
#include <stdexcept>

#include "core/support/parallel.hpp"

namespace arcmeans {

namespace {

Wide product(std::int64_t a, std::int64_t b) { return static_cast<Wide>(a) * b; }

// Puts entries into ascending order: one bit for each feature says which there are.
class SortedEntries {
 public:
  explicit SortedEntries(std::int32_t n_features)
      : values_(static_cast<std::size_t>(n_features)), there_(values_.size() / 64 + 1) {}

  void set(std::int32_t feature, std::int64_t value) {
    const auto f = static_cast<std::size_t>(feature);
    values_[f] = value;
    there_[f / 64] |= std::uint64_t{1} << (f % 64);
  }

  void take(std::int32_t* features, std::int64_t* values) {
    for (std::size_t word = 0; word < there_.size(); ++word) {
      for (; there_[word] != 0; there_[word] &= there_[word] - 1) {
        const std::size_t f = word * 64 + static_cast<std::size_t>(__builtin_ctzll(there_[word]));
        *features++ = static_cast<std::int32_t>(f);
        *values++ = values_[f];
      }
    }
  }

 private:
  std::vector<std::int64_t> values_;
  std::vector<std::uint64_t> there_;
};

}  // namespace

Centers::Centers(int n_centers, std::int32_t n_features, double one, std::int32_t n_frequent)
    : n_centers_(n_centers),
      n_features_(n_features),
      n_frequent_(n_frequent),
      one_(one),
      unit_(1.0 / one),
      vectors_(static_cast<std::size_t>(n_centers) * static_cast<std::size_t>(n_frequent)),
      rare_(n_frequent, n_features),
      squared_(static_cast<std::size_t>(n_centers)),
      squared_rare_(static_cast<std::size_t>(n_centers)),
      scale_(static_cast<std::size_t>(n_centers)),
      scale_before_(static_cast<std::size_t>(n_centers)),
      untouched_(static_cast<std::size_t>(n_centers)),
      untouched_rare_(static_cast<std::size_t>(n_centers)),
      largest_(static_cast<std::size_t>(n_centers)),
      count_(static_cast<std::size_t>(n_centers)),
      detached_(static_cast<std::size_t>(n_centers), 1),
      negative_(static_cast<std::size_t>(n_centers)),
      cos_(static_cast<std::size_t>(n_centers), 1.0),
      sin_(static_cast<std::size_t>(n_centers)),
      pad_(static_cast<std::size_t>(n_centers)),
      chord_(static_cast<std::size_t>(n_centers)),
      rise_(static_cast<std::size_t>(n_centers)),
      rise_nonnegative_(static_cast<std::size_t>(n_centers)),
      fall_nonnegative_(static_cast<std::size_t>(n_centers)),
      by_movement_(n_centers) {}

void Centers::need_panels() {
  if (panels_) return;
  if (n_frequent_ < n_features_) {
    Buffer<std::int64_t> all(static_cast<std::size_t>(n_centers_) *
                             static_cast<std::size_t>(n_features_));
    for (int j = 0; j < n_centers_; ++j) {
      std::copy_n(vector(j), n_frequent_, all.data() + std::int64_t{j} * n_features_);
    }
    for (std::int32_t f = n_frequent_; f < n_features_; ++f) {
      rare_.each(f, [&](int j, std::int64_t sum) {
        all.data()[std::int64_t{j} * n_features_ + f] = sum;
        auto& largest = largest_[static_cast<std::size_t>(j)];
        largest = std::max(largest, std::abs(sum));
      });
    }
    vectors_ = std::move(all);
    n_frequent_ = n_features_;
    rare_ = RareLists(n_features_, n_features_);
    squared_rare_.assign(squared_rare_.size(), 0);
    lines_.reset();
    drifts_.reset();
  }
  panels_ = std::make_unique<Panels>(n_centers_, n_features_);
  for (int j = 0; j < n_centers_; ++j) {
    const auto c = static_cast<std::size_t>(j);
    if (squared_[c] == 0) continue;
    panels_->set_scale(j, static_cast<float>(one_ * scale_[c]));
    const Panels::Column column = panels_->column(j);
    each_frequent(j, [&](std::int32_t f, std::int64_t sum) { column.set(f, in_panel(sum)); });
  }
}

void Centers::need_lines(bool dense, int n_threads) {
  if (lines_ && lines_->dense() == dense) return;
  lines_ = std::make_unique<FilterLines>(n_centers_, n_frequent_, dense);
  by_movement_ = OrderByMovement(n_centers_);
  parallel_chunks(n_centers_, kLineShorts, n_threads,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    for (auto j = static_cast<int>(begin); j < static_cast<int>(end); ++j) {
                      if (squared_[static_cast<std::size_t>(j)] == 0) continue;
                      fit_lines(j);
                    }
                  });
}

void Centers::need_drifts(bool any_sign) {
  if (drifts_ && (drifts_->any_sign() || !any_sign)) return;  // what holds for any holds for all
  drifts_ = std::make_unique<Drifts>(n_centers_, n_frequent_, n_features_, any_sign);
}

void Centers::need_feature_changes(std::int64_t most_read) {
  if (!feature_changes_) {
    feature_changes_ = std::make_unique<FeatureChanges>(n_centers_, n_features_, most_read);
  }
}

std::vector<std::int64_t> Centers::sizes() const {
  std::vector<std::int64_t> sizes(detached_.size());
  each_entry([&](std::size_t j, std::int32_t, std::int64_t) { ++sizes[j]; });
  return sizes;
}

void Centers::entries(const std::int64_t* starts, const std::int32_t* by_rank,
                      std::int32_t* features, std::int64_t* values) const {
  std::vector<std::int64_t> next(starts, starts + n_centers_);
  each_entry([&](std::size_t j, std::int32_t feature, std::int64_t sum) {
    features[next[j]] = feature;
    values[next[j]++] = sum;
  });
  if (!by_rank) return;
  SortedEntries sorted(n_features_);
  for (std::size_t j = 0; j < next.size(); ++j) {
    for (std::int64_t e = starts[j]; e < next[j]; ++e) sorted.set(by_rank[features[e]], values[e]);
    sorted.take(features + starts[j], values + starts[j]);
  }
}

void Centers::set_length(int j, Wide squared) {
  const auto c = static_cast<std::size_t>(j);
  squared_[c] = squared;
  scale_[c] = 1.0 / std::sqrt(static_cast<double>(squared));
  if (panels_) panels_->set_scale(j, static_cast<float>(one_ * scale_[c]));
}

// From ‖(c′ − c)⁺‖ and ‖(c′ − c)⁻‖.
void Centers::set_movement(int j, double rise, double fall, double slack, std::int64_t terms) {
  const auto c = static_cast<std::size_t>(j);
  const double chord = std::sqrt(rise * rise + fall * fall);
  const Movement movement = movement_from_chord(chord + slack, terms);
  cos_[c] = movement.cos;
  sin_[c] = movement.sin;
  pad_[c] = movement.pad;
  chord_[c] = std::min(2.0, chord);
  const double outward = std::min(2.0, outward_chord(chord + slack, terms));
  const bool one_sided = !negative_[c] && slack == 0.0;
  rise_[c] = outward;
  rise_nonnegative_[c] = one_sided ? outward_chord(rise, terms) : outward;
  fall_nonnegative_[c] = one_sided ? outward_chord(fall, terms) : outward;
}

void Centers::place(int j, const std::int32_t* features, const std::int64_t* values,
                    std::int64_t size) {
  const auto c = static_cast<std::size_t>(j);
  for (std::int64_t e = 0; e < size; ++e) {
    if (features[e] < 0 || features[e] >= n_features_) {
      throw std::invalid_argument("a center has a feature that the rows do not have");
    }
  }
  if (squared_[c] != 0) {
    clear_frequent(j);
    std::vector<char> marked(detached_.size());
    marked[c] = 1;
    rare_.remove(marked);
  }
  detached_[c] = 1;
  count_[c] = 0;
  largest_[c] = 0;
  squared_rare_[c] = 0;
  std::int64_t* vector = vectors_.data() + offset(j);
  Wide squared = 0;
  for (std::int64_t e = 0; e < size; ++e) {
    if (features[e] < n_frequent_) {
      vector[features[e]] = values[e];
    } else {
      rare_.add(features[e], j, values[e]);
      squared_rare_[c] += product(values[e], values[e]);
    }
    largest_[c] = larger(largest_[c], features[e], values[e]);
    squared += product(values[e], values[e]);
  }
  set_length(j, squared);
  if (lines_) fit_lines(j);
  write(j, features, static_cast<std::size_t>(size));
  rise_[c] = rise_nonnegative_[c] = fall_nonnegative_[c] = 2.0;  // it may have gone anywhere
  if (drifts_) drifts_->forget(j);
}

// Has lines that hold a center of this length: where it does not fit they are written anew.
void Centers::fit_lines(int j) {
  const auto c = static_cast<std::size_t>(j);
  if (lines_->keep(j, scale_[c], static_cast<double>(largest_[c]))) return;
  if (lines_->binding(scale_[c], static_cast<double>(largest_[c]))) {
    largest_[c] = 0;
    each_frequent(j, [&](std::int32_t, std::int64_t sum) {
      largest_[c] = std::max(largest_[c], std::abs(sum));
    });
  }
  lines_->renew(j, scale_[c], static_cast<double>(largest_[c]));
  const FilterLines::Column column = lines_->column(j);
  each_frequent(j, [&](std::int32_t f, std::int64_t sum) { column.set(f, sum); });
}

// Has the centers that move most side by side (places.hpp). Only where each has a bound of its own:
// that of a group would have to become the largest of those of all that come to it.
void Centers::arrange_lines(int n_threads) {
  if (lines_->dense() || lines_->count() == 1) return;
  if (LineGroups(n_centers_, false).size() > 1) return;
  if (!by_movement_.take(chord_)) return;
  lines_->arrange(lines_->places().in_order(by_movement_.centers()), n_threads);
}

// What the kernels read of these features.
void Centers::write(int j, const std::int32_t* features, std::size_t size) {
  const std::int64_t* vector = this->vector(j);
  if (panels_) {
    const Panels::Column column = panels_->column(j);
    for (std::size_t e = 0; e < size; ++e) column.set(features[e], in_panel(vector[features[e]]));
  }
  if (lines_) {
    const FilterLines::Column column = lines_->column(j);
    for (std::size_t e = 0; e < size; ++e) {
      if (features[e] < n_frequent_) column.set(features[e], vector[features[e]]);
    }
  }
}

double Centers::objective(const SumChanges* changes) const {
  double total = 0.0;
  for (std::size_t j = 0; j < scale_.size(); ++j) {
    Wide dot = detached_[j] ? 0 : squared_[j];
    if (changes) {
      const SumChange& change = (*changes)[j];
      for (std::size_t e = 0; e < change.size(); ++e) {
        dot += product(value(static_cast<int>(j), change.features[e]), change.values[e]);
      }
    }
    total += static_cast<double>(dot) * scale_[j];
  }
  return total * unit_;
}

void Centers::move(const SumChanges& changes, int n_threads) {
  std::vector<Moved> moved(detached_.size());
  parallel_chunks(n_centers_, 1, n_threads, [&](int, std::int64_t j, std::int64_t) {
    const auto c = static_cast<std::size_t>(j);
    moved[c] = move(static_cast<int>(j), changes[c]);
  });
  if (n_frequent_ < n_features_) move_rare(changes, moved);
  if (lines_) arrange_lines(n_threads);
  if (drifts_) follow_drifts(changes, moved, n_threads);
  if (feature_changes_) follow_features(changes, moved, n_threads);
}

void Centers::follow_features(const SumChanges& changes, const std::vector<Moved>& moved,
                              int n_threads) {
  std::vector<FeatureChanges::Move> moves(moved.size());
  for (std::size_t j = 0; j < moves.size(); ++j) {
    if (moved[j] == Moved::no) continue;
    moves[j] = {&changes[j], moved[j] == Moved::replaced, vector(static_cast<int>(j)),
                scale_before_[j], scale_[j]};
  }
  feature_changes_->follow(std::move(moves), n_threads);
}

void Centers::follow_drifts(const SumChanges& changes, const std::vector<Moved>& moved,
                            int n_threads) {
  const bool any_sign = drifts_->any_sign();
  std::vector<Drifts::Move> moves(moved.size());
  for (std::size_t j = 0; j < moves.size(); ++j) {
    if (moved[j] == Moved::no) continue;
    // Where sums below zero meet rows without, a share of the cosine says nothing.
    const bool replaced = moved[j] == Moved::replaced || (negative_[j] && !any_sign);
    const double largest =
        any_sign ? rise_[j] : std::max(rise_nonnegative_[j], fall_nonnegative_[j]);
    moves[j] = {&changes[j],      replaced,          vector(static_cast<int>(j)),
                scale_before_[j], scale_[j],         largest,
                untouched_[j],    untouched_rare_[j]};
  }
  drifts_->follow(moves, n_threads);
}

// The lists are shared by the centers: they are read while all centers move and written after.
void Centers::move_rare(const SumChanges& changes, const std::vector<Moved>& moved) {
  std::vector<char> replaced(moved.size());
  bool any = false;
  for (std::size_t j = 0; j < moved.size(); ++j) {
    replaced[j] = moved[j] == Moved::replaced;
    any |= replaced[j] != 0;
  }
  if (any) rare_.remove(replaced);
  for (std::size_t j = 0; j < moved.size(); ++j) {
    if (moved[j] == Moved::no) continue;
    const SumChange& change = changes[j];
    for (std::size_t e = change.size(); e-- > 0 && change.features[e] >= n_frequent_;) {
      rare_.add(change.features[e], static_cast<int>(j), change.values[e]);
    }
  }
}

void Centers::clear_frequent(int j) {
  std::int64_t* vector = vectors_.data() + offset(j);
  std::vector<std::int32_t> cleared;
  each_frequent(j, [&](std::int32_t feature, std::int64_t) {
    vector[feature] = 0;
    cleared.push_back(feature);
  });
  largest_[static_cast<std::size_t>(j)] = 0;
  write(j, cleared.data(), cleared.size());
}

Centers::Moved Centers::move(int j, const SumChange& change) {
  const auto c = static_cast<std::size_t>(j);
  cos_[c] = 1.0;
  sin_[c] = pad_[c] = chord_[c] = rise_[c] = rise_nonnegative_[c] = fall_nonnegative_[c] = 0.0;
  if (!change.touched) return Moved::no;
  count_[c] += change.rows;

  std::int64_t* vector = vectors_.data() + offset(j);
  const std::size_t n = change.size();
  Wide touched_before = 0;  // squares of the entries that change, before and after
  Wide rare_before = 0;     // those of rare features
  Wide rare_after = 0;
  Wide touched_after = 0;
  Wide dot = 0;  // the old vector and the change, where it replaces it
  bool negative = false;
  std::int64_t largest = detached_[c] ? 0 : largest_[c];
  for (std::size_t e = 0; e < n; ++e) {
    const std::int64_t before = value(j, change.features[e]);
    const std::int64_t after = (detached_[c] ? 0 : before) + change.values[e];
    touched_before += product(before, before);
    if (change.features[e] >= n_frequent_) {
      rare_before += product(before, before);
      rare_after += product(after, after);
    }
    touched_after += product(after, after);
    if (detached_[c]) dot += product(before, change.values[e]);
    negative |= after < 0;
    largest = larger(largest, change.features[e], after);
  }
  const Wide untouched = squared_[c] - touched_before;
  const Wide squared = (detached_[c] ? 0 : untouched) + touched_after;
  if (count_[c] == 0 || squared == 0) {
    detached_[c] = 1;  // no direction is left: the center stays where it is
    return Moved::no;
  }

  if (negative) negative_[c] = 1;
  const double scale_before = scale_[c];
  set_length(j, squared);
  const bool replaced = detached_[c] != 0;
  if (replaced) {
    // Another vector altogether: ‖c′ − c‖² = 2 − 2·cos.
    const double cos = static_cast<double>(dot) * scale_before * scale_[c];
    const double chord = std::sqrt(std::max(0.0, 2.0 - 2.0 * cos));
    // Where the two happen to be close, the subtraction has lost digits.
    set_movement(j, chord, 0.0, 0x1p-24, static_cast<std::int64_t>(n));
    clear_frequent(j);
    detached_[c] = 0;
  } else {
    // ‖c′ − c‖² in float64: entries touched one by one, the others changed by the scale alone.
    const double stretch = scale_[c] - scale_before;
    double rise = 0.0;
    double fall = 0.0;
    (stretch > 0.0 ? rise : fall) = static_cast<double>(untouched) * stretch * stretch;
    scale_before_[c] = scale_before;
    untouched_[c] = std::sqrt(static_cast<double>(untouched + rare_before));
    untouched_rare_[c] = std::sqrt(static_cast<double>(squared_rare_[c]));
    for (std::size_t e = 0; e < n; ++e) {
      const std::int64_t before = value(j, change.features[e]);
      const double difference = static_cast<double>(before + change.values[e]) * scale_[c] -
                                static_cast<double>(before) * scale_before;
      // Without a branch, which would be mispredicted too often.
      const double square = difference * difference;
      rise += difference > 0.0 ? square : 0.0;
      fall += difference > 0.0 ? 0.0 : square;
    }
    set_movement(j, std::sqrt(rise), std::sqrt(fall), 0.0, static_cast<std::int64_t>(n));
  }
  squared_rare_[c] = (replaced ? 0 : squared_rare_[c] - rare_before) + rare_after;
  for (std::size_t e = 0; e < n && change.features[e] < n_frequent_; ++e) {
    vector[change.features[e]] += change.values[e];
  }
  largest_[c] = largest;
  if (lines_) fit_lines(j);
  write(j, change.features.data(), n);
  return replaced ? Moved::replaced : Moved::changed;
}

}  // namespace arcmeans
