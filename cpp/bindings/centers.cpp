// Centers, and how their sums change.
#include "core/centers/centers.hpp"

#include "bindings/arrays.hpp"
#include "bindings/groups.hpp"
#include "core/layouts/filter_lines.hpp"

namespace arcmeans {

void bind_centers(nb::module_& m) {
  nb::class_<SumChanges>(m, "SumChanges")
      .def(nb::init<int>())
      .def(
          "collect",
          [](SumChanges& self, const HeldRows& rows, In<std::int32_t> previous,
             In<std::int32_t> labels, int n_threads, bool add, std::optional<In<double>> copies) {
            self.collect(rows, previous.data(), labels.data(), n_threads, add,
                         data_or_null(copies));
          },
          nb::arg("rows"), nb::arg("previous"), nb::arg("labels"), nb::arg("n_threads"),
          nb::kw_only(), nb::arg("add") = false, nb::arg("copies").none() = nb::none(), Released())
      .def(
          "add",
          [](SumChanges& self, In<std::int64_t> rows, In<std::uint8_t> touched,
             In<std::int64_t> starts, In<std::int32_t> features, In<std::int64_t> values,
             std::int32_t n_features, int n_threads) {
            self.add({rows.data(), touched.data(), starts.data(), features.data(), values.data()},
                     n_features, n_threads);
          },
          nb::arg("rows"), nb::arg("touched"), nb::arg("starts"), nb::arg("features"),
          nb::arg("values"), nb::kw_only(), nb::arg("n_features"), nb::arg("n_threads"), Released())
      .def(
          "copy",
          [](const SumChanges& self, Out<std::int64_t> rows, Out<std::uint8_t> touched,
             Out<std::int32_t> features, Out<std::int64_t> values) {
            std::size_t at = 0;
            for (std::size_t j = 0; j < self.size(); ++j) {
              rows.data()[j] = self[j].rows;
              touched.data()[j] = self[j].touched;
              std::copy_n(self[j].features.begin(), self[j].size(), features.data() + at);
              std::copy_n(self[j].values.begin(), self[j].size(), values.data() + at);
              at += self[j].size();
            }
          },
          Released())
      .def("sizes", [](const SumChanges& self, Out<std::int64_t> sizes) {
        for (std::size_t j = 0; j < self.size(); ++j) {
          sizes.data()[j] = static_cast<std::int64_t>(self[j].size());
        }
      });
  nb::class_<Centers>(m, "Centers")
      .def(nb::init<int, std::int32_t, double, std::int32_t>())
      .def("__init__",
           [](Centers* self, int n_centers, std::int32_t n_features, double one) {
             new (self) Centers(n_centers, n_features, one, n_features);
           })
      .def(
          "place",
          [](Centers& self, int j, In<std::int32_t> features, In<std::int64_t> values) {
            self.place(j, features.data(), values.data(), static_cast<std::int64_t>(values.size()));
          },
          Released())
      .def("objective", &Centers::objective, nb::arg().none(), Released())
      .def(
          "move",
          [](Centers& self, const SumChanges& changes, int n_threads) {
            self.move(changes, n_threads);
          },
          Released())
      .def_prop_ro("one", &Centers::one)
      .def_prop_ro("n_frequent", &Centers::n_frequent)
      .def_prop_ro("line_lengths",
                   [](nb::handle_t<Centers> self) {
                     const auto& centers = nb::cast<const Centers&>(self);
                     return view(self, centers.watcher<FilterLines>().lengths());
                   })
      .def("detached", &Centers::detached)
      .def_prop_ro("counts",
                   [](nb::handle_t<Centers> self) {
                     return view(self, nb::cast<const Centers&>(self).counts());
                   })
      .def("vector",
           [](const Centers& self, int j) {
             std::vector<std::int64_t> vector(index(self.n_features()));
             for (std::int32_t f = 0; f < self.n_features(); ++f) {
               vector[index(f)] = self.sums().value(j, f);
             }
             return owned(std::move(vector));
           })
      .def("sizes", [](const Centers& self) { return owned(self.sums().sizes()); })
      .def(
          "entries",
          [](const Centers& self, In<std::int64_t> starts, std::optional<In<std::int32_t>> by_rank,
             Out<std::int32_t> features, Out<std::int64_t> values) {
            self.sums().entries(starts.data(), data_or_null(by_rank), features.data(),
                                values.data());
          },
          nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), Released())
      .def_prop_ro("scales",
                   [](nb::handle_t<Centers> self) {
                     return view(self, nb::cast<const Centers&>(self).scales());
                   })
      .def_prop_ro(
          "chords",
          [](const Centers& self) {
            std::vector<double> chords;
            for (const CenterMove& move : self.last_move()) chords.push_back(move.chord);
            return owned(std::move(chords));
          },
          nb::rv_policy::move);
}

}  // namespace arcmeans
