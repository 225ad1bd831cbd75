// How many threads kernels use, and what a forked child must know about them.
#include "core/device/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/device/alone.h"
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

/// The team that this thread has started: each thread that starts one has workers of its own.
thread_local int t_team = 1;
thread_local bool t_alone = false;

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

/// OpenMP ends the process where it cannot start a thread, so its start is rehearsed: by one thread after the other,
/// lest two count on the same memory. All of the team or nobody.
__attribute__((noinline)) bool StartTeam(int threads) {
  g_team_started.store(true);  // before the lock, which a child of a fork would find locked
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!HasRoomForThreads(threads - 1, 0)) return false;
#pragma omp parallel num_threads(threads)
  asm volatile("" ::: "memory");  // a region that is left out starts nobody
  t_team = threads;
  return true;
}

}  // namespace

bool HasRoomFor(size_t bytes) {
  if (bytes == 0) return true;
  void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, bytes) == 0;
}

bool HasRoomForThreads(int count, size_t bytes_each) {
  if (!HasRoomFor(count * (ThreadBytes() + bytes_each))) return false;
  // There may be memory and still no thread to be had. The stacks of threads that end stay for those that start next.
  std::mutex gate;
  gate.lock();
  std::vector<pthread_t> threads;
  const auto wait = [](void* the_gate) -> void* {
    const std::lock_guard<std::mutex> passed(*static_cast<std::mutex*>(the_gate));
    return nullptr;
  };
  threads.reserve(count);
  pthread_t thread;
  while (static_cast<int>(threads.size()) < count && pthread_create(&thread, nullptr, wait, &gate) == 0) {
    threads.push_back(thread);
  }
  gate.unlock();
  for (const pthread_t each : threads) pthread_join(each, nullptr);
  return static_cast<int>(threads.size()) == count;
}

int NumThreads() {
  int threads = g_threads.load(std::memory_order_relaxed);
  if (DRAGON_UNLIKELY(threads == 0)) {
    int none = 0;
    const int count = DefaultThreads();
    threads = g_threads.compare_exchange_strong(none, count) ? count : none;
  }
  return threads;
}

void SetNumThreads(int count) {
  if (count < 1 || count > 4096) throw ValueError("set_num_threads").Got(count).Expected("a number from 1 to 4096");
  g_threads.store(count, std::memory_order_relaxed);
  omp_set_num_threads(ForkedFromTeam() ? 1 : count);
}

int TeamOf(int64_t wanted) {
  if (wanted <= 1 || t_alone || omp_in_parallel() || ForkedFromTeam()) return 1;
  const int threads = NumThreads();
  if (DRAGON_UNLIKELY(threads != t_team) && !StartTeam(threads)) return 1;
  return static_cast<int>(std::min<int64_t>(wanted, threads));
}

int64_t TeamFor(int64_t count, int64_t grain) {
  if (count <= 0) return 0;
  return TeamOf(grain > 0 ? (count + grain - 1) / grain : count);
}

void RunOnTeam(int64_t count, int64_t threads, TeamCall call, const void* body) {
  std::exception_ptr error;
  // The whole team, if only to pass by: OpenMP ends the threads that a smaller one leaves out, and starts them anew.
#pragma omp parallel num_threads(NumThreads())
  {
    const int64_t team = std::min<int64_t>(threads, omp_get_num_threads()), me = omp_get_thread_num();
    const int64_t begin = std::min(count, count * me / team), end = std::min(count, count * (me + 1) / team);
    try {
      if (begin < end) call(body, begin, end);
    } catch (...) {
#pragma omp critical(dragon_parallel_error)
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

bool WorkAlone(bool alone) {
  // The number is this thread's, for libraries that start teams of their own accord.
  omp_set_num_threads(alone || ForkedFromTeam() ? 1 : NumThreads());
  return std::exchange(t_alone, alone);
}

bool ForkedFromTeam() { return g_forked_from_team.load(std::memory_order_relaxed); }

}  // namespace dragon
