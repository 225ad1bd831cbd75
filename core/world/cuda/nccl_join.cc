// How ranks come to a communicator of NCCL's: what each has and is goes by the host's communicator, the id with it.
#include <cstring>
#include <set>

#include "core/base/error.h"
#include "core/device/accelerator.h"
#include "core/world/cuda/nccl_communicator.h"
#include "core/world/mail.h"

namespace dragon::cuda {

namespace {

constexpr int64_t kTagOfIds = INT64_MIN + 1;  // of messages that no program sends

/// What a rank tells the others of itself.
struct Introduction {
  NcclId id;
  char uuid[16];
  int32_t ready;
  char why[364];
};

Introduction Introduce(int rank, Device device) {
  Introduction mine{};
  try {
    const DeviceFacts facts = AcceleratorOf(device.type).Facts(device.index);
    std::memcpy(mine.uuid, facts.uuid.data(), std::min(facts.uuid.size(), sizeof(mine.uuid)));
    (void)AcceleratorOf(device.type).CurrentStream(device.index);
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

std::shared_ptr<Communicator> NcclCommunicator::Join(const std::shared_ptr<Communicator>& host, Device device,
                                                     const DeviceOptions& options) {
  const int rank = host->rank(), size = host->size();
  const Introduction mine = Introduce(rank, device);
  std::vector<Introduction> all(size);
  std::vector<char*> places;
  for (Introduction& each : all) places.push_back(reinterpret_cast<char*>(&each));
  host->AllGather(reinterpret_cast<const char*>(&mine), places, {sizeof(Introduction), DType::kUInt8});
  CheckAll(all, rank, device);
  auto ring = NcclRing::Join(all[0].id, rank, size, device, options, host);
  return std::make_shared<NcclCommunicator>(host, std::move(ring), rank, size, options);
}

/// Two ranks that send to each other join by themselves: the lower one tells the id by mail.
std::shared_ptr<NcclRing> NcclCommunicator::RingWith(int peer) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<NcclRing>& ring = pairs_[peer];
  if (ring || !host_) return ring ? ring : ring_;
  NcclId id{};
  char* const bytes = id.bytes;
  if (rank_ < peer) {
    CheckNccl(NcclLibrary().get_unique_id(&id), "NCCL: id");
    host_->Wait(host_->Send(bytes, sizeof(id), peer, kTagOfIds), options_.seconds);
  } else {
    host_->Wait(host_->Receive(bytes, sizeof(id), peer, kTagOfIds), options_.seconds);
  }
  return ring = NcclRing::Join(id, rank_ < peer ? 0 : 1, 2, ring_->device(), options_, host_);
}

}  // namespace dragon::cuda
