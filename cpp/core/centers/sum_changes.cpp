#include "core/centers/sum_changes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/support/index.hpp"
#include "core/support/parallel.hpp"
#include "core/support/prefetch.hpp"
#include "core/support/where.hpp"

namespace arcmeans {

namespace {

// A row that joined (+1) or left (−1) a cluster.
struct Member {
  std::int64_t row;
  int sign;
};

// The members of all clusters, grouped by cluster, in the order of rows.
struct Members {
  std::vector<std::int64_t> starts;
  std::vector<Member> all;
};

Members members_of(const Rows& rows, const std::int32_t* previous, const std::int32_t* labels,
                   int n_clusters) {
  std::vector<std::int64_t> changed;
  each_unequal(previous, labels, rows.n_rows, [&](std::int64_t i) {
    if (rows.counts(i)) changed.push_back(i);
  });
  auto each = [&](const auto& use) {
    for (const std::int64_t i : changed) {
      if (previous[i] >= 0) use(index(previous[i]), Member{i, -1});
      if (labels[i] >= 0) use(index(labels[i]), Member{i, +1});
    }
  };
  Members members;
  members.starts.resize(index(n_clusters) + 1);
  each([&](std::size_t j, Member) { ++members.starts[j + 1]; });
  std::partial_sum(members.starts.begin(), members.starts.end(), members.starts.begin());
  members.all.resize(index(members.starts.back()));
  std::vector<std::int64_t> next(members.starts.begin(), members.starts.end() - 1);
  each([&](std::size_t j, Member member) { members.all[index(next[j]++)] = member; });
  return members;
}

// The rows of a cluster lie anywhere in memory. Asked for early are the place where the entries of
// a row begin, and then the entries.
__attribute__((always_inline)) inline void prefetch_start(const Rows& rows, std::int64_t row) {
  if (rows.starts) prefetch_near(rows.starts + row);
}
template <class Row>
__attribute__((always_inline)) inline void prefetch(const Row& row) {
  const auto bytes = static_cast<std::int64_t>(sizeof(*row.values));
  for (std::int64_t e = 0; e < row.size; e += 64 / bytes) prefetch_far(row.values + e);
  if constexpr (!Row::dense) {
    for (std::int64_t e = 0; e < row.size; e += 16) prefetch_far(row.features + e);
  }
}

// llrint of a number up to 2⁵¹, in a form of which compilers make vectors: a double in [2⁵², 2⁵³)
// is a whole number, and its last bits are the bits of that number.
constexpr double kMostInVectors = 0x1p50;
inline std::int64_t rounded_in_vectors(double number) {
  constexpr double zero = 0x1.8p52;
  return std::bit_cast<std::int64_t>(number + zero) - std::bit_cast<std::int64_t>(zero);
}

}  // namespace

// Sums up the entries of one cluster at a time, with a number for every feature, and notes which
// blocks of features were touched: an entry costs a store and no branch, and the sums come out in
// ascending order of the features.
class SumChanges::Accumulator {
 public:
  explicit Accumulator(std::int32_t n_features)
      : sums_((index(n_features) / kBlock + 1) * kBlock),
        touched_((sums_.size() / kBlock + kGlance - 1) / kGlance * kGlance),
        features_(sums_.size() + 1),
        values_(features_.size()) {}

  template <class Row>
  void add(const Row& row, double one, double weight, int sign) {
    if (weight == std::floor(weight)) {  // as fixed_point does, once for all entries
      const std::int64_t times = sign * static_cast<std::int64_t>(weight);
      if (Row::dense && one <= kMostInVectors) {
        add(row, [one, times](double value) { return times * rounded_in_vectors(value * one); });
      } else {
        add(row, [one, times](double value) { return times * fixed_point(value, one, 1.0); });
      }
    } else {
      add(row, [=](double value) { return sign * fixed_point(value, one, weight); });
    }
  }

  // Adds entries that are in fixed point already.
  void add(const std::int32_t* features, const std::int64_t* values, std::size_t size) {
    for (std::size_t e = 0; e < size; ++e) {
      const auto feature = index(features[e]);
      sums_[feature] += values[e];
      touched_[feature / kBlock] = 1;
    }
  }

