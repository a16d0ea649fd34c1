// `yinyang` on the sphere (after Ding, Zhao, Shen, Musuvathi and Mytkowicz, ICML 2015): the centers
// are in groups, from one (as Hamerly) to k (as Elkan).
//
// Bounds, as angles: own(i) on the own center, other(i) on all others, and one for each group on
// its centers without the own. A row with other(i) beyond own(i) keeps its label: one addition and
// one subtraction. Where that fails, own(i) is made tight; where it still fails, the groups whose
// bound reaches own(i) are visited, each by one visit to its panels, and their bounds are found
// anew. The bound of a group falls by the cumulative movement of that group, taken off when it is
// read; bounds that are not read cost nothing.
// The third filter of the paper, one test for each center of a group, is left out: sixteen
// similarities by a panel cost less than sixteen tests and one similarity.
// Memory: 24 + 4·(number of groups) bytes a row, and a copy of the centers (center_groups.hpp).
#pragma once

#include "center_groups.hpp"
#include "row_loop.hpp"

namespace arcmeans {

template <class RowsOf>
class YinyangVisitor : public RowVisitor<YinyangVisitor<RowsOf>, RowsOf> {
  using Base = RowVisitor<YinyangVisitor<RowsOf>, RowsOf>;
  using typename Base::Row;
  using typename Base::Value;

 public:
  YinyangVisitor(const RowsOf& rows, const Centers& centers, const RowState& state,
                 const AngleState& angles, const CenterGroups& groups, const Turns& turns,
                 Work& work)
      : Base(rows, centers, state, work),
        angles_(angles),
        groups_(groups),
        turns_(turns),
        similarities_(static_cast<std::size_t>(groups.largest() + kMaxLines * kLineFloats)),
        reached_(static_cast<std::size_t>(groups.size())) {}

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
    other = visit_groups(search, label, angles_.groups + i * groups_.size());
    own = search.own;
    return search.label;
  }

 private:
  // The best center of a row so far.
  struct Search {
    const Row& row;
    double error;        // of the reference similarity
    double panel_error;  // of the panels, to the reference similarity
    int label = -1;
    double similarity = -std::numeric_limits<double>::infinity();  // sim64
    double own = kPi;                                              // ≥ the angle to it
    double limit = std::numeric_limits<double>::infinity();        // centers beyond are less similar
    bool contested = false;

    void found(int center, double exact) {
      label = center;
      similarity = exact;
      own = angle_at_most(exact - error);
      limit = beyond(own, error);
    }
  };
  struct Reached {
    int group;
    double first, second;  // the largest cosines found in it, rounded up
    int center;            // the one of the first
  };

  // Visits the groups that the limit reaches. Returns the bound on all centers but the best.
  double visit_groups(Search& search, int before, float* kept_angles) {
    const double before_similarity = search.similarity;
    double others = std::numeric_limits<double>::infinity();
    const int n_reached = reach(kept_angles, search.limit, others);
    int visited = 0;
    for (int r = 0; r < n_reached; ++r) {
      const int g = reached_[static_cast<std::size_t>(r)].group;
      const float left = kept_angles[g] - groups_.moved_up()[g];
      if (left > limit_for_kept(search.limit)) {  // the best is nearer than it was
        others = std::min(others, left_of_kept(left));
        continue;
      }
      reached_[static_cast<std::size_t>(visited++)] = visit_group(search, g);
    }
    this->work_.exact_decisions += search.contested;

    bool before_seen = before < 0 || search.label == before;
    for (int r = 0; r < visited; ++r) {
      const Reached& seen = reached_[static_cast<std::size_t>(r)];
      const double upper = seen.center == search.label ? seen.second : seen.first;
      const double angle = upper < -1.5 ? std::numeric_limits<double>::infinity()
                                        : angle_at_least(upper);
      kept_angles[seen.group] = kept(angle, groups_.moved(seen.group));
      others = std::min(others, angle);
      before_seen = before_seen || seen.group == groups_.group_of(before);
    }
    if (!before_seen) {  // the label left a group that was not visited: that now bounds it too
      const int g = groups_.group_of(before);
      const double angle = angle_at_least(before_similarity + search.error);
      kept_angles[g] = std::min(kept_angles[g], kept(angle, groups_.moved(g)));
      others = std::min(others, angle);
    }
    return others;
  }

  // The groups within the limit; `others` becomes the least bound of the rest.
  int reach(const float* kept_angles, double limit, double& others) {
    const float reaches = limit_for_kept(limit);
    const float* moved = groups_.moved_up();
    float least = std::numeric_limits<float>::infinity();
    int n = 0;
    for (int g = 0; g < groups_.size(); ++g) {
      const float left = kept_angles[g] - moved[g];
      const bool within = !(left > reaches);
      reached_[static_cast<std::size_t>(n)].group = g;
      n += within;
      least = within || left > least ? least : left;
    }
    others = left_of_kept(least);
    return n;
  }

  Reached visit_group(Search& search, int g) {
    Reached seen{g, -2.0, -2.0, -1};
    const int* centers = groups_.begin(g);
    const int n = groups_.count(g);
    const Panels* panels = groups_.panels(g);
    const double error = search.error + (panels ? search.panel_error : 0.0);
    if (panels) {
      panel_similarities(*panels, search.row, similarities_.data());
      this->work_.similarities += n;
    }
    for (int m = 0; m < n; ++m) {
      const int j = centers[m];
      double similarity = 0.0;
      if (panels) {
        similarity = static_cast<double>(similarities_[static_cast<std::size_t>(m)]);
        if (j != search.label && similarity >= search.similarity - search.panel_error) {
          search.contested |= similarity <= search.similarity + search.panel_error;
          compare(search, j, this->centers_.similarity(search.row, j));
        }
      } else if (j == search.label) {
        similarity = search.similarity;
      } else {
        similarity = this->similarity(search.row, j);
        compare(search, j, similarity);
      }
      if (similarity + error > seen.first) {
        seen.second = seen.first;
        seen.first = similarity + error;
        seen.center = j;
      } else if (similarity + error > seen.second) {
        seen.second = similarity + error;
      }
    }
    return seen;
  }

  static void compare(Search& search, int j, double exact) {
    if (exact > search.similarity || (exact == search.similarity && j < search.label)) {
      search.found(j, exact);
    }
  }

  const AngleState& angles_;
  const CenterGroups& groups_;
  const Turns& turns_;
  std::vector<float> similarities_;
  std::vector<Reached> reached_;
};

template <class RowsOf>
Work yinyang(const RowsOf& rows, const Centers& centers, const RowState& state,
             const AngleState& angles, const PassOptions& options, CenterGroups& groups) {
  const Turns turns(centers);
  groups.update(centers, turns, options.n_threads);
  return pass_over_rows(rows, state, options, [&](Work& work) {
    return YinyangVisitor<RowsOf>(rows, centers, state, angles, groups, turns, work);
  });
}

}  // namespace arcmeans
