// Walking over records.
#include "core/io/records.h"

#include <cstring>

#include "core/io/crc32c.h"

namespace dragon {

namespace {

constexpr size_t kHeader = 12, kFooter = 4;

template <typename T>
T ReadLittle(const uint8_t* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

}  // namespace

RecordSplit SplitRecords(std::span<const uint8_t> bytes, bool check) {
  RecordSplit split;
  while (bytes.size() - split.size >= kHeader) {
    const uint8_t* header = bytes.data() + split.size;
    const uint64_t length = ReadLittle<uint64_t>(header);
    if (MaskedCrc32c(header, 8) != ReadLittle<uint32_t>(header + 8)) {
      split.trouble = RecordSplit::Trouble::kBrokenHeader;
      break;
    }
    const size_t left = bytes.size() - split.size - kHeader;
    if (left < kFooter || length > left - kFooter) break;
    const uint8_t* record = header + kHeader;
    if (check && MaskedCrc32c(record, length) != ReadLittle<uint32_t>(record + length)) {
      split.trouble = RecordSplit::Trouble::kBrokenRecord;
      break;
    }
    split.records.emplace_back(record, length);
    split.size += kHeader + length + kFooter;
  }
  return split;
}

}  // namespace dragon
