// Filling shared memory before each block, and telling AddressSanitizer where it ends.
#include "tests/cuda/simt/shared.h"

#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "tests/cuda/simt/machine.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace simt {

unsigned char FillByte() {
  static const unsigned char byte = [] {
    const char* const asked = std::getenv("DRAGON_SIMT_FILL");
    if (!asked || !*asked) return static_cast<unsigned char>(0xFF);
    char* end = nullptr;
    const unsigned long number = std::strtoul(asked, &end, 16);
    if (*end || number > 0xFF) {
      throw dragon::ValueError("DRAGON_SIMT_FILL").Got("'", asked, "'").Expected("two hexadecimal digits, such as 3c");
    }
    return static_cast<unsigned char>(number);
  }();
  return byte;
}

void Mark([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes, [[maybe_unused]] bool usable) {
#if defined(__SANITIZE_ADDRESS__)
  if (usable) {
    ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
  } else {
    ASAN_POISON_MEMORY_REGION(memory, bytes);
  }
#endif
}

SharedMemory& SharedMemory::Get() {
  static auto* memory = new SharedMemory;
  return *memory;
}

SharedMemory::SharedMemory() {
  constexpr size_t kBeyond = 64 * 1024, kAlignment = 1024;
  dynamic_ = static_cast<char*>(std::aligned_alloc(kAlignment, kMost + kBeyond));
  if (!dynamic_) throw dragon::MemoryError("simt").Says("no memory for a block's shared memory");
  Mark(dynamic_, kMost + kBeyond, false);
}

void SharedMemory::BeginLaunch(size_t bytes) {
  bytes_ = bytes;
  Mark(dynamic_, bytes_, true);
}
void SharedMemory::EndLaunch() { Mark(dynamic_, bytes_, false); }

void SharedMemory::BeginBlock() {
  ++block_;
  std::memset(dynamic_, FillByte(), bytes_);
}

void SharedMemory::FillVariable(void* memory, size_t bytes) {
  uint64_t& last = last_of_[memory];
  if (last != block_) std::memset(memory, FillByte(), bytes);
  last = block_;
}

void FillShared(void* memory, size_t bytes) { SharedMemory::Get().FillVariable(memory, bytes); }

}  // namespace simt
