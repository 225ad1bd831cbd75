// The order of a group's calls: what was begun in the background comes before what is called after it.
#pragma once

#include "core/base/macros.h"
#include "core/world/patience.h"

namespace dragon {

class DRAGON_API Turns {
 public:
  /// Something was begun, which another thread makes.
  void Begin() { begun_.fetch_add(1); }
  /// It has ended.
  void End();
  /// This thread makes what is begun, and need not wait for itself.
  void Make() { made_here_ = this; }
  /// Wait until all that was begun has ended; throws where somebody wants the thread to give up.
  void Await();

 private:
  static thread_local const Turns* made_here_;
  std::atomic<int> begun_{0};
  SharedWord ended_{0};
};

}  // namespace dragon
