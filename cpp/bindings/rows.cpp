// Rows: looked at, made unit rows, copied, hashed, and told apart where they are equal.
#include <nanobind/stl/tuple.h>

#include "bindings/arrays.hpp"
#include "bindings/groups.hpp"
#include "core/rows/equal_rows.hpp"
#include "core/rows/label_hash.hpp"
#include "core/rows/prepare.hpp"

namespace arcmeans {

namespace {

template <class T>
void sparse_rows(HeldRows* self, In<std::int64_t> starts, In<std::int32_t> features, In<T> values,
                 In<std::uint8_t> zero, std::int32_t n_features, In<std::int32_t> by_rank,
                 double one, std::optional<In<double>> weights) {
  const std::int64_t n_rows = static_cast<std::int64_t>(zero.size());
  new (self)
      HeldRows{{n_rows, n_features, starts.data(), features.data(), values.data(),
                std::is_same_v<T, double>, data_or_null(weights), zero.data(), one, by_rank.data()},
               {nb::ndarray<>(starts), nb::ndarray<>(features), nb::ndarray<>(values),
                nb::ndarray<>(zero), nb::ndarray<>(by_rank)}};
  if (weights) self->arrays.emplace_back(*weights);
}

template <class T>
void dense_rows(HeldRows* self, In2<T> values, In<std::uint8_t> zero, double one,
                std::optional<In<double>> weights) {
  new (self) HeldRows{{static_cast<std::int64_t>(values.shape(0)),
                       static_cast<std::int32_t>(values.shape(1)), nullptr, nullptr, values.data(),
                       std::is_same_v<T, double>, data_or_null(weights), zero.data(), one, nullptr},
                      {nb::ndarray<>(values), nb::ndarray<>(zero)}};
  if (weights) self->arrays.emplace_back(*weights);
}

template <class Index, class T>
void bind_sparse_preparation(nb::module_& m) {
  m.def(
      "inspect",
      [](In<std::int64_t> starts, In<Index> indices, In<T> values, Out<std::int64_t> frequency) {
        return inspect(starts.data(), indices.data(), values.data(),
                       static_cast<std::int64_t>(starts.size()) - 1,
                       static_cast<std::int64_t>(frequency.size()), frequency.data());
      },
      Released());
  m.def(
      "unit_sparse",
      [](In<std::int64_t> starts, In<Index> indices, In<T> values, In<std::int32_t> rank,
         int n_threads, Out<std::int32_t> features, Out<T> unit, Out<std::uint8_t> zero) {
        unit_sparse(starts.data(), indices.data(), values.data(), rank.data(),
                    static_cast<std::int64_t>(starts.size()) - 1, n_threads, features.data(),
                    unit.data(), zero.data());
      },
      nb::arg("starts"), nb::arg("indices"), nb::arg("values"), nb::arg("rank"), nb::kw_only(),
      nb::arg("n_threads"), nb::arg("features"), nb::arg("unit"), nb::arg("zero"), Released());
}

template <class T>
void bind_preparation(nb::module_& m) {
  m.def(
      "unit_dense",
      [](In2<T> values, int n_threads, Out2<T> unit, Out<std::uint8_t> zero) {
        return unit_dense(values.data(), static_cast<std::int64_t>(values.shape(0)),
                          static_cast<std::int64_t>(values.shape(1)), n_threads, unit.data(),
                          zero.data());
      },
      Released());
  m.def(
      "copy_rows",
      [](In<std::int64_t> starts, In<std::int32_t> features, In<T> values, In<std::int64_t> which,
         In<std::int64_t> to, int n_threads, Out<std::int32_t> to_features, Out<T> to_values) {
        copy_rows(starts.data(), features.data(), values.data(), which.data(),
                  static_cast<std::int64_t>(which.size()), to.data(), n_threads, to_features.data(),
                  to_values.data());
      },
      nb::arg("starts"), nb::arg("features"), nb::arg("values"), nb::arg("which"), nb::kw_only(),
      nb::arg("to"), nb::arg("n_threads"), nb::arg("to_features"), nb::arg("to_values"),
      Released());
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<Inspection>(m, "Inspection")
      .def_ro("canonical", &Inspection::canonical)
      .def_ro("has_zeros", &Inspection::has_zeros)
      .def_ro("bad_index_row", &Inspection::bad_index_row)
      .def_ro("not_finite_row", &Inspection::not_finite_row);
  bind_sparse_preparation<std::int32_t, float>(m);
  bind_sparse_preparation<std::int32_t, double>(m);
  bind_sparse_preparation<std::int64_t, float>(m);
  bind_sparse_preparation<std::int64_t, double>(m);
  bind_preparation<float>(m);
  bind_preparation<double>(m);

  nb::class_<HeldRows>(m, "Rows")
      .def("__init__", &sparse_rows<float>, nb::arg("starts"), nb::arg("features"),
           nb::arg("values"), nb::arg("zero"), nb::kw_only(), nb::arg("n_features"),
           nb::arg("by_rank"), nb::arg("one"), nb::arg("weights").none() = nb::none())
      .def("__init__", &sparse_rows<double>, nb::arg("starts"), nb::arg("features"),
           nb::arg("values"), nb::arg("zero"), nb::kw_only(), nb::arg("n_features"),
           nb::arg("by_rank"), nb::arg("one"), nb::arg("weights").none() = nb::none())
      .def("__init__", &dense_rows<float>, nb::arg("values"), nb::arg("zero"), nb::kw_only(),
           nb::arg("one"), nb::arg("weights").none() = nb::none())
      .def("__init__", &dense_rows<double>, nb::arg("values"), nb::arg("zero"), nb::kw_only(),
           nb::arg("one"), nb::arg("weights").none() = nb::none())
      .def_prop_ro("zero", [](nb::handle_t<HeldRows> self) {
        const auto& rows = nb::cast<const HeldRows&>(self);
        return nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(
            rows.zero, {static_cast<std::size_t>(rows.n_rows)}, self);
      });
  m.def(
      "hash_rows",
      [](const HeldRows& rows, In<std::int64_t> which, int n_threads, Out<std::uint64_t> hashes) {
        hash_rows(rows, which.data(), static_cast<std::int64_t>(which.size()), n_threads,
                  hashes.data());
      },
      Released());

  m.def("distinct_rows", [](const HeldRows& rows, In<std::uint64_t> hashes) {
    std::optional<DistinctRows> found;
    {
      const nb::gil_scoped_release released;
      found.emplace(rows, hashes.data());
    }
    return std::make_tuple(owned(std::move(found->first)), owned(std::move(found->equal_to)));
  });
  m.def(
      "hash_labels",
      [](In<std::int32_t> labels, std::int64_t first) {
        return static_cast<std::int64_t>(
            hash_labels(labels.data(), static_cast<std::int64_t>(labels.size()), first));
      },
      Released());
}

}  // namespace arcmeans
