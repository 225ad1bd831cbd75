// Allocation in a device's range, the doors that close it, and which device a thread means.
#include "tests/cuda/simt/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/cuda/simt/machine.h"
#include "tests/cuda/simt/shared.h"

namespace simt {
namespace {

constexpr int kMostDevices = 16;
thread_local int t_current = 0;

}  // namespace

Arena& Arena::Of(int index) {
  static auto* arenas = [] {
    auto* made = new std::vector<Arena*>;
    for (int device = 0; device < DeviceCount(); ++device) made->push_back(new Arena);
    return made;
  }();
  if (index < 0 || index >= static_cast<int>(arenas->size()))
    throw dragon::RuntimeError("simt").Got("device ", index).Expected("an index below ", arenas->size());
  return *(*arenas)[index];
}

Arena::Arena() : free_{{0, kCapacity}} {
  file_ = memfd_create("a device's memory", MFD_CLOEXEC);
  if (file_ >= 0 && ftruncate(file_, kCapacity) != 0) {  // a process that may have no files so large lends nothing
    close(file_);
    file_ = -1;
  }
  const int kind = file_ < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* range = mmap(nullptr, kCapacity, PROT_NONE, kind | MAP_NORESERVE, file_, 0);
  if (range == MAP_FAILED) throw dragon::MemoryError("simt").Says("no address space for a device");
  // A child would write into the memory of its parent: it has no device, as with a GPU.
  madvise(range, kCapacity, MADV_DONTFORK);
  memory_ = static_cast<char*>(range);
}

void* Arena::Allocate(size_t bytes) {
  Open();
  std::lock_guard<std::mutex> lock(mutex_);
  const size_t size = (bytes + 256) / 256 * 256;
  char* found = nullptr;
  for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
    const auto [offset, room] = *gap;
    if (room < size) continue;
    free_.erase(gap);
    if (room > size) free_[offset + size] = room - size;
    used_[offset] = size;
    found = memory_ + offset;
    Mark(found, size, true);
    std::memset(found, FillByte(), size);
    Mark(found, size, false);
    Mark(found, bytes, true);
    break;
  }
  Close();
  return found;
}

void Arena::Free(void* pointer) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto block = used_.find(static_cast<char*>(pointer) - memory_);
  if (block == used_.end()) throw dragon::RuntimeError("simt").Got("a free of unknown memory").Expected("a live block");
  auto [offset, size] = *block;
  used_.erase(block);
  Mark(pointer, size, false);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + size == next->first) size += next->second, next = free_.erase(next);
  if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
    std::prev(next)->second += size;
  } else {
    free_[offset] = size;
  }
}

bool Arena::Has(const void* address) {
  const char* at = static_cast<const char*>(address);
  if ((at >= memory_ && at < memory_ + kCapacity) || pages_.Has(at)) return true;
  std::lock_guard<std::mutex> lock(door_);
  for (const auto& [base, bytes] : borrowed_) {
    if (at >= base && at < base + bytes) return true;
  }
  return false;
}

Arena::Lent Arena::Lend(const void* base) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (file_ < 0) throw dragon::RuntimeError("simt").Got("a limit on files").Expected("none: memory is lent as one");
  const auto block = used_.find(static_cast<const char*>(base) - memory_);
  if (block == used_.end()) throw dragon::RuntimeError("simt").Got("memory that is none").Expected("a live block");
  return {getpid(), file_, block->first, block->second};
}

/// Whole pages, since that is what can be mapped; the process that lends may not borrow, as with CUDA.
void* Arena::Borrow(const Lent& lent) {
  if (lent.process == getpid())
    throw dragon::RuntimeError("simt").Got("memory of this process to borrow").Expected("another one's");
  const std::string path = "/proc/" + std::to_string(lent.process) + "/fd/" + std::to_string(lent.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) throw dragon::RuntimeError("simt").Got("memory of a process that is gone").Expected("one that lives");
  const size_t page = sysconf(_SC_PAGESIZE), first = lent.offset / page * page;
  const size_t bytes = (lent.offset + lent.bytes - first + page - 1) / page * page;
  void* range = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, static_cast<off_t>(first));
  close(file);
  if (range == MAP_FAILED) throw dragon::MemoryError("simt").Says("no address space for borrowed memory");
  std::lock_guard<std::mutex> lock(door_);
  borrowed_[static_cast<char*>(range)] = bytes;
  if (holders_ > 0) mprotect(range, bytes, PROT_READ | PROT_WRITE);
  return static_cast<char*>(range) + (lent.offset - first);
}

void Arena::Return(void* base) {
  std::lock_guard<std::mutex> lock(door_);
  const size_t page = sysconf(_SC_PAGESIZE);
  const auto found = borrowed_.find(static_cast<char*>(base) - reinterpret_cast<uintptr_t>(base) % page);
  if (found == borrowed_.end()) throw dragon::RuntimeError("simt").Got("memory that was not borrowed").Expected("some");
  munmap(found->first, found->second);
  borrowed_.erase(found);
}

void Arena::Protect(int access) {
  mprotect(memory_, kCapacity, access);
  for (const auto& [base, bytes] : borrowed_) mprotect(base, bytes, access);
  pages_.Protect(access != PROT_NONE);
}

int64_t Arena::Room() {
  std::lock_guard<std::mutex> lock(mutex_);
  int64_t room = 0;
  for (const auto& gap : free_) room += static_cast<int64_t>(gap.second);
  return room - static_cast<int64_t>(pages_.mapped());
}

void Arena::Open() {
  std::lock_guard<std::mutex> lock(door_);
  if (holders_++ == 0) Protect(PROT_READ | PROT_WRITE);
}

void Arena::Close() {
  std::lock_guard<std::mutex> lock(door_);
  if (--holders_ == 0) Protect(PROT_NONE);
}

int DeviceCount() {
  static const int count = [] {
    const char* asked = std::getenv("DRAGON_SIMT_DEVICES");
    return asked ? std::clamp(std::atoi(asked), 1, kMostDevices) : 1;
  }();
  return count;
}

int CurrentDevice() { return t_current; }

void SetCurrentDevice(int index) {
  if (index < 0 || index >= DeviceCount())
    throw dragon::RuntimeError("simt").Got("device ", index).Expected("an index below ", DeviceCount());
  t_current = index;
}

int DeviceOf(const void* address) {
  for (int device = 0; device < DeviceCount(); ++device) {
    if (Arena::Of(device).Has(address)) return device;
  }
  return -1;
}

void RequireDevice(const char* who, const void* address) {
  if (!address || Arena::Of(t_current).Has(address)) return;
  const int other = DeviceOf(address);
  if (other < 0)
    throw dragon::RuntimeError(who).Got("an address of the host").Expected("device memory: a GPU would fault here");
  throw dragon::RuntimeError(who)
      .Got("an address of device ", other, " in a kernel of device ", t_current)
      .Expected("memory of its own device: a GPU that reaches no other would fault here");
}

void RequireCurrent(const char* who, int index) {
  if (index == t_current) return;
  throw dragon::RuntimeError(who)
      .Got("a launch on a stream of device ", index, " while device ", t_current, " is the current one")
      .Expected("the stream's own device to be current: CUDA refuses others");
}

OpenMemory::OpenMemory(int index) : index_(index) { Arena::Of(index_).Open(); }
OpenMemory::~OpenMemory() { Arena::Of(index_).Close(); }

}  // namespace simt
