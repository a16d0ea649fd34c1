// The binding: types in, GIL released, call, types out. One module for each instruction set.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <stdexcept>

#include "core/algorithms/assign.hpp"
#include "core/algorithms/by_angles.hpp"
#include "core/rows/equal_rows.hpp"
#include "core/rows/prepare.hpp"
#include "core/seeding/seeding.hpp"

namespace nb = nanobind;
using namespace arcmeans;

namespace {

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
struct HeldRows : Rows {
  std::vector<nb::ndarray<>> arrays;
};

template <class T>
void sparse_rows(HeldRows* self, In<std::int64_t> starts, In<std::int32_t> features, In<T> values,
                 std::int32_t n_features, std::optional<In<double>> weights, In<std::uint8_t> zero,
                 double one, In<std::int32_t> by_rank) {
  const std::int64_t n_rows = static_cast<std::int64_t>(zero.size());
  new (self)
      HeldRows{{n_rows, n_features, starts.data(), features.data(), values.data(),
                std::is_same_v<T, double>, data_or_null(weights), zero.data(), one, by_rank.data()},
               {nb::ndarray<>(starts), nb::ndarray<>(features), nb::ndarray<>(values),
                nb::ndarray<>(zero), nb::ndarray<>(by_rank)}};
  if (weights) self->arrays.emplace_back(*weights);
}

template <class T>
void dense_rows(HeldRows* self, In2<T> values, std::optional<In<double>> weights,
                In<std::uint8_t> zero, double one) {
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
      Released());
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
      Released());
}

template <class T>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> view(nb::handle owner, const std::vector<T>& values) {
  return {values.data(), {values.size()}, owner};
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> owned(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {kept->data(), {kept->size()}, owner};
}

// The turn of a center that went so far, as computed without rounding up.
Turn turn_over(double chord) { return turn_of(outward_chord(chord, 0)); }

}  // namespace

