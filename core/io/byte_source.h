// Bytes that are read by their place: of a file that is open, or of whatever else can answer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/macros.h"

namespace dragon {

class DRAGON_API ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Read bytes from a place on; returns how many there were, fewer only at the end. Raises if the system refuses.
  virtual size_t ReadAt(uint64_t offset, uint8_t* bytes, size_t size) = 0;
};

/// An open file. Its position is neither used nor moved, so threads and forked processes share it.
/// Never mapped into memory: a file that shrinks would end the process by a signal.
class DRAGON_API FileBytes : public ByteSource {
 public:
  explicit FileBytes(int descriptor) : descriptor_(descriptor) {}
  size_t ReadAt(uint64_t offset, uint8_t* bytes, size_t size) override;

 private:
  int descriptor_;
};

}  // namespace dragon
