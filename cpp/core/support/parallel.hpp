// Threads for one call: started, joined, gone. No pool outlives a call, so the process can fork,
// run inside other thread pools and load any OpenMP beside us. Which thread takes which chunk is
// left to chance; nothing computed here depends on it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace arcmeans {

// Calls body(thread, begin, end) for every chunk of [0, n). An exception in any thread stops the
// others at their next chunk and is thrown again here.
template <class Body>
void parallel_chunks(std::int64_t n, std::int64_t chunk, int n_threads, const Body& body) {
  const std::int64_t chunks = (n + chunk - 1) / chunk;
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  auto work = [&](int thread) {
    try {
      for (std::int64_t c; (c = next.fetch_add(1)) < chunks;) {
        body(thread, c * chunk, std::min(n, (c + 1) * chunk));
      }
    } catch (...) {
      const std::lock_guard<std::mutex> guard(failure_lock);
      if (!failure) failure = std::current_exception();
      next = chunks;
    }
  };
  std::vector<std::thread> helpers;
  const auto wanted = static_cast<int>(std::min<std::int64_t>(n_threads, chunks));
  for (int thread = 1; thread < wanted; ++thread) {
    try {
      helpers.emplace_back(work, thread);
    } catch (const std::system_error&) {
      break;  // the system has no more threads to give: those we have do the work
    }
  }
  work(0);
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

// Calls body(thread, i) for every i in [0, n), a chunk of its own.
template <class Body>
void parallel_each(int n, int n_threads, const Body& body) {
  parallel_chunks(n, 1, n_threads, [&](int thread, std::int64_t i, std::int64_t) {
    body(thread, static_cast<int>(i));
  });
}

}  // namespace arcmeans
