// Turns every real dtype into unsigned keys that order as the numbers do, so that one sorter serves all of them.
#pragma once

#include <cstdint>

#include "core/base/types.h"
#include "core/kernels/kernel.h"

namespace dragon::DRAGON_DEVICE {

/// The key of NaN: above every number, whatever its sign and payload.
template <typename T>
inline constexpr uint64_t kNaNKey = sizeof(T) == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * sizeof(T) % 64)) - 1;

/// A key of sizeof(T) bytes that grows with the value. -0 and +0 share one.
template <typename T>
DRAGON_FN uint64_t OrderedKey(T value) {
  if constexpr (!kIsFloating<T>) {
    if constexpr (std::is_signed_v<T>) {
      constexpr uint64_t kSign = uint64_t{1} << (8 * sizeof(T) - 1);
      return (static_cast<uint64_t>(value) + kSign) & kNaNKey<T>;
    } else {
      return value;
    }
  } else {
    using U = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    constexpr U kSign = static_cast<U>(U{1} << (8 * sizeof(T) - 1));
    constexpr U kInfinity = sizeof(T) == 8   ? static_cast<U>(0x7FF0000000000000ull)
                            : sizeof(T) == 4 ? static_cast<U>(0x7F800000u)
                                             : static_cast<U>(std::is_same_v<T, float16> ? 0x7C00 : 0x7F80);
    const U word = bits::Cast<U>(value);
    const U magnitude = static_cast<U>(word & static_cast<U>(~kSign));
    if (magnitude > kInfinity) return kNaNKey<T>;
    if (magnitude == 0) return kSign;
    return static_cast<U>(word & kSign ? ~word : word | kSign);
  }
}

/// Whether a key tells its value: those of zeros leave out the sign, those of NaN which one it is.
template <typename T>
DRAGON_FN bool TellsValue(uint64_t key) {
  return !kIsFloating<T> || (key != kNaNKey<T> && key != uint64_t{1} << (8 * sizeof(T) - 1));
}

/// The value that has this key.
template <typename T>
DRAGON_FN T ValueOfKey(uint64_t key) {
  constexpr uint64_t kSign = uint64_t{1} << (8 * sizeof(T) - 1);
  if constexpr (!kIsFloating<T>) {
    return static_cast<T>(std::is_signed_v<T> ? key - kSign : key);
  } else {
    using U = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    return bits::Cast<T>(static_cast<U>(key & kSign ? key ^ kSign : ~key));
  }
}

/// A key above, its place in the line below: distinct, so that any sort of them is stable.
using Packed = uint64_t;
__extension__ using WidePacked = unsigned __int128;
template <typename T>
using PackedOf = std::conditional_t<sizeof(T) == 8, WidePacked, Packed>;

template <typename P>
inline constexpr int kPlaceBits = sizeof(P) * 4;
template <typename P>
DRAGON_FN int64_t Place(P packed) {
  return static_cast<int64_t>(packed & ((P{1} << kPlaceBits<P>)-1));
}
template <typename P>
DRAGON_FN uint64_t Key(P packed) {
  return static_cast<uint64_t>(packed >> kPlaceBits<P>);
}

/// Sort `count` elements whose keys have `key_bits` bits. The result is in `data`; `spare` has as much room. Long lists
/// are divided among threads if the caller is not one of several already.
void SortPacked(Packed* data, Packed* spare, int64_t count, int key_bits);
void SortPacked(WidePacked* data, WidePacked* spare, int64_t count, int key_bits);

/// Longer lines than a 32-bit place can count have to be refused.
inline void CheckLine(const char* op, int64_t size) {
  if (size > int64_t{0xFFFFFFFF}) throw ValueError(op).Got("an axis of size ", size).Expected("at most 4294967295");
}

/// Fill `packed` with a line of x; with `invert`, so that the largest sorts first.
template <typename T>
void PackLine(PackedOf<T>* packed, const T* x, int64_t step, int64_t count, bool invert) {
  using P = PackedOf<T>;
  const uint64_t flip = invert ? kNaNKey<T> : 0;
  for (int64_t i = 0; i < count; ++i) {
    packed[i] = (static_cast<P>(OrderedKey(x[i * step]) ^ flip) << kPlaceBits<P>) | static_cast<P>(i);
  }
}

}  // namespace dragon::DRAGON_DEVICE
