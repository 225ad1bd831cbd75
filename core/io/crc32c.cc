// CRC-32C, byte by byte and by eight bytes at once.
#include "core/io/crc32c.h"

#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace dragon {

namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // Castagnoli's, bits reversed
constexpr uint32_t kMaskStep = 0xA282EAD8;

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
#elif defined(__aarch64__)
__attribute__((target("+crc"))) uint32_t QuickCrc(const uint8_t* data, size_t size) {
  uint32_t state = ~0u;
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    state = __crc32cd(state, word);
  }
  for (; size; ++data, --size) state = __crc32cb(state, *data);
  return ~state;
}

/// Every processor since ARMv8.1 has the instructions; the Raspberry Pi 3's has them, too.
constexpr unsigned long kHasCrc32 = 1 << 7;  // NOLINT: HWCAP_CRC32, of the type of getauxval
#endif

}  // namespace

uint32_t Crc32c(const uint8_t* data, size_t size) {
#if defined(__x86_64__)
  static const bool quick = __builtin_cpu_supports("sse4.2");
  if (quick) return QuickCrc(data, size);
#elif defined(__aarch64__)
  static const bool quick = getauxval(AT_HWCAP) & kHasCrc32;
  if (quick) return QuickCrc(data, size);
#endif
  return PortableCrc(data, size);
}

uint32_t MaskedCrc32c(const uint8_t* data, size_t size) {
  const uint32_t crc = Crc32c(data, size);
  return (crc >> 15 | crc << 17) + kMaskStep;
}

}  // namespace dragon
