// Protocol buffers' wire form, as much of it as graphs need: tagged fields, variable-length integers, nested messages.
//
// The writer's bytes are those that protobuf writes when asked to be deterministic: fields in rising order, defaults
// left out, lists of numbers packed. The reader trusts nothing: whatever is wrong is a ValueError that tells the byte
// and the field, and it never asks for more memory than the bytes before it could fill.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/macros.h"
#include "core/base/wire_cursor.h"

namespace dragon::wire {

using Type = WireType;

/// True if these bytes are UTF-8, which every text of a message must be.
DRAGON_API bool IsUtf8(std::string_view text);

class DRAGON_API Writer {
 public:
  /// What is 0 or empty is left out, unless the member is one of a `oneof`.
  void Integer(int field, int64_t value, bool of_oneof = false);
  void SignedInteger(int field, int32_t value);
  void Real(int field, double value, bool of_oneof = false);
  /// A ValueError in the name of `who` if it is no UTF-8.
  void Text(int field, std::string_view text, const std::string& who, bool of_oneof = false);
  void Bytes(int field, std::string_view bytes);
  void Message(int field, const Writer& message) { Bytes(field, message.bytes_); }
  template <typename List>
  void Integers(int field, const List& list) {
    Writer packed;
    for (int64_t value : list) packed.Varint(static_cast<uint64_t>(value));
    if (!packed.bytes_.empty()) Message(field, packed);
  }
  template <typename List>
  void SignedIntegers(int field, const List& list) {
    Writer packed;
    for (int32_t value : list) packed.Varint(ZigZag(value));
    if (!packed.bytes_.empty()) Message(field, packed);
  }
  void Reals(int field, const std::vector<double>& list);

  const std::string& bytes() const { return bytes_; }

 private:
  static uint32_t ZigZag(int32_t value) { return (static_cast<uint32_t>(value) << 1) ^ (value >> 31); }
  void Tag(int field, Type type) { Varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type)); }
  void Varint(uint64_t value);
  void Fixed64(double value);

  std::string bytes_;
};

/// Walks the fields of one message: `while (reader.Next()) switch (reader.field()) ...`.
class DRAGON_API Reader {
 public:
  /// `message` names it in errors; `start` is where its first byte stands in the whole.
  Reader(const char* message, std::span<const uint8_t> bytes, size_t start = 0)
      : message_(message), cursor_(bytes), start_(start) {}

  /// Go to the next field; false at the end.
  bool Next();
  int field() const { return field_; }
  /// Where the present field begins.
  size_t offset() const { return start_ + field_at_; }

  int64_t Integer();
  int32_t Integer32();
  int32_t SignedInteger32();
  bool Boolean();
  double Real();
  std::string Text();
  std::span<const uint8_t> Bytes();
  Reader Message(const char* name);
  /// Append what the field holds to a list, packed or not.
  template <typename List>
  void Integers(List* list, size_t most = SIZE_MAX) {
    Repeated(Type::kVarint, [&](Reader& reader) {
      if (static_cast<size_t>(list->size()) >= most) reader.Fail("more than " + std::to_string(most) + " numbers");
      list->push_back(static_cast<int64_t>(reader.Varint()));
    });
  }
  void Integers(std::vector<int32_t>* list);
  void SignedIntegers(std::vector<int32_t>* list);
  void Reals(std::vector<double>* list);

  /// "byte 57 (OpDef, field 3): what", as a ValueError.
  [[noreturn]] void Fail(const std::string& what) const;
  [[noreturn]] void FailUnknown() const { Fail("a field that this version does not know"); }

 private:
  template <typename Read>
  void Repeated(Type type, Read&& read) {
    if (type_ == type) return read(*this);
    const auto bytes = Bytes();
    Reader packed(message_, bytes, start_ + cursor_.at() - bytes.size());
    packed.field_ = field_, packed.type_ = type;
    while (!packed.cursor_.done()) {
      packed.field_at_ = packed.cursor_.at();
      read(packed);
    }
  }
  void Require(Type type) const;
  /// Nothing if there is no trouble with a number or with what has a length.
  void Check(WireTrouble trouble, uint64_t length = 0) const;
  uint64_t Varint();
  double Fixed64();
  int32_t Narrow(int64_t value) const;

  const char* message_;
  WireCursor cursor_;
  size_t start_, field_at_ = 0;
  int field_ = 0;
  Type type_ = Type::kVarint;
};

}  // namespace dragon::wire
