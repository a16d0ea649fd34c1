// The sums of all centers: for each center an integer vector in fixed point.
//
// Frequent features, the first `n_frequent` ranks, have a number for every center; rare features
// are kept as lists of the centers that have them (rare_lists.hpp). How many features are frequent
// is settled when the vectors are made: all of them, or as many as rows and memory are worth.
#pragma once

#include <cstdint>
#include <vector>

#include "core/centers/rare_lists.hpp"
#include "core/centers/sum_changes.hpp"
#include "core/support/buffer.hpp"
#include "core/support/index.hpp"
#include "core/support/where.hpp"

namespace arcmeans {

class SumVectors {
 public:
  SumVectors(int n_centers, std::int32_t n_features, std::int32_t n_frequent)
      : n_centers_(n_centers),
        n_features_(n_features),
        n_frequent_(n_frequent),
        frequent_(index(n_centers) * index(n_frequent)),
        rare_(n_frequent, n_features) {}

  int n_centers() const { return n_centers_; }
  std::int32_t n_features() const { return n_features_; }
  std::int32_t n_frequent() const { return n_frequent_; }

  // The sums of the frequent features of a center, by feature.
  const std::int64_t* frequent(int j) const { return frequent_.data() + first(j); }
  const RareLists& rare() const { return rare_; }
  std::int64_t value(int j, std::int32_t feature) const {
    return feature < n_frequent_ ? frequent(j)[feature] : rare_.value(feature, j);
  }

  // Calls use(feature, sum) for the frequent features of a center in [begin, end) whose sums are
  // not zero, in ascending order.
  template <class Use>
  void each_frequent(int j, std::int32_t begin, std::int32_t end, const Use& use) const {
    const std::int64_t* sums = frequent(j);
    each_nonzero(sums + begin, end - begin, [&](std::int64_t f) {
      const auto feature = static_cast<std::int32_t>(begin + f);
      use(feature, sums[feature]);
    });
  }
  template <class Use>
  void each_frequent(int j, const Use& use) const {
    each_frequent(j, 0, n_frequent_, use);
  }
  // The same for all features in [begin, end). Each rare feature costs a look at its list.
  template <class Use>
  void each_of(int j, std::int32_t begin, std::int32_t end, const Use& use) const {
    if (begin < n_frequent_) each_frequent(j, begin, std::min(end, n_frequent_), use);
    for (std::int32_t f = std::max(begin, n_frequent_); f < end; ++f) {
      if (const std::int64_t sum = rare_.value(f, j); sum != 0) use(f, sum);
    }
  }
  template <class Use>
  void each_of(int j, const Use& use) const {
    each_of(j, 0, n_features_, use);
  }

  // How many features of each center are not zero, and which they are, in ascending order, with
  // their sums; center j from starts[j] on. As ranks, or with `by_rank` as the caller's features.
  std::vector<std::int64_t> sizes() const;
  void entries(const std::int64_t* starts, const std::int32_t* by_rank, std::int32_t* features,
               std::int64_t* values) const;

  // Gives a feature of a center, which is zero, its sum.
  void set(int j, std::int32_t feature, std::int64_t sum) {
    if (feature < n_frequent_) {
      frequent_.data()[first(j) + index(feature)] = sum;
    } else {
      rare_.add(feature, j, sum);
    }
  }

  // Different threads may do these two for different centers at the same time.
  void clear_frequent(int j);
  void add_frequent(int j, const SumChange& change) {
    std::int64_t* sums = frequent_.data() + first(j);
    for (std::size_t e = 0; e < change.size() && change.features[e] < n_frequent_; ++e) {
      sums[change.features[e]] += change.values[e];
    }
  }

  // The centers share the lists of rare features: one thread alone writes to them.
  void clear_rare(const std::vector<char>& centers) { rare_.remove(centers); }
  void add_rare(int j, const SumChange& change) {
    for (std::size_t e = change.size(); e-- > 0 && change.features[e] >= n_frequent_;) {
      rare_.add(change.features[e], j, change.values[e]);
    }
  }

 private:
  std::size_t first(int j) const { return index(j) * index(n_frequent_); }
  // Calls use(center, feature, sum) for all sums that are not zero, by ascending feature for each
  // center.
  template <class Use>
  void each_entry(const Use& use) const;

  int n_centers_;
  std::int32_t n_features_;
  std::int32_t n_frequent_;
  Buffer<std::int64_t> frequent_;  // [center][frequent feature]
  RareLists rare_;
};

}  // namespace arcmeans
