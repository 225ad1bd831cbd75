// Waiting for another thread that may need Python's lock to go on.
#include "core/framework/thread_wait.h"

#include <atomic>
#include <thread>

namespace dragon {

namespace {

std::atomic<void (*)()> g_wait{nullptr};

}  // namespace

void SetThreadWait(void (*wait)()) { g_wait.store(wait, std::memory_order_release); }

void WaitForThread() {
  if (auto* wait = g_wait.load(std::memory_order_acquire)) return wait();
  std::this_thread::yield();
}

}  // namespace dragon
