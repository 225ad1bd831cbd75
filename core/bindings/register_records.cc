// Records of files and the examples in them, taken apart without a Python object per byte.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/bindings/python.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace dragon::python {

namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // Castagnoli's, bits reversed
constexpr uint32_t kMaskStep = 0xA282EAD8;
constexpr int64_t kMissing = -1, kOtherKind = -2, kBroken = -3;

struct ByteTable {
  uint32_t of[256];
  ByteTable() {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t value = byte;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? kPolynomial : 0);
      of[byte] = value;
    }
  }
};

uint32_t PortableCrc(const uint8_t* data, size_t size) {
  static const ByteTable table;
  uint32_t state = ~0u;
  for (size_t i = 0; i < size; ++i) state = state >> 8 ^ table.of[(state ^ data[i]) & 0xFF];
  return ~state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t QuickCrc(const uint8_t* data, size_t size) {
  uint64_t state = ~0u;
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    state = _mm_crc32_u64(state, word);
  }
  uint32_t rest = static_cast<uint32_t>(state);
  for (; size; ++data, --size) rest = _mm_crc32_u8(rest, *data);
  return ~rest;
}
#endif

uint32_t Crc32c(const uint8_t* data, size_t size) {
#if defined(__x86_64__)
  static const bool quick = __builtin_cpu_supports("sse4.2");
  if (quick) return QuickCrc(data, size);
#endif
  return PortableCrc(data, size);
}

uint32_t Masked(const uint8_t* data, size_t size) {
  const uint32_t crc = Crc32c(data, size);
  return (crc >> 15 | crc << 17) + kMaskStep;
}

template <typename T>
T ReadLittle(const uint8_t* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// A contiguous Python buffer, held while its bytes are read.
class Bytes {
 public:
  explicit Bytes(py::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE)) throw py::error_already_set();
  }
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  const uint8_t* data() const { return static_cast<const uint8_t*>(view_.buf); }
  size_t size() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_;
};

/// The fields of a protocol buffer's message, one after the other.
class Fields {
 public:
  Fields(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

  uint32_t number = 0, wire = 0;
  uint64_t value = 0;              ///< of a varint
  const uint8_t* begin = nullptr;  ///< of the bytes of any other field
  size_t size = 0;

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
    begin = at_, size = length;
    at_ += length;
    return true;
  }
  bool broken() const { return broken_; }

