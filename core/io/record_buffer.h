// Frames of a KPLRecord file that wait to be written. A value is put down piece by piece at the end of one piece of
// memory, and gets its head when it is whole; nothing is copied from one buffer to another.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/macros.h"
#include "core/base/varint.h"
#include "core/io/record_frame.h"
#include "core/io/record_value.h"

namespace dragon {

/// Bytes that were taken out of a buffer.
struct DRAGON_API RecordBytes {
  std::shared_ptr<uint8_t[]> bytes;
  size_t size = 0;
};

class DRAGON_API RecordBuffer {
 public:
  /// `at`: the place in its file of the next byte.
  explicit RecordBuffer(uint64_t at) : taken_(at) {}

  uint64_t at() const { return taken_ + size_; }
  size_t size() const { return size_; }
  /// Where the samples lie that were put down.
  std::vector<RecordPlace>& samples() { return samples_; }
  /// Bytes as they are.
  void Raw(std::span<const uint8_t> bytes) { Append(bytes.data(), bytes.size()); }
  /// All that waits, and begin anew.
  RecordBytes Take();

  // --- one frame
  void Begin();
  /// What was put down since.
  std::span<uint8_t> body() { return {bytes_.get() + body_, size_ - body_}; }
  /// Write the head and the zeros after the body. `size`: bytes of the body once it is unpacked.
  void End(RecordHead::Kind kind, uint8_t packing, uint64_t size);
  /// Forget what was put down since the frame began.
  void Drop() { size_ = body_ - RecordHead::kSize; }

  // --- values in its body
  void Tag(RecordTag tag) { *Extend(1) = static_cast<uint8_t>(tag); }
  void Integer(int64_t value) {
    Tag(RecordTag::kInteger);
    Varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void Real(RecordTag tag, double value) {
    Tag(tag);
    Append(&value, sizeof(value));
  }
  void Complex(double real, double imaginary) {
    Real(RecordTag::kComplex, real);
    Append(&imaginary, sizeof(imaginary));
  }
  /// Text, bytes, large integers.
  void Sized(RecordTag tag, const void* bytes, size_t size) { std::memcpy(Room(tag, size), bytes, size); }
  /// The same, for who writes the bytes himself, at once.
  uint8_t* Room(RecordTag tag, size_t size) {
    Tag(tag);
    Varint(size);
    return Extend(size);
  }
  /// A list, a tuple, a dict: as many values, or keys and values in turn, follow.
  void Container(RecordTag tag, uint64_t count) {
    Tag(tag);
    Varint(count);
  }
  /// An array up to its numbers; returns where in the body they go, and leaves room for them.
  size_t Array(RecordTag tag, std::string_view dtype, std::span<const int64_t> shape, size_t size);

 private:
  static constexpr size_t kLeast = 64 << 10, kMostKept = 8 << 20;

  uint8_t* Extend(size_t size) {
    if (size > capacity_ - size_) Enlarge(size);
    uint8_t* end = bytes_.get() + size_;
    size_ += size;
    return end;
  }
  void Append(const void* bytes, size_t size) {
    if (size) std::memcpy(Extend(size), bytes, size);
  }
  void Varint(uint64_t value) {
    if (kLongestVarint > capacity_ - size_) Enlarge(kLongestVarint);
    size_ += WriteVarint(value, bytes_.get() + size_);
  }
  void Enlarge(size_t by);

  std::shared_ptr<uint8_t[]> bytes_;
  size_t size_ = 0, capacity_ = 0;
  uint64_t taken_;    ///< bytes of the file before those that wait
  size_t body_ = 0;   ///< where the body of the last frame begins
  RecordBytes kept_;  ///< what was taken last, and serves again when nobody looks into it any more
  std::vector<RecordPlace> samples_;
};

}  // namespace dragon
