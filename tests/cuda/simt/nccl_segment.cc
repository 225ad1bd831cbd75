// Shared memory that goes with the last process that maps it, and with its name.
#include "tests/cuda/simt/nccl_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace simt {

Segment* MapSegment(const std::string& name) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (ftruncate(file, sizeof(Segment)) == 0)
    memory = mmap(nullptr, sizeof(Segment), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<Segment*>(memory);  // all zeros is how it begins
}

void UnmapSegment(Segment* segment) {
  if (segment) munmap(segment, sizeof(Segment));
}

void ForgetSegment(const std::string& name) { shm_unlink(name.c_str()); }

}  // namespace simt
