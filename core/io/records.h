// TFRecord files: a length, its checksum, the bytes, theirs; again and again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/macros.h"

namespace dragon {

struct RecordSplit {
  /// What ended the walk: the end of what is there, or a checksum that does not fit.
  enum class Trouble : uint8_t { kNone, kBrokenHeader, kBrokenRecord };
  std::vector<std::span<const uint8_t>> records;  ///< parts of the bytes that were given
  size_t size = 0;                                ///< how many of them these records take
  Trouble trouble = Trouble::kNone;
};

/// The whole records at the start of some bytes. `check`: compare their checksums as well; those of lengths always are.
DRAGON_API RecordSplit SplitRecords(std::span<const uint8_t> bytes, bool check);

}  // namespace dragon
