// Sleeping on words in shared memory.
#include "core/world/patience.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

namespace dragon {

WaitRules& Waiting() {
  static WaitRules rules;
  return rules;
}

namespace {

bool SleepHere(SharedWord& word, uint32_t value, int milliseconds) {
  const timespec patience{milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  // Not the private kind: the word is in memory of several processes.
  const long result = syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, value, &patience, nullptr, 0);
  return result == 0 || errno != ETIMEDOUT;
}

}  // namespace

bool SleepOn(SharedWord& word, uint32_t value, int milliseconds) {
  if (Waiting().sleep == nullptr) return SleepHere(word, value, milliseconds);
  bool woken = false;
  Waiting().sleep([&] { woken = SleepHere(word, value, milliseconds); });
  return woken;
}

void WakeAll(SharedWord& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace dragon
