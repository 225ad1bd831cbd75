// The memory of one device: a range of addresses, closed to the host unless somebody holds it open. It is a file
// without a name, so that other processes can map what they are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "tests/cuda/simt/pages.h"

namespace simt {

inline constexpr size_t kCapacity = size_t{4} << 30;

class Arena {
 public:
  /// Of a device; never destroyed, as tensors may go late.
  static Arena& Of(int index);

  /// nullptr where there is no room. DRAGON_ALLOCATOR=naive has every tensor ask for its own block, behind which
  /// AddressSanitizer knows of bytes that are nobody's.
  void* Allocate(size_t bytes);
  void Free(void* pointer);
  bool Has(const void* address);
  int64_t Room();

  /// Addresses to which memory comes page by page.
  Pages& pages() { return pages_; }

  void Open();
  void Close();

  /// What another process needs to map what was allocated at `base`.
  struct Lent {
    int process, file;
    size_t offset, bytes;
  };
  Lent Lend(const void* base);
  void* Borrow(const Lent& lent);
  void Return(void* base);

 private:
  Arena();
  void Protect(int access);

  std::mutex mutex_, door_;
  int holders_ = 0, file_ = -1;
  char* memory_ = nullptr;
  std::map<size_t, size_t> free_, used_;  // offset -> size
  std::map<char*, size_t> borrowed_;      // of other processes
  Pages pages_;
};

}  // namespace simt
