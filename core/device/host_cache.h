// The host's caching allocator: free lists per thread for small blocks, whole pages for big ones.
#pragma once

#include <pthread.h>

#include <mutex>

#include "core/device/page_heap.h"

namespace dragon {

/// Blocks up to this size live in spans and pass through thread caches.
inline constexpr size_t kSmallBytes = 32768;
inline constexpr int kSmallClasses = 8 + 8 * (15 - 9);

struct FreeBlock {
  FreeBlock* next;
};

/// 256 KiB of blocks of one class, aligned to its size so that a block finds its span by masking.
struct Span {
  static constexpr size_t kBytes = 256 << 10;
  static constexpr size_t kHeader = 64;

  Span* next;
  Span* previous;
  FreeBlock* free;
  uint32_t fresh;  // offset of the first byte never handed out
  uint32_t live;   // blocks outside: with users or in thread caches
  int32_t size_class;

  static Span* Of(void* pointer) {
    return reinterpret_cast<Span*>(reinterpret_cast<uintptr_t>(pointer) & ~(kBytes - 1));
  }
};

/// What a thread keeps to itself, and its part of the books (written by the owner only, read by anyone).
struct ThreadCache {
  struct List {
    FreeBlock* head = nullptr;
    int32_t count = 0;
    int32_t room = 0;
  };
  List lists[kSmallClasses];
  std::atomic<int64_t> pending{0};  // bytes in use not yet booked in the ledger
  std::atomic<int64_t> large{0};    // bytes in big blocks, allocated less freed here
  std::atomic<int64_t> allocations{0}, frees{0};
  std::atomic<int64_t> highest{0};  // the most `pending` was since it was last booked
  ThreadCache* next = nullptr;
  bool retired = false;
};

class HostCache : public Allocator {
 public:
  HostCache();
  void* Allocate(size_t bytes) override { return AllocateHost(bytes); }
  void Free(void* pointer, size_t bytes) override { FreeHost(pointer, bytes); }
  MemoryStats Stats() const override;
  void ResetPeak() override;
  void SetLimit(int64_t bytes) override { ledger_.limit.store(bytes, std::memory_order_relaxed); }
  void EmptyCache() override;

  /// What AllocateHost and FreeHost do when this thread's list cannot serve. `cache` may be null: a thread that is
  /// ending.
  void* AllocateSlow(ThreadCache* cache, size_t bytes);
  void FreeSlow(ThreadCache* cache, void* pointer, size_t bytes);
  ThreadCache* NewThreadCache();
  /// Take back everything a thread kept.
  void Retire(ThreadCache* cache);
  /// Book what the thread has pending.
  void Book(ThreadCache* cache);

  /// All locks, in one order, held across fork.
  void LockAll();
  void UnlockAll();

 private:
  /// Chain up to `wanted` blocks of a class; how many there were.
  int TakeBatch(int size_class, int wanted, FreeBlock** head);
  void PutChain(FreeBlock* head);
  void* TakeLarge(ThreadCache* cache, size_t bytes);
  Span* NewSpan(int size_class);
  void DropFreeSpans();
  void Flush(ThreadCache* cache);
  /// Book a big block (freed: negative) at once.
  void BookLarge(ThreadCache* cache, int64_t delta);

  Ledger ledger_;
  PageHeap large_;
  mutable std::mutex mutex_;           // guards what follows
  Span* partial_[kSmallClasses] = {};  // spans of a class that have a block to give
  Span* empty_ = nullptr;              // spans that hold nothing
  ThreadCache* caches_ = nullptr;      // all there ever were; a retired one keeps its counts and is used again
};

/// The process's host cache; never destroyed, since tensors may outlive static destructors.
HostCache& TheHostCache();
/// The only one of its kind, with nobody's hands in its books while the process forks. Never destroyed: threads may
/// outlive static destructors.
template <typename T>
T& TheOnly() {
  static T* const only = [] {
    auto* const made = new T;
    pthread_atfork([] { TheOnly<T>().LockAll(); }, [] { TheOnly<T>().UnlockAll(); }, [] { TheOnly<T>().UnlockAll(); });
    return made;
  }();
  return *only;
}

/// Have the host's tensors fault when they are touched, until that is taken back: for what stands for a device, which
/// could not touch them either. Nothing happens but under DRAGON_ALLOCATOR=guard.
DRAGON_API void SealHost(bool sealed);
void SealGuarded(bool sealed);
/// The allocators behind DRAGON_ALLOCATOR=naive and DRAGON_ALLOCATOR=guard.
Allocator& TheNaiveAllocator();
Allocator& TheGuardAllocator();
/// Physical memory, or the container's share of it.
int64_t MachineMemory();
/// Bytes of shared-memory blocks mapped now.
int64_t SharedBytesMapped();

}  // namespace dragon
