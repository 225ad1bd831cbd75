// Host threads: one OpenMP team (the one oneDNN uses), and a grain below which nobody is woken.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>

#include "core/base/macros.h"

namespace dragon {

/// Threads that kernels may use; at least 1. Set by DRAGON_NUM_THREADS, OMP_NUM_THREADS or SetNumThreads.
DRAGON_API int NumThreads();
DRAGON_API void SetNumThreads(int count);
/// True in a child of a process whose OpenMP team had started: waking that team would hang, so the child runs alone.
DRAGON_API bool ForkedFromTeam();
/// How many threads will do work that is worth `wanted`: 1 inside a region, in a forked child, and where the system has
/// no room for the team, which is started here.
DRAGON_API int TeamOf(int64_t wanted);

/// Elements of cheap work (a load, an add, a store) that are worth a thread: waking one costs 2 to 5 microseconds.
inline constexpr int64_t kGrain = 32768;

/// Threads for work over [0, count) in pieces of at least `grain`; 0 where there is none.
DRAGON_API int64_t TeamFor(int64_t count, int64_t grain);
/// Call `call(body, begin, end)` from so many threads. Exceptions reach the caller.
using TeamCall = void (*)(const void* body, int64_t begin, int64_t end);
DRAGON_API void RunOnTeam(int64_t count, int64_t threads, TeamCall call, const void* body);

/// Call `body(begin, end)` over [0, count) in parallel pieces of at least `grain`. Exceptions reach the caller. What
/// wakes threads and catches their errors knows bodies by their address: there are a thousand.
template <typename F>
void ParallelFor(int64_t count, int64_t grain, F&& body) {
  const int64_t threads = TeamFor(count, grain);
  if (threads == 0) return;
  if (threads == 1) {
    body(static_cast<int64_t>(0), count);
    return;
  }
  using Body = std::remove_reference_t<F>;
  RunOnTeam(
      count, threads,
      [](const void* the_body, int64_t begin, int64_t end) {
        (*static_cast<Body*>(const_cast<void*>(the_body)))(begin, end);
      },
      std::addressof(body));
}

}  // namespace dragon
