// Heads of frames, to bytes and back.
#include "core/io/record_frame.h"

#include <cstring>

#include "core/io/crc32c.h"

namespace dragon {

namespace {

constexpr uint8_t kMark[4] = {'K', 'P', 'L', 'r'};
constexpr size_t kKindAt = 4, kPackingAt = 5, kZerosAt = 6, kStoredAt = 8, kSizeAt = 16, kCrcAt = 24, kHeadCrcAt = 28;

uint32_t HeadCrc(const uint8_t* bytes, uint64_t offset) {
  uint8_t sealed[kHeadCrcAt + sizeof(offset)];
  std::memcpy(sealed, bytes, kHeadCrcAt);
  std::memcpy(sealed + kHeadCrcAt, &offset, sizeof(offset));
  return Crc32c(sealed, sizeof(sealed));
}

template <typename T>
T Little(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

}  // namespace

bool ReadRecordHead(const uint8_t* bytes, uint64_t offset, RecordHead* head) {
  if (std::memcmp(bytes, kMark, sizeof(kMark)) || bytes[kZerosAt] || bytes[kZerosAt + 1]) return false;
  if (Little<uint32_t>(bytes + kHeadCrcAt) != HeadCrc(bytes, offset)) return false;
  head->kind = static_cast<RecordHead::Kind>(bytes[kKindAt]);
  head->packing = bytes[kPackingAt];
  head->stored = Little<uint64_t>(bytes + kStoredAt);
  head->size = Little<uint64_t>(bytes + kSizeAt);
  head->crc = Little<uint32_t>(bytes + kCrcAt);
  return true;
}

void WriteRecordHead(const RecordHead& head, uint64_t offset, uint8_t* bytes) {
  std::memcpy(bytes, kMark, sizeof(kMark));
  bytes[kKindAt] = static_cast<uint8_t>(head.kind);
  bytes[kPackingAt] = head.packing;
  bytes[kZerosAt] = bytes[kZerosAt + 1] = 0;
  std::memcpy(bytes + kStoredAt, &head.stored, sizeof(head.stored));
  std::memcpy(bytes + kSizeAt, &head.size, sizeof(head.size));
  std::memcpy(bytes + kCrcAt, &head.crc, sizeof(head.crc));
  const uint32_t crc = HeadCrc(bytes, offset);
  std::memcpy(bytes + kHeadCrcAt, &crc, sizeof(crc));
}

}  // namespace dragon
