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

// The members of all clusters: those of cluster j, in the order of rows, from first[j] to before
// first[j + 1].
struct Members {
  std::vector<std::int64_t> first;
  std::vector<Member> all;
};

Members members_of(const Rows& rows, const std::int32_t* previous, const std::int32_t* labels,
                   int n_clusters) {
  std::vector<std::int64_t> changed;
  each_unequal(previous, labels, rows.n_rows, [&](std::int64_t i) {
    if (rows.in_sums(i)) changed.push_back(i);
  });
  const auto each_member = [&](const auto& use) {
    for (const std::int64_t i : changed) {
      if (previous[i] >= 0) use(index(previous[i]), Member{i, -1});
      if (labels[i] >= 0) use(index(labels[i]), Member{i, +1});
    }
  };
  // A counting sort by cluster.
  Members members;
  members.first.resize(index(n_clusters) + 1);
  each_member([&](std::size_t j, Member) { ++members.first[j + 1]; });
  std::partial_sum(members.first.begin(), members.first.end(), members.first.begin());
  members.all.resize(index(members.first.back()));
  std::vector<std::int64_t> next(members.first.begin(), members.first.end() - 1);
  each_member([&](std::size_t j, Member member) { members.all[index(next[j]++)] = member; });
  return members;
}

// The rows of a cluster lie anywhere in memory, so a row is asked for some members ahead: first the
// number that says where its entries begin, then the entries.
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

// llrint of a number up to 2⁵¹, in a form of which compilers make vectors: added to 1.5 · 2⁵², it
// is rounded to a whole number, and the last bits of the sum are the bits of that number. Values of
// unit rows are below 2, so value · one is in range where `one` is at most kMostInVectors.
constexpr double kMostInVectors = 0x1p50;
inline std::int64_t rounded_in_vectors(double number) {
  constexpr double large = 0x1.8p52;
  return std::bit_cast<std::int64_t>(number + large) - std::bit_cast<std::int64_t>(large);
}

}  // namespace

// Sums up the entries of one cluster at a time, with a number for every feature, and marks the
// groups of eight features, the octets, that entries were added to: an entry costs a store and no
// branch, and the sums come out in ascending order of the features. Belongs to one thread.
class SumChanges::Accumulator {
 public:
  explicit Accumulator(std::int32_t n_features)
      : sums_((index(n_features) + kOctet - 1) / kOctet * kOctet),
        marks_((sums_.size() / kOctet + kMarksAtOnce - 1) / kMarksAtOnce * kMarksAtOnce),
        features_(sums_.size()),
        values_(sums_.size()) {}

  // Adds sign · fixed_point(value, one, weight) for each entry of a row: for a whole weight
  // fixed_point rounds value · one and multiplies the integer.
  template <class Row>
  void add_row(const Row& row, double one, double weight, int sign) {
    if (weight == std::floor(weight)) {
      const std::int64_t times = sign * static_cast<std::int64_t>(weight);
      if (Row::dense && one <= kMostInVectors) {
        add_each(row, [=](double value) { return times * rounded_in_vectors(value * one); });
      } else {
        add_each(row, [=](double value) { return times * fixed_point(value, one, 1.0); });
      }
    } else {
      add_each(row, [=](double value) { return sign * fixed_point(value, one, weight); });
    }
  }

  // Adds entries that are in fixed point already.
  void add(const std::int32_t* features, const std::int64_t* values, std::size_t size) {
    for (std::size_t e = 0; e < size; ++e) {
      const auto feature = index(features[e]);
      sums_[feature] += values[e];
      marks_[feature / kOctet] = 1;
    }
  }

