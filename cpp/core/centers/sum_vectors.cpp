#include "core/centers/sum_vectors.hpp"

#include <bit>

namespace arcmeans {

namespace {

// Puts entries into ascending order: one bit for each feature says which there are.
class SortedEntries {
 public:
  explicit SortedEntries(std::int32_t n_features)
      : values_(index(n_features)), there_(values_.size() / 64 + 1) {}

  void set(std::int32_t feature, std::int64_t value) {
    const std::size_t f = index(feature);
    values_[f] = value;
    there_[f / 64] |= std::uint64_t{1} << (f % 64);
  }

  // Writes the entries out and begins anew.
  void take(std::int32_t* features, std::int64_t* values) {
    for (std::size_t word = 0; word < there_.size(); ++word) {
      for (; there_[word] != 0; there_[word] &= there_[word] - 1) {
        const std::size_t f = word * 64 + index(std::countr_zero(there_[word]));
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

template <class Use>
void SumVectors::each_entry(const Use& use) const {
  for (int j = 0; j < n_centers_; ++j) {
    each_frequent(j, [&](std::int32_t f, std::int64_t sum) { use(index(j), f, sum); });
  }
  for (std::int32_t f = n_frequent_; f < n_features_; ++f) {
    rare_.each(f, [&](int j, std::int64_t sum) { use(index(j), f, sum); });
  }
}

std::vector<std::int64_t> SumVectors::sizes() const {
  std::vector<std::int64_t> sizes(index(n_centers_));
  each_entry([&](std::size_t j, std::int32_t, std::int64_t) { ++sizes[j]; });
  return sizes;
}

void SumVectors::entries(const std::int64_t* starts, const std::int32_t* by_rank,
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

void SumVectors::clear_frequent(int j) {
  std::int64_t* sums = frequent_.data() + first(j);
  each_frequent(j, [&](std::int32_t feature, std::int64_t) { sums[feature] = 0; });
}

}  // namespace arcmeans
