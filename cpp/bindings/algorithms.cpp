// Algorithms and their records, the parts of algorithms that tests take apart, and reference
// similarities without a pass.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/groups.hpp"
#include "core/algorithms/neighbors.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/sieve_algorithm.hpp"
#include "core/algorithms/similarities.hpp"
#include "core/algorithms/yinyang.hpp"
#include "core/layouts/panels.hpp"

namespace arcmeans {

namespace {

using StateOut = nb::ndarray<nb::c_contig, nb::device::cpu>;

nb::dlpack::dtype dtype_of(NumberType type) {
  switch (type) {
    case NumberType::int16:
      return nb::dtype<std::int16_t>();
    case NumberType::int32:
      return nb::dtype<std::int32_t>();
    case NumberType::float32:
      return nb::dtype<float>();
    default:
      return nb::dtype<double>();
  }
}

const char* name_of(NumberType type) {
  switch (type) {
    case NumberType::int16:
      return "int16";
    case NumberType::int32:
      return "int32";
    case NumberType::float32:
      return "float32";
    default:
      return "float64";
  }
}

// An algorithm with this row state, which Python keeps alive as long as the algorithm.
std::unique_ptr<Algorithm> make(const AlgorithmRecord& record, const Problem& problem,
                                const std::vector<StateOut>& arrays) {
  const std::vector<StateArray> wanted = record.row_state(problem);
  if (arrays.size() != wanted.size()) throw std::invalid_argument("not the row state it keeps");
  RowState state;
  for (std::size_t a = 0; a < wanted.size(); ++a) {
    const auto size = static_cast<std::size_t>(problem.n_rows * wanted[a].columns);
    if (arrays[a].dtype() != dtype_of(wanted[a].type) || arrays[a].size() != size) {
      throw std::invalid_argument(std::string("not the row state it keeps: ") + wanted[a].name);
    }
    state.push_back(arrays[a].data());
  }
  return record.make(problem, state);
}

void bind_problem(nb::module_& m) {
  nb::enum_<HamerlyUpdate>(m, "HamerlyUpdate")
      .value("tight", HamerlyUpdate::tight)
      .value("eq8", HamerlyUpdate::eq8)
      .value("eq9", HamerlyUpdate::eq9);
  nb::class_<Problem>(m, "Problem")
      .def(
          "__init__",
          [](Problem* self, std::int64_t n_rows, std::int32_t n_features, int n_clusters,
             bool sparse, std::int64_t n_entries, std::int32_t n_shared, int n_groups,
             bool keep_bounds, HamerlyUpdate hamerly_update) {
            new (self) Problem{n_rows,   n_features, n_clusters,  sparse,        n_entries,
                               n_shared, n_groups,   keep_bounds, hamerly_update};
          },
          nb::kw_only(), nb::arg("n_rows"), nb::arg("n_features"), nb::arg("n_clusters"),
          nb::arg("sparse"), nb::arg("n_entries"), nb::arg("n_shared"), nb::arg("n_groups"),
          nb::arg("keep_bounds"), nb::arg("hamerly_update"));
  nb::class_<StateArray>(m, "StateArray")
      .def_prop_ro("name", [](const StateArray& array) { return array.name; })
      .def_prop_ro("dtype", [](const StateArray& array) { return name_of(array.type); })
      .def_ro("columns", &StateArray::columns)
      .def_ro("initial", &StateArray::initial);
}

void bind_record(nb::module_& m) {
  nb::class_<AlgorithmRecord>(m, "AlgorithmRecord")
      .def_prop_ro("name", [](const AlgorithmRecord& record) { return record.name; })
      .def_prop_ro("keeps", [](const AlgorithmRecord& record) { return record.keeps; })
      .def_prop_ro("wins", [](const AlgorithmRecord& record) { return record.wins; })
      .def_ro("takes_sparse", &AlgorithmRecord::takes_sparse)
      .def_ro("takes_dense", &AlgorithmRecord::takes_dense)
      .def_ro("needs_row_state", &AlgorithmRecord::needs_row_state)
      .def_ro("in_full", &AlgorithmRecord::in_full)
      .def_ro("checks_memory", &AlgorithmRecord::checks_memory)
      .def_ro("largest_ball", &AlgorithmRecord::largest_ball)
      .def("row_state", [](const AlgorithmRecord& record,
                           const Problem& problem) { return record.row_state(problem); })
      .def("row_bytes", &AlgorithmRecord::row_bytes)
      .def("other_bytes", [](const AlgorithmRecord& record,
                             const Problem& problem) { return record.other_bytes(problem); })
      .def("auto_takes",
           [](const AlgorithmRecord& record, const Problem& problem) {
             std::optional<std::pair<std::int64_t, std::int64_t>> bytes;
             if (const auto needs = record.auto_takes(problem)) {
               bytes.emplace(needs->row_bytes, needs->center_bytes);
             }
             return bytes;
           })
      .def("make", &make, nb::keep_alive<0, 3>());
  m.def("algorithm_records", [] {
    const auto all = all_algorithms();
    nb::list records;
    for (const AlgorithmRecord* record : all) {
      records.append(nb::cast(record, nb::rv_policy::reference));
    }
    return records;
  });
}

constexpr std::pair<const char*, std::int64_t Work::*> kWorkCounts[] = {
    {"similarities", &Work::similarities},
    {"lines", &Work::lines},
    {"center_similarities", &Work::center_similarities},
    {"reused", &Work::reused},
    {"exact_decisions", &Work::exact_decisions},
    {"skipped_by_bounds", &Work::skipped_by_bounds},
    {"skipped_by_centers", &Work::skipped_by_centers},
    {"changed", &Work::changed},
};
static_assert(sizeof(Work) == std::size(kWorkCounts) * sizeof(std::int64_t));

void bind_work(nb::module_& m) {
  nb::class_<Work> work(m, "Work");
  work.def(nb::init<>())
      .def_static("of",
                  [](const std::array<std::int64_t, std::size(kWorkCounts)>& counts) {
                    Work made;
                    std::size_t c = 0;
                    for (const auto& [name, count] : kWorkCounts) made.*count = counts[c++];
                    return made;
                  })
      .def("counts",
           [](const Work& self) {
             std::vector<std::int64_t> counts;
             for (const auto& [name, count] : kWorkCounts) counts.push_back(self.*count);
             return counts;
           })
      .def("add", &Work::add);
  for (const auto& [name, count] : kWorkCounts) work.def_rw(name, count);
}

void bind_algorithm(nb::module_& m) {
  bind_work(m);
  nb::class_<Algorithm>(m, "Algorithm")
      .def(
          "assign",
          [](Algorithm& self, const HeldRows& rows, Centers& centers, Out<std::int32_t> labels,
             Out<std::int32_t> previous, int n_threads, std::int64_t chunk_rows) {
            return self.assign(rows, centers, {labels.data(), previous.data()},
                               {n_threads, chunk_rows});
          },
          nb::arg("rows"), nb::arg("centers"), nb::arg("labels"), nb::arg("previous"),
          nb::kw_only(), nb::arg("n_threads"), nb::arg("chunk_rows"), Released())
      .def(
          "adopt",
          [](Algorithm& self, In<std::int32_t> labels, In<double> lower, In<double> upper) {
            self.adopt(labels.data(), lower.data(), upper.data());
          },
          Released())
      .def(
          "forget",
          [](Algorithm& self, In<std::int64_t> rows) {
            self.forget(rows.data(), static_cast<std::int64_t>(rows.size()));
          },
          Released())
      .def("release_rows", &Algorithm::release_rows);
}

// What tests look into.
void bind_parts(nb::module_& m) {
  nb::class_<BoundAging>(m, "BoundAging")
      .def_prop_ro("rises",
                   [](nb::handle_t<BoundAging> self) {
                     return view(self, nb::cast<const BoundAging&>(self).rises);
                   })
      .def_prop_ro("falls",
                   [](nb::handle_t<BoundAging> self) {
                     return view(self, nb::cast<const BoundAging&>(self).falls);
                   })
      .def_prop_ro("slots",
                   [](nb::handle_t<BoundAging> self) {
                     return view(self, nb::cast<const BoundAging&>(self).slots.of_all());
                   })
      .def_ro("told", &BoundAging::told)
      .def_prop_ro("rises_less_slack",
                   [](nb::handle_t<BoundAging> self) {
                     return view(self, nb::cast<const BoundAging&>(self).rises_less_slack);
                   })
      .def_prop_ro("falls_less_slack", [](nb::handle_t<BoundAging> self) {
        return view(self, nb::cast<const BoundAging&>(self).falls_less_slack);
      });
  nb::class_<LineGroups>(m, "LineGroups")
      .def(nb::init<int, bool>())
      .def_prop_ro("count", &LineGroups::count)
      .def_prop_ro(
          "n_bounds",
          [](const LineGroups& groups) { return groups.n_bound_blocks() * kCacheLineShorts; })
      .def("of", &LineGroups::of);
  nb::class_<SieveAlgorithm, Algorithm>(m, "Sieve")
      .def_prop_ro("aging", &SieveAlgorithm::aging, nb::rv_policy::reference_internal);
  nb::class_<CenterGroups>(m, "CenterGroups")
      .def(
          "__init__",
          [](CenterGroups* self, In<std::int32_t> group_of, int n_groups, std::int32_t n_features) {
            new (self) CenterGroups(group_of.data(), static_cast<int>(group_of.size()), n_groups,
                                    n_features);
          })
      .def_prop_ro("size", &CenterGroups::size)
      .def("group_of", &CenterGroups::group_of)
      .def("moved", &CenterGroups::moved);
  nb::class_<Yinyang, Algorithm>(m, "Yinyang")
      .def_prop_ro("groups", &Yinyang::groups, nb::rv_policy::reference_internal);
  nb::class_<CenterNeighbors>(m, "CenterNeighbors")
      .def(nb::init<int, std::int32_t>())
      .def(
          "update",
          [](CenterNeighbors& self, Centers& centers, int n_threads) {
            return self.update(centers, Panels::of(centers), TurnAngles(centers), n_threads);
          },
          Released())
      .def("nearest_at_most", &CenterNeighbors::nearest_at_most)
      .def("beyond_first", &CenterNeighbors::beyond_first)
      .def("of", [](nb::handle_t<CenterNeighbors> self, int a) {
        const auto& neighbors = nb::cast<const CenterNeighbors&>(self);
        const auto n = static_cast<std::size_t>(neighbors.count());
        return nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>(neighbors.of(a), {n}, self);
      });
}

void bind_similarities(nb::module_& m) {
  m.def(
      "own_similarities",
      [](const HeldRows& rows, const Centers& centers, In<std::int32_t> labels, int n_threads,
         Out<double> similarities) {
        own_similarities(rows, centers, labels.data(), n_threads, similarities.data());
      },
      Released());

  m.def(
      "similarity_matrix",
      [](const HeldRows& rows, const Centers& centers, int n_threads, Out2<double> similarities) {
        similarity_matrix(rows, centers, n_threads, similarities.data());
      },
      Released());
  m.def(
      "nearest",
      [](const HeldRows& rows, Centers& centers, In<std::int64_t> which, int n_threads,
         Out<std::int32_t> labels, Out<double> similarities) {
        nearest(rows, centers, which.data(), static_cast<std::int64_t>(which.size()), n_threads,
                labels.data(), similarities.data());
      },
      nb::arg("rows"), nb::arg("centers"), nb::arg("which"), nb::kw_only(), nb::arg("n_threads"),
      nb::arg("labels"), nb::arg("similarities"), Released());
}

}  // namespace

void bind_algorithms(nb::module_& m) {
  bind_problem(m);
  bind_record(m);
  bind_algorithm(m);
  bind_parts(m);
  bind_similarities(m);
}

}  // namespace arcmeans
