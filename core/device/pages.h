// The unit in which the system gives memory and takes it back.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace dragon {

#if defined(__x86_64__)
constexpr size_t PageBytes() { return 4096; }  // there is no other
#else
/// The kernel's choice: 4 KiB, 16 (Raspberry Pi 5) or 64 (some servers).
inline size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}
#endif

}  // namespace dragon
