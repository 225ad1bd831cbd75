// What every oneDNN kernel needs: errors that speak, one team of threads, and primitives remembered by shape.
#pragma once

#include <dnnl.h>
#include <sys/mman.h>

#include <array>
#include <bit>
#include <list>
#include <memory>
#include <unordered_map>

#include "core/base/error.h"
#include "core/device/parallel.h"
#include "core/kernels/view.h"

namespace dragon {

/// The types whose arithmetic oneDNN does well.
using OneDnnTypes = TypeList<bfloat16, float>;

}  // namespace dragon

namespace dragon::onednn {

/// Whether there is room for code that is written at run time. Where there is none, oneDNN speaks of errors at run
/// time, or says that nothing implements the primitive.
inline bool HasRoomForCode() {
  constexpr size_t kRoom = 4 << 20;
  void* room = mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, kRoom);
  return true;
}

inline void Check(dnnl_status_t status, const char* what) {
  if (DRAGON_LIKELY(status == dnnl_success)) return;
  if (status == dnnl_out_of_memory || !HasRoomForCode()) throw MemoryError(what).Says("oneDNN is out of memory");
  throw RuntimeError(what).Says("oneDNN failed with status ", static_cast<int>(status));
}

/// Owns a oneDNN object.
template <typename T, dnnl_status_t (*kDestroy)(T)>
struct Destroyer {
  void operator()(std::remove_pointer_t<T>* object) const { kDestroy(object); }
};
template <typename T, dnnl_status_t (*kDestroy)(T)>
using Handle = std::unique_ptr<std::remove_pointer_t<T>, Destroyer<T, kDestroy>>;

using MemoryDesc = Handle<dnnl_memory_desc_t, dnnl_memory_desc_destroy>;
using Attributes = Handle<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using PostOps = Handle<dnnl_post_ops_t, dnnl_post_ops_destroy>;
using PrimitiveDesc = Handle<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;
using Primitive = Handle<dnnl_primitive_t, dnnl_primitive_destroy>;
using Memory = Handle<dnnl_memory_t, dnnl_memory_destroy>;

/// The processor as oneDNN sees it. Never destroyed: kernels may run while the process ends.
inline dnnl_engine_t Engine() {
  static dnnl_engine_t engine = [] {
    dnnl_engine_t made;
    Check(dnnl_engine_create(&made, dnnl_cpu, 0), "oneDNN engine");
    return made;
  }();
  return engine;
}

inline dnnl_stream_t Stream() {
  static thread_local dnnl_stream_t stream = [] {
    dnnl_stream_t made;
    Check(dnnl_stream_create(&made, Engine(), dnnl_stream_default_flags), "oneDNN stream");
    return made;
  }();
  return stream;
}

/// Gives oneDNN the threads that kernels may use for as long as it lives.
class Team {
 public:
  /// `work` in multiply-adds: little of it does not pay for waking anybody.
  explicit Team(double work) : before_(omp_get_max_threads()), threads_(TeamOf(work < kLeastWork ? 1 : NumThreads())) {
    if (threads_ != before_) omp_set_num_threads(threads_);
  }
  ~Team() {
    if (threads_ != before_) omp_set_num_threads(before_);
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  int threads() const { return threads_; }

 private:
  static constexpr double kLeastWork = 200000;
  int before_, threads_;
};

inline dnnl_data_type_t DataType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return dnnl_f32;
    case DType::kBFloat16:
      return dnnl_bf16;
    case DType::kFloat16:
      return dnnl_f16;
    default:
      return dnnl_data_type_undef;
  }
}

inline MemoryDesc Describe(DType dtype, const Dims& shape, const Dims& strides) {
  dnnl_memory_desc_t desc;
  Check(dnnl_memory_desc_create_with_strides(&desc, shape.size(), shape.data(), DataType(dtype), strides.data()),
        "oneDNN memory");
  return MemoryDesc(desc);
}

/// A layout that oneDNN may choose.
inline MemoryDesc DescribeAny(DType dtype, const Dims& shape) {
  dnnl_memory_desc_t desc;
  Check(dnnl_memory_desc_create_with_tag(&desc, shape.size(), shape.data(), DataType(dtype), dnnl_format_tag_any),
        "oneDNN memory");
  return MemoryDesc(desc);
}

inline Memory MakeMemory(const_dnnl_memory_desc_t desc) {
  dnnl_memory_t memory;
  Check(dnnl_memory_create(&memory, desc, Engine(), DNNL_MEMORY_NONE), "oneDNN memory");
  return Memory(memory);
}

/// Whether oneDNN chose its slow, always right implementation.
inline bool IsReference(const_dnnl_primitive_desc_t desc) {
  const char* name = nullptr;
  dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
  return !name || std::strncmp(name, "ref", 3) == 0 || std::strstr(name, ":ref") != nullptr;
}

/// Everything a primitive depends on, as words.
class Key {
 public:
  template <typename Word>
  Key& Add(Word word) {
    if constexpr (std::is_floating_point_v<Word>) return Add(std::bit_cast<int64_t>(static_cast<double>(word)));
    if (size_ < kWords) words_[size_] = static_cast<int64_t>(word);
    ++size_;
    return *this;
  }
  Key& Add(const int64_t* words, int count) {
    for (int i = 0; i < count; ++i) Add(words[i]);
    return *this;
  }
  Key& Add(const Dims& dims) { return Add(dims.data(), dims.size()); }
  /// False if there were more words than fit: such a primitive is not remembered.
  bool fits() const { return size_ <= kWords; }
  friend bool operator==(const Key& a, const Key& b) {
    return a.size_ == b.size_ && std::equal(a.words_.begin(), a.words_.begin() + a.size_, b.words_.begin());
  }
  struct Hash {
    size_t operator()(const Key& key) const {
      uint64_t hash = 0x9E3779B97F4A7C15u;
      for (int i = 0; i < key.size_; ++i) {
        hash = (hash ^ static_cast<uint64_t>(key.words_[i])) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
      }
      return hash;
    }
  };

 private:
  static constexpr int kWords = 64;
  std::array<int64_t, kWords> words_;
  int size_ = 0;
};

/// The most recently used `limit` values by key. One per thread: no locks, and primitives keep their own scratch
/// memory.
template <typename Value>
class Cache {
 public:
  explicit Cache(size_t limit) : limit_(limit) {}

  template <typename Make>
  Value& Get(const Key& key, Make&& make) {
    if (last_ && last_->first == key) return last_->second;
    const auto found = index_.find(key);
    if (found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
    } else {
      entries_.emplace_front(key, make());
      index_[key] = entries_.begin();
      if (entries_.size() > limit_) {
        index_.erase(entries_.back().first);
        entries_.pop_back();
      }
    }
    last_ = &entries_.front();
    return last_->second;
  }

 private:
  using Entries = std::list<std::pair<Key, Value>>;
  size_t limit_;
  Entries entries_;
  std::unordered_map<Key, typename Entries::iterator, Key::Hash> index_;
  typename Entries::value_type* last_ = nullptr;
};

}  // namespace dragon::onednn
