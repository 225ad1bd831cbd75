// Reading of files by place, until all is there.
#include "core/io/byte_source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace dragon {

size_t FileBytes::ReadAt(uint64_t offset, uint8_t* bytes, size_t size) {
  constexpr size_t kMostAtOnce = 1 << 30;  // the system takes no more than two gigabytes
  size_t done = 0;
  while (done < size) {
    if (offset + done > static_cast<uint64_t>(INT64_MAX)) break;  // no file reaches so far
    const ssize_t got =
        pread(descriptor_, bytes + done, std::min(size - done, kMostAtOnce), static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw RuntimeError("read").Says("the system refuses: ", std::strerror(errno));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace dragon
