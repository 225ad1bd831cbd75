// The frames of which KPLRecord files are made: a head of 32 bytes, a body, zeros up to the next sixteenth byte.
//
//   mark "KPLr" | kind, how the body is packed, two zeros | bytes of the body | bytes unpacked | CRC of body | of head
//
// The checksum of a head goes over the place of the frame in its file as well: the frames of one file inside of another
// are no frames of that one, however much they look like some.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/macros.h"

namespace dragon {

struct RecordHead {
  enum class Kind : uint8_t { kHeader = 1, kSample = 2, kIndex = 3, kTrailer = 4 };
  static constexpr uint64_t kSize = 32, kAlign = 16;

  Kind kind;
  uint8_t packing;  ///< 0: not packed; other numbers are the writer's business
  uint64_t stored;  ///< bytes of the body in the file
  uint64_t size;    ///< bytes of the body once it is unpacked
  uint32_t crc;     ///< of the stored body

  /// With the head; the zeros that follow are not counted.
  uint64_t FrameSize() const { return kSize + stored; }
};

/// Where a frame is said to lie in a file.
struct RecordPlace {
  uint64_t offset, size;
};

/// The first possible place of a frame from a byte on.
constexpr uint64_t AlignRecord(uint64_t offset) {
  return (offset + RecordHead::kAlign - 1) / RecordHead::kAlign * RecordHead::kAlign;
}

/// Read the head at some place of a file; false if there is none. `bytes`: at least RecordHead::kSize of them.
DRAGON_API bool ReadRecordHead(const uint8_t* bytes, uint64_t offset, RecordHead* head);
/// Write the head of a frame that begins at some place of a file.
DRAGON_API void WriteRecordHead(const RecordHead& head, uint64_t offset, uint8_t* bytes);

}  // namespace dragon
