// The instruction sets that the core is compiled for and this processor runs.
#pragma once

#include <string>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace arcmeans {

#if defined(__x86_64__)
// x86-64-v3 and v4, feature by feature: Clang knows the levels by name from 18 on only, and not all
// of the features.
inline bool runs_v3() {
  unsigned a, b, c, d;
  const bool movbe_f16c =
      __get_cpuid(1, &a, &b, &c, &d) && (c & bit_MOVBE) != 0 && (c & bit_F16C) != 0;
  const bool lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT) != 0;
  return movbe_f16c && lzcnt && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
inline bool runs_v4() {
  return runs_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

// From the lowest to the highest.
inline std::vector<std::string> instruction_sets() {
  std::vector<std::string> names{"baseline"};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (runs_v3()) names.emplace_back("avx2");
  if (runs_v4() && __builtin_cpu_supports("avx512vnni")) names.emplace_back("avx512");
#endif
  return names;
}

}  // namespace arcmeans
