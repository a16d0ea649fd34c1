// Asking for memory some time before it is read.
//
// These, and functions that do nothing else, are inlined by force: GCC takes a function that only
// prefetches for one without effect and drops the call.
#pragma once

namespace arcmeans {

// Into the first cache: a few lines, of what is read next.
__attribute__((always_inline)) inline void prefetch_near(const void* address) {
  __builtin_prefetch(address, 0, 3);
}

// Into the second, which takes many more requests at a time: for what lies anywhere.
__attribute__((always_inline)) inline void prefetch_far(const void* address) {
  __builtin_prefetch(address, 0, 2);
}

}  // namespace arcmeans
