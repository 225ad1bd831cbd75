// The debugging allocator: what it counts, what it poisons, and the mistakes it dies of.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/device/allocator.h"
#include "tests/cpp/check.h"

namespace dragon {

/// True if `mistake` aborts the process that makes it.
template <typename F>
bool Dies(F&& mistake) {
  return test::SignalOf(mistake) == SIGABRT;
}

TEST(FreshMemoryIsNaNInEveryDType) {
  void* data = AllocateHost(64);
  CHECK(std::isnan(*static_cast<float*>(data)) && std::isnan(*static_cast<double*>(data)));
  CHECK(std::isnan(static_cast<float>(*static_cast<float16*>(data))));
  CHECK(std::isnan(static_cast<float>(*static_cast<bfloat16*>(data))));
  FreeHost(data, 64);
}

TEST(CountsAsTheOtherOneDoes) {
  const Device host;
  const MemoryStats before = MemoryStatsOf(host);
  void* a = AllocateHost(100);
  void* b = AllocateHost(100000);
  const MemoryStats during = MemoryStatsOf(host);
  CHECK(during.current - before.current == 100100 && during.large - before.large == 100000);
  CHECK(during.reserved >= during.current);
  FreeHost(a, 100), FreeHost(b, 100000), FreeHost(nullptr, 5);
  CHECK(MemoryStatsOf(host).current == before.current);
  CHECK(MemoryStatsOf(host).cached > 0);
  EmptyCache(host);
  CHECK(MemoryStatsOf(host).cached == 0);
  CHECK_THROWS(AllocateHost(~size_t{0}), MemoryError, "allocate");
}

TEST(MistakesAreFatal) {
  CHECK(!Dies([] { FreeHost(AllocateHost(10), 10); }));
  CHECK(Dies([] { FreeHost(AllocateHost(10), 11); }));
  for (size_t bytes : {0, 1, 63, 64, 1000}) {
    CHECK(Dies([bytes] {
      auto* data = static_cast<volatile char*>(AllocateHost(bytes));
      data[bytes] = 1;
      FreeHost(const_cast<char*>(data), bytes);
    }));
    CHECK(Dies([bytes] {
      auto* data = static_cast<volatile char*>(AllocateHost(bytes));
      data[-1] = 1;
      FreeHost(const_cast<char*>(data), bytes);
    }));
  }
  CHECK(Dies([] {
    void* data = AllocateHost(10);
    FreeHost(data, 10), FreeHost(data, 10);
  }));
  CHECK(Dies([] {
    auto* data = static_cast<volatile char*>(AllocateHost(10));
    FreeHost(const_cast<char*>(data), 10);
    data[3] = 1;
    EmptyCache(Device{});
  }));
}

}  // namespace dragon

int main(int argc, char** argv) {
  setenv("DRAGON_ALLOCATOR", "naive", 1);
  return dragon::test::Main(argc, argv);
}
