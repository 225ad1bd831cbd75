// The way into the allocators: the inlined fast path for small host blocks, and one allocator per device.
#include "core/device/allocator.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/base/error.h"
#include "core/device/host_cache.h"

namespace dragon {

namespace {

/// Unbooked bytes at which a thread tells the ledger: the peak of several threads is exact to this much for each.
constexpr int64_t kBookAt = 65536;

// Initial-exec: one load instead of a call. Both words fit the room that every process keeps for such variables.
__attribute__((tls_model("initial-exec"))) constinit thread_local ThreadCache* t_cache = nullptr;
__attribute__((tls_model("initial-exec"))) constinit thread_local bool t_ended = false;

/// Gives a thread's blocks back when the thread ends; what it allocates or frees after that goes to the spans directly.
struct CacheOwner {
  ~CacheOwner() {
    if (t_cache) TheHostCache().Retire(t_cache);
    t_cache = nullptr;
    t_ended = true;
  }
  void Touch() {}
};
thread_local CacheOwner t_owner;

/// The debugging allocator that DRAGON_ALLOCATOR asks for, or null. It is read once.
Allocator* Debugging() {
  static Allocator* const allocator = []() -> Allocator* {
    const char* wish = std::getenv("DRAGON_ALLOCATOR");
    if (!wish || !*wish || !std::strcmp(wish, "caching")) return nullptr;
    if (!std::strcmp(wish, "naive")) return &TheNaiveAllocator();
    if (!std::strcmp(wish, "guard")) return &TheGuardAllocator();
    throw ValueError("DRAGON_ALLOCATOR").Got("'", wish, "'").Expected("'caching', 'naive' or 'guard'");
  }();
  return allocator;
}

/// This thread's cache, made on first use; null once the thread is ending.
ThreadCache* CacheOfThread() {
  if (t_cache || t_ended) return t_cache;
  t_owner.Touch();
  return t_cache = TheHostCache().NewThreadCache();
}

__attribute__((noinline)) void* AllocateElsewhere(size_t bytes) {
  if (Allocator* debugging = Debugging()) return debugging->Allocate(bytes);
  return TheHostCache().AllocateSlow(CacheOfThread(), bytes);
}

__attribute__((noinline)) void FreeElsewhere(void* pointer, size_t bytes) {
  if (Allocator* debugging = Debugging()) return debugging->Free(pointer, bytes);
  TheHostCache().FreeSlow(CacheOfThread(), pointer, bytes);
}

}  // namespace

std::string SizeText(int64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 6; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
  return text;
}

bool AllocatorIsDebugging() { return Debugging() != nullptr; }
void SealHost(bool sealed) {
  if (Debugging() && Debugging() == &TheGuardAllocator()) SealGuarded(sealed);
}

void* AllocateHost(size_t bytes) {
  ThreadCache* const cache = t_cache;
  if (DRAGON_LIKELY(cache != nullptr && bytes <= kSmallBytes)) {
    ThreadCache::List& list = cache->lists[SizeClass::Of(bytes)];
    FreeBlock* const block = list.head;
    if (DRAGON_LIKELY(block != nullptr)) {
      list.head = block->next;
      --list.count;
      const int64_t pending = cache->pending.load(std::memory_order_relaxed) + static_cast<int64_t>(bytes);
      cache->pending.store(pending, std::memory_order_relaxed);
      if (pending > cache->highest.load(std::memory_order_relaxed)) {
        cache->highest.store(pending, std::memory_order_relaxed);
      }
      Count(cache->allocations, 1);
      if (DRAGON_UNLIKELY(pending > kBookAt)) TheHostCache().Book(cache);
      return block;
    }
  }
  return AllocateElsewhere(bytes);
}

void FreeHost(void* pointer, size_t bytes) {
  if (DRAGON_UNLIKELY(!pointer)) return;
  ThreadCache* const cache = t_cache;
  if (DRAGON_LIKELY(cache != nullptr && bytes <= kSmallBytes)) {
    ThreadCache::List& list = cache->lists[SizeClass::Of(bytes)];
    if (DRAGON_LIKELY(list.count < list.room)) {
      auto* const block = static_cast<FreeBlock*>(pointer);
      block->next = list.head;
      list.head = block;
      ++list.count;
      Count(cache->pending, -static_cast<int64_t>(bytes));
      Count(cache->frees, 1);
      if (DRAGON_UNLIKELY(cache->pending.load(std::memory_order_relaxed) < -kBookAt)) TheHostCache().Book(cache);
      return;
    }
  }
  FreeElsewhere(pointer, bytes);
}

void HostCache::ResetPeak() {
  if (ThreadCache* cache = CacheOfThread()) Book(cache);
  std::lock_guard<std::mutex> lock(mutex_);
  int64_t current = ledger_.current.load(std::memory_order_relaxed);
  for (const ThreadCache* cache = caches_; cache; cache = cache->next) {
    current += cache->pending.load(std::memory_order_relaxed);
  }
  ledger_.peak.store(current, std::memory_order_relaxed);
  ledger_.peak_reserved.store(ledger_.reserved.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void HostCache::EmptyCache() {
  ThreadCache* cache = CacheOfThread();
  std::lock_guard<std::mutex> lock(mutex_);
  if (cache) Flush(cache);
  DropFreeSpans();
  large_.Empty();
}

HostCache& TheHostCache() { return TheOnly<HostCache>(); }

Allocator& HostAllocator() {
  if (Allocator* debugging = Debugging()) return *debugging;
  return TheHostCache();
}

void ThrowOutOfMemory(Device device, size_t bytes, const MemoryStats& stats) {
  const auto asked = bytes > static_cast<size_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(bytes);
  throw MemoryError("allocate")
      .Got("a request for ", SizeText(asked), " on ", device)
      .Expected("it to fit beside ", SizeText(stats.current), " in use (", SizeText(stats.reserved), " reserved, ",
                SizeText(stats.cached), " cached, limit ", SizeText(stats.limit), ")");
}

MemoryStats MemoryStatsOf(Device device) { return DeviceAllocator(device).Stats(); }
void ResetPeak(Device device) { DeviceAllocator(device).ResetPeak(); }
void EmptyCache(Device device) { DeviceAllocator(device).EmptyCache(); }
void SetMemoryLimit(Device device, int64_t bytes) {
  if (bytes < 0) throw ValueError("set_memory_limit").Got(bytes, " bytes").Expected("at least 0");
  DeviceAllocator(device).SetLimit(bytes);
}

}  // namespace dragon
