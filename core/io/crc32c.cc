// CRC-32C, byte by byte and by three times eight bytes at once.
#include "core/io/crc32c.h"

#include <cstring>
#include <vector>

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

[[maybe_unused]] inline uint64_t Word(const uint8_t* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof(word));
  return word;
}

uint32_t PortableCrc(const uint8_t* data, size_t size) {
  static const ByteTable table;
  uint32_t state = ~0u;
  for (size_t i = 0; i < size; ++i) state = state >> 8 ^ table.of[(state ^ data[i]) & 0xFF];
  return ~state;
}

#if defined(__x86_64__)
bool HasInstruction() { return __builtin_cpu_supports("sse4.2"); }

__attribute__((target("sse4.2"))) uint32_t RunOne(uint32_t begin, const uint8_t* data, size_t size) {
  uint64_t state = begin;
  for (; size >= 8; data += 8, size -= 8) state = _mm_crc32_u64(state, Word(data));
  uint32_t rest = static_cast<uint32_t>(state);
  for (; size; ++data, --size) rest = _mm_crc32_u8(rest, *data);
  return rest;
}

__attribute__((target("sse4.2"))) void RunThree(uint32_t (&states)[3], const uint8_t* data, size_t length) {
  uint64_t a = states[0], b = states[1], c = states[2];
  for (size_t i = 0; i < length; i += 8) {
    a = _mm_crc32_u64(a, Word(data + i));
    b = _mm_crc32_u64(b, Word(data + length + i));
    c = _mm_crc32_u64(c, Word(data + 2 * length + i));
  }
  states[0] = static_cast<uint32_t>(a), states[1] = static_cast<uint32_t>(b), states[2] = static_cast<uint32_t>(c);
}
#elif defined(__aarch64__)
/// Every processor since ARMv8.1 has the instructions; the Raspberry Pi 3's has them, too.
constexpr unsigned long kHasCrc32 = 1 << 7;  // NOLINT: HWCAP_CRC32, of the type of getauxval

bool HasInstruction() { return getauxval(AT_HWCAP) & kHasCrc32; }

__attribute__((target("+crc"))) uint32_t RunOne(uint32_t state, const uint8_t* data, size_t size) {
  for (; size >= 8; data += 8, size -= 8) state = __crc32cd(state, Word(data));
  for (; size; ++data, --size) state = __crc32cb(state, *data);
  return state;
}

__attribute__((target("+crc"))) void RunThree(uint32_t (&states)[3], const uint8_t* data, size_t length) {
  for (size_t i = 0; i < length; i += 8) {
    states[0] = __crc32cd(states[0], Word(data + i));
    states[1] = __crc32cd(states[1], Word(data + length + i));
    states[2] = __crc32cd(states[2], Word(data + 2 * length + i));
  }
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)
/// What a run of zeros makes of a state. States are linear in their bits, so four tables of a byte each tell it.
class Zeros {
 public:
  explicit Zeros(size_t length) : length_(length), of_{} {
    const std::vector<uint8_t> zeros(length);
    for (int bit = 0; bit < 32; ++bit) {
      const uint32_t shifted = RunOne(1u << bit, zeros.data(), length);
      for (int byte = 0; byte < 256; ++byte) {
        if (byte >> bit % 8 & 1) of_[bit / 8][byte] ^= shifted;
      }
    }
  }
  /// The state after all whole triples of runs of some data, which moves on.
  uint32_t Consume(uint32_t state, const uint8_t** data, size_t* size) const {
    for (; *size >= 3 * length_; *data += 3 * length_, *size -= 3 * length_) {
      uint32_t states[3] = {state, 0, 0};
      RunThree(states, *data, length_);
      state = Shift(Shift(states[0]) ^ states[1]) ^ states[2];
    }
    return state;
  }

 private:
  uint32_t Shift(uint32_t state) const {
    return of_[0][state & 0xFF] ^ of_[1][state >> 8 & 0xFF] ^ of_[2][state >> 16 & 0xFF] ^ of_[3][state >> 24];
  }

  size_t length_;
  uint32_t of_[4][256];
};

/// The instruction takes three cycles but starts each cycle: three runs at once take no longer than one.
uint32_t QuickCrc(const uint8_t* data, size_t size) {
  static const Zeros longer(4096), shorter(256), shortest(64);
  uint32_t state = longer.Consume(~0u, &data, &size);
  state = shorter.Consume(state, &data, &size);
  state = shortest.Consume(state, &data, &size);
  return ~RunOne(state, data, size);
}
#endif

}  // namespace

uint32_t Crc32c(const uint8_t* data, size_t size) {
#if defined(__x86_64__) || defined(__aarch64__)
  static const bool quick = HasInstruction();
  if (quick) return QuickCrc(data, size);
#endif
  return PortableCrc(data, size);
}

uint32_t MaskedCrc32c(const uint8_t* data, size_t size) {
  const uint32_t crc = Crc32c(data, size);
  return (crc >> 15 | crc << 17) + kMaskStep;
}

}  // namespace dragon
