// `yinyang` on the sphere (after Ding, Zhao, Shen, Musuvathi and Mytkowicz, ICML 2015): the centers
// are in groups, from one (as Hamerly) to k (as Elkan).
//
// Bounds of a row i, as angles: own(i) ≥ the angle to its own center, other(i) ≤ the angles to all
// others, and for each group a bound ≤ the angles to its centers, the own center left out. A row
// with other(i) above own(i), by so much that sim64 agrees, keeps its label: that costs one
// addition and one subtraction. Where the test fails, own(i) is made tight; where it still fails,
// the groups whose bounds are within the limit of the row are visited, each strip by one visit, and
// their bounds are found anew.
//
// A group bound is stored as bound + all movement of the group so far, and read as that minus all
// movement by then: bounds that are not read cost nothing. What has to stay true: every center but
// the own one is covered by other(i) and by the bound of its group, a former own center too.
//
// The third filter of the paper, a test for each center of a group by its own movement, is left
// out: the center of a group that moved most never passes it, so its strip is visited anyway, and
// the fifteen other centers of that strip come with it at no cost.
// Memory: 16 + 4·(number of groups) bytes a row, and a copy of the centers (center_groups.hpp).
#include "core/algorithms/yinyang.hpp"

#include "core/algorithms/center_grouping.hpp"
#include "core/algorithms/row_loop.hpp"
#include "core/support/index.hpp"

namespace arcmeans {

namespace {

template <class RowsOf>
class YinyangVisitor : public RowVisitor<YinyangVisitor<RowsOf>, RowsOf> {
  using Base = RowVisitor<YinyangVisitor<RowsOf>, RowsOf>;
  using typename Base::Row;
  using typename Base::Value;

 public:
  YinyangVisitor(const RowsOf& rows, const Centers& centers, const Panels& panels,
                 const Labels& state, const AngleState& angles, const CenterGroups& groups,
                 const TurnAngles& turns, Work& work)
      : Base(rows, centers, panels, state, work),
        angles_(angles),
        groups_(groups),
        turns_(turns),
        visited_(index(groups.size())),
        largest_(visited_.size()),
        bounds_(visited_.size()) {}

  int label(std::int64_t i, const Row& row, int label) {
    const double error = reference_error<Value>(row.size);
    Search search{row, error, panel_error(row.size)};
    double& own = angles_.own[i];
    double& other = angles_.other[i];
    if (label >= 0) {
      own += turns_[label];                // Eq. (6) of bounds.hpp, as an angle
      other -= turns_.largest_but(label);  // Eq. (7) with p′, as an angle
      if (other > beyond(own, error)) {
        ++this->work_.skipped_by_bounds;
        return label;
      }
      search.set_best(label, this->similarity(row, label));
      own = search.own;
      if (other > search.limit) return label;
    }
    other = visit_groups(search, angles_.groups + i * groups_.size());
    own = search.own;
    return search.best;
  }

 private:
  // The best center of a row so far.
  struct Search {
    const Row& row;
    double error;        // of sim64, to the true cosine
    double panel_error;  // of a strip, to sim64
    int best = -1;
    double similarity = -std::numeric_limits<double>::infinity();  // sim64 of the best center
    double own = kPi;                                              // ≥ the angle to it
    // A center at a larger angle has a smaller sim64 than the best.
    double limit = std::numeric_limits<double>::infinity();
    bool near_tie = false;

    void set_best(int center, double exact) {
      best = center;
      similarity = exact;
      own = angle_at_most(exact - error);
      limit = beyond(own, error);
    }
  };
  // A center that was the best of the row for a while, and its sim64.
  struct Former {
    int center;
    double similarity;
  };

