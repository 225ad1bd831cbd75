// The caching allocator against a model that is a list of live blocks, and the promises a model cannot see.
#include "core/device/allocator.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "tests/cpp/check.h"

namespace dragon {

const Device kHost;

MemoryStats Now() { return MemoryStatsOf(kHost); }

/// A live block, filled with a byte of its own.
struct Block {
  uint8_t* data;
  size_t bytes;
  uint8_t mark;
};

bool Intact(const Block& block) {
  for (size_t i = 0; i < block.bytes; ++i) {
    if (block.data[i] != block.mark) return false;
  }
  return true;
}

/// Sizes that meet every kind of class and its edges.
size_t RandomSize(std::mt19937& random) {
  const size_t base = size_t{1} << (random() % 23);
  switch (random() % 4) {
    case 0:
      return base;
    case 1:
      return base + 1;
    case 2:
      return base - 1;
    default:
      return random() % (2 * base);
  }
}

TEST(SizeClassesWasteAtMostAnEighth) {
  for (size_t bytes = 0; bytes < 300000; bytes += bytes < 5000 ? 1 : 37) {
    const int index = SizeClass::Of(bytes);
    const size_t size = SizeClass::Bytes(index);
    CHECK(size >= bytes && size % 64 == 0);
    CHECK(index == 0 || SizeClass::Bytes(index - 1) < bytes);
    CHECK(bytes <= 512 || (size - bytes) * 8 <= bytes);
  }
  CHECK(SizeClass::Of(SizeClass::kLargest) < SizeClass::kCount);
}

TEST(RandomUseAgreesWithAModel) {
  std::mt19937 random(7);
  std::vector<Block> live;
  const MemoryStats start = Now();
  ResetPeak(kHost);
  int64_t current = 0, peak = 0, large = 0, allocations = 0, frees = 0;
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || random() % 100 < (current > (64 << 20) ? 20 : 55)) {
      const size_t bytes = RandomSize(random);
      auto* data = static_cast<uint8_t*>(AllocateHost(bytes));
      CHECK(data != nullptr && reinterpret_cast<uintptr_t>(data) % 64 == 0);
      const auto mark = static_cast<uint8_t>(random());
      std::memset(data, mark, bytes);
      live.push_back({data, bytes, mark});
      current += bytes, peak = std::max(peak, current), ++allocations;
      if (bytes > 32768) large += bytes;
    } else {
      const size_t at = random() % live.size();
      const Block block = live[at];
      CHECK(Intact(block));
      FreeHost(block.data, block.bytes);
      live[at] = live.back();
      live.pop_back();
      current -= block.bytes, ++frees;
      if (block.bytes > 32768) large -= block.bytes;
    }
    if (step % 1000 == 0) EmptyCache(kHost);
    if (step % 97) continue;
    const MemoryStats now = Now();
    CHECK(now.current - start.current == current);
    CHECK(now.peak - start.current == peak);
    CHECK(now.large - start.large == large && now.small + now.large == now.current);
    CHECK(now.allocations - start.allocations == allocations && now.frees - start.frees == frees);
    CHECK(now.reserved >= now.current + now.cached && now.reserved <= now.peak_reserved);
  }
  for (const Block& block : live) FreeHost(block.data, block.bytes);
  EmptyCache(kHost);
  CHECK(Now().current == start.current && Now().cached == 0);
}

TEST(BlocksMayBeFreedByAnotherThread) {
  const MemoryStats start = Now();
  for (int round = 0; round < 20; ++round) {
    std::vector<Block> blocks;
    std::thread maker([&] {
      std::mt19937 random(round);
      for (int i = 0; i < 500; ++i) {
        const size_t bytes = RandomSize(random) % 100000;
        blocks.push_back({static_cast<uint8_t*>(AllocateHost(bytes)), bytes, static_cast<uint8_t>(i)});
        std::memset(blocks.back().data, i, bytes);
      }
    });
    maker.join();
    for (const Block& block : blocks) {
      CHECK(Intact(block));
      FreeHost(block.data, block.bytes);
    }
  }
  CHECK(Now().current == start.current);
  EmptyCache(kHost);
  CHECK(Now().cached == 0);
}

