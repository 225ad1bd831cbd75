// The backends that are there, and the names of devices.
#include "core/device/device.h"

#include <unistd.h>

#include <atomic>
#include <cstring>

#include "core/base/error.h"
#include "core/device/accelerator.h"
#include "core/device/allocator.h"
#include "core/device/library.h"

namespace dragon {

namespace {

constexpr const char* kTypeNames[kDeviceTypeCount] = {"cpu", "cuda", "meta", "fake"};

/// The host, for code that treats all devices alike.
class HostBackend : public Backend {
 public:
  int Count() const override { return 1; }
  void* Allocate(int, size_t bytes) override { return AllocateHost(bytes); }
  void Free(int, void* pointer, size_t bytes) override { FreeHost(pointer, bytes); }
  void CopyFromHost(int, void* device, const void* host, size_t bytes) override { Copy(device, host, bytes); }
  void CopyToHost(int, void* host, const void* device, size_t bytes) override { Copy(host, device, bytes); }
  void CopyWithin(int, void* to, const void* from, size_t bytes) override { Copy(to, from, bytes); }

 private:
  static void Copy(void* to, const void* from, size_t bytes) {
    if (bytes) std::memmove(to, from, bytes);
  }
};

std::atomic<Backend*>* Backends() {
  // Never destroyed: tensors on a device may outlive static destructors.
  static auto* backends = [] {
    auto* made = new std::atomic<Backend*>[kDeviceTypeCount]();
    made[static_cast<int>(DeviceType::kCPU)].store(new HostBackend);
    return made;
  }();
  return backends;
}

/// Why libdragon_cuda could not be loaded, where it lies beside libdragon; empty otherwise.
std::string& CudaComplaint() {
  static auto* complaint = new std::string;
  return *complaint;
}

/// Load libdragon_cuda the first time that somebody asks for its devices, if this installation has it.
void LoadCuda() {
  static const bool tried = [] {
    const std::string path = LibraryFolder() + "/libdragon_cuda.so";
    if (access(path.c_str(), R_OK) != 0) return true;
    try {
      LoadLibrary(path);
    } catch (const std::exception& error) {
      CudaComplaint() = error.what();
    }
    return true;
  }();
  (void)tried;
}

Backend* FindBackend(DeviceType type) {
  std::atomic<Backend*>& slot = Backends()[static_cast<int>(type)];
  if (Backend* backend = slot.load(std::memory_order_acquire)) return backend;
  if (type == DeviceType::kCUDA) LoadCuda();
  return slot.load(std::memory_order_acquire);
}

}  // namespace

const char* Name(DeviceType type) { return kTypeNames[static_cast<int>(type)]; }

Device Device::Parse(const std::string& text) {
  const auto colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const bool is_current = colon == std::string::npos && name == "cuda";
  const std::string digits =
      colon == std::string::npos ? std::to_string(is_current ? CurrentIndex() : 0) : text.substr(colon + 1);
  const bool is_index =
      !digits.empty() && digits.size() <= 4 && digits.find_first_not_of("0123456789") == std::string::npos;
  for (int type = 0; is_index && type < kDeviceTypeCount; ++type) {
    if (name != kTypeNames[type]) continue;
    const int index = std::stoi(digits);
    const bool single = type == static_cast<int>(DeviceType::kCPU) || type == static_cast<int>(DeviceType::kMeta);
    if (single && index != 0)
      throw ValueError("device").Got("'", text, "'").Expected("'", name, "': there is only one");
    return Device{static_cast<DeviceType>(type), static_cast<int16_t>(index)};
  }
  throw ValueError("device").Got("'", text, "'").Expected("'cpu', 'meta', 'cuda' or 'cuda:N'");
}

void RegisterBackend(DeviceType type, std::unique_ptr<Backend> backend) {
  if (!backend) throw ValueError("RegisterBackend").Got("no backend").Expected("one for ", Name(type));
  Backend* none = nullptr;
  if (!Backends()[static_cast<int>(type)].compare_exchange_strong(none, backend.get())) {
    throw RuntimeError("RegisterBackend").Got("a second backend for ", Name(type)).Expected("one per device type");
  }
  backend.release();
}

bool HasBackend(DeviceType type) { return FindBackend(type) != nullptr; }

Backend& BackendOf(DeviceType type) {
  if (Backend* backend = FindBackend(type)) return *backend;
  if (type == DeviceType::kMeta) {
    throw RuntimeError("device").Got("meta, which has shapes but no memory").Expected("a device that holds numbers");
  }
  if (type == DeviceType::kCUDA) {
    if (!CudaComplaint().empty()) {
      throw RuntimeError("device").Got("cuda, whose library does not load").Says(CudaComplaint());
    }
    throw RuntimeError("device")
        .Got("cuda, for which nothing is loaded: this build has no kernels for it, or no device was found")
        .Expected("'cpu', or an answer to torch.cuda.is_available() first (`dragon doctor` tells what is missing)");
  }
  throw RuntimeError("device")
      .Got(Name(type), ", for which nothing is loaded")
      .Expected("its library to be loaded first (dragon.load_library)");
}

}  // namespace dragon