  // Visits the groups within the limit, and stores their bounds. Returns other(i).
  double visit_groups(Search& search, float* stored_bounds) {
    double other = std::numeric_limits<double>::infinity();
    const std::size_t n = list_within(stored_bounds, search.limit, other);
    formers_.clear();
    auto largest = static_cast<double>(kNoCenter);
    for (std::size_t v = 0; v < n; ++v) {
      const int g = visited_[v];
      largest_[v] = largest_in(search, g);
      largest = std::max(largest, largest_[v]);
      // The similarity to the best center was counted before.
      this->work_.similarities += groups_.count(g) - static_cast<int>(has_best(search, g));
    }
    const double panel_error = search.panel_error;
    if (largest >= search.similarity - panel_error) {  // some center may be better
      for (std::size_t v = 0; v < n; ++v) {
        // In the end the best has a sim64 of at least this, and float32 shows it nearly as large.
        const double least = std::max(largest - panel_error, search.similarity);
        if (largest_[v] < least - panel_error) continue;
        choose(search, visited_[v]);
        largest_[v] = largest_in(search, visited_[v]);
      }
    }
    this->work_.exact_decisions += search.near_tie;

    for (std::size_t v = 0; v < n; ++v) {  // a loop by itself, for vectors
      bounds_[v] = angle_at_least(largest_[v] + panel_error + search.error);
    }
    for (std::size_t v = 0; v < n; ++v) {
      const int g = visited_[v];
      if (largest_[v] == static_cast<double>(kNoCenter))
        bounds_[v] = std::numeric_limits<double>::infinity();
      stored_bounds[g] = kept(bounds_[v], groups_.moved(g));
      other = std::min(other, bounds_[v]);
    }
    // While a center was the best, the bound of its group left it out.
    for (const Former& former : formers_) {
      const int g = groups_.group_of(former.center);
      const double angle = angle_at_least(former.similarity + search.error);
      stored_bounds[g] = std::min(stored_bounds[g], kept(angle, groups_.moved(g)));
      other = std::min(other, angle);
    }
    return other;
  }

  // Lists the groups whose bounds are within a limit in `visited_`, and returns how many they are.
  // `other` becomes the least bound of the groups that are not.
  std::size_t list_within(const float* stored_bounds, double limit, double& other) {
    const float float_limit = limit_for_kept(limit);  // rounded up
    const float* moved = groups_.moved_up();
    const int n_groups = groups_.size();
    float least = least_bound(stored_bounds, moved, n_groups);
    std::size_t n = 0;
    if (!(least > float_limit)) {
      least = std::numeric_limits<float>::infinity();
      for (int g = 0; g < n_groups; ++g) {
        const float bound = stored_bounds[g] - moved[g];
        const bool within = !(bound > float_limit);
        visited_[n] = g;
        n += within;
        least = within || bound > least ? least : bound;
      }
    }
    other = left_of_kept(least);  // rounded down
    return n;
  }

  static float least_bound(const float* stored_bounds, const float* moved, int n) {
    Floats negative = splat(-std::numeric_limits<float>::infinity());
    int g = 0;
    for (; g + kVectorFloats <= n; g += kVectorFloats) {
      negative = larger(negative, load(moved + g) - load(stored_bounds + g));
    }
    float least = -largest(negative);
    for (; g < n; ++g) least = std::min(least, stored_bounds[g] - moved[g]);
    return least;
  }

  bool has_best(const Search& search, int g) const {
    return search.best >= 0 && groups_.group_of(search.best) == g;
  }

  // The largest similarity in a group, the best center left out; within panel_error.
  double largest_in(const Search& search, int g) {
    const int n = groups_.count(g);
    const float* strip = groups_.strips(g);
    if (!strip) return largest_of_few(search, g);
    const int best = has_best(search, g) ? groups_.member_number(search.best) : -1;
    float largest = kNoCenter;
    for (int first = 0; first < n; first += kCacheLineFloats, strip += groups_.strip_floats()) {
      StripSimilarities of(search.row, strip);
      if (best >= first && best < first + kCacheLineFloats) of.drop(best - first);
      largest = std::max(largest, of.largest());
    }
    return static_cast<double>(largest);
  }

  // The same for a group without strips, by sim64.
  double largest_of_few(const Search& search, int g) {
    auto largest = static_cast<double>(kNoCenter);
    for (int m = 0; m < groups_.count(g); ++m) {
      const int j = groups_.begin(g)[m];
      if (j != search.best) {
        largest = std::max(largest, this->centers_.similarity(search.row, j));
      }
    }
    return largest;
  }

