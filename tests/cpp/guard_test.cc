// The allocator whose blocks end at dead pages: what it counts, and the very access that ends the process.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/device/allocator.h"
#include "tests/cpp/check.h"

namespace dragon {

using test::SignalOf;

volatile char g_seen;

TEST(BlocksAreAlignedAndFilledWithNaN) {
  for (size_t bytes : {0, 1, 63, 64, 65, 4000, 4096, 100000}) {
    void* data = AllocateHost(bytes);
    CHECK(reinterpret_cast<uintptr_t>(data) % 64 == 0);
    if (bytes >= 8) CHECK(std::isnan(*static_cast<float*>(data)) && std::isnan(*static_cast<double*>(data)));
    std::memset(data, 1, bytes);
    FreeHost(data, bytes);
  }
}

TEST(CountsAsTheOthersDo) {
  const Device host;
  const MemoryStats before = MemoryStatsOf(host);
  void* a = AllocateHost(100);
  void* b = AllocateHost(100000);
  const MemoryStats during = MemoryStatsOf(host);
  CHECK(during.current - before.current == 100100 && during.large - before.large == 100000);
  CHECK(during.reserved - before.reserved >= 100100);
  FreeHost(a, 100), FreeHost(b, 100000), FreeHost(nullptr, 5);
  CHECK(MemoryStatsOf(host).current == before.current && MemoryStatsOf(host).reserved == before.reserved);
  EmptyCache(host);
  CHECK_THROWS(AllocateHost(~size_t{0}), MemoryError, "allocate");
  SetMemoryLimit(host, MemoryStatsOf(host).reserved + (1 << 20));
  CHECK_THROWS(AllocateHost(2 << 20), MemoryError, "limit");
  SetMemoryLimit(host, int64_t{1} << 40);
}

TEST(ReadingAndWritingPastTheEndDiesAtOnce) {
  for (size_t bytes : {64, 128, 4096, 100032}) {
    CHECK(SignalOf([bytes] { static_cast<volatile char*>(AllocateHost(bytes))[bytes] = 1; }) == SIGSEGV);
    CHECK(SignalOf([bytes] { g_seen = static_cast<volatile char*>(AllocateHost(bytes))[bytes]; }) == SIGSEGV);
    CHECK(SignalOf([bytes] { static_cast<volatile char*>(AllocateHost(bytes))[bytes - 1] = 1; }) == 0);
  }
  // The alignment leaves up to 63 bytes, which are looked at when the block is freed.
  for (size_t bytes : {1, 63, 1000}) {
    CHECK(SignalOf([bytes] {
            auto* data = static_cast<volatile char*>(AllocateHost(bytes));
            data[bytes] = 1;
            FreeHost(const_cast<char*>(data), bytes);
          }) == SIGABRT);
    CHECK(SignalOf([bytes] { static_cast<volatile char*>(AllocateHost(bytes))[(bytes + 63) / 64 * 64] = 1; }) ==
          SIGSEGV);
  }
}

TEST(FreedBlocksDieAtOnce) {
  for (size_t bytes : {8, 100000}) {
    CHECK(SignalOf([bytes] {
            auto* data = static_cast<volatile char*>(AllocateHost(bytes));
            FreeHost(const_cast<char*>(data), bytes);
            g_seen = data[3];
          }) == SIGSEGV);
  }
}

TEST(OtherMistakesAreFatal) {
  CHECK(SignalOf([] { FreeHost(AllocateHost(10), 10); }) == 0);
  CHECK(SignalOf([] { FreeHost(AllocateHost(10), 11); }) == SIGABRT);
  CHECK(SignalOf([] { FreeHost(static_cast<char*>(AllocateHost(100)) + 8, 100); }) == SIGABRT);
  CHECK(SignalOf([] {
          void* data = AllocateHost(10);
          FreeHost(data, 10), FreeHost(data, 10);
        }) == SIGABRT);
  CHECK(SignalOf([] {
          auto* data = static_cast<volatile char*>(AllocateHost(1000));
          data[-1] = 1;
          FreeHost(const_cast<char*>(data), 1000);
        }) == SIGABRT);
}

TEST(MoreBlocksThanTheKernelHasAreasFor) {
  std::vector<void*> blocks;
  for (int i = 0; i < 70000; ++i) blocks.push_back(AllocateHost(40));
  for (void* block : blocks) FreeHost(block, 40);
  CHECK(SignalOf([] { static_cast<volatile char*>(AllocateHost(64))[64] = 1; }) == SIGSEGV);
}

}  // namespace dragon

int main(int argc, char** argv) {
  setenv("DRAGON_ALLOCATOR", "guard", 1);
  return dragon::test::Main(argc, argv);
}
