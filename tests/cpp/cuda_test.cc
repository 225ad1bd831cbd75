// The CUDA library enters the engine from outside: it must load anywhere, and work or say cleanly why it cannot.
#include <vector>

#include "core/device/device.h"
#include "core/device/library.h"
#include "tests/cpp/check.h"

namespace dragon {

Backend& Load() {
  if (!HasBackend(DeviceType::kCUDA)) LoadLibrary(LibraryFolder() + "/libdragon_cuda.so");
  return BackendOf(DeviceType::kCUDA);
}

TEST(WithoutADeviceTheDriverIsQuoted) {
  Backend& cuda = Load();
  if (cuda.Count() == 0) CHECK_THROWS(cuda.Allocate(0, 64), RuntimeError, "cuda");
}

TEST(NumbersGoToTheDeviceAndBack) {
  Backend& cuda = Load();
  for (int index = 0; index < cuda.Count(); ++index) {
    const std::vector<int> sent = {1, 2, 3, 4};
    std::vector<int> received(4);
    const size_t bytes = sent.size() * sizeof(int);
    void* first = cuda.Allocate(index, bytes);
    void* second = cuda.Allocate(index, bytes);
    CHECK(first && second);
    cuda.CopyFromHost(index, first, sent.data(), bytes);
    cuda.CopyWithin(index, second, first, bytes);
    cuda.CopyToHost(index, received.data(), second, bytes);
    cuda.Free(index, first, bytes);
    cuda.Free(index, second, bytes);
    CHECK(received == sent);
  }
}

TEST(MoreMemoryThanThereIsIsNull) {
  Backend& cuda = Load();
  if (cuda.Count() > 0) CHECK(cuda.Allocate(0, size_t{1} << 50) == nullptr);
}

}  // namespace dragon

TEST_MAIN()