NB_MODULE(ARCMEANS_MODULE, m) {
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
      .def("__init__", &sparse_rows<float>, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg().none(), nb::arg(), nb::arg(), nb::arg())
      .def("__init__", &sparse_rows<double>, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg().none(), nb::arg(), nb::arg(), nb::arg())
      .def("__init__", &dense_rows<float>, nb::arg(), nb::arg().none(), nb::arg(), nb::arg())
      .def("__init__", &dense_rows<double>, nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
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
  nb::class_<EqualRows>(m, "EqualRows")
      .def(
          "__init__",
          [](EqualRows* self, In<std::int64_t> equal_to, std::int64_t n_distinct,
             std::int64_t first) {
            new (self) EqualRows(equal_to.data(), static_cast<std::int64_t>(equal_to.size()),
                                 n_distinct, first);
          },
          Released())
      .def_prop_ro("hash",
                   [](const EqualRows& self) { return static_cast<std::int64_t>(self.hash()); })
      .def(
          "spread",
          [](EqualRows& self, In<std::int32_t> distinct, In<std::int32_t> before, bool anew,
             Out<std::int32_t> labels, Out<std::int32_t> previous) {
            return self.spread(distinct.data(), before.data(), anew, labels.data(),
                               previous.data());
          },
          Released());
  m.def(
      "hash_labels",
      [](In<std::int32_t> labels, std::int64_t first) {
        return static_cast<std::int64_t>(
            hash_labels(labels.data(), static_cast<std::int64_t>(labels.size()), first));
      },
      Released());
  nb::class_<SumChanges>(m, "SumChanges")
      .def(nb::init<int>())
      .def(
          "collect",
          [](SumChanges& self, const HeldRows& rows, In<std::int32_t> previous,
             In<std::int32_t> labels, int n_threads, bool add, std::optional<In<double>> copies) {
            self.collect(rows, previous.data(), labels.data(), n_threads, add,
                         data_or_null(copies));
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg() = false,
          nb::arg().none() = nb::none(), Released())
      .def(
          "add",
          [](SumChanges& self, In<std::int64_t> rows, In<std::uint8_t> touched,
             In<std::int64_t> starts, In<std::int32_t> features, In<std::int64_t> values,
             std::int32_t n_features, int n_threads) {
            self.add({rows.data(), touched.data(), starts.data(), features.data(), values.data()},
                     n_features, n_threads);
          },
          Released())
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

  nb::enum_<Algorithm>(m, "Algorithm")
      .value("lloyd", Algorithm::lloyd)
      .value("simplified_elkan", Algorithm::simplified_elkan)
      .value("elkan", Algorithm::elkan)
      .value("simplified_hamerly", Algorithm::simplified_hamerly)
      .value("hamerly", Algorithm::hamerly);
  nb::enum_<HamerlyUpdate>(m, "HamerlyUpdate")
      .value("tight", HamerlyUpdate::tight)
      .value("eq8", HamerlyUpdate::eq8)
      .value("eq9", HamerlyUpdate::eq9);
  nb::class_<Work>(m, "Work")
      .def(nb::init<>())
      .def_rw("similarities", &Work::similarities)
      .def_rw("lines", &Work::lines)
      .def_rw("center_similarities", &Work::center_similarities)
      .def_rw("reused", &Work::reused)
      .def_rw("exact_decisions", &Work::exact_decisions)
      .def_rw("skipped_by_bounds", &Work::skipped_by_bounds)
      .def_rw("skipped_by_centers", &Work::skipped_by_centers)
      .def_rw("changed", &Work::changed)
      .def("add", &Work::add);
  m.def(
      "assign",
      [](Algorithm algorithm, const HeldRows& rows, Centers& centers, Out<std::int32_t> labels,
         Out<std::int32_t> previous, std::optional<Out<double>> lower,
         std::optional<Out2<float>> uppers, std::optional<Out<double>> upper, int n_threads,
         std::int64_t chunk_rows, HamerlyUpdate update) {
        const RowState state{labels.data(), previous.data(), data_or_null(lower),
                             data_or_null(uppers), data_or_null(upper)};
        return assign(algorithm, rows, centers, state, {n_threads, chunk_rows}, update);
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
      nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), Released());
  nb::class_<PackedRows>(m, "PackedRows")
      .def(nb::new_(
               [](const HeldRows& rows, std::int32_t n_frequent, std::int32_t n_shared,
                  int n_threads) { return new PackedRows(rows, n_frequent, n_shared, n_threads); }),
           Released());
  nb::class_<SieveMoves>(m, "SieveMoves")
      .def(nb::init<int, bool>())
      .def_prop_ro("rises",
                   [](nb::handle_t<SieveMoves> self) {
                     return view(self, nb::cast<const SieveMoves&>(self).rises);
                   })
      .def_prop_ro("falls",
                   [](nb::handle_t<SieveMoves> self) {
                     return view(self, nb::cast<const SieveMoves&>(self).falls);
                   })
      .def_prop_ro("places",
                   [](nb::handle_t<SieveMoves> self) {
                     return view(self, nb::cast<const SieveMoves&>(self).places.of_all());
                   })
      .def_ro("told", &SieveMoves::told)
      .def_prop_ro("rise_rooms",
                   [](nb::handle_t<SieveMoves> self) {
                     return view(self, nb::cast<const SieveMoves&>(self).rise_rooms);
                   })
      .def_prop_ro("fall_rooms", [](nb::handle_t<SieveMoves> self) {
        return view(self, nb::cast<const SieveMoves&>(self).fall_rooms);
      });
  nb::class_<LineGroups>(m, "LineGroups")
      .def(nb::init<int, bool>())
      .def_prop_ro("count", &LineGroups::count)
      .def_prop_ro("n_bounds",
                   [](const LineGroups& groups) { return groups.n_bound_lines() * kLineShorts; })
      .def("of", &LineGroups::of);
  m.def(
      "sift",
      [](const HeldRows& rows, const PackedRows& packed, Centers& centers, SieveMoves& moves,
         Out<std::int32_t> labels, Out<std::int32_t> previous,
         std::optional<Out<std::int32_t>> lower, std::optional<Out2<std::int16_t>> uppers,
         int n_threads, std::int64_t chunk_rows) {
        const SieveState state{labels.data(), previous.data(), data_or_null(lower),
                               data_or_null(uppers)};
        return sift(rows, packed, centers, moves, state, {n_threads, chunk_rows});
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
      nb::arg().none(), nb::arg(), nb::arg(), Released());
  m.def(
      "tally",
      [](const HeldRows& rows, Centers& centers, Out<std::int32_t> labels,
         Out<std::int32_t> previous, Out<float> lower, Out<float> upper, int n_threads,
         std::int64_t chunk_rows) {
        return tally(rows, centers, {labels.data(), previous.data(), lower.data(), upper.data()},
                     {n_threads, chunk_rows});
      },
      Released());
  nb::class_<CenterGroups>(m, "CenterGroups")
      .def(
          "__init__",
          [](CenterGroups* self, In<std::int32_t> group_of, int n_groups, std::int32_t n_features) {
            new (self) CenterGroups(group_of.data(), static_cast<int>(group_of.size()), n_groups,
                                    n_features);
          })
      .def("moved", &CenterGroups::moved);
  m.def(
      "yinyang",
      [](const HeldRows& rows, Centers& centers, Out<std::int32_t> labels,
         Out<std::int32_t> previous, Out<double> own, Out<double> other, Out2<float> kept,
         int n_threads, std::int64_t chunk_rows, CenterGroups& groups) {
        Panels::of(centers);
        return yinyang(rows, centers, {labels.data(), previous.data()},
                       {own.data(), other.data(), kept.data()}, {n_threads, chunk_rows}, groups);
      },
      Released());
  nb::class_<CenterNeighbors>(m, "CenterNeighbors")
      .def(nb::init<int, std::int32_t>())
      .def(
          "update",
          [](CenterNeighbors& self, Centers& centers, int n_threads) {
            Panels::of(centers);
            return self.update(centers, TurnAngles(centers), n_threads);
          },
          Released())
      .def("nearest_at_most", &CenterNeighbors::nearest_at_most)
      .def("beyond_first", &CenterNeighbors::beyond_first)
      .def("of", [](nb::handle_t<CenterNeighbors> self, int a) {
        const auto& neighbors = nb::cast<const CenterNeighbors&>(self);
        const auto n = static_cast<std::size_t>(neighbors.count());
        return nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>(neighbors.of(a), {n}, self);
      });
  m.def(
      "exponion",
      [](const HeldRows& rows, Centers& centers, Out<std::int32_t> labels,
         Out<std::int32_t> previous, Out<double> own, Out<double> other, int n_threads,
         std::int64_t chunk_rows, CenterNeighbors& neighbors) {
        Panels::of(centers);
        return exponion(rows, centers, {labels.data(), previous.data()}, {own.data(), other.data()},
                        {n_threads, chunk_rows}, neighbors);
      },
      Released());
  m.def(
      "shallot",
      [](const HeldRows& rows, Centers& centers, Out<std::int32_t> labels,
         Out<std::int32_t> previous, Out<double> own, Out<double> other, Out<std::int32_t> seconds,
         int n_threads, std::int64_t chunk_rows, CenterNeighbors& neighbors) {
        Panels::of(centers);
        return shallot(rows, centers, {labels.data(), previous.data()},
                       {own.data(), other.data(), nullptr, seconds.data()}, {n_threads, chunk_rows},
                       neighbors);
      },
      Released());
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
      Released());
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
          Released())
      .def(
          "add",
          [](SeedSearch& self, const HeldRows& rows, int j, In<double> similarities,
             In<std::uint64_t> hashes, std::uint64_t own_hash, int n_threads) {
            self.add(rows, j, similarities.data(), hashes.data(), own_hash, n_threads);
          },
          Released())
      .def(
          "weigh",
          [](SeedSearch& self, const HeldRows& rows, double alpha, std::optional<In<double>> more,
             int n_threads) { return self.weigh(rows, alpha, data_or_null(more), n_threads); },
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), Released())
      .def("find", &SeedSearch::find, Released())
      .def("open", &SeedSearch::open, Released())
      .def("nth_open", &SeedSearch::nth_open, Released())
      .def_prop_ro("weights",
                   [](nb::handle_t<SeedSearch> self) {
                     return view(self, nb::cast<const SeedSearch&>(self).weights());
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

  // The parts that the property tests take apart.
  m.def("reference_error", [](bool is_double, std::int64_t size) {
    return is_double ? reference_error<double>(size) : reference_error<float>(size);
  });
  m.def("panel_error", &panel_error);
  m.def(
      "panel_similarities",
      [](const HeldRows& rows, Centers& centers, std::int64_t i, Out<float> similarities) {
        const Panels& panels = Panels::of(centers);
        std::vector<float> padded(index(panels.width()));
        visit(rows,
              [&](const auto& typed) { panel_similarities(panels, typed.row(i), padded.data()); });
        std::copy_n(padded.begin(), similarities.size(), similarities.data());
      },
      Released());
  m.def(
      "reference_similarities",
      [](const HeldRows& rows, const Centers& centers, std::int64_t i, Out<double> similarities) {
        visit(rows, [&](const auto& typed) {
          for (int j = 0; j < centers.size(); ++j) {
            similarities.data()[j] = centers.similarity(typed.row(i), j);
          }
        });
      },
      Released());
  m.def("row_filter_error", &row_filter_error);
  m.def("center_filter_error", &center_filter_error);
  m.def("lower_after",
        [](double lower, double chord) { return lower_after(lower, turn_over(chord)); });
  m.def("upper_after",
        [](double upper, double chord) { return upper_after(upper, turn_over(chord)); });
  m.def("hamerly_upper_after",
        [](double upper, double largest, double smallest, HamerlyUpdate update) {
          return upper_after(upper, turn_over(largest), turn_over(smallest), update);
        });
  m.def("uppers_after", [](Out<float> uppers, In<double> chords) {
    std::vector<double> cos, sin, pad;
    for (std::size_t j = 0; j < chords.size(); ++j) {
      const Turn p = turn_over(chords.data()[j]);
      cos.push_back(p.cos);
      sin.push_back(p.sin);
      pad.push_back(p.pad);
    }
    upper_after(uppers.data(), static_cast<std::int64_t>(uppers.size()), cos.data(), sin.data(),
                pad.data());
  });
  m.def("half_angle", &half_angle);
  m.def("angle_at_most", &angle_at_most);
  m.def("angle_at_least", &angle_at_least);
  m.def("beyond", &beyond);
  m.def("turn", [](double chord) { return angle_of(turn_over(chord)); });
}
