// A vector whose first few elements need no heap.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace dragon {

template <typename T, int kInline>
class InlineVector {
 public:
  InlineVector() = default;
  InlineVector(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }
  explicit InlineVector(std::span<const T> values) {
    for (const T& value : values) push_back(value);
  }
  InlineVector(const InlineVector& other) {
    for (const T& value : other) push_back(value);
  }
  InlineVector(InlineVector&& other) noexcept { Steal(std::move(other)); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) {
      clear();
      for (const T& value : other) push_back(value);
    }
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      Destroy();
      Steal(std::move(other));
    }
    return *this;
  }
  ~InlineVector() { Destroy(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT: a vector is a span

  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      T value(std::forward<Args>(args)...);  // the argument may live in here
      Grow(capacity_ * 2);
      return *new (data_ + size_++) T(std::move(value));
    }
    return *new (data_ + size_++) T(std::forward<Args>(args)...);
  }
  void resize(size_t size) {
    if (size > capacity_) Grow(size);
    while (size_ < size) new (data_ + size_++) T();
    while (size_ > size) data_[--size_].~T();
  }
  void clear() { resize(0); }

 private:
  T* Inline() { return reinterpret_cast<T*>(storage_); }
  void Grow(size_t capacity) {
    T* data = static_cast<T*>(::operator new(capacity * sizeof(T)));
    std::uninitialized_move(begin(), end(), data);
    const size_t size = size_;
    Destroy();
    data_ = data, size_ = size, capacity_ = capacity;
  }
  void Destroy() {
    std::destroy(begin(), end());
    if (data_ != Inline()) ::operator delete(data_);
    data_ = Inline(), size_ = 0, capacity_ = kInline;
  }
  void Steal(InlineVector&& other) {
    if (other.data_ != other.Inline()) {
      data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_;
      other.data_ = other.Inline(), other.size_ = 0, other.capacity_ = kInline;
      return;
    }
    std::uninitialized_move(other.begin(), other.end(), data_);
    size_ = other.size_;
    other.clear();
  }

  T* data_ = Inline();
  size_t size_ = 0, capacity_ = kInline;
  alignas(T) std::byte storage_[sizeof(T) * kInline];
};

}  // namespace dragon
