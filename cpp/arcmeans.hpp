// The core for a program: unit rows, centers, algorithms by name. examples/cpp/cluster.cpp shows
// how.
#pragma once

#include "core/algorithms/registry.hpp"
#include "core/algorithms/similarities.hpp"
#include "core/centers/centers.hpp"
#include "core/centers/sum_changes.hpp"
#include "core/rows/sparse_unit_rows.hpp"
#include "core/seeding/place_row.hpp"
