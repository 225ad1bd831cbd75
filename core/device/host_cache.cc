// Spans, thread caches and pages of the host's caching allocator.
#include "core/device/host_cache.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>

namespace dragon {

namespace {

/// Fresh zero pages for a span at a multiple of its size, or nullptr.
void* MapSpan() {
  constexpr size_t kBytes = Span::kBytes;
  void* const raw = mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* const base = static_cast<char*>(raw);
  char* const aligned = base + (kBytes - reinterpret_cast<uintptr_t>(base) % kBytes) % kBytes;
  if (aligned != base) munmap(base, aligned - base);
  if (const size_t tail = base + kBytes - aligned) munmap(aligned + kBytes, tail);
  return aligned;
}

/// Blocks a thread and the spans exchange at once: enough to make the lock rare, little enough to keep none idle.
int BatchOf(int size_class) {
  return static_cast<int>(std::clamp<size_t>(kSmallBytes / SizeClass::Bytes(size_class), 1, 32));
}

}  // namespace

int64_t MachineMemory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::ifstream container("/sys/fs/cgroup/memory.max");
  int64_t share = 0;
  if (container >> share && share > 0) bytes = std::min(bytes, share);
  return bytes;
}

HostCache::HostCache() : large_(&ledger_) { ledger_.limit.store(MachineMemory(), std::memory_order_relaxed); }

ThreadCache* HostCache::NewThreadCache() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (ThreadCache* cache = caches_; cache; cache = cache->next) {
    if (!cache->retired) continue;
    cache->retired = false;
    return cache;
  }
  auto* cache = new (std::nothrow) ThreadCache;
  if (!cache) return nullptr;
  for (int i = 0; i < kSmallClasses; ++i) cache->lists[i].room = 2 * BatchOf(i);
  cache->next = caches_;
  return caches_ = cache;
}

void HostCache::Book(ThreadCache* cache) {
  ledger_.Use(cache->pending.load(std::memory_order_relaxed), cache->highest.load(std::memory_order_relaxed));
  cache->pending.store(0, std::memory_order_relaxed);
  cache->highest.store(0, std::memory_order_relaxed);
}

void HostCache::BookLarge(ThreadCache* cache, int64_t delta) {
  if (!cache) {
    ledger_.Use(delta, std::max<int64_t>(delta, 0));
    ledger_.large.fetch_add(delta, std::memory_order_relaxed);
    (delta > 0 ? ledger_.allocations : ledger_.frees).fetch_add(1, std::memory_order_relaxed);
    return;
  }
  // One shared counter is touched, together with what the thread had pending anyway.
  const int64_t total = cache->pending.load(std::memory_order_relaxed) + delta;
  ledger_.Use(total, std::max(cache->highest.load(std::memory_order_relaxed), total));
  cache->pending.store(0, std::memory_order_relaxed);
  cache->highest.store(0, std::memory_order_relaxed);
  Count(cache->large, delta);
  Count(delta > 0 ? cache->allocations : cache->frees, 1);
}

void HostCache::Flush(ThreadCache* cache) {
  for (auto& list : cache->lists) {
    PutChain(list.head);
    list.head = nullptr;
    list.count = 0;
  }
}

void HostCache::Retire(ThreadCache* cache) {
  Book(cache);
  std::lock_guard<std::mutex> lock(mutex_);
  Flush(cache);
  cache->retired = true;
}

Span* HostCache::NewSpan(int size_class) {
  Span* span = empty_;
  if (span) {
    empty_ = span->next;
  } else {
    const auto bytes = static_cast<int64_t>(Span::kBytes);
    for (int attempt = 0; attempt < 2 && !span; ++attempt) {
      if (attempt) large_.Empty();
      if (!ledger_.Reserve(bytes)) continue;
      span = static_cast<Span*>(MapSpan());
      if (!span) ledger_.Release(bytes);
    }
    if (!span) return nullptr;
  }
  *span = Span{partial_[size_class], nullptr, nullptr, Span::kHeader, 0, size_class};
  if (span->next) span->next->previous = span;
  return partial_[size_class] = span;
}

int HostCache::TakeBatch(int size_class, int wanted, FreeBlock** head) {
  const auto size = static_cast<uint32_t>(SizeClass::Bytes(size_class));
  int count = 0;
  while (count < wanted) {
    Span* span = partial_[size_class];
    if (!span && (count > 0 || !(span = NewSpan(size_class)))) break;
    while (count < wanted) {
      FreeBlock* block = span->free;
      if (block) {
        span->free = block->next;
      } else if (span->fresh + size <= Span::kBytes) {
        block = reinterpret_cast<FreeBlock*>(reinterpret_cast<char*>(span) + span->fresh);
        span->fresh += size;
      } else {
        break;
      }
      block->next = *head;
      *head = block;
      ++span->live;
      ++count;
    }
    if (!span->free && span->fresh + size > Span::kBytes) {  // nothing left: it comes back with its first freed block
      partial_[size_class] = span->next;
      if (span->next) span->next->previous = nullptr;
    }
  }
  return count;
}

