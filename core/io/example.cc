// Examples taken apart. Unlike core/proto's reader, this one skips what it does not know and tells trouble by numbers:
// one broken example of a thousand is an answer, not an error.
#include "core/io/example.h"

#include <algorithm>

#include "core/base/varint.h"

namespace dragon {

namespace {

/// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(std::span<const uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  uint32_t number = 0, wire = 0;
  uint64_t value = 0;              ///< of a varint
  std::span<const uint8_t> bytes;  ///< of any other field

  /// Go to the next field; false at the end, and then `broken` tells whether the message ended too early.
  bool Next() {
    if (at_ == end_) return false;
    uint64_t key;
    if (!Varint(&key)) return Break();
    number = static_cast<uint32_t>(key >> 3), wire = key & 7;
    if (wire == 0) return Varint(&value) || Break();
    uint64_t length = wire == 1 ? 8 : wire == 5 ? 4 : 0;
    if (wire == 2 && !Varint(&length)) return Break();
    if ((wire != 1 && wire != 2 && wire != 5) || length > static_cast<uint64_t>(end_ - at_)) return Break();
    bytes = {at_, length};
    at_ += length;
    return true;
  }
  bool broken() const { return broken_; }

  bool Varint(uint64_t* out) {
    const size_t size = ReadVarint({at_, end_}, out);
    at_ += size;
    return size;
  }
  bool done() const { return at_ == end_; }

 private:
  bool Break() {
    broken_ = true;
    at_ = end_;
    return false;
  }
  const uint8_t *at_, *end_;
  bool broken_ = false;
};

std::string_view TextOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One entry of an example's map.
struct Entry {
  bool named = false, broken = false;
  std::span<const uint8_t> feature;

  Entry(std::span<const uint8_t> bytes, const std::string& name) : named(name.empty()) {
    Fields entry(bytes);
    while (entry.Next()) {
      if (entry.wire != 2) continue;
      if (entry.number == 1) named = name == TextOf(entry.bytes);
      if (entry.number == 2) feature = entry.bytes;
    }
    broken = entry.broken();
  }
};

}  // namespace

int64_t ExampleColumn::AddPacked(std::span<const uint8_t> numbers) {
  Fields packed(numbers);
  int64_t count = 0;
  for (uint64_t value; !packed.done(); ++count) {
    if (!packed.Varint(&value)) return kBroken;
    integers_.push_back(static_cast<int64_t>(value));
  }
  return count;
}

int64_t ExampleColumn::AddList(std::span<const uint8_t> bytes) {
  Fields list(bytes);
  int64_t count = 0;
  while (list.Next()) {
    if (list.number != 1) continue;
    if (kind_ == Kind::kBytes && list.wire == 2) {
      texts_.push_back(TextOf(list.bytes));
      ++count;
    } else if (kind_ == Kind::kFloat && (list.wire == 2 || list.wire == 5) && list.bytes.size() % 4 == 0) {
      floats_.append(TextOf(list.bytes));
      count += static_cast<int64_t>(list.bytes.size() / 4);
    } else if (kind_ == Kind::kInt && list.wire == 0) {
      integers_.push_back(static_cast<int64_t>(list.value));
      ++count;
    } else if (kind_ == Kind::kInt && list.wire == 2) {
      const int64_t added = AddPacked(list.bytes);
      if (added < 0) return added;
      count += added;
    } else {
      return kBroken;
    }
  }
  return list.broken() ? kBroken : count;
}

int64_t ExampleColumn::AddFeature(std::span<const uint8_t> bytes) {
  Fields feature(bytes);
  int64_t count = kMissing;
  while (feature.Next()) {
    if (feature.number < 1 || feature.number > 3 || feature.wire != 2) continue;
    if (feature.number != static_cast<uint32_t>(kind_)) return kOtherKind;
    const int64_t added = AddList(feature.bytes);
    if (added < 0) return added;
    count = std::max<int64_t>(count, 0) + added;
  }
  return feature.broken() ? kBroken : count;
}

int64_t ExampleColumn::AddExample(std::span<const uint8_t> bytes) {
  Fields example(bytes);
  bool found = false;
  std::span<const uint8_t> feature;
  while (example.Next()) {
    if (example.number != 1 || example.wire != 2) continue;
    Fields entries(example.bytes);
    while (entries.Next()) {
      if (entries.number != 1 || entries.wire != 2) continue;
      const Entry entry(entries.bytes, name_);
      if (entry.broken) return kBroken;
      if (entry.named) found = true, feature = entry.feature;  // of two features of one name, the last one counts
    }
    if (entries.broken()) return kBroken;
  }
  if (example.broken()) return kBroken;
  return found ? AddFeature(feature) : kMissing;
}

}  // namespace dragon
