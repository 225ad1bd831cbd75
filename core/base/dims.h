// A short list of int64: shapes, strides, axes. Six fit inline, so ordinary tensors never touch the heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <span>
#include <vector>

#include "core/base/macros.h"

namespace dragon {

/// The most axes a tensor may have (NumPy's limit as well).
inline constexpr int kMaxDims = 64;

class Dims {
 public:
  static constexpr int kInline = 6;

  Dims() = default;
  Dims(std::initializer_list<int64_t> values) { Assign(values.begin(), static_cast<int>(values.size())); }
  Dims(const int64_t* values, int64_t size) { Assign(values, static_cast<int>(size)); }
  Dims(std::span<const int64_t> values) { Assign(values.data(), static_cast<int>(values.size())); }     // NOLINT
  Dims(const std::vector<int64_t>& values) { Assign(values.data(), static_cast<int>(values.size())); }  // NOLINT
  Dims(const Dims& other) { Assign(other.data(), other.size_); }
  Dims(Dims&& other) noexcept { Steal(other); }
  ~Dims() { Free(); }
  Dims& operator=(const Dims& other) {
    if (this != &other) Assign(other.data(), other.size_);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this != &other) Free(), Steal(other);
    return *this;
  }
  static Dims Filled(int64_t size, int64_t value) {
    Dims dims;
    dims.resize(size, value);
    return dims;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return capacity_ == kInline ? inline_ : heap_; }
  const int64_t* data() const { return capacity_ == kInline ? inline_ : heap_; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](int64_t i) { return data()[i]; }
  int64_t operator[](int64_t i) const { return data()[i]; }
  int64_t& back() { return data()[size_ - 1]; }
  int64_t back() const { return data()[size_ - 1]; }
  operator std::span<const int64_t>() const { return {data(), static_cast<size_t>(size_)}; }  // NOLINT

  void push_back(int64_t value) {
    Reserve(size_ + 1);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(int64_t size, int64_t value = 0) {
    Reserve(static_cast<int>(size));
    std::fill(data() + std::min<int64_t>(size_, size), data() + size, value);
    size_ = static_cast<int>(size);
  }
  void insert(int64_t at, int64_t value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(int64_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }

  friend bool operator==(const Dims& a, const Dims& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }
  friend bool operator!=(const Dims& a, const Dims& b) { return !(a == b); }
  /// As Python prints a tuple: (), (2,), (2, 3).
  friend std::ostream& operator<<(std::ostream& out, const Dims& dims) {
    out << '(';
    for (int i = 0; i < dims.size_; ++i) out << (i ? ", " : "") << dims[i];
    return out << (dims.size_ == 1 ? ",)" : ")");
  }

 private:
  void Assign(const int64_t* values, int size) {
    Reserve(size);
    if (size) std::memmove(data(), values, size * sizeof(int64_t));
    size_ = size;
  }
  void Reserve(int size) {
    if (DRAGON_LIKELY(size <= capacity_)) return;
    const int capacity = std::max(size, 2 * capacity_);
    auto* heap = new int64_t[capacity];
    std::memcpy(heap, data(), size_ * sizeof(int64_t));
    Free();
    heap_ = heap;
    capacity_ = capacity;
  }
  void Free() {
    if (capacity_ != kInline) delete[] heap_;
    capacity_ = kInline;
  }
  void Steal(Dims& other) {
    size_ = other.size_;
    capacity_ = other.capacity_;
    if (capacity_ == kInline) {
      std::memcpy(inline_, other.inline_, sizeof(inline_));
    } else {
      heap_ = other.heap_;
    }
    other.size_ = 0;
    other.capacity_ = kInline;
  }

  int32_t size_ = 0;
  int32_t capacity_ = kInline;
  union {
    int64_t inline_[kInline];
    int64_t* heap_;
  };
};

}  // namespace dragon