TEST(ManyThreadsAtOnce) {
  const MemoryStats start = Now();
  std::vector<std::thread> threads;
  std::atomic<int> broken{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([t, &broken] {
      std::mt19937 random(t);
      std::vector<Block> live;
      for (int step = 0; step < 5000; ++step) {
        if (live.empty() || random() % 2) {
          const size_t bytes = RandomSize(random) % 200000;
          live.push_back({static_cast<uint8_t*>(AllocateHost(bytes)), bytes, static_cast<uint8_t>(step)});
          std::memset(live.back().data, step, bytes);
        } else {
          std::swap(live[random() % live.size()], live.back());
          broken += !Intact(live.back());
          FreeHost(live.back().data, live.back().bytes);
          live.pop_back();
        }
        if (step % 1000 == 999) EmptyCache(kHost);
      }
      for (const Block& block : live) FreeHost(block.data, block.bytes);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(broken == 0);
  CHECK(Now().current == start.current);
}

TEST(LargeBlocksFaultNoPageTwice) {
  const size_t bytes = 40000000;
  auto round = [&] {
    void* a = AllocateHost(bytes);
    void* b = AllocateHost(bytes);
    std::memset(a, 1, bytes), std::memset(b, 2, bytes);
    FreeHost(a, bytes), FreeHost(b, bytes);
  };
  round();
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < 10; ++i) round();
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_minflt - before.ru_minflt < 50);
  EmptyCache(kHost);
}

TEST(NeighboursThatAreFreeServeAsOne) {
  EmptyCache(kHost);
  constexpr size_t kBytes = 3 << 20;
  void* parts[] = {AllocateHost(kBytes), AllocateHost(kBytes), AllocateHost(kBytes), AllocateHost(kBytes)};
  const int64_t reserved = Now().reserved;
  for (int i : {2, 0, 1}) FreeHost(parts[i], kBytes);
  void* whole = AllocateHost(3 * kBytes);
  CHECK(Now().reserved == reserved);
  FreeHost(whole, 3 * kBytes);
  std::vector<void*> pieces;
  for (int i = 0; i < 9; ++i) pieces.push_back(AllocateHost(1 << 20));
  CHECK(Now().reserved == reserved);
  for (void* piece : pieces) FreeHost(piece, 1 << 20);
  FreeHost(parts[3], kBytes);
  void* longer = AllocateHost(5 * kBytes);  // what is kept is made longer, not left beside
  CHECK(Now().reserved == reserved + static_cast<int64_t>(kBytes));
  FreeHost(longer, 5 * kBytes);
  EmptyCache(kHost);
}

/// Blocks of ever other sizes, each alive while the next few are made, as the layers of a net ask for them.
TEST(SteadyWorkOfManySizesFaultsNothingAndKeepsLittle) {
  EmptyCache(kHost);
  ResetPeak(kHost);
  std::mt19937 random(3);
  std::vector<size_t> sizes;
  for (int i = 0; i < 150; ++i) sizes.push_back((size_t{1} << 16) + random() % (size_t{1} << (18 + i % 8)));
  auto round = [&] {
    std::vector<void*> live(sizes.size(), nullptr);
    for (size_t i = 0; i < sizes.size(); ++i) {
      live[i] = AllocateHost(sizes[i]);
      std::memset(live[i], 1, sizes[i]);
      const size_t last = i % 5;  // some layers are read again later
      if (i >= last && live[i - last]) {
        FreeHost(live[i - last], sizes[i - last]);
        live[i - last] = nullptr;
      }
    }
    for (size_t i = 0; i < sizes.size(); ++i) FreeHost(live[i], sizes[i]);
  };
  for (int i = 0; i < 3; ++i) round();
  const int64_t reserved = Now().reserved;
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < 10; ++i) round();
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_minflt - before.ru_minflt < 20);
  CHECK(Now().reserved == reserved && Now().peak_reserved * 100 <= Now().peak * 115);
  EmptyCache(kHost);
}

TEST(WhatIsNotAskedForAgainIsDropped) {
  EmptyCache(kHost);
  for (size_t bytes = 10 << 20; bytes < (300 << 20); bytes += bytes / 8) {
    FreeHost(AllocateHost(bytes), bytes);  // never touched: costs address space only
  }
  const MemoryStats now = Now();
  CHECK(now.reserved <= std::max<int64_t>(256 << 20, now.peak + now.peak / 2));
  EmptyCache(kHost);
}

TEST(ImpossibleSizesAreMemoryErrors) {
  for (size_t bytes : {std::numeric_limits<size_t>::max(), size_t{1} << 63, size_t{1} << 47, (size_t{1} << 46) + 1}) {
    CHECK_THROWS(AllocateHost(bytes), MemoryError, "allocate: got a request for");
  }
}

TEST(ALimitHoldsAndTheCacheGivesWay) {
  EmptyCache(kHost);
  const int64_t limit = Now().limit, reserved = Now().reserved;
  SetMemoryLimit(kHost, reserved + (20 << 20));
  void* first = AllocateHost(9 << 20);
  CHECK_THROWS(AllocateHost(12 << 20), MemoryError, "MiB in use");
  FreeHost(first, 9 << 20);
  void* second = AllocateHost(18 << 20);  // fits only if the first block leaves the cache
  FreeHost(second, 18 << 20);
  std::vector<void*> small;
  CHECK_THROWS(for (int i = 0; i < 100000; ++i) small.push_back(AllocateHost(1000)), MemoryError, "limit");
  CHECK(small.size() > 15000);
  for (void* pointer : small) FreeHost(pointer, 1000);
  SetMemoryLimit(kHost, limit);
  CHECK_THROWS(SetMemoryLimit(kHost, -1), ValueError, "at least 0");
}

TEST(AChildGoesOnAllocating) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) FreeHost(AllocateHost(50000), 50000);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (size_t bytes : {100, 40000, 5000000}) {
        void* data = AllocateHost(bytes);
        std::memset(data, 1, bytes);
        FreeHost(data, bytes);
      }
      EmptyCache(kHost);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  busy.join();
}

}  // namespace dragon

TEST_MAIN()
