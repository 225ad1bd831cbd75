// The values of records, taken apart.
#include "core/io/record_value.h"

#include <algorithm>
#include <cstring>

#include "core/base/varint.h"
#include "core/io/record_file.h"

namespace dragon {

namespace {

constexpr size_t kMostAxes = 64;
constexpr uint64_t kMostElementBytes = INT32_MAX;  // NumPy's own limit
constexpr uint32_t kLastCodePoint = 0x10FFFF;

/// The size of an element of numbers or booleans, by a dtype as NumPy writes it, or 0 if it is none of those.
uint64_t SizeOfNumber(std::string_view dtype) {
  if (dtype == "<c16") return 16;
  if (dtype.size() != 3) return 0;
  const char kind = dtype[1], size = dtype[2];
  if (dtype[0] == '|') return size == '1' && (kind == 'u' || kind == 'b' || kind == 'i');
  if (dtype[0] != '<') return 0;
  const bool is_known = kind == 'c' ? size == '8' : kind == 'f' || kind == 'i' || kind == 'u';
  return is_known && (size == '2' || size == '4' || size == '8') ? size - '0' : 0;
}

/// The size of an element of a dtype as NumPy writes it, or 0 if it is none that records hold.
uint64_t SizeOfElement(std::string_view dtype) {
  if (const uint64_t size = SizeOfNumber(dtype)) return size;
  static const std::string_view kTimes[] = {"",    "[Y]",  "[M]",  "[W]",  "[D]",  "[h]",  "[m]",
                                            "[s]", "[ms]", "[us]", "[ns]", "[ps]", "[fs]", "[as]"};
  if (dtype.starts_with("<M8") || dtype.starts_with("<m8")) {
    return std::find(std::begin(kTimes), std::end(kTimes), dtype.substr(3)) != std::end(kTimes) ? 8 : 0;
  }
  const bool is_text = dtype.starts_with("<U");
  if ((!is_text && !dtype.starts_with("|S")) || dtype.size() < 3 || dtype.size() > 12 || dtype[2] == '0') return 0;
  uint64_t size = 0;
  for (char digit : dtype.substr(2)) {
    if (digit < '0' || digit > '9') return 0;
    size = size * 10 + static_cast<uint64_t>(digit - '0');
  }
  size *= is_text ? sizeof(uint32_t) : 1;
  return size <= kMostElementBytes ? size : 0;
}

bool HoldsBooleans(std::span<const uint8_t> bytes) {
  uint8_t all = 0;
  for (uint8_t byte : bytes) all |= byte;
  return all <= 1;
}

bool HoldsCodePoints(std::span<const uint8_t> bytes) {
  uint32_t most = 0;
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint32_t)) {
    uint32_t point;
    std::memcpy(&point, bytes.data() + i, sizeof(point));
    most = std::max(most, point);
  }
  return most <= kLastCodePoint;
}

}  // namespace

void RecordValueReader::Fail(const char* what) const { throw RecordTrouble{what, at_}; }

uint64_t RecordValueReader::Varint() {
  uint64_t value;
  bool fits;
  const size_t size = ReadVarint(body_.subspan(at_), &value, &fits);
  if (!size || !fits) Fail("a number that does not end");
  at_ += size;
  return value;
}

std::span<const uint8_t> RecordValueReader::Take(uint64_t size) {
  if (size > body_.size() - at_) Fail("a value that is longer than its record");
  const auto taken = body_.subspan(at_, size);
  at_ += size;
  return taken;
}

double RecordValueReader::Real() {
  double value;
  std::memcpy(&value, Take(sizeof(value)).data(), sizeof(value));
  return value;
}

void RecordValueReader::ReadArray(RecordValue* value) {
  const auto letters = Take(Varint());
  value->dtype = {reinterpret_cast<const char*>(letters.data()), letters.size()};
  value->count = SizeOfElement(value->dtype);
  if (!value->count) Fail("a dtype that records do not hold");
  const uint64_t axes = Varint();
  if (axes > kMostAxes) Fail("an array of too many axes");
  value->shape.clear();
  uint64_t elements = 1, spread = value->count;  // the latter without the empty axes, which NumPy multiplies as well
  for (uint64_t axis = 0; axis < axes; ++axis) {
    const uint64_t length = Varint();
    if (length > INT64_MAX || __builtin_mul_overflow(spread, std::max<uint64_t>(length, 1), &spread) ||
        spread > INT64_MAX) {
      Fail("an array that is larger than any memory");
    }
    value->shape.push_back(static_cast<int64_t>(length));
    elements *= length;
  }
  if (value->tag == RecordTag::kScalar && axes) Fail("a scalar that has axes");
  const size_t padded = (at_ + 15) / 16 * 16;
  Take(padded - at_);
  value->bytes = Take(elements * value->count);
  if (value->dtype == "|b1" && !HoldsBooleans(value->bytes)) Fail("booleans that are neither true nor false");
  if (value->dtype[1] == 'U' && !HoldsCodePoints(value->bytes)) Fail("text of no Unicode");
}

void RecordValueReader::Next(RecordValue* value) {
  const uint8_t tag = Take(1)[0];
  if (tag > static_cast<uint8_t>(RecordTag::kScalar)) Fail("a kind of value that nobody knows");
  value->tag = static_cast<RecordTag>(tag);
  switch (value->tag) {
    case RecordTag::kNone:
    case RecordTag::kFalse:
    case RecordTag::kTrue:
      return;
    case RecordTag::kInteger: {
      const uint64_t zigzag = Varint();
      value->integer = static_cast<int64_t>(zigzag >> 1) ^ -static_cast<int64_t>(zigzag & 1);
      return;
    }
    case RecordTag::kReal:
      value->real = Real();
      return;
    case RecordTag::kComplex:
      value->real = Real();
      value->imaginary = Real();
      return;
    case RecordTag::kLargeInteger:
    case RecordTag::kText:
    case RecordTag::kBytes:
      value->bytes = Take(Varint());
      return;
    case RecordTag::kList:
    case RecordTag::kTuple:
    case RecordTag::kDict:
      value->count = Varint();
      // Each value takes a byte at least.
      if (value->count > (body_.size() - at_) / (value->tag == RecordTag::kDict ? 2 : 1)) {
        Fail("a list that is longer than its record");
      }
      return;
    default:
      ReadArray(value);
  }
}

}  // namespace dragon
