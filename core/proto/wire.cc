// Reading and writing protocol buffers' wire form.
#include "core/proto/wire.h"

#include <bit>
#include <cstring>

#include "core/base/error.h"
#include "core/base/varint.h"

namespace dragon::wire {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const int more = lead < 0x80 ? 0 : (lead >> 5) == 6 ? 1 : (lead >> 4) == 14 ? 2 : (lead >> 3) == 30 ? 3 : -1;
    if (more < 0 || text.size() - i <= static_cast<size_t>(more)) return false;
    uint32_t point = more ? lead & (0x3F >> more) : lead;
    for (int k = 1; k <= more; ++k) {
      const auto next = static_cast<uint8_t>(text[i + k]);
      if ((next >> 6) != 2) return false;
      point = point << 6 | (next & 0x3F);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};  // a longer form than need be is none
    if (point < kLeast[more] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return false;
    i += more + 1;
  }
  return true;
}

// --- writing

void Writer::Varint(uint64_t value) {
  uint8_t raw[kLongestVarint];
  bytes_.append(reinterpret_cast<const char*>(raw), WriteVarint(value, raw));
}

void Writer::Fixed64(double value) {
  char raw[sizeof(value)];
  std::memcpy(raw, &value, sizeof(value));
  bytes_.append(raw, sizeof(value));
}

void Writer::Integer(int field, int64_t value, bool of_oneof) {
  if (value == 0 && !of_oneof) return;
  Tag(field, Type::kVarint);
  Varint(static_cast<uint64_t>(value));
}

void Writer::SignedInteger(int field, int32_t value) { Integer(field, ZigZag(value)); }

void Writer::Real(int field, double value, bool of_oneof) {
  if (std::bit_cast<uint64_t>(value) == 0 && !of_oneof) return;  // -0.0 is written
  Tag(field, Type::kFixed64);
  Fixed64(value);
}

void Writer::Text(int field, std::string_view text, const std::string& who, bool of_oneof) {
  if (text.empty() && !of_oneof) return;
  if (!IsUtf8(text)) throw ValueError(who).Got("a text that is no UTF-8").Expected("UTF-8");
  Bytes(field, text);
}

void Writer::Bytes(int field, std::string_view bytes) {
  Tag(field, Type::kBytes);
  Varint(bytes.size());
  bytes_.append(bytes);
}

void Writer::Reals(int field, const std::vector<double>& list) {
  if (list.empty()) return;
  Writer packed;
  for (double value : list) packed.Fixed64(value);
  Message(field, packed);
}

// --- reading

void Reader::Fail(const std::string& what) const {
  ValueError error("graph");
  if (field_ == 0) throw std::move(error).Says("byte ", offset(), " (", message_, "): ", what);
  throw std::move(error).Says("byte ", offset(), " (", message_, ", field ", field_, "): ", what);
}

void Reader::Check(WireTrouble trouble, uint64_t length) const {
  switch (trouble) {
    case WireTrouble::kNone:
      return;
    case WireTrouble::kTorn:
      Fail("the end in the middle of a number");
    case WireTrouble::kTooLarge:
      Fail("a number of more than 64 bits");
    case WireTrouble::kNoField:
      Fail("a tag that names no field");
    case WireTrouble::kNoType:
      Fail("a wire type that there is not: " + std::to_string(static_cast<int>(type_)));
    case WireTrouble::kTooLong:
      Fail("a length of " + std::to_string(length) + " where " + std::to_string(cursor_.left()) + " bytes are left");
  }
}

bool Reader::Next() {
  field_at_ = cursor_.at();
  if (cursor_.done()) return false;
  field_ = 0;
  uint32_t field = 0;
  const WireTrouble trouble = cursor_.Tag(&field, &type_);
  if (trouble == WireTrouble::kNone || trouble == WireTrouble::kNoType) field_ = static_cast<int>(field);
  Check(trouble);
  return true;
}

void Reader::Require(Type type) const {
  if (type_ != type) Fail("wire type " + std::to_string(int(type_)) + " instead of " + std::to_string(int(type)));
}

uint64_t Reader::Varint() {
  uint64_t value = 0;
  Check(cursor_.Varint(&value));
  return value;
}

double Reader::Fixed64() {
  std::span<const uint8_t> bytes;
  if (cursor_.Take(sizeof(double), &bytes) != WireTrouble::kNone) Check(WireTrouble::kTorn);
  double value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

int32_t Reader::Narrow(int64_t value) const {
  if (value != static_cast<int32_t>(value)) Fail("the number " + std::to_string(value) + ", which is none of 32 bits");
  return static_cast<int32_t>(value);
}

int64_t Reader::Integer() {
  Require(Type::kVarint);
  return static_cast<int64_t>(Varint());
}

int32_t Reader::Integer32() { return Narrow(Integer()); }

int32_t Reader::SignedInteger32() {
  const int64_t raw = Integer();
  if (raw >> 32) Fail("a number of more than 32 bits");
  const auto bits = static_cast<uint32_t>(raw);
  return static_cast<int32_t>((bits >> 1) ^ (~(bits & 1) + 1));
}

bool Reader::Boolean() {
  const int64_t value = Integer();
  if (value != 0 && value != 1) Fail("the number " + std::to_string(value) + " for a bool");
  return value == 1;
}

double Reader::Real() {
  Require(Type::kFixed64);
  return Fixed64();
}

std::span<const uint8_t> Reader::Bytes() {
  Require(Type::kBytes);
  const uint64_t size = Varint();
  std::span<const uint8_t> bytes;
  Check(cursor_.Take(size, &bytes), size);
  return bytes;
}

std::string Reader::Text() {
  const auto bytes = Bytes();
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!IsUtf8(text)) Fail("a text that is no UTF-8");
  return text;
}

Reader Reader::Message(const char* name) {
  const auto bytes = Bytes();
  return {name, bytes, start_ + cursor_.at() - bytes.size()};
}

void Reader::Integers(std::vector<int32_t>* list) {
  Repeated(Type::kVarint,
           [&](Reader& reader) { list->push_back(reader.Narrow(static_cast<int64_t>(reader.Varint()))); });
}

void Reader::SignedIntegers(std::vector<int32_t>* list) {
  Repeated(Type::kVarint, [&](Reader& reader) { list->push_back(reader.SignedInteger32()); });
}

void Reader::Reals(std::vector<double>* list) {
  Repeated(Type::kFixed64, [&](Reader& reader) { list->push_back(reader.Fixed64()); });
}

}  // namespace dragon::wire
