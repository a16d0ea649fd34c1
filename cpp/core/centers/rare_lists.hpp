// Rare features. A feature that few rows have only few clusters can have, so it has a short list of
// (center, sum) instead of a number for every center: the memory of the centers then grows with the
// data and not with clusters times features. In 20 Newsgroups 94,459 of the 101,631 features occur
// in 16 rows or fewer.
//
// Most lists have one entry, which stands in an array by feature. The other entries of a list, its
// tail, lie side by side in a pool; a full tail moves to the end of the pool, where it has twice
// the room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "core/support/index.hpp"

namespace arcmeans {

class RareLists {
 public:
  // For the features from `first` to before `end`.
  RareLists(std::int32_t first, std::int32_t end) : first_(first), firsts_(index(end - first)) {}

  std::int64_t value(std::int32_t feature, int center) const {
    std::int64_t value = 0;
    each(feature, [&](int j, std::int64_t sum) { value = j == center ? sum : value; });
    return value;
  }

  // Calls use(center, sum) for the centers that have the feature.
  template <class Use>
  void each(std::int32_t feature, const Use& use) const {
    const Entry& first = firsts_[index(feature - first_)];
    if (first.center != kNone) use(int{first.center}, first.sum);
    for (const Entry& entry : tail(first)) use(int{entry.center}, entry.sum);
  }

  // Of a feature that at most one center has: that center if its sum is this, else −1.
  int center_with(std::int32_t feature, std::int64_t sum) const {
    const Entry& first = firsts_[index(feature - first_)];
    return first.sum == sum ? first.center : kNone;
  }

  // Adds to the sum of one center; an entry whose sum becomes zero leaves the list.
  void add(std::int32_t feature, int center, std::int64_t change) {
    Entry& first = firsts_[index(feature - first_)];
    if (Entry* entry = find(first, center)) {
      entry->sum += change;
      if (entry->sum == 0) remove(first, *entry);
    } else if (change != 0) {
      Entry& added = first.center == kNone ? first : append(first);
      added.sum = change;
      added.center = center;
    }
  }

  // Takes the marked centers out of all lists.
  void remove(const std::vector<char>& marked) {
    const auto gone = [&](const Entry& entry) {
      return entry.center != kNone && marked[index(entry.center)];
    };
    for (Entry& first : firsts_) {
      for (auto tail = this->tail(first); !tail.empty(); tail = tail.first(tail.size() - 1)) {
        if (gone(tail.back())) remove(first, tail.back());
      }
      if (gone(first)) remove(first, first);
    }
  }

 private:
  static constexpr std::int32_t kNone = -1;

  // In the first entry of a list, `tail` is where its tail begins in the pool: with a head whose
  // `center` is the number of entries behind it, and whose `tail` is how many there is room for.
  // Lists without a tail have the head at 0, which has no entries and no room.
  struct Entry {
    std::int64_t sum = 0;
    std::int32_t center = kNone;
    std::uint32_t tail = 0;
  };

  std::span<const Entry> tail(const Entry& first) const {
    const Entry* const head = pool_.data() + first.tail;
    return {head + 1, index(head->center)};
  }
  std::span<Entry> tail(const Entry& first) {
    Entry* const head = pool_.data() + first.tail;
    return {head + 1, index(head->center)};
  }

  Entry* find(Entry& first, int center) {
    if (first.center == center) return &first;
    for (Entry& entry : tail(first)) {
      if (entry.center == center) return &entry;
    }
    return nullptr;
  }

  // Removes an entry of a list: the last entry of the list takes its place.
  void remove(Entry& first, Entry& entry) {
    Entry& head = pool_[first.tail];
    Entry& last = head.center > 0 ? *(&head + head.center--) : first;
    entry.sum = last.sum;
    entry.center = last.center;
    last.center = kNone;
  }

  // A new entry at the end of a tail.
  Entry& append(Entry& first) {
    const std::size_t size = tail(first).size();
    if (size == pool_[first.tail].tail) {  // no room is left
      const std::size_t moved = pool_.size();
      if (moved > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
      pool_.resize(moved + 1 + (size == 0 ? 1 : 2 * size));
      Entry& head = pool_[moved];
      head.center = static_cast<std::int32_t>(size);
      head.tail = static_cast<std::uint32_t>(pool_.size() - moved - 1);
      const auto full = tail(first);
      std::copy(full.begin(), full.end(), &head + 1);
      first.tail = static_cast<std::uint32_t>(moved);
    }
    Entry& head = pool_[first.tail];
    return *(&head + ++head.center);
  }

  std::int32_t first_;
  std::vector<Entry> firsts_;
  std::vector<Entry> pool_ = std::vector<Entry>{{0, 0, 0}};
};

}  // namespace arcmeans
