// Shared-memory blocks over memfd_create and shm_open.
#include "core/device/shared.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/device/host_cache.h"

namespace dragon {

namespace {

std::atomic<int64_t> g_mapped{0};

/// A descriptor that is closed unless it is released.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

/// POSIX wants one leading slash and no other.
std::string PathOf(const std::string& name) {
  if (name.empty() || name.size() > 250 || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    throw ValueError("shared memory").Got("the name '", name, "'").Expected("1 to 250 characters without '/'");
  }
  return "/" + name;
}

[[noreturn]] void Fail(const char* step, size_t bytes) {
  const int error = errno;
  if (error == ENOMEM || error == ENOSPC) {
    throw MemoryError("shared memory").Got("a request for ", bytes, " bytes").Expected("as much free shared memory");
  }
  throw RuntimeError("shared memory").Says(step, " failed: ", std::strerror(error));
}

/// Give a new block its size, with memory behind it now rather than a bus error when it is first touched.
void Grow(int descriptor, size_t bytes) {
  if (bytes > (size_t{1} << 46)) errno = ENOMEM, Fail("allocating", bytes);
  if (bytes == 0) return;
  const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (error) errno = error, Fail("allocating", bytes);
}

void CheckHolds(int descriptor, size_t bytes) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) Fail("asking for the size", bytes);
  if (bytes <= static_cast<size_t>(info.st_size)) return;
  throw ValueError("shared memory").Got("a block of ", info.st_size, " bytes").Expected("at least ", bytes);
}

}  // namespace

int64_t SharedBytesMapped() { return g_mapped.load(std::memory_order_relaxed); }

SharedBlock::SharedBlock(int descriptor, std::string name, size_t bytes) : bytes_(bytes), name_(std::move(name)) {
  Descriptor owned(descriptor);
  // An empty block still gets an address.
  data_ = mmap(nullptr, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data_ == MAP_FAILED) Fail("mapping", bytes);
  descriptor_ = owned.release();
  g_mapped.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
}

SharedBlock SharedBlock::Create(size_t bytes) {
  Descriptor file(memfd_create("dragon", MFD_CLOEXEC));
  if (file.get() < 0) Fail("creating", bytes);
  Grow(file.get(), bytes);
  return SharedBlock(file.release(), "", bytes);
}

SharedBlock SharedBlock::CreateNamed(const std::string& name, size_t bytes) {
  const std::string path = PathOf(name);
  Descriptor file(shm_open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (file.get() < 0 && errno == EEXIST) {
    throw RuntimeError("shared memory").Got("the name '", name, "', which is taken").Expected("a new name");
  }
  if (file.get() < 0) Fail("creating", bytes);
  try {
    Grow(file.get(), bytes);
    return SharedBlock(file.release(), name, bytes);
  } catch (...) {
    shm_unlink(path.c_str());
    throw;
  }
}

SharedBlock SharedBlock::Open(const std::string& name, size_t bytes) {
  Descriptor file(shm_open(PathOf(name).c_str(), O_RDWR | O_CLOEXEC, 0));
  if (file.get() < 0 && errno == ENOENT) {
    throw ValueError("shared memory").Got("the name '", name, "'").Expected("the name of a block that exists");
  }
  if (file.get() < 0) Fail("opening", bytes);
  CheckHolds(file.get(), bytes);
  return SharedBlock(file.release(), name, bytes);
}

SharedBlock SharedBlock::Open(int descriptor, size_t bytes) {
  Descriptor file(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (file.get() < 0) Fail("duplicating the descriptor", bytes);
  CheckHolds(file.get(), bytes);
  return SharedBlock(file.release(), "", bytes);
}

bool SharedBlock::Unlink(const std::string& name) { return shm_unlink(PathOf(name).c_str()) == 0; }

SharedBlock::SharedBlock(SharedBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)) {}

SharedBlock& SharedBlock::operator=(SharedBlock&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(name_, other.name_);
  return *this;
}

SharedBlock::~SharedBlock() {
  if (!data_) return;
  munmap(data_, bytes_ ? bytes_ : 1);
  close(descriptor_);
  g_mapped.fetch_sub(static_cast<int64_t>(bytes_), std::memory_order_relaxed);
}

}  // namespace dragon
