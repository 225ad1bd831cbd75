// One communicator of NCCL's: how it is joined, called, watched and given up.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "core/device/cuda/nccl.h"
#include "core/device/device.h"
#include "core/world/communicator.h"
#include "core/world/devices.h"

namespace dragon::cuda {

/// Work that was given to a device may hang there: a watcher looks at what has not ended, and gives the communicator up
/// when its time is over, NCCL has met an error, or a process of the group is gone. Whoever next calls it, or waits for
/// the device, gets the reason.
class NcclRing {
 public:
  using Call = std::function<NcclStatus(NcclHandle, cudaStream_t)>;

  /// All ranks together, with the id of one of them.
  static std::shared_ptr<NcclRing> Join(const NcclId& id, int rank, int size, Device device,
                                        const DeviceOptions& options, std::weak_ptr<Communicator> host);
  /// Of this process alone.
  static std::shared_ptr<NcclRing> Adopt(NcclHandle handle, Device device);
  NcclRing(Device device, const DeviceOptions& options, std::weak_ptr<Communicator> host);
  NcclRing(const NcclRing&) = delete;
  NcclRing& operator=(const NcclRing&) = delete;
  ~NcclRing();

  /// Make calls on the device's current stream, in the name of `who`; several of one ring go as a group.
  void Run(const std::string& who, const Call& call);
  /// The same for several rings at once.
  struct Part {
    NcclRing* ring;
    Call call;
  };
  static void RunTogether(const std::string& who, std::span<const Part> parts);

  Device device() const { return device_; }
  void SetTimeout(double seconds) { seconds_ = seconds; }
  /// Why it was given up; empty if it was not.
  std::string why();
  /// Give it up: what hangs on the device ends, with numbers that mean nothing.
  void Abort(const std::string& why);
  /// Once in a while, from the watcher.
  void Look();
  /// Raise why it was given up, unless that was told already.
  void Tell();

 private:
  using Clock = std::chrono::steady_clock;
  /// A call that was made; its event comes when the device has done it.
  struct Pending {
    std::string who;
    Clock::time_point begun;
    void* event = nullptr;
  };

  void CheckWhole(const std::string& who);
  void Settle(const std::string& who, NcclStatus status, Clock::time_point begun);
  Pending* Begin(const std::string& who);
  void End(const std::string& who, NcclStatus status, Pending* pending);
  bool IsLate(Clock::time_point begun) const;
  std::string TroubleOf(const Pending& oldest);
  /// Whether the oldest call has waited for somebody who is gone for long enough: who ends when its own part is done
  /// may leave a moment before the others have theirs.
  bool HasWaited(const Pending& oldest);
  void DropDone();

  Device device_;
  std::atomic<double> seconds_;  ///< after which a call that has not ended is given up; negative: never
  DeviceOptions options_;
  std::weak_ptr<Communicator> host_;
  NcclHandle handle_ = nullptr;
  std::mutex mutex_;  ///< of what follows; never held while NCCL is called
  std::deque<Pending> pending_;
  std::string why_;
  bool told_ = false, aborted_ = false;
  Clock::time_point gone_since_, gone_for_;  ///< since when the call that began then waits for who is gone
  std::atomic<bool> inside_{false};          ///< whether a thread is in the library
};

/// Make a call while others have Python's lock.
NcclStatus Outside(const std::function<NcclStatus()>& call);

}  // namespace dragon::cuda
