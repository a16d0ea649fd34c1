// The arithmetic of bounds and errors, which the property tests take apart.
#include "bindings/arrays.hpp"
#include "bindings/groups.hpp"
#include "core/bounds/angles.hpp"
#include "core/centers/centers.hpp"
#include "core/layouts/panels.hpp"
#include "core/moves/turns.hpp"

namespace arcmeans {

namespace {

// The turn of a center that went so far, as computed without rounding up.
Turn turn_over(double chord) { return turn_of(outward_chord(chord, 0)); }

}  // namespace

void bind_arithmetic(nb::module_& m) {
  m.def("reference_error", [](bool is_double, std::int64_t size) {
    return is_double ? reference_error<double>(size) : reference_error<float>(size);
  });
  m.def("panel_error", &panel_error);
  m.def(
      "panel_similarities",
      [](const HeldRows& rows, Centers& centers, std::int64_t i, Out<float> similarities) {
        const Panels& panels = Panels::of(centers);
        std::vector<float> padded(index(panels.width()));
        with_row_type(rows, [&](const auto& typed_rows) {
          panel_similarities(panels, typed_rows.row(i), padded.data());
        });
        std::copy_n(padded.begin(), similarities.size(), similarities.data());
      },
      Released());
  m.def(
      "reference_similarities",
      [](const HeldRows& rows, const Centers& centers, std::int64_t i, Out<double> similarities) {
        with_row_type(rows, [&](const auto& typed_rows) {
          for (int j = 0; j < centers.size(); ++j) {
            similarities.data()[j] = centers.similarity(typed_rows.row(i), j);
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
  m.def("half_angle", &cosine_of_half_angle);
  m.def("angle_at_most", &angle_at_most);
  m.def("angle_at_least", &angle_at_least);
  m.def("beyond", &beyond);
  m.def("turn", [](double chord) { return angle_of(turn_over(chord)); });
}

}  // namespace arcmeans
