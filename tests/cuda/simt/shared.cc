// Filling shared memory before each block. All variables of all kernels are megabytes, of which a kernel has a few
// thousand bytes: those that a launch's first blocks have written to are looked for, and filled from then on.
#include "tests/cuda/simt/shared.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "tests/cuda/simt/machine.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define SIMT_UNWATCHED __attribute__((no_sanitize_address, noinline))
#else
#define SIMT_UNWATCHED
#endif

namespace simt {
namespace {

constexpr size_t kPiece = 512, kBeyond = 64 * 1024;
constexpr int kLookedAt = 4;  // blocks that are looked at; the last of all may take another way, and comes after them

uint64_t FillWord() { return FillByte() * 0x0101010101010101u; }

/// Between a kernel's variables are bytes that are nobody's, and watched: what goes over them is not.
SIMT_UNWATCHED void Fill(char* begin, size_t bytes) {
  const uint64_t word = FillWord();
  auto* words = reinterpret_cast<volatile uint64_t*>(begin);
  for (size_t i = 0; i < bytes / 8; ++i) words[i] = word;
  for (size_t i = bytes / 8 * 8; i < bytes; ++i) const_cast<volatile char*>(begin)[i] = static_cast<char>(word);
}
SIMT_UNWATCHED bool IsFilled(const char* begin, size_t bytes) {
  const uint64_t word = FillWord();
  const auto* words = reinterpret_cast<const volatile uint64_t*>(begin);
  uint64_t difference = 0;
  for (size_t i = 0; i < bytes / 8; ++i) difference |= words[i] ^ word;
  for (size_t i = bytes / 8 * 8; i < bytes; ++i) {
    difference |= static_cast<uint64_t>(begin[i] ^ static_cast<char>(word)) & 0xFF;
  }
  return difference == 0;
}

}  // namespace

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

SharedMemory::SharedMemory() : dynamic_(static_cast<char*>(std::aligned_alloc(1024, kMost + kBeyond))) {
  Mark(dynamic_, kMost + kBeyond, false);
}

void SharedMemory::Enter(char* begin, char* end) {
  const std::pair<char*, char*> range(begin, end);
  if (begin == end || std::find(variables_.begin(), variables_.end(), range) != variables_.end()) return;
  variables_.push_back(range);
  Fill(begin, static_cast<size_t>(end - begin));
}

void SharedMemory::BeginLaunch(size_t bytes) {
  Mark(dynamic_, bytes, true);
  bytes_ = bytes, blocks_ = 0;
}

void SharedMemory::BeginBlock() {
  Fill(dynamic_, bytes_);
  for (const Stretch& stretch : written_) Fill(stretch.begin, stretch.bytes);
}

void SharedMemory::EndBlock() {
  if (blocks_++ < kLookedAt) FindWritten();
}

void SharedMemory::EndLaunch() {
  if (blocks_ > kLookedAt) FindWritten();
  BeginBlock();
  written_.clear();
  Mark(dynamic_, bytes_, false);
}

void SharedMemory::FindWritten() {
  for (const auto& [first, last] : variables_) {
    for (char* at = first; at < last; at += kPiece) {
      const size_t bytes = std::min(kPiece, static_cast<size_t>(last - at));
      if (IsFilled(at, bytes)) continue;
      const bool known =
          std::any_of(written_.begin(), written_.end(), [at](const Stretch& s) { return s.begin == at; });
      if (!known) written_.push_back({at, bytes});
    }
  }
}

bool EnterShared(char* begin, char* end) { return SharedMemory::Get().Enter(begin, end), true; }

}  // namespace simt
