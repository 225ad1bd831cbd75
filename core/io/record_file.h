// Records of KPLRecord files, read by their places and found without an index. Whatever a file holds, nothing is read
// that is not there, and no more memory is taken than its bytes fill.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/macros.h"
#include "core/io/byte_source.h"
#include "core/io/record_frame.h"

namespace dragon {

/// What is wrong with a file, and where.
struct DRAGON_API RecordTrouble {
  std::string what;
  uint64_t offset;
};

/// What blocks are read into; it serves again where nothing looks into it any more.
struct DRAGON_API RecordMemory {
  std::shared_ptr<uint8_t[]> bytes;
  uint64_t size = 0;

  void Provide(uint64_t wanted);
};

/// Some neighbouring records in one piece of memory, checked.
class DRAGON_API RecordBlock {
 public:
  struct Record {
    RecordHead head;
    std::span<const uint8_t> body;  ///< in the memory
    uint64_t offset;                ///< of its frame in the file
  };

  /// Read the frames at these places, which rise. Throws RecordTrouble where one of them is not as its checksums say.
  /// `file_size`: how many bytes the file has; places that reach beyond ask for no memory.
  RecordBlock(ByteSource& source, uint64_t file_size, std::span<const RecordPlace> places, RecordMemory* memory);

  const std::vector<Record>& records() const { return records_; }
  /// How many of the places, from the first on, are best read together: small neighbours.
  static size_t CountTogether(std::span<const RecordPlace> places);
  /// A record of this size is read alone.
  static constexpr uint64_t kLarge = 64 << 10;

 private:
  std::vector<Record> records_;
};

/// What a walk over a whole file finds.
struct RecordScan {
  std::vector<RecordPlace> samples;
  std::vector<RecordPlace> lost;  ///< parts of the file in which nothing whole was found
};

/// Find the samples of a file by their heads, from a place on. Bodies are read only to tell a torn frame from a whole
/// one.
DRAGON_API RecordScan ScanRecords(ByteSource& source, uint64_t file_size, uint64_t start);

}  // namespace dragon
