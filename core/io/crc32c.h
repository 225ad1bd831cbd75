// The checksum of records: CRC-32C, by the processor's own instruction where it has one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/macros.h"

namespace dragon {

DRAGON_API uint32_t Crc32c(const uint8_t* data, size_t size);
/// As record files store it: bytes that hold their own checksum would have a constant one otherwise.
DRAGON_API uint32_t MaskedCrc32c(const uint8_t* data, size_t size);

}  // namespace dragon
