// The core as a module of Python: types in, GIL released, call, types out. One module for each
// instruction set. A call across takes up to five arguments by place; what it has more is named.
#include "bindings/groups.hpp"

NB_MODULE(ARCMEANS_MODULE, m) {
  arcmeans::bind_rows(m);
  arcmeans::bind_centers(m);
  arcmeans::bind_algorithms(m);
  arcmeans::bind_seeding(m);
  arcmeans::bind_arithmetic(m);
}
