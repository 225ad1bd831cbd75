// Examples taken apart. Unlike core/proto's reader, this one skips what it does not know and tells trouble by numbers:
// one broken example of a thousand is an answer, not an error.
#include "core/io/example.h"

#include <algorithm>

#include "core/base/wire_cursor.h"

namespace dragon {

namespace {

/// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(std::span<const uint8_t> bytes) : cursor_(bytes) {}

  uint32_t number = 0;
  WireType wire = WireType::kVarint;
  uint64_t value = 0;              ///< of a varint
  std::span<const uint8_t> bytes;  ///< of any other field

  /// Go to the next field; false at the end, and then `broken` tells whether the message ended too early.
  bool Next() {
    if (broken_ || cursor_.done()) return false;
    if (cursor_.Tag(&number, &wire) != WireTrouble::kNone) return Break();
    if (wire == WireType::kVarint) return Varint(&value) || Break();
    uint64_t length = wire == WireType::kFixed64 ? 8 : 4;
    if (wire == WireType::kBytes && !Varint(&length)) return Break();
    return cursor_.Take(length, &bytes) == WireTrouble::kNone || Break();
  }
  bool broken() const { return broken_; }

  /// Bits beyond 64 are dropped, as protocol buffers' own readers do.
  bool Varint(uint64_t* out) {
    const size_t before = cursor_.at();
    return cursor_.Varint(out) == WireTrouble::kNone || cursor_.at() != before;
  }
  bool done() const { return cursor_.done(); }

 private:
  bool Break() {
    broken_ = true;
    return false;
  }
  WireCursor cursor_;
  bool broken_ = false;
};

std::string_view TextOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One entry of an example's map.
struct Entry {
  bool broken = false;
  std::string_view name;
  std::span<const uint8_t> feature;

  explicit Entry(std::span<const uint8_t> bytes) {
    Fields entry(bytes);
    while (entry.Next()) {
      if (entry.wire != WireType::kBytes) continue;
      if (entry.number == 1) name = TextOf(entry.bytes);
      if (entry.number == 2) feature = entry.bytes;
    }
    broken = entry.broken();
  }
};

/// Call `take` with each entry of an example; false if the example is broken, or if `take` says that something is.
template <typename Take>
bool WalkEntries(std::span<const uint8_t> bytes, Take&& take) {
  Fields example(bytes);
  while (example.Next()) {
    if (example.number != 1 || example.wire != WireType::kBytes) continue;
    Fields entries(example.bytes);
    while (entries.Next()) {
      if (entries.number != 1 || entries.wire != WireType::kBytes) continue;
      const Entry entry(entries.bytes);
      if (entry.broken || !take(entry)) return false;
    }
    if (entries.broken()) return false;
  }
  return !example.broken();
}

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
    if (kind_ == Kind::kBytes && list.wire == WireType::kBytes) {
      texts_.push_back(TextOf(list.bytes));
      ++count;
    } else if (kind_ == Kind::kFloat && (list.wire == WireType::kBytes || list.wire == WireType::kFixed32) &&
               list.bytes.size() % 4 == 0) {
      floats_.append(TextOf(list.bytes));
      count += static_cast<int64_t>(list.bytes.size() / 4);
    } else if (kind_ == Kind::kInt && list.wire == WireType::kVarint) {
      integers_.push_back(static_cast<int64_t>(list.value));
      ++count;
    } else if (kind_ == Kind::kInt && list.wire == WireType::kBytes) {
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
    if (feature.number < 1 || feature.number > 3 || feature.wire != WireType::kBytes) continue;
    if (feature.number != static_cast<uint32_t>(kind_)) return kOtherKind;
    const int64_t added = AddList(feature.bytes);
    if (added < 0) return added;
    count = std::max<int64_t>(count, 0) + added;
  }
  return feature.broken() ? kBroken : count;
}

int64_t ExampleColumn::AddExample(std::span<const uint8_t> bytes) {
  bool found = false;
  std::span<const uint8_t> feature;
  const bool whole = WalkEntries(bytes, [&](const Entry& entry) {
    if (entry.name == name_) found = true, feature = entry.feature;  // of two features of one name, the last one counts
    return true;
  });
  return !whole ? kBroken : found ? AddFeature(feature) : kMissing;
}

bool ListFeatures(std::span<const uint8_t> example, std::vector<ExampleFeature>* features) {
  return WalkEntries(example, [&](const Entry& entry) {
    ExampleFeature found{entry.name};
    Fields feature(entry.feature);
    while (feature.Next()) {
      if (feature.number < 1 || feature.number > 3 || feature.wire != WireType::kBytes) continue;
      found.kind = feature.number, found.list = feature.bytes;
    }
    features->push_back(found);
    return !feature.broken();
  });
}

}  // namespace dragon
