// `yinyang` on the sphere (after Ding, Zhao, Shen, Musuvathi and Mytkowicz, ICML 2015): the centers
// are in groups, from one (as Hamerly) to k (as Elkan).
//
// Bounds, as angles: own(i) on the own center, other(i) on all others, and one for each group on
// its centers without the own. A row with other(i) beyond own(i) keeps its label: one addition and
// one subtraction. Where that fails, own(i) is made tight; where it still fails, the groups whose
// bound reaches own(i) are visited, each by one visit to its strips, and their bounds are found
// anew. The bound of a group falls by the cumulative movement of that group, taken off when it is
// read; bounds that are not read cost nothing.
// The third filter of the paper, a test for each center of a group by its own movement, is left
// out: the center of a group that moved most never passes it, so the strip it is in is visited
// anyway, and the fifteen others with it at no cost.
// Memory: 24 + 4·(number of groups) bytes a row, and a copy of the centers (center_groups.hpp).
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
  YinyangVisitor(const RowsOf& rows, const Centers& centers, const Labels& state,
                 const AngleState& angles, const CenterGroups& groups, const TurnAngles& turns,
                 Work& work)
      : Base(rows, centers, state, work),
        angles_(angles),
        groups_(groups),
        turns_(turns),
        reached_(index(groups.size())),
        tops_(reached_.size()),
        bounds_(reached_.size()) {}

  int label(std::int64_t i, const Row& row, int label) {
    const double error = reference_error<Value>(row.size);
    Search search{row, error, panel_error(row.size)};
    double& own = angles_.own[i];
    double& other = angles_.other[i];
    if (label >= 0) {
      own += turns_[label];                // Eq. (6), as an angle
      other -= turns_.largest_but(label);  // Eq. (7) with p′, as an angle
      if (other > beyond(own, error)) {
        ++this->work_.skipped_by_bounds;
        return label;
      }
      search.found(label, this->similarity(row, label));
      own = search.own;
      if (other > search.limit) return label;
    }
    other = visit_groups(search, angles_.groups + i * groups_.size());
    own = search.own;
    return search.label;
  }

 private:
  // The best center of a row so far.
  struct Search {
    const Row& row;
    double error;        // of the reference similarity
    double panel_error;  // of a strip, to the reference similarity
    int label = -1;
    double similarity = -std::numeric_limits<double>::infinity();  // sim64
    double own = kPi;                                              // ≥ the angle to it
    double limit = std::numeric_limits<double>::infinity();  // centers beyond are less similar
    bool contested = false;

    void found(int center, double exact) {
      label = center;
      similarity = exact;
      own = angle_at_most(exact - error);
      limit = beyond(own, error);
    }
  };
  struct Former {
    int center;
    double similarity;
  };

  // Visits the groups that the limit reaches. Returns the bound on all centers but the best.
  double visit_groups(Search& search, float* kept_angles) {
    double others = std::numeric_limits<double>::infinity();
    const int n_reached = reach(kept_angles, search.limit, others);
    const auto visited = index(n_reached);
    formers_.clear();
    auto top = static_cast<double>(kNoCenter);
    for (std::size_t r = 0; r < visited; ++r) {
      tops_[r] = largest_in(search, reached_[r]);
      top = std::max(top, tops_[r]);
      this->work_.similarities += groups_.count(reached_[r]) - has_best(search, reached_[r]);
    }
    const double margin = search.panel_error;
    if (top >= search.similarity - margin) {  // some center may be better: sim64 decides
      for (std::size_t r = 0; r < visited; ++r) {
        if (tops_[r] < std::max(top - margin, search.similarity) - margin) continue;
        choose(search, reached_[r]);
        tops_[r] = largest_in(search, reached_[r]);
      }
    }
    this->work_.exact_decisions += search.contested;

    for (std::size_t r = 0; r < visited; ++r) {
      bounds_[r] = angle_at_least(tops_[r] + margin + search.error);
    }
    for (std::size_t r = 0; r < visited; ++r) {
      if (tops_[r] == static_cast<double>(kNoCenter))
        bounds_[r] = std::numeric_limits<double>::infinity();
      kept_angles[reached_[r]] = kept(bounds_[r], groups_.moved(reached_[r]));
      others = std::min(others, bounds_[r]);
    }
    for (const Former& former : formers_) {  // now one of the others of its group
      const int g = groups_.group_of(former.center);
      const double angle = angle_at_least(former.similarity + search.error);
      kept_angles[g] = std::min(kept_angles[g], kept(angle, groups_.moved(g)));
      others = std::min(others, angle);
    }
    return others;
  }

  // The groups within the limit; `others` becomes the least bound of the rest.
  int reach(const float* kept_angles, double limit, double& others) {
    const float reaches = limit_for_kept(limit);
    const float* moved = groups_.moved_up();
    const int n_groups = groups_.size();
    if (const float least = least_left(kept_angles, moved, n_groups); least > reaches) {
      others = left_of_kept(least);
      return 0;
    }
    float least = std::numeric_limits<float>::infinity();
    int n = 0;
    for (int g = 0; g < n_groups; ++g) {
      const float left = kept_angles[g] - moved[g];
      const bool within = !(left > reaches);
      reached_[index(n)] = g;
      n += within;
      least = within || left > least ? least : left;
    }
    others = left_of_kept(least);
    return n;
  }

  static float least_left(const float* kept_angles, const float* moved, int n) {
    Floats most = splat(-std::numeric_limits<float>::infinity());
    int g = 0;
    for (; g + kVectorFloats <= n; g += kVectorFloats) {
      most = larger(most, load(moved + g) - load(kept_angles + g));
    }
    float least = -largest(most);
    for (; g < n; ++g) least = std::min(least, kept_angles[g] - moved[g]);
    return least;
  }

  bool has_best(const Search& search, int g) const {
    return search.label >= 0 && groups_.group_of(search.label) == g;
  }

  // The largest similarity in a group but that of the best center, within panel_error.
  double largest_in(const Search& search, int g) {
    const int n = groups_.count(g);
    const float* strip = groups_.strips(g);
    if (!strip) return largest_of_few(search, g);
    const int best = has_best(search, g) ? groups_.place_of(search.label) : -1;
    float top = kNoCenter;
    for (int first = 0; first < n; first += kCacheLineFloats, strip += groups_.strip_floats()) {
      StripSimilarities of(search.row, strip);
      if (best >= first && best < first + kCacheLineFloats) of.drop(best - first);
      top = std::max(top, of.largest());
    }
    return static_cast<double>(top);
  }

  double largest_of_few(const Search& search, int g) {
    auto top = static_cast<double>(kNoCenter);
    for (int m = 0; m < groups_.count(g); ++m) {
      const int j = groups_.begin(g)[m];
      if (j != search.label) top = std::max(top, this->centers_.similarity(search.row, j));
    }
    return top;
  }

  // The centers of a group against the best, by sim64 where float32 is too close to call.
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
      if (members[m] == search.label) continue;
      if (strip) {
        const auto similarity = static_cast<double>(similarities[m % kCacheLineFloats]);
        if (similarity < search.similarity - search.panel_error) continue;
        search.contested |= similarity <= search.similarity + search.panel_error;
      }
      compare(search, members[m], this->centers_.similarity(search.row, members[m]));
    }
  }

  void compare(Search& search, int j, double exact) {
    if (exact < search.similarity || (exact == search.similarity && j > search.label)) return;
    if (search.label >= 0) formers_.push_back({search.label, search.similarity});
    search.found(j, exact);
  }

  const AngleState& angles_;
  const CenterGroups& groups_;
  const TurnAngles& turns_;
  std::vector<int> reached_;     // the groups to visit
  std::vector<double> tops_;     // the largest similarity in each of them
  std::vector<double> bounds_;   // the angle to it, rounded down
  std::vector<Former> formers_;  // centers that were the best of the row for a while
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
  Panels::of(centers);
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
      return YinyangVisitor<RowsOf>(typed_rows, centers, labels, angles_, *groups_, turns, mine);
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
    .other_bytes =
        [](const Problem& problem) {
          return 16 * (std::int64_t{problem.n_features} + 1) * problem.n_clusters;
        },
    .auto_takes = never_by_auto,
    .make = [](const Problem& problem, const RowState& state) -> std::unique_ptr<Algorithm> {
      return std::make_unique<Yinyang>(problem, state);
    },
};

}  // namespace arcmeans
