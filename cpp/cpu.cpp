// Which instruction sets this processor runs, asked before any of the cores is loaded.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace {

// From the lowest to the highest; the names of the core modules.
std::vector<std::string> supported() {
  std::vector<std::string> names{"baseline"};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v3")) names.emplace_back("avx2");
  if (__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vnni")) {
    names.emplace_back("avx512");
  }
#endif
  return names;
}

}  // namespace

NB_MODULE(_cpu, m) { m.def("supported", &supported); }
