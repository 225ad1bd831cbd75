// The watcher of communicators: it is there while there are any.
#include "core/world/cuda/nccl_watch.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/device/cuda/faults.h"
#include "core/world/cuda/nccl_ring.h"

namespace dragon::cuda {

namespace {

constexpr auto kRest = std::chrono::milliseconds(50);

struct Watched {
  std::mutex mutex;
  std::vector<std::weak_ptr<NcclRing>> rings;
  bool runs = false;
};
Watched& All() {
  static auto* watched = new Watched;  // never destroyed: the thread may be the last to look
  return *watched;
}

std::vector<std::shared_ptr<NcclRing>> Living() {
  std::vector<std::shared_ptr<NcclRing>> living;
  std::erase_if(All().rings, [&](const auto& ring) {
    auto held = ring.lock();
    const bool gone = !held;
    if (held) living.push_back(std::move(held));
    return gone;
  });
  return living;
}

void LookAgainAndAgain() {
  for (;;) {
    std::this_thread::sleep_for(kRest);
    std::vector<std::shared_ptr<NcclRing>> living;
    {
      std::lock_guard lock(All().mutex);
      living = Living();
      if (living.empty()) {
        All().runs = false;
        return;
      }
    }
    for (const auto& ring : living) {
      try {
        ring->Look();
      } catch (const std::exception& error) {
        ring->Abort(error.what());
      }
    }
  }
}

/// Whoever waits for a device is told what was given up there: the numbers that it waits for mean nothing.
void TellOf(int device) {
  std::vector<std::shared_ptr<NcclRing>> living;
  {
    std::lock_guard lock(All().mutex);
    living = Living();
  }
  for (const auto& ring : living) {
    if (ring->device().index == device) ring->Tell();
  }
}

}  // namespace

void Watch(const std::shared_ptr<NcclRing>& ring) {
  Watched& all = All();
  std::lock_guard lock(all.mutex);
  SetTroubleTeller(&TellOf);
  all.rings.push_back(ring);
  if (std::exchange(all.runs, true)) return;
  std::thread(&LookAgainAndAgain).detach();
}

}  // namespace dragon::cuda
