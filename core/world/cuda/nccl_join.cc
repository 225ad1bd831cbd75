// How ranks come to a communicator of NCCL's: what each has and is goes by the host's communicator, the id with it.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/base/error.h"
#include "core/device/accelerator.h"
#include "core/world/cuda/nccl_communicator.h"
#include "core/world/mail.h"
#include "core/world/patience.h"

namespace dragon::cuda {

namespace {

/// What a rank tells the others of itself.
struct Introduction {
  NcclId id;
  char uuid[16];
  int32_t ready;
  char why[364];
};

Accelerator& Devices() { return AcceleratorOf(DeviceType::kCUDA); }

/// A thread that waits for another one lets it have Python's lock, which that may need.
std::unique_lock<std::mutex> LockOutside(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (lock.owns_lock()) return lock;
  if (Waiting().sleep) {
    Waiting().sleep([&] { lock.lock(); });
  } else {
    lock.lock();
  }
  return lock;
}

Introduction Introduce(int rank, Device device) {
  Introduction mine{};
  try {
    const DeviceFacts facts = Devices().Facts(device.index);
    std::memcpy(mine.uuid, facts.uuid.data(), std::min(facts.uuid.size(), sizeof(mine.uuid)));
    (void)Devices().CurrentStream(device.index);
    (void)NcclLibrary();
    if (rank == 0) CheckNccl(NcclLibrary().get_unique_id(&mine.id), "NCCL: id");
    mine.ready = 1;
  } catch (const Error& error) {
    std::strncpy(mine.why, error.what(), sizeof(mine.why) - 1);
  }
  return mine;
}

/// All ranks see the same, and raise the same.
void CheckAll(const std::vector<Introduction>& all, int me, Device device) {
  if (!all[me].ready) throw RuntimeError("NCCL").Says(all[me].why);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].ready) throw RuntimeError("NCCL").Says("rank ", rank, " cannot join: ", all[rank].why);
  }
  for (size_t rank = 0; rank < all.size(); ++rank) {
    for (size_t other = 0; other < rank; ++other) {
      if (std::memcmp(all[rank].uuid, all[other].uuid, sizeof(all[rank].uuid)) != 0) continue;
      throw RuntimeError("NCCL")
          .Got("ranks ", other, " and ", rank, " with tensors on one GPU (", device, " on rank ", me, ")")
          .Expected("a GPU for each rank: call torch.cuda.set_device(local_rank), or take the backend gloo");
    }
  }
}

}  // namespace

std::shared_ptr<NcclRing> NcclCommunicator::Ring() {
  const auto lock = LockOutside(mutex_);
  if (ring_) return ring_;
  const Introduction mine = Introduce(rank_, device_);
  std::vector<Introduction> all(size_);
  std::vector<char*> places;
  for (Introduction& each : all) places.push_back(reinterpret_cast<char*>(&each));
  host_->AllGather(reinterpret_cast<const char*>(&mine), places, {sizeof(Introduction), DType::kUInt8});
  CheckAll(all, rank_, device_);
  return ring_ = NcclRing::Join(all[0].id, rank_, size_, device_, options_, host_);
}

/// Two ranks that send to each other join by themselves: the lower one tells the id by mail.
std::shared_ptr<NcclRing> NcclCommunicator::RingWith(int peer) {
  if (!host_) return ring_;
  const auto lock = LockOutside(mutex_);
  std::shared_ptr<NcclRing>& ring = pairs_[peer];
  if (ring) return ring;
  (void)Devices().CurrentStream(device_.index);
  NcclId id{};
  if (rank_ < peer) {
    CheckNccl(NcclLibrary().get_unique_id(&id), "NCCL: id");
    host_->Wait(host_->Send(id.bytes, sizeof(id), peer, kOwnTag), options_.seconds);
  } else {
    host_->Wait(host_->Receive(id.bytes, sizeof(id), peer, kOwnTag), options_.seconds);
  }
  return ring = NcclRing::Join(id, rank_ < peer ? 0 : 1, 2, device_, options_, host_);
}

}  // namespace dragon::cuda
