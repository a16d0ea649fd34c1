// The groups of classes and functions that the module is made of, a file for each.
#pragma once

#include <nanobind/nanobind.h>

namespace arcmeans {

void bind_rows(nanobind::module_& m);
void bind_centers(nanobind::module_& m);
void bind_algorithms(nanobind::module_& m);
void bind_seeding(nanobind::module_& m);
void bind_arithmetic(nanobind::module_& m);

}  // namespace arcmeans
