// Rows of a chunk by their numbers r there, in ascending order.
#pragma once

#include <cstdint>
#include <memory>

namespace arcmeans {

class RowList {
 public:
  explicit RowList(std::size_t most = 0) : rows_(new std::int32_t[most]) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int32_t operator[](std::size_t at) const { return rows_[at]; }
  const std::int32_t* begin() const { return rows_.get(); }
  const std::int32_t* end() const { return rows_.get() + size_; }

  void clear() { size_ = 0; }
  // Without a branch: what is written where `really` is false is overwritten.
  void add(std::int32_t r, bool really = true) {
    rows_[size_] = r;
    size_ += really;
  }
  // Leaves the rows for which use(r) is true.
  template <class Use>
  void keep(const Use& use) {
    const std::size_t n = size_;
    size_ = 0;
    for (std::size_t at = 0; at < n; ++at) add(rows_[at], use(rows_[at]));
  }

 private:
  std::unique_ptr<std::int32_t[]> rows_;  // not initialized: most are never used
  std::size_t size_ = 0;
};

}  // namespace arcmeans
