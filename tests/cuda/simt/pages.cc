// The host's own pages stand for the device's.
#include "tests/cuda/simt/pages.h"

#include <sys/mman.h>

#include <cstring>

#include "core/base/error.h"
#include "tests/cuda/simt/machine.h"

namespace simt {

namespace {

constexpr int kOpen = PROT_READ | PROT_WRITE;
constexpr int kFresh = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

void* Pages::Reserve(size_t bytes) {
  void* const base = mmap(nullptr, bytes, PROT_NONE, kFresh, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  ranges_[static_cast<char*>(base)] = bytes;
  return base;
}

void Pages::Release(void* base, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto page = pages_.lower_bound(static_cast<char*>(base));
  if (page != pages_.end() && page->first < static_cast<char*>(base) + bytes)
    throw dragon::RuntimeError("simt").Got("a release of addresses with memory").Expected("pages unmapped before");
  if (ranges_.erase(static_cast<char*>(base)) == 0)
    throw dragon::RuntimeError("simt").Got("a release of unknown addresses").Expected("a live range");
  munmap(base, bytes);
}

void Pages::Map(void* at, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!pages_.emplace(static_cast<char*>(at), bytes).second)
    throw dragon::RuntimeError("simt").Got("a page where one is").Expected("addresses without memory");
  mprotect(at, bytes, kOpen);
  std::memset(at, FillByte(), bytes);
  if (!open_) mprotect(at, bytes, PROT_NONE);
  mapped_ += bytes;
}

void Pages::Unmap(void* at, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (pages_.erase(static_cast<char*>(at)) == 0)
    throw dragon::RuntimeError("simt").Got("no page to unmap").Expected("a mapped one");
  mmap(at, bytes, PROT_NONE, kFresh | MAP_FIXED, -1, 0);  // the host has its memory back
  mapped_ -= bytes;
}

bool Pages::Has(const void* address) {
  std::lock_guard<std::mutex> lock(mutex_);
  const char* const at = static_cast<const char*>(address);
  auto page = pages_.upper_bound(at);
  return page != pages_.begin() && at < (--page)->first + page->second;
}

size_t Pages::mapped() {
  std::lock_guard<std::mutex> lock(mutex_);
  return mapped_;
}

void Pages::Protect(bool open) {
  std::lock_guard<std::mutex> lock(mutex_);
  open_ = open;
  for (const auto& [at, bytes] : pages_) mprotect(const_cast<char*>(at), bytes, open ? kOpen : PROT_NONE);
}

}  // namespace simt
