// How a thread waits for other processes: awake for a moment, then asleep, never without an end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "core/base/macros.h"

namespace dragon {

/// A word in shared memory that processes wait for.
using SharedWord = std::atomic<uint32_t>;
static_assert(SharedWord::is_always_lock_free);

/// Sleep as long as a word has a value, at most so long; false if it was the time that ended it.
bool SleepOn(SharedWord& word, uint32_t value, int milliseconds);
/// Wake all that sleep on a word.
void WakeAll(SharedWord& word);

/// Let the processor rest for a moment.
inline void Breathe() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// What is to be done while a thread waits. Told by Python's bindings.
struct WaitRules {
  /// Around a sleep: let others have what they wait for meanwhile, and take it again.
  void (*sleep)(const std::function<void()>& sleep) = nullptr;
  /// Called every now and then; throws where somebody wants the thread to give up.
  void (*look_around)() = nullptr;
};
DRAGON_API WaitRules& Waiting();

/// A moment after which waiting ends.
class Deadline {
 public:
  /// Negative seconds: never.
  explicit Deadline(double seconds) : never_(seconds < 0) {
    if (!never_)
      end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  bool Over() const { return !never_ && Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool never_;
  Clock::time_point end_;
};

}  // namespace dragon
