// A sheet of numbers for each device: filled line by line, and left behind for a new one when it is full.
#include "core/device/numbers.h"

#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "core/base/error.h"

namespace dragon {

namespace {

constexpr size_t kMostBytes = 16, kLines = 4096;

struct Key {
  uint64_t words[2] = {0, 0};
  size_t bytes = 0;
  bool operator==(const Key& other) const {
    return words[0] == other.words[0] && words[1] == other.words[1] && bytes == other.bytes;
  }
};

struct HashOfKey {
  size_t operator()(const Key& key) const {
    uint64_t hash = key.words[0] * 0x9E3779B97F4A7C15u ^ key.words[1] * 0xC2B2AE3D27D4EB4Fu ^ key.bytes;
    return static_cast<size_t>(hash ^ hash >> 29);
  }
};

class Sheet {
 public:
  const void* Find(Device device, const Key& key) {
    if (const auto found = lines_.find(key); found != lines_.end()) return memory_ + found->second * kMostBytes;
    if (!memory_ || lines_.size() == kLines) Renew(device);
    const size_t line = lines_.size();
    char* const address = memory_ + line * kMostBytes;
    BackendOf(device.type).Bring(device.index, address, key.words, key.bytes);
    lines_.emplace(key, line);
    return address;
  }

 private:
  /// Queued work may still read the old sheet, and a graph will whenever it runs: it is left to them. A program that
  /// makes a new number in each of a million steps leaves sixteen megabytes.
  void Renew(Device device) {
    lines_.clear();
    memory_ = static_cast<char*>(BackendOf(device.type).Allocate(device.index, kLines * kMostBytes));
    if (!memory_) throw MemoryError("numbers").Got("no memory on ", device).Expected(kLines * kMostBytes, " bytes");
  }

  std::unordered_map<Key, size_t, HashOfKey> lines_;
  char* memory_ = nullptr;
};

}  // namespace

const void* NumberOn(Device device, const void* number, size_t bytes) {
  if (bytes > kMostBytes) throw ValueError("NumberOn").Got(bytes, " bytes").Expected("at most ", kMostBytes);
  Key key;
  std::memcpy(key.words, number, bytes);
  key.bytes = bytes;
  // Never destroyed: kernels may run while static destructors do.
  static auto* mutex = new std::mutex;
  static auto* sheets = new std::map<std::pair<DeviceType, int>, Sheet>;
  std::lock_guard<std::mutex> lock(*mutex);
  return (*sheets)[{device.type, device.index}].Find(device, key);
}

}  // namespace dragon
