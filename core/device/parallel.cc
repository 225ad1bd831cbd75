// How many threads kernels use, and what a forked child must know about them.
#include "core/device/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/device/room.h"

namespace dragon {

namespace {

std::atomic<int> g_threads{0};  // 0: not asked for yet
std::atomic<bool> g_team_started{false};
std::atomic<bool> g_forked_from_team{false};

/// A positive number at the start of an environment variable; 0 when it is not set, -1 when it says something else.
int CountFrom(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return 0;
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  return end != text && (*end == 0 || *end == ',') && count >= 1 && count <= 4096 ? static_cast<int>(count) : -1;
}

/// The processors this process may run on, or fewer where a container grants less time than that.
int Processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : omp_get_num_procs();
  std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (quota_file >> quota >> period && quota > 0 && period > 0) {
    count = std::min(count, static_cast<int>(quota / period + 0.999));
  }
  return std::max(count, 1);
}

int DefaultThreads() {
  const int wish = CountFrom("DRAGON_NUM_THREADS");
  if (wish < 0) {
    throw ValueError("DRAGON_NUM_THREADS")
        .Got("'", std::getenv("DRAGON_NUM_THREADS"), "'")
        .Expected("a number from 1 to 4096");
  }
  if (wish > 0) return wish;
  const int openmp = CountFrom("OMP_NUM_THREADS");  // OpenMP complains about a malformed one by itself
  return openmp > 0 ? openmp : Processors();
}

/// libgomp's workers do not survive a fork, and the thread that forked would wait for them for ever.
void InChild() {
  if (!g_team_started.load(std::memory_order_relaxed)) return;
  g_forked_from_team.store(true, std::memory_order_relaxed);
  omp_set_num_threads(1);  // for libraries that start teams of their own accord
}

[[maybe_unused]] const int g_registered = pthread_atfork(nullptr, nullptr, &InChild);

/// Each thread that starts a team has a team of its own; OpenMP ends the process where it cannot start one.
thread_local int t_team = 1;

/// The stack of a thread, and what comes with it.
size_t ThreadBytes() {
  static const size_t bytes = [] {
    size_t stack = size_t{8} << 20;
    pthread_attr_t attributes;
    if (pthread_getattr_default_np(&attributes) == 0) {
      pthread_attr_getstacksize(&attributes, &stack);
      pthread_attr_destroy(&attributes);
    }
    return stack + (size_t{1} << 20);
  }();
  return bytes;
}

/// As many threads as there is memory for: all or this one.
__attribute__((noinline)) int Affordable(int threads) {
  if (!omp_in_parallel() && !HasRoomFor((threads - 1) * ThreadBytes())) return 1;
  return t_team = threads;
}

}  // namespace

bool HasRoomFor(size_t bytes) {
  void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, bytes) == 0;
}

int NumThreads() {
  int threads = g_threads.load(std::memory_order_relaxed);
  if (DRAGON_UNLIKELY(threads == 0)) {
    int none = 0;
    const int count = DefaultThreads();
    threads = g_threads.compare_exchange_strong(none, count) ? count : none;
  }
  return DRAGON_LIKELY(threads <= t_team) ? threads : Affordable(threads);
}

void SetNumThreads(int count) {
  if (count < 1 || count > 4096) throw ValueError("set_num_threads").Got(count).Expected("a number from 1 to 4096");
  g_threads.store(count, std::memory_order_relaxed);
  omp_set_num_threads(ForkedFromTeam() ? 1 : count);
}

bool ForkedFromTeam() { return g_forked_from_team.load(std::memory_order_relaxed); }

void NoteTeam() {
  if (!g_team_started.load(std::memory_order_relaxed)) g_team_started.store(true, std::memory_order_relaxed);
}

}  // namespace dragon
