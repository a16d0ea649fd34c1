// Which instruction sets this processor runs, asked before any of the cores is loaded.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <string>
#include <vector>

namespace {

#if defined(__x86_64__)
// x86-64-v3 and v4, feature by feature: Clang knows the levels by name from 18 on only, and not all
// of the features.
bool is_v3() {
  unsigned a, b, c, d;
  const bool movbe_f16c =
      __get_cpuid(1, &a, &b, &c, &d) && (c & bit_MOVBE) != 0 && (c & bit_F16C) != 0;
  const bool lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT) != 0;
  return movbe_f16c && lzcnt && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool is_v4() {
  return is_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

// From the lowest to the highest; the names of the core modules.
std::vector<std::string> supported() {
  std::vector<std::string> names{"baseline"};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (is_v3()) names.emplace_back("avx2");
  if (is_v4() && __builtin_cpu_supports("avx512vnni")) names.emplace_back("avx512");
#endif
  return names;
}

}  // namespace

NB_MODULE(_cpu, m) { m.def("supported", &supported); }