  // Hands over the sums that are not zero and begins anew. Every sum is written, and the next sum
  // overwrites a sum that is zero: a branch would be mispredicted too often.
  void take(SumChange& change) {
    std::int32_t* features = features_.data();
    std::int64_t* values = values_.data();
    std::size_t size = 0;
    each_marked([&](std::size_t octet) {
      for (std::size_t f = octet * kOctet; f < (octet + 1) * kOctet; ++f) {
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
  template <class Row, class ToFixed>
  void add_each(const Row& row, const ToFixed& to_fixed) {
    if constexpr (Row::dense) {  // the compiler makes vectors of this loop
      std::int64_t* const sums = sums_.data();
      for (std::int64_t e = 0; e < row.size; ++e) {
        sums[e] += to_fixed(static_cast<double>(row.values[e]));
      }
      std::fill_n(marks_.begin(), sums_.size() / kOctet, 1);
    } else {
      for (std::int64_t e = 0; e < row.size; ++e) {
        const auto feature = index(row.feature(e));
        sums_[feature] += to_fixed(static_cast<double>(row.values[e]));
        marks_[feature / kOctet] = 1;
      }
    }
  }

  // Calls use(octet) for every mark, and takes the marks away. Late in a run, and with many
  // clusters for the rows, few are set: eight are read as one number, whose lowest byte is the
  // first mark.
  template <class Use>
  void each_marked(const Use& use) {
    for (std::size_t first = 0; first < marks_.size(); first += kMarksAtOnce) {
      std::uint64_t marks;
      static_assert(sizeof marks == kMarksAtOnce && std::endian::native == std::endian::little);
      std::memcpy(&marks, marks_.data() + first, sizeof marks);
      if (marks == 0) continue;
      std::memset(marks_.data() + first, 0, sizeof marks);
      for (; marks != 0; marks &= marks - 1) {
        use(first + index(std::countr_zero(marks)) / 8);
      }
    }
  }

  static constexpr std::size_t kOctet = 8;
  static constexpr std::size_t kMarksAtOnce = 8;
  std::vector<std::int64_t> sums_;  // by feature
  std::vector<char> marks_;         // by octet: 0 or 1
  // Room for the sums that are handed over.
  std::vector<std::int32_t> features_;
  std::vector<std::int64_t> values_;
};

SumChanges::SumChanges(int n_clusters) : clusters_(index(n_clusters)) {}
SumChanges::~SumChanges() = default;

void SumChanges::collect(const Rows& rows, const std::int32_t* previous, const std::int32_t* labels,
                         int n_threads, bool on_top, const double* copies) {
  const auto n_clusters = static_cast<int>(clusters_.size());
  const Members members = members_of(rows, previous, labels, n_clusters);
  accumulators_.resize(index(n_threads));
  with_row_type(rows, [&](const auto& typed_rows) {
    parallel_each(n_clusters, n_threads, [&](int thread, int j) {
      SumChange& change = clusters_[index(j)];
      const std::int64_t begin = members.first[index(j)];
      const std::int64_t end = members.first[index(j) + 1];
      if (!on_top) change.clear();
      if (begin == end) return;
      change.touched = true;
      auto& mine = accumulators_[index(thread)];
      if (!mine) mine = std::make_unique<Accumulator>(rows.n_features);
      mine->add(change.features.data(), change.values.data(), change.size());
      for (std::int64_t m = begin; m < end; ++m) {
        const Member member = members.all[index(m)];
        if (m + 6 < end) prefetch_start(typed_rows, members.all[index(m + 6)].row);
        if (m + 3 < end) prefetch(typed_rows.row(members.all[index(m + 3)].row));
        const double weight = copies ? copies[member.row] : rows.weight(member.row);
        mine->add_row(typed_rows.row(member.row), rows.one, weight, member.sign);
        change.rows += member.sign * (copies ? static_cast<std::int64_t>(weight) : 1);
      }
      mine->take(change);
    });
  });
}

void SumChanges::add(const ChangeArrays& other, std::int32_t n_features, int n_threads) {
  accumulators_.resize(index(n_threads));
  parallel_each(static_cast<int>(clusters_.size()), n_threads, [&](int thread, int j) {
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
