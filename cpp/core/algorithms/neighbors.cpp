#include "core/algorithms/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/bounds/angles.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

namespace {

// A list is found anew once the centers moved this share of its radius.
constexpr double kMayMove = 0.4;

// How long a list is worth its while: one by one, a sixteenth of all centers cost what all centers
// cost by the panels.
int longest_list(int n_centers, std::int32_t n_features) {
  if (n_features <= CenterNeighbors::kMostFeaturesForStrips) {
    return std::min(n_centers - 1, CenterNeighbors::kMost);
  }
  int most = 0;
  while (most < CenterNeighbors::kMost && CenterNeighbors::end_of(most) <= n_centers / 16) {
    most = CenterNeighbors::end_of(most);
  }
  return most;
}

}  // namespace

CenterNeighbors::CenterNeighbors(int n_centers, std::int32_t n_features)
    : n_centers_(n_centers),
      count_(longest_list(n_centers, n_features)),
      strips_a_center_((count_ + kCacheLineFloats - 1) / kCacheLineFloats),
      strip_floats_(n_features <= kMostFeaturesForStrips ? strip_floats(n_features) : 0),
      neighbors_(index(n_centers) * kMost),
      angles_(index(n_centers)),
      strips_(index(n_centers * strips_a_center_ * strip_floats_)) {
  if (strip_floats_ == 0) return;
  for (std::int64_t l = 0; l < n_centers * strips_a_center_; ++l) {
    clear_strip(strips_.data() + l * strip_floats_, n_features);
  }
}

std::int64_t CenterNeighbors::update(const Centers& centers, const Panels& panels,
                                     const TurnAngles& turns, int n_threads) {
  std::vector<char> anew(index(n_centers_));
  std::int64_t n_anew = 0;
  for (int a = 0; a < n_centers_; ++a) {
    Angles& angles = angles_[index(a)];
    angles.moved = moved_further(angles.moved, turns[a] + turns.largest_but(a));
    const bool stays = strip_floats_ > 0 && angles.moved < kMayMove * angles.radius;
    anew[index(a)] = !stays;
    n_anew += !stays;
  }
  parallel_chunks(n_centers_, 16, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    Scratch scratch;
    scratch.similarities.resize(index(panels.width()));
    for (std::int64_t at = begin; at < end; ++at) {
      const int a = static_cast<int>(at);
      if (anew[index(at)]) find(centers, panels, a, scratch);
      copy_to_strips(centers, a);
      if (!anew[index(at)]) renew_angles(centers, a, scratch);
    }
  });
  return n_anew * (n_anew - 1) / 2 + n_anew * (n_centers_ - n_anew) +
         (n_centers_ - n_anew) * count_;
}

// Lists in `nearest` the other centers with at least this similarity. It has to be above −8, that
// of a lane without a center.
void CenterNeighbors::collect(int a, float least, Scratch& scratch) const {
  scratch.nearest.clear();
  const float* similarities = scratch.similarities.data();
  const auto width = static_cast<int>(scratch.similarities.size());
  for (int j = 0; j < width; j += kCacheLineFloats) {
    Floats top = load(similarities + j);
    for (int v = 1; v < kVectorsPerCacheLine; ++v) {
      top = larger(top, load(similarities + j + v * kVectorFloats));
    }
    if (largest(top) < least) continue;
    for (int at = j; at < j + kCacheLineFloats; ++at) {
      if (similarities[at] >= least && at != a) scratch.nearest.push_back({similarities[at], at});
    }
  }
}

// From a sample of the similarities, one that about twice as many centers reach as a list has.
float CenterNeighbors::guess_last(Scratch& scratch) const {
  const int step = std::max(1, n_centers_ / 512);
  std::vector<float>& sample = scratch.sample;
  sample.clear();
  for (int j = 0; j < n_centers_; j += step) {
    sample.push_back(scratch.similarities[index(j)]);
  }
  const auto at = sample.begin() + std::min(static_cast<int>(sample.size()) - 1, 2 * kMost / step);
  std::nth_element(sample.begin(), at, sample.end(), std::greater<>());
  return *at;
}