void HostCache::PutChain(FreeBlock* head) {
  while (head) {
    FreeBlock* block = head;
    head = block->next;
    Span* span = Span::Of(block);
    const auto size = static_cast<uint32_t>(SizeClass::Bytes(span->size_class));
    Span*& partial = partial_[span->size_class];
    if (!span->free && span->fresh + size > Span::kBytes) {
      span->previous = nullptr;
      span->next = partial;
      if (partial) partial->previous = span;
      partial = span;
    }
    block->next = span->free;
    span->free = block;
    if (--span->live > 0) continue;
    if (span->previous) span->previous->next = span->next;
    if (span->next) span->next->previous = span->previous;
    if (partial == span) partial = span->next;
    span->next = empty_;
    empty_ = span;
  }
}

void HostCache::DropFreeSpans() {
  while (Span* span = empty_) {
    empty_ = span->next;
    munmap(span, Span::kBytes);
    ledger_.Release(static_cast<int64_t>(Span::kBytes));
  }
}

void* HostCache::TakeLarge(ThreadCache* cache, size_t bytes) {
  void* pointer = bytes > SizeClass::kLargest ? nullptr : large_.Take(bytes);
  if (!pointer && bytes <= SizeClass::kLargest) {
    EmptyCache();
    pointer = large_.Take(bytes);
  }
  if (pointer) BookLarge(cache, static_cast<int64_t>(bytes));
  return pointer;
}

void* HostCache::AllocateSlow(ThreadCache* cache, size_t bytes) {
  if (bytes > kSmallBytes) {
    if (void* pointer = TakeLarge(cache, bytes)) return pointer;
    ThrowOutOfMemory(Device{}, bytes, Stats());
  }
  const int size_class = SizeClass::Of(bytes);
  FreeBlock* head = nullptr;
  int count;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    count = TakeBatch(size_class, cache ? BatchOf(size_class) : 1, &head);
  }
  if (count == 0) ThrowOutOfMemory(Device{}, bytes, Stats());
  const auto size = static_cast<int64_t>(bytes);
  if (!cache) {
    ledger_.Use(size, size);
    ledger_.allocations.fetch_add(1, std::memory_order_relaxed);
    return head;
  }
  // The list keeps the rest; one block is handed out and booked as the fast path does it.
  cache->lists[size_class].head = head;
  cache->lists[size_class].count = count;
  return AllocateHost(bytes);
}

void HostCache::FreeSlow(ThreadCache* cache, void* pointer, size_t bytes) {
  const auto size = static_cast<int64_t>(bytes);
  if (bytes > kSmallBytes) {
    BookLarge(cache, -size);
    large_.Put(pointer, bytes);
    return;
  }
  auto* block = static_cast<FreeBlock*>(pointer);
  block->next = nullptr;
  if (!cache) {
    ledger_.Use(-size, 0);
    ledger_.frees.fetch_add(1, std::memory_order_relaxed);
    std::lock_guard<std::mutex> lock(mutex_);
    return PutChain(block);
  }
  ThreadCache::List& list = cache->lists[SizeClass::Of(bytes)];
  if (list.count < list.room) return FreeHost(pointer, bytes);  // the cache was made just now: this thread only frees
  // The list is full: half of it goes back to the spans.
  FreeBlock* const chain = list.head;
  FreeBlock* last = chain;
  const int moved = list.count / 2;
  for (int i = 1; i < moved; ++i) last = last->next;
  list.head = last->next;
  list.count -= moved;
  last->next = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    PutChain(chain);
  }
  FreeHost(pointer, bytes);
}

MemoryStats HostCache::Stats() const {
  MemoryStats stats;
  std::lock_guard<std::mutex> lock(mutex_);
  stats.allocations = ledger_.allocations.load(std::memory_order_relaxed);
  stats.frees = ledger_.frees.load(std::memory_order_relaxed);
  stats.current = ledger_.current.load(std::memory_order_relaxed);
  stats.large = ledger_.large.load(std::memory_order_relaxed);
  stats.peak = ledger_.peak.load(std::memory_order_relaxed);
  for (const ThreadCache* cache = caches_; cache; cache = cache->next) {
    stats.peak = std::max(stats.peak, stats.current + cache->highest.load(std::memory_order_relaxed));
    stats.current += cache->pending.load(std::memory_order_relaxed);
    stats.allocations += cache->allocations.load(std::memory_order_relaxed);
    stats.frees += cache->frees.load(std::memory_order_relaxed);
    stats.large += cache->large.load(std::memory_order_relaxed);
  }
  stats.reserved = ledger_.reserved.load(std::memory_order_relaxed);
  stats.peak_reserved = ledger_.peak_reserved.load(std::memory_order_relaxed);
  stats.cached = large_.cached();
  for (const Span* span = empty_; span; span = span->next) stats.cached += Span::kBytes;
  stats.limit = ledger_.limit.load(std::memory_order_relaxed);
  stats.small = stats.current - stats.large;
  stats.shared = SharedBytesMapped();
  stats.system_calls = ledger_.system_calls.load(std::memory_order_relaxed);
  return stats;
}

void HostCache::LockAll() {
  mutex_.lock();
  large_.mutex().lock();
}

void HostCache::UnlockAll() {
  large_.mutex().unlock();
  mutex_.unlock();
}

}  // namespace dragon