  // Compares the centers of a group with the best, by sim64 but for those that float32 shows to be
  // less similar.
  void choose(Search& search, int g) {
    const int* members = groups_.begin(g);
    const int n = groups_.count(g);
    const float* strip = groups_.strips(g);
    float similarities[kCacheLineFloats];
    for (int m = 0; m < n; ++m) {
      if (strip && m % kCacheLineFloats == 0) {
        StripSimilarities(search.row, strip + m / kCacheLineFloats * groups_.strip_floats())
            .store(similarities);
      }
      if (members[m] == search.best) continue;
      if (strip) {
        const auto similarity = static_cast<double>(similarities[m % kCacheLineFloats]);
        if (similarity < search.similarity - search.panel_error) continue;
        search.near_tie |= similarity <= search.similarity + search.panel_error;
      }
      compare(search, members[m], this->centers_.similarity(search.row, members[m]));
    }
  }

  void compare(Search& search, int j, double exact) {  // with the tie rule
    if (exact < search.similarity || (exact == search.similarity && j > search.best)) return;
    if (search.best >= 0) formers_.push_back({search.best, search.similarity});
    search.set_best(j, exact);
  }

  const AngleState& angles_;
  const CenterGroups& groups_;
  const TurnAngles& turns_;
  std::vector<int> visited_;     // groups
  std::vector<double> largest_;  // by visited group: similarity, the best center left out
  std::vector<double> bounds_;   // by visited group: the angle to it, rounded down
  std::vector<Former> formers_;
};

int groups_of(const Problem& problem) {
  return problem.n_groups > 0 ? problem.n_groups : std::max(1, problem.n_clusters / 20);
}

}  // namespace

Yinyang::Yinyang(const Problem& problem, const RowState& state)
    : AngleBounds(problem, state), n_groups_(groups_of(problem)) {
  angles_.groups = static_cast<float*>(state[2]);
}

std::vector<StateArray> Yinyang::row_state(const Problem& problem) {
  std::vector<StateArray> arrays = AngleBounds::row_state(problem);
  arrays.push_back({"groups", NumberType::float32, groups_of(problem), 0.0});
  return arrays;
}

Work Yinyang::assign(const Rows& rows, Centers& centers, const Labels& labels,
                     const PassOptions& options) {
  const Panels& panels = Panels::of(centers);
  std::int64_t center_similarities = 0;
  if (!groups_) {
    const Grouping grouping = grouped(centers, n_groups_, options.n_threads);
    groups_ = std::make_unique<CenterGroups>(grouping.group_of.data(), centers.size(), n_groups_,
                                             centers.n_features());
    center_similarities = grouping.similarities;
  }
  const TurnAngles turns(centers);
  groups_->update(centers, turns, options.n_threads);
  Work work = with_row_type(rows, [&](const auto& typed_rows) {
    using RowsOf = std::decay_t<decltype(typed_rows)>;
    return pass_over_rows(typed_rows, labels, options, [&](Work& mine) {
      return YinyangVisitor<RowsOf>(typed_rows, centers, panels, labels, angles_, *groups_, turns,
                                    mine);
    });
  });
  work.center_similarities = center_similarities;
  return work;
}

void Yinyang::adopt(const std::int32_t* labels, const double* lower, const double* upper) {
  AngleBounds::adopt(labels, lower, upper);
  for (std::int64_t i = 0; i < n_rows_; ++i) {
    std::fill_n(angles_.groups + i * n_groups_, n_groups_, kept(angles_.other[i], 0.0));
  }
}

void Yinyang::forget(const std::int64_t* rows, std::int64_t n) {
  AngleBounds::forget(rows, n);
  for (std::int64_t at = 0; at < n; ++at) {
    std::fill_n(angles_.groups + rows[at] * n_groups_, n_groups_, 0.0F);
  }
}

extern constinit const AlgorithmRecord kYinyang = {
    .name = "yinyang",
    .keeps =
        "as angles, of each row a bound on the own center, one on all others and one on each group "
        "of centers",
    .wins = "nowhere in time from 10 clusters on: behind exponion and shallot where they win",
    .checks_memory = true,
    .row_state = Yinyang::row_state,
    .other_bytes =  // of strips: at worst sixteen floats for a group of four centers
    [](const Problem& problem) {
      return 16 * (std::int64_t{problem.n_features} + 1) * problem.n_clusters;
    },
    .auto_takes = never_by_auto,
    .make = [](const Problem& problem, const RowState& state) -> std::unique_ptr<Algorithm> {
      return std::make_unique<Yinyang>(problem, state);
    },
};

}  // namespace arcmeans
