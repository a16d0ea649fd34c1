// Arrays of NumPy as the core takes them, and arrays of the core as NumPy sees them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "core/rows/rows.hpp"

namespace arcmeans {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Released = nb::call_guard<nb::gil_scoped_release>;

template <class Array>
auto* data_or_null(const std::optional<Array>& array) {
  return array ? array->data() : nullptr;
}

// Rows and the arrays they look into.
struct __attribute__((visibility("hidden"))) HeldRows : Rows {
  std::vector<nb::ndarray<>> arrays;
};

// A view of numbers that their owner keeps.
template <class T>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> view(nb::handle owner, const std::vector<T>& values) {
  return {values.data(), {values.size()}, owner};
}

// Numbers that the array keeps.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> owned(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {kept->data(), {kept->size()}, owner};
}

}  // namespace arcmeans
