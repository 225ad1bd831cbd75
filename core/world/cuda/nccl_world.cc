// What CUDA devices offer to groups of processes.
#include "core/device/cuda/vendor.h"
#include "core/world/cuda/nccl_communicator.h"

namespace dragon::cuda {

namespace {

class NcclWorld : public DeviceWorld {
 public:
  bool IsThere() override { return HasNccl(); }
  int Version() override { return NcclVersion(); }
  std::shared_ptr<Communicator> Join(std::shared_ptr<Communicator> host, Device device,
                                     const DeviceOptions& options) override {
    return std::make_shared<NcclCommunicator>(std::move(host), device, options);
  }
  std::vector<std::shared_ptr<Communicator>> JoinAlone(std::span<const int> indices) override {
    const int size = static_cast<int>(indices.size());
    std::vector<NcclHandle> handles(size);
    CheckNccl(Outside([&] { return NcclLibrary().init_all(handles.data(), size, indices.data()); }), "NCCL: join");
    std::vector<std::shared_ptr<Communicator>> made;
    for (int rank = 0; rank < size; ++rank) {
      const Device device{DeviceType::kCUDA, static_cast<int16_t>(indices[rank])};
      made.push_back(std::make_shared<NcclCommunicator>(NcclRing::Adopt(handles[rank], device), rank, size));
    }
    return made;
  }
  void BeginTogether() override { CheckNccl(NcclLibrary().group_start(), "NCCL"); }
  void EndTogether() override {
    CheckNccl(Outside([] { return NcclLibrary().group_end(); }), "NCCL");
  }
};

[[maybe_unused]] const bool g_registered =
    (RegisterDeviceWorld(DeviceType::kCUDA, std::make_unique<NcclWorld>()), true);

}  // namespace

}  // namespace dragon::cuda
