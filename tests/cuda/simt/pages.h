// Addresses of the device to which memory is given page by page, closed to the host like all of its memory.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace simt {

class Pages {
 public:
  /// Null where the host has no such range of addresses.
  void* Reserve(size_t bytes);
  void Release(void* base, size_t bytes);
  void Map(void* at, size_t bytes);
  void Unmap(void* at, size_t bytes);

  bool Has(const void* address);
  size_t mapped();
  /// Have the host read and write what is mapped, or not.
  void Protect(bool open);

 private:
  std::mutex mutex_;
  std::map<const char*, size_t> ranges_, pages_;
  size_t mapped_ = 0;
  bool open_ = false;
};

}  // namespace simt
