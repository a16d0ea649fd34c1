// The search for seeds.
#include "core/seeding/seeding.hpp"

#include "bindings/arrays.hpp"
#include "bindings/groups.hpp"

namespace arcmeans {

void bind_seeding(nb::module_& m) {
  nb::class_<SeedSearch>(m, "SeedSearch")
      .def(nb::init<const HeldRows&, std::int64_t>(), Released())
      .def(
          "similarities",
          [](SeedSearch& self, const HeldRows& rows, In<std::int32_t> features,
             In<std::int64_t> values, double scale, int n_threads, Out<double> similarities) {
            return self.similarities(
                rows,
                {features.data(), values.data(), static_cast<std::int64_t>(values.size()), scale},
                n_threads, similarities.data());
          },
          nb::arg("rows"), nb::arg("features"), nb::arg("values"), nb::arg("scale"), nb::kw_only(),
          nb::arg("n_threads"), nb::arg("similarities"), Released())
      .def(
          "add",
          [](SeedSearch& self, const HeldRows& rows, int j, In<double> similarities,
             In<std::uint64_t> hashes, std::uint64_t seed_hash, int n_threads) {
            self.add(rows, j, similarities.data(), hashes.data(), seed_hash, n_threads);
          },
          nb::arg("rows"), nb::arg("j"), nb::arg("similarities"), nb::kw_only(), nb::arg("hashes"),
          nb::arg("own_hash"), nb::arg("n_threads"), Released())
      .def(
          "weigh",
          [](SeedSearch& self, const HeldRows& rows, double alpha, std::optional<In<double>> more,
             int n_threads) { return self.weigh(rows, alpha, data_or_null(more), n_threads); },
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), Released())
      .def_prop_ro("chances",
                   [](nb::handle_t<SeedSearch> self) {
                     return view(self, nb::cast<const SeedSearch&>(self).chances());
                   })
      .def_prop_ro("best",
                   [](nb::handle_t<SeedSearch> self) {
                     return view(self, nb::cast<const SeedSearch&>(self).best());
                   })
      .def_prop_ro("second",
                   [](nb::handle_t<SeedSearch> self) {
                     return view(self, nb::cast<const SeedSearch&>(self).second());
                   })
      .def_prop_ro("labels", [](nb::handle_t<SeedSearch> self) {
        return view(self, nb::cast<const SeedSearch&>(self).labels());
      });
}

}  // namespace arcmeans