// Finds a list anew. From its outer end inwards, nth_element brings the nearest m centers to the
// front and center m, which has the bound on all centers after them, behind them.
void CenterNeighbors::find(const Centers& centers, const Panels& panels, int a, Scratch& scratch) {
  const SparseRow<double> row = scratch.center.take(centers, a);
  panel_similarities(panels, row, scratch.similarities.data());
  const double error = panel_error(row.size) + reference_error<double>(row.size);
  const auto least_angle = [&](float similarity) {
    return angle_at_least(static_cast<double>(similarity) + error);
  };
  const auto nearer = [](const Neighbor& x, const Neighbor& y) {
    return x.similarity > y.similarity || (x.similarity == y.similarity && x.center < y.center);
  };

  Angles& angles = angles_[index(a)];
  std::vector<Neighbor>& nearest = scratch.nearest;
  if (angles.last > 1.0F) angles.last = guess_last(scratch);
  collect(a, angles.last, scratch);
  if (nearest.size() <= kMost) collect(a, -2.0F, scratch);  // too few: all of them
  std::fill_n(angles.beyond, kAnnuli + 1, std::numeric_limits<double>::infinity());
  auto last = nearest.end();
  for (int m = kMost, annulus = kAnnuli; m >= kCacheLineFloats; m /= 2, --annulus) {
    if (last - nearest.begin() <= m) continue;
    const auto at = nearest.begin() + m;
    std::nth_element(nearest.begin(), at, last, nearer);
    angles.beyond[annulus] = least_angle(at->similarity);
    if (annulus == kAnnuli) angles.last = at->similarity - 0.1F * (1.0F - at->similarity);
    last = at;
  }
  if (!nearest.empty()) {
    const Neighbor first = *std::min_element(nearest.begin(), last, nearer);
    angles.beyond[0] = least_angle(first.similarity);
    angles.nearest = angle_at_most(static_cast<double>(first.similarity) - error);
  }
  angles.found_beyond = angles.beyond[kAnnuli];
  for (const double bound : angles.beyond) {
    if (std::isfinite(bound)) angles.radius = bound;
  }
  angles.moved = 0.0;
  for (int m = 0; m < count_; ++m) {
    neighbors_[index(a * std::int64_t{kMost} + m)] = nearest[index(m)].center;
  }
}

// The angles of a list that stays: to its members as they are now, and to all other centers, which
// came nearer by no more than `moved`.
void CenterNeighbors::renew_angles(const Centers& centers, int a, Scratch& scratch) {
  const SparseRow<double> row = scratch.center.take(centers, a);
  const double error = panel_error(row.size) + reference_error<double>(row.size);
  Angles& angles = angles_[index(a)];
  double least = angles.found_beyond - angles.moved;
  angles.beyond[kAnnuli] = least;
  float nearest = kNoCenter;
  for (int annulus = kAnnuli - 1; annulus >= 0; --annulus) {
    const int begin = annulus == 0 ? 0 : kCacheLineFloats << (annulus - 1);
    const int end = std::min(count_, kCacheLineFloats << annulus);
    float top = kNoCenter;
    for (int m = begin; m < end; m += kCacheLineFloats) {
      top = std::max(top, StripSimilarities(row, strip(a, m)).largest());
    }
    if (begin < end) {
      least = std::min(least, angle_at_least(static_cast<double>(top) + error));
      nearest = std::max(nearest, top);
    }
    angles.beyond[annulus] = least;
  }
  angles.nearest = angle_at_most(static_cast<double>(nearest) - error);
}

void CenterNeighbors::copy_to_strips(const Centers& centers, int a) {
  if (strip_floats_ == 0) return;
  for (int m = 0; m < count_; ++m) {
    const std::int64_t strip = a * strips_a_center_ + m / kCacheLineFloats;
    put_in_strip(strips_.data() + strip * strip_floats_, m % kCacheLineFloats, centers, of(a)[m]);
  }
}

}  // namespace arcmeans
