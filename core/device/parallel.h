// Host threads: one OpenMP team (the one oneDNN uses), and a grain below which nobody is woken.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>

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

/// Call `body(begin, end)` over [0, count) in parallel pieces of at least `grain`. Exceptions reach the caller.
template <typename F>
void ParallelFor(int64_t count, int64_t grain, F&& body) {
  if (count <= 0) return;
  const int64_t threads = TeamOf(grain > 0 ? (count + grain - 1) / grain : count);
  if (threads <= 1) {
    body(static_cast<int64_t>(0), count);
    return;
  }
  std::exception_ptr error;
  // The whole team, if only to pass by: OpenMP ends the threads that a smaller one leaves out, and starts them anew.
#pragma omp parallel num_threads(NumThreads())
  {
    const int64_t team = std::min<int64_t>(threads, omp_get_num_threads()), me = omp_get_thread_num();
    const int64_t begin = std::min(count, count * me / team), end = std::min(count, count * (me + 1) / team);
    try {
      if (begin < end) body(begin, end);
    } catch (...) {
#pragma omp critical(dragon_parallel_error)
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace dragon