  // Hands over the sums that are not zero and begins anew. Every sum is written, and the place for
  // the next one moves on only if the sum is not zero: a branch would be mispredicted too often.
  void take(SumChange& change) {
    std::int32_t* features = features_.data();
    std::int64_t* values = values_.data();
    std::size_t size = 0;
    each_touched([&](std::size_t block) {
      for (std::size_t f = block * kBlock; f < (block + 1) * kBlock; ++f) {
        const std::int64_t sum = sums_[f];
        features[size] = static_cast<std::int32_t>(f);
        values[size] = sum;
        size += sum != 0 ? 1U : 0U;
        sums_[f] = 0;
      }
    });
    change.features.assign(features, features + size);
    change.values.assign(values, values + size);
  }

 private:
  template <class Row, class Fixed>
  void add(const Row& row, const Fixed& fixed) {
    if constexpr (Row::dense) {  // the compiler makes vectors of this loop
      std::int64_t* const sums = sums_.data();
      for (std::int64_t e = 0; e < row.size; ++e) {
        sums[e] += fixed(static_cast<double>(row.values[e]));
      }
      std::fill_n(touched_.begin(), sums_.size() / kBlock, 1);
    } else {
      for (std::int64_t e = 0; e < row.size; ++e) {
        const auto feature = index(row.feature(e));
        sums_[feature] += fixed(static_cast<double>(row.values[e]));
        touched_[feature / kBlock] = 1;
      }
    }
  }

  // Looks at several blocks at a glance: late in a run few are touched.
  template <class Use>
  void each_touched(const Use& use) {
    for (std::size_t first = 0; first < touched_.size(); first += kGlance) {
      std::uint64_t any;
      static_assert(sizeof any == kGlance && std::endian::native == std::endian::little);
      std::memcpy(&any, touched_.data() + first, sizeof any);
      if (any == 0) continue;
      std::memset(touched_.data() + first, 0, sizeof any);
      for (; any != 0; any &= any - 1) {
        use(first + index(std::countr_zero(any)) / 8);
      }
    }
  }

  static constexpr std::size_t kBlock = 8;   // features
  static constexpr std::size_t kGlance = 8;  // blocks
  std::vector<std::int64_t> sums_;
  std::vector<char> touched_;
  // Room for the sums that are handed over, and for one more that is written last and not kept.
  std::vector<std::int32_t> features_;
  std::vector<std::int64_t> values_;
};

SumChanges::SumChanges(int n_clusters) : clusters_(index(n_clusters)) {}
SumChanges::~SumChanges() = default;

void SumChanges::collect(const Rows& rows, const std::int32_t* previous, const std::int32_t* labels,
                         int n_threads, bool add, const double* copies) {
  const auto n_clusters = static_cast<int>(clusters_.size());
  const Members members = members_of(rows, previous, labels, n_clusters);
  accumulators_.resize(index(n_threads));
  visit(rows, [&](const auto& typed) {
    parallel_chunks(n_clusters, 1, n_threads, [&](int thread, std::int64_t c, std::int64_t) {
      SumChange& change = clusters_[index(c)];
      const std::int64_t begin = members.starts[index(c)];
      const std::int64_t end = members.starts[index(c) + 1];
      if (!add) change.clear();
      if (begin == end) return;
      change.touched = true;
      auto& mine = accumulators_[index(thread)];
      if (!mine) mine = std::make_unique<Accumulator>(rows.n_features);
      mine->add(change.features.data(), change.values.data(), change.size());
      for (std::int64_t m = begin; m < end; ++m) {
        const Member member = members.all[index(m)];
        if (m + 6 < end) prefetch_start(typed, members.all[index(m + 6)].row);
        if (m + 3 < end) prefetch(typed.row(members.all[index(m + 3)].row));
        const double weight = copies ? copies[member.row] : rows.weight(member.row);
        mine->add(typed.row(member.row), rows.one, weight, member.sign);
        change.rows += member.sign * (copies ? static_cast<std::int64_t>(weight) : 1);
      }
      mine->take(change);
    });
  });
}

void SumChanges::add(const ChangeArrays& other, std::int32_t n_features, int n_threads) {
  accumulators_.resize(index(n_threads));
  const auto n_clusters = static_cast<std::int64_t>(clusters_.size());
  parallel_chunks(n_clusters, 1, n_threads, [&](int thread, std::int64_t j, std::int64_t) {
    if (!other.touched[j]) return;
    SumChange& change = clusters_[index(j)];
    auto& mine = accumulators_[index(thread)];
    if (!mine) mine = std::make_unique<Accumulator>(n_features);
    const std::int64_t begin = other.starts[j];
    mine->add(change.features.data(), change.values.data(), change.size());
    mine->add(other.features + begin, other.values + begin, index(other.starts[j + 1] - begin));
    mine->take(change);
    change.touched = true;
    change.rows += other.rows[j];
  });
}

}  // namespace arcmeans
