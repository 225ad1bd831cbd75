// A walk over the bytes of a protocol buffers' message: tags of fields, and what follows them. It throws nothing, takes
// no memory, and never leaves its bytes: what is wrong is a word, which its users put as they please.
// The form is that of https://protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/varint.h"

namespace dragon {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

enum class WireTrouble : uint8_t {
  kNone,
  kTorn,      ///< the end within a number
  kTooLarge,  ///< a number of more than 64 bits
  kNoField,   ///< a tag of field 0, or of one beyond those that there can be
  kNoType,    ///< a wire type that there is not
  kTooLong,   ///< a length beyond the end
};

class WireCursor {
 public:
  explicit WireCursor(std::span<const uint8_t> bytes)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  bool done() const { return at_ == end_; }
  size_t at() const { return static_cast<size_t>(at_ - begin_); }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  /// A number; one that is too large is read as well, and passed, if it ends: as much of it as 64 bits hold.
  WireTrouble Varint(uint64_t* value) {
    bool fits;
    const size_t size = ReadVarint({at_, end_}, value, &fits);
    if (!size) return left() < kLongestVarint ? WireTrouble::kTorn : WireTrouble::kTooLarge;
    at_ += size;
    return fits ? WireTrouble::kNone : WireTrouble::kTooLarge;
  }
  /// The number of the next field, and the type of what follows, which need not be one of those that there are.
  WireTrouble Tag(uint32_t* field, WireType* type) {
    uint64_t tag;
    const WireTrouble trouble = Varint(&tag);
    if (trouble != WireTrouble::kNone) return trouble;
    *field = static_cast<uint32_t>(tag >> 3);
    *type = static_cast<WireType>(tag & 7);
    if (tag >> 3 == 0 || tag >> 32) return WireTrouble::kNoField;
    const bool is_type = (tag & 7) <= 2 || (tag & 7) == 5;
    return is_type ? WireTrouble::kNone : WireTrouble::kNoType;
  }
  /// So many bytes.
  WireTrouble Take(uint64_t size, std::span<const uint8_t>* bytes) {
    if (size > left()) return WireTrouble::kTooLong;
    *bytes = {at_, static_cast<size_t>(size)};
    at_ += size;
    return WireTrouble::kNone;
  }

 private:
  const uint8_t *begin_, *at_, *end_;
};

}  // namespace dragon
