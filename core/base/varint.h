// Integers of as many bytes as they need: seven bits in each, the lowest first, and a high bit where another follows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dragon {

constexpr size_t kLongestVarint = 10;

/// Read the one at the start of some bytes. Returns how many bytes it takes, or 0 if they end within it, or if it does
/// not end at the tenth. Bits beyond 64 are dropped; `fits` tells whether there were none.
inline size_t ReadVarint(std::span<const uint8_t> bytes, uint64_t* value, bool* fits = nullptr) {
  uint64_t found = 0;
  for (size_t i = 0; i < std::min(bytes.size(), kLongestVarint); ++i) {
    found |= static_cast<uint64_t>(bytes[i] & 0x7F) << (7 * i);
    if (bytes[i] >= 0x80) continue;
    *value = found;
    if (fits) *fits = i + 1 < kLongestVarint || bytes[i] <= 1;
    return i + 1;
  }
  return 0;
}

/// Write one; `bytes`: room for kLongestVarint. Returns how many it takes.
inline size_t WriteVarint(uint64_t value, uint8_t* bytes) {
  size_t size = 0;
  for (; value >= 0x80; value >>= 7) bytes[size++] = static_cast<uint8_t>(value | 0x80);
  bytes[size++] = static_cast<uint8_t>(value);
  return size;
}

}  // namespace dragon
