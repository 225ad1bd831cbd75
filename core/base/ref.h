// Intrusive reference counts: one word in the object, one pointer in the holder.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/base/macros.h"

namespace dragon {

/// Derive as `class T : public RefCounted<T>`; T is deleted when its last Ref goes.
template <typename T>
class RefCounted {
 public:
  void Retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Release() const {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete static_cast<const T*>(this);
  }
  /// Take a reference only if the object is still alive; for holders of weak pointers under a lock.
  bool TryRetain() const {
    int32_t refs = refs_.load(std::memory_order_relaxed);
    while (refs > 0) {
      if (refs_.compare_exchange_weak(refs, refs + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  int32_t refs() const { return refs_.load(std::memory_order_relaxed); }

 protected:
  RefCounted() = default;
  RefCounted(const RefCounted&) {}
  ~RefCounted() = default;

 private:
  mutable std::atomic<int32_t> refs_{0};
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: an empty reference
  explicit Ref(T* pointer) : pointer_(pointer) {
    if (pointer_) pointer_->Retain();
  }
  Ref(const Ref& other) : Ref(other.pointer_) {}
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <typename U>
  Ref(const Ref<U>& other) : Ref(other.get()) {}  // NOLINT: derived to base
  ~Ref() {
    if (pointer_) pointer_->Release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  /// Hold a pointer whose reference the caller already owns.
  static Ref Adopt(T* pointer) {
    Ref ref;
    ref.pointer_ = pointer;
    return ref;
  }
  /// Give the reference up to the caller.
  T* Detach() { return std::exchange(pointer_, nullptr); }

  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.pointer_ == b.pointer_; }

 private:
  T* pointer_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

/// A per-thread list of freed blocks of one size: allocation of small engine objects without malloc.
template <typename T>
class FreeList {
 public:
  static void* New() {
    Head& head = head_;
    if (DRAGON_UNLIKELY(head.first == nullptr)) return ::operator new(sizeof(T));
    Block* block = head.first;
    head.first = block->next;
    --head.size;
    return block;
  }
  static void Delete(void* pointer) {
    Head& head = head_;
    if (DRAGON_UNLIKELY(head.size >= kMost) && !Begins(head)) return ::operator delete(pointer);
    auto* block = static_cast<Block*>(pointer);
    block->next = head.first;
    head.first = block;
    ++head.size;
  }

 private:
  static constexpr int kMost = 1024;
  struct Block {
    Block* next;
  };
  /// Made by the compiler and never destroyed, so that reaching it takes no look at whether it is there. Full at first,
  /// and again when its thread has ended: blocks freed then go straight to malloc.
  struct Head {
    Block* first = nullptr;
    int size = kMost;
    bool begun = false;
  };
  /// Empties the list at its thread's end.
  struct Janitor {
    explicit Janitor(Head& its) : head(its) {}
    ~Janitor() {
      head.size = kMost;
      while (head.first) ::operator delete(std::exchange(head.first, head.first->next));
    }
    Head& head;
  };
  /// Whether this is the thread's first block; from then on the list takes some.
  static bool Begins(Head& head) {
    if (head.begun) return false;
    head.begun = true;
    static thread_local Janitor janitor(head);
    head.size = 0;
    return true;
  }

  static inline constinit thread_local Head head_{};
};

}  // namespace dragon
