// A lock of many readers and one writer in each tensor, of which most are never taken.
#include "core/framework/layout.h"

#include "core/framework/thread_wait.h"

namespace dragon {

namespace {

constexpr int32_t kMoving = -(1 << 30);  ///< added while somebody moves the tensor

thread_local InlineVector<TensorImpl*, 8> t_read;   ///< by this thread, the last one last
thread_local const TensorImpl* t_moving = nullptr;  ///< by this thread

int OwnReads(const TensorImpl* impl) {
  int own = 0;
  for (const TensorImpl* read : t_read) own += read == impl;
  return own;
}

}  // namespace

void LayoutReaders::Enter(TensorImpl* impl) {
  if (impl == t_moving) return;
  std::atomic<int32_t>& readers = impl->layout_readers;
  for (int32_t seen = readers.load(std::memory_order_relaxed);;) {
    if (seen < 0) {
      WaitForThread();
      seen = readers.load(std::memory_order_relaxed);
    } else if (readers.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      break;
    }
  }
  t_read.push_back(impl);
  ++count_;
}

void LayoutReaders::Leave() {
  for (; count_ > 0; --count_) {
    t_read.back()->layout_readers.fetch_sub(1, std::memory_order_release);
    t_read.resize(t_read.size() - 1);
  }
}

LayoutWriter::LayoutWriter(TensorImpl* impl) : impl_(impl), before_(t_moving), own_(OwnReads(impl)) {
  for (int32_t seen = own_; !impl->layout_readers.compare_exchange_weak(seen, own_ + kMoving, std::memory_order_acquire,
                                                                        std::memory_order_relaxed);
       seen = own_) {
    WaitForThread();
  }
  t_moving = impl;
}

LayoutWriter::~LayoutWriter() {
  t_moving = before_;
  impl_->layout_readers.store(own_, std::memory_order_release);
}

}  // namespace dragon
