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
/// Note that the team is about to start (remembered for children).
DRAGON_API void NoteTeam();

/// Elements of cheap work (a load, an add, a store) that are worth a thread: waking one costs 2 to 5 microseconds.
inline constexpr int64_t kGrain = 32768;

/// Call `body(begin, end)` over [0, count) in parallel pieces of at least `grain`. Exceptions reach the caller.
template <typename F>
void ParallelFor(int64_t count, int64_t grain, F&& body) {
  if (count <= 0) return;
  const int64_t wanted = grain > 0 ? (count + grain - 1) / grain : count;
  const int threads = wanted <= 1 ? 1 : static_cast<int>(std::min<int64_t>(wanted, NumThreads()));
  if (threads <= 1 || omp_in_parallel() || ForkedFromTeam()) {
    body(static_cast<int64_t>(0), count);
    return;
  }
  NoteTeam();
  std::exception_ptr error;
#pragma omp parallel num_threads(threads)
  {
    const int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
    const int64_t begin = count * me / team, end = count * (me + 1) / team;
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
