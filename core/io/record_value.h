// Values in the bodies of KPLRecord files: one after the other, each a tag and what it says. Containers tell how many
// values follow that are theirs. Nothing is believed: what a value claims must fit into the bytes that are there.
//
//   0 None | 1 False | 2 True | 3 integer: varint, zigzag | 4 large integer: varint n, n bytes of a signed one
//   5 float: 8 bytes | 6 complex: 16 | 7 text: varint n, n bytes of UTF-8 | 8 bytes: varint n, n bytes
//   9 list, 10 tuple: varint n, n values | 11 dict: varint n, n keys and values in turn
//   12 array, 13 NumPy's scalar: varint n, n letters of the dtype, varint axes, a varint each,
//      zeros up to the next sixteenth byte of the body, the numbers
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/inline_vector.h"
#include "core/base/macros.h"

namespace dragon {

enum class RecordTag : uint8_t {
  kNone,
  kFalse,
  kTrue,
  kInteger,
  kLargeInteger,
  kReal,
  kComplex,
  kText,
  kBytes,
  kList,
  kTuple,
  kDict,
  kArray,
  kScalar
};

struct RecordValue {
  RecordTag tag = RecordTag::kNone;
  int64_t integer = 0;
  double real = 0, imaginary = 0;
  uint64_t count = 0;              ///< of values, of pairs, of bytes of an element
  std::span<const uint8_t> bytes;  ///< of text, bytes, a large integer, an array
  std::string_view dtype;          ///< as NumPy writes it: "<f4"
  InlineVector<int64_t, 6> shape;
};

class DRAGON_API RecordValueReader {
 public:
  /// Containers within containers within containers.
  static constexpr int kDeepest = 100;

  explicit RecordValueReader(std::span<const uint8_t> body) : body_(body) {}

  /// The next value; throws RecordTrouble, whose offset counts from the start of the body.
  void Next(RecordValue* value);
  bool done() const { return at_ == body_.size(); }
  uint64_t at() const { return at_; }
  [[noreturn]] void Fail(const char* what) const;

 private:
  uint64_t Varint();
  std::span<const uint8_t> Take(uint64_t size);
  double Real();
  void ReadArray(RecordValue* value);

  std::span<const uint8_t> body_;
  size_t at_ = 0;
};

}  // namespace dragon
