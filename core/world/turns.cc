// Waiting for what a group has begun.
#include "core/world/turns.h"

namespace dragon {

namespace {

constexpr int kRestMilliseconds = 50;

}  // namespace

thread_local const Turns* Turns::made_here_ = nullptr;

void Turns::End() {
  begun_.fetch_sub(1);
  ended_.fetch_add(1);
  WakeAll(ended_);
}

void Turns::Await() {
  if (begun_.load() == 0 || made_here_ == this) return;
  for (;;) {
    const uint32_t seen = ended_.load();
    if (begun_.load() == 0) return;
    SleepOn(ended_, seen, kRestMilliseconds);
    if (Waiting().look_around) Waiting().look_around();
  }
}

}  // namespace dragon
