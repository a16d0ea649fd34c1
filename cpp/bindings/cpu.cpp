// Which instruction sets this processor runs, asked before any of the cores is loaded.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/support/instruction_sets.hpp"

NB_MODULE(_cpu, m) { m.def("supported", &arcmeans::instruction_sets); }