  bool Varint(uint64_t* out) {
    uint64_t found = 0;
    for (int shift = 0; shift < 70 && at_ != end_; shift += 7) {
      const uint8_t byte = *at_++;
      if (shift < 64) found |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return *out = found, true;
    }
    return false;
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

/// The values of one feature of several examples.
struct Column {
  std::string_view name;
  uint32_t kind;
  std::vector<int64_t> integers;
  std::string floats;
  py::list texts;

  /// Add a list of values; returns their number, or that they are broken.
  int64_t AddList(Fields list) {
    int64_t count = 0;
    while (list.Next()) {
      if (list.number != 1) continue;
      if (kind == 1 && list.wire == 2) {
        texts.append(py::bytes(reinterpret_cast<const char*>(list.begin), list.size));
        ++count;
      } else if (kind == 2 && (list.wire == 2 || list.wire == 5) && list.size % 4 == 0) {
        floats.append(reinterpret_cast<const char*>(list.begin), list.size);
        count += static_cast<int64_t>(list.size / 4);
      } else if (kind == 3 && list.wire == 0) {
        integers.push_back(static_cast<int64_t>(list.value));
        ++count;
      } else if (kind == 3 && list.wire == 2) {
        Fields packed(list.begin, list.size);
        for (uint64_t value; !packed.done(); ++count) {
          if (!packed.Varint(&value)) return kBroken;
          integers.push_back(static_cast<int64_t>(value));
        }
      } else {
        return kBroken;
      }
    }
    return list.broken() ? kBroken : count;
  }

  int64_t AddFeature(Fields feature) {
    int64_t count = kMissing;
    while (feature.Next()) {
      if (feature.number < 1 || feature.number > 3 || feature.wire != 2) continue;
      if (feature.number != kind) return kOtherKind;
      const int64_t added = AddList(Fields(feature.begin, feature.size));
      if (added < 0) return added;
      count = std::max<int64_t>(count, 0) + added;
    }
    return feature.broken() ? kBroken : count;
  }

  /// Add the feature of one example; returns the number of values, or what is wrong.
  int64_t AddExample(Fields example) {
    const uint8_t* found = nullptr;
    size_t size = 0;
    while (example.Next()) {
      if (example.number != 1 || example.wire != 2) continue;
      Fields entries(example.begin, example.size);
      while (entries.Next()) {
        if (entries.number != 1 || entries.wire != 2) continue;
        Fields entry(entries.begin, entries.size);
        bool named = name.empty();
        const uint8_t* value = nullptr;
        size_t length = 0;
        while (entry.Next()) {
          if (entry.wire != 2) continue;
          if (entry.number == 1) {
            named = name == std::string_view(reinterpret_cast<const char*>(entry.begin), entry.size);
          }
          if (entry.number == 2) value = entry.begin, length = entry.size;
        }
        if (entry.broken()) return kBroken;
        // Of two features of one name, the last one counts.
        if (named) found = value ? value : entries.begin, size = value ? length : 0;
      }
      if (entries.broken()) return kBroken;
    }
    if (example.broken()) return kBroken;
    return found ? AddFeature(Fields(found, size)) : kMissing;
  }
};

py::tuple ReadColumn(py::sequence records, std::string name, uint32_t kind) {
  if (kind < 1 || kind > 3) throw ValueError("example_column").Got("kind ", kind).Expected("1, 2 or 3");
  Column column;
  column.name = name, column.kind = kind;
  std::vector<int64_t> counts;
  counts.reserve(records.size());
  for (py::handle record : records) {
    Bytes bytes(record);
    counts.push_back(column.AddExample(Fields(bytes.data(), bytes.size())));
  }
  const auto raw = [](const std::vector<int64_t>& numbers) {
    return py::bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t));
  };
  py::object values = column.texts;
  if (kind == 2) values = py::bytes(column.floats);
  if (kind == 3) values = raw(column.integers);
  return py::make_tuple(raw(counts), values);
}

/// (records, how many bytes they take, what stopped it: 0 the end, 1 a broken header, 2 a broken record).
py::tuple SplitRecords(py::object data, bool check) {
  constexpr size_t kHeader = 12, kFooter = 4;
  Bytes bytes(data);
  py::list records;
  size_t at = 0;
  int trouble = 0;
  while (bytes.size() - at >= kHeader) {
    const uint8_t* header = bytes.data() + at;
    const uint64_t length = ReadLittle<uint64_t>(header);
    if (Masked(header, 8) != ReadLittle<uint32_t>(header + 8)) {
      trouble = 1;
      break;
    }
    const size_t left = bytes.size() - at - kHeader;
    if (left < kFooter || length > left - kFooter) break;
    const uint8_t* record = header + kHeader;
    if (check && Masked(record, length) != ReadLittle<uint32_t>(record + length)) {
      trouble = 2;
      break;
    }
    records.append(py::bytes(reinterpret_cast<const char*>(record), length));
    at += kHeader + length + kFooter;
  }
  return py::make_tuple(records, at, trouble);
}

}  // namespace

void RegisterRecords(py::module_& m) {
  m.def(
      "crc32c",
      [](py::object data) {
        Bytes bytes(data);
        return Crc32c(bytes.data(), bytes.size());
      },
      "The CRC-32C of bytes.", py::arg("data"));
  m.def("split_records", SplitRecords, "The whole TFRecords at the start of bytes.", py::arg("data"),
        py::arg("check") = true);
  m.def("example_column", ReadColumn,
        "The values of one feature of serialized examples: how many each has (-1 without it, -2 of another kind, -3 "
        "broken), and all values: a list of bytes, or the bytes of float32 or int64 numbers.",
        py::arg("records"), py::arg("name"), py::arg("kind"));
}

}  // namespace dragon::python
