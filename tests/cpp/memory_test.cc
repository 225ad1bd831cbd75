// UnifiedMemory against a model that copies everything eagerly, on the fake device; shared blocks; names of devices.
#include "core/device/memory.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/device/allocator.h"
#include "core/device/library.h"
#include "core/device/parallel.h"
#include "core/device/shared.h"
#include "tests/cpp/check.h"

namespace dragon {

const Device kHost, kFake0{DeviceType::kFake, 0}, kFake1{DeviceType::kFake, 1};
using State = UnifiedMemory::State;

struct Counts {
  int64_t from_host, to_host, within, bytes;
};

/// Load the fake device on first use; what it has copied so far.
Counts Copies() {
  static auto* counts = [] {
    LoadLibrary(LibraryFolder() + "/libdragon_fake.so");
    void* library = dlopen((LibraryFolder() + "/libdragon_fake.so").c_str(), RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<void (*)(int64_t*)>(dlsym(library, "dragon_fake_counts"));
  }();
  int64_t now[4];
  counts(now);
  return {now[0], now[1], now[2], now[3]};
}

/// Write to and read from a device as its kernels would.
void Poke(Device device, void* at, const void* from, size_t bytes) {
  BackendOf(device.type).CopyFromHost(device.index, at, from, bytes);
}
std::string Peek(Device device, const void* at, size_t bytes) {
  std::string text(bytes, 0);
  BackendOf(device.type).CopyToHost(device.index, text.data(), at, bytes);
  return text;
}

TEST(DataMovesOnlyWhenNeeded) {
  Copies();
  UnifiedMemory memory(100);
  CHECK(memory.state() == State::kUninitialized);
  std::memset(memory.mutable_host(), 'a', 100);
  CHECK(memory.state() == State::kAtHost);
  Counts before = Copies();
  const void* device = memory.device(kFake0);
  CHECK(memory.state() == State::kSynced && Copies().from_host == before.from_host + 1);
  CHECK(memory.device(kFake0) == device && memory.host() != device);
  CHECK(Copies().from_host == before.from_host + 1 && Copies().to_host == before.to_host);
  memory.mutable_device(kFake0);
  CHECK(memory.state() == State::kAtDevice && Copies().from_host == before.from_host + 1);
  CHECK(static_cast<const char*>(memory.host())[99] == 'a' && memory.state() == State::kSynced);
  CHECK(Copies().to_host == before.to_host + 1);
  CHECK(memory.device(kHost) == memory.host());
}

TEST(RandomUseAgreesWithAnEagerModel) {
  Copies();
  std::mt19937 random(11);
  const int64_t in_use = MemoryStatsOf(kFake0).current + MemoryStatsOf(kFake1).current;
  for (int round = 0; round < 200; ++round) {
    const size_t bytes = random() % 3 ? random() % 500 : 0;
    std::string truth(bytes, 0), lent(bytes, 'l');
    int released = 0;
    std::unique_ptr<UnifiedMemory> memory;
    const Device home = random() % 2 ? kHost : kFake0;
    switch (random() % 3) {
      case 0:
        memory = std::make_unique<UnifiedMemory>(bytes);
        break;
      case 1:
        memory = std::make_unique<UnifiedMemory>(home, bytes);
        break;
      default:
        memory = std::make_unique<UnifiedMemory>(lent.data(), bytes, [&released] { ++released; });
    }
    const bool borrowed = memory->is_borrowed();
    if (borrowed) truth = lent;
    if (!borrowed && bytes) std::memset(memory->mutable_host(), 0, bytes);
    for (int step = 0; step < 40; ++step) {
      const Device device = random() % 2 ? kFake0 : kFake1;
      const size_t at = bytes ? random() % bytes : 0;
      const char letter = static_cast<char>('A' + random() % 26);
      switch (random() % 5) {
        case 0:
          CHECK(bytes == 0 || !std::memcmp(memory->host(), truth.data(), bytes));
          break;
        case 1:
          CHECK(Peek(device, memory->device(device), bytes) == truth);
          break;
        case 2: {
          auto* data = static_cast<char*>(memory->mutable_host());
          if (bytes) data[at] = truth[at] = letter;
          break;
        }
        case 3: {
          auto* data = static_cast<char*>(memory->mutable_device(device));
          if (bytes) Poke(device, data + at, &(truth[at] = letter), 1);
          break;
        }
        default:
          memory->DropSpareCopy();
      }
    }
    CHECK(bytes == 0 || !std::memcmp(memory->host(), truth.data(), bytes));
    CHECK(!borrowed || (memory->host() == lent.data() && released == 0));
    memory.reset();
    CHECK(released == borrowed);
  }
  CHECK(MemoryStatsOf(kFake0).current + MemoryStatsOf(kFake1).current == in_use);
}

TEST(ManyReadersMoveOnce) {
  UnifiedMemory memory(1000);
  std::memset(memory.mutable_host(), 'x', 1000);
  const Counts before = Copies();
  std::vector<std::thread> readers;
  for (int i = 0; i < 8; ++i) readers.emplace_back([&] { memory.device(kFake1); });
  for (auto& reader : readers) reader.join();
  CHECK(Copies().from_host == before.from_host + 1);
}

TEST(AFullDeviceIsAMemoryError) {
  UnifiedMemory memory(size_t{900} << 20);
  Copies();
  UnifiedMemory big(kFake1, size_t{600} << 20);
  CHECK_THROWS(UnifiedMemory(kFake1, size_t{600} << 20), MemoryError, "on fake:1");
  CHECK_THROWS(memory.mutable_device(kFake1), MemoryError, "in use");
  CHECK(memory.state() == State::kUninitialized);
  CHECK_THROWS(UnifiedMemory(Device{DeviceType::kFake, 2}, 5), ValueError, "fake:2");
  CHECK_THROWS(UnifiedMemory(Device{DeviceType::kMeta, 0}, 5), RuntimeError, "meta");
}

TEST(WhatWasNeverWrittenIsNotRead) {
  UnifiedMemory memory(4096);
  Copies();
  CHECK_THROWS(memory.host(), RuntimeError, "only shapes were worked out");
  CHECK_THROWS(memory.device(kFake1), RuntimeError, "only shapes were worked out");
  CHECK(memory.state() == State::kUninitialized);
  memory.mutable_device(kFake1);
  CHECK(memory.host() != nullptr);
  UnifiedMemory nothing(0);
  nothing.host();  // there is nothing to be read
  CHECK(nothing.state() == State::kAtHost);
}

TEST(DeviceNames) {
  CHECK(Device::Parse("cpu") == kHost && Device::Parse("cpu:0") == kHost);
  CHECK(Device::Parse("cuda:3").str() == "cuda:3" && Device::Parse("cuda").str() == "cuda:0");
  CHECK(Device::Parse("meta").str() == "meta");
  for (const char* bad : {"", "gpu", "cuda:", "cuda:-1", "cuda:x", "cpu:1", "cuda:99999999999", "cuda:1:2", " cpu"}) {
    CHECK_THROWS(Device::Parse(bad), ValueError, "device: got '");
  }
}

TEST(SharedBlocksReachOtherProcesses) {
  SharedBlock block = SharedBlock::Create(10000);
  const std::string name = "dragon-test-" + std::to_string(getpid());
  SharedBlock named = SharedBlock::CreateNamed(name, 64);
  const pid_t child = fork();
  if (child == 0) {
    SharedBlock theirs = SharedBlock::Open(block.descriptor(), 10000);
    SharedBlock also = SharedBlock::Open(name, 64);
    std::strcpy(static_cast<char*>(theirs.data()) + 5000, "hello");
    std::strcpy(static_cast<char*>(also.data()), "there");
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(!std::strcmp(static_cast<char*>(block.data()) + 5000, "hello"));
  CHECK(!std::strcmp(static_cast<char*>(named.data()), "there"));
  CHECK_THROWS(SharedBlock::Open(name, 65), ValueError, "a block of 64 bytes");
  CHECK_THROWS(SharedBlock::Open(block.descriptor(), 1 << 20), ValueError, "at least 1048576");
  CHECK_THROWS(SharedBlock::CreateNamed(name, 1), RuntimeError, "taken");
  CHECK(SharedBlock::Unlink(name) && !SharedBlock::Unlink(name));
  CHECK(!std::strcmp(static_cast<char*>(named.data()), "there"));
  CHECK_THROWS(SharedBlock::Open(name, 1), ValueError, "exists");
  CHECK_THROWS(SharedBlock::Open("a/b", 1), ValueError, "without '/'");
  CHECK_THROWS(SharedBlock::Open(-1, 1), RuntimeError, "descriptor");
  CHECK_THROWS(SharedBlock::Create(size_t{1} << 50), MemoryError, "shared memory");
  SharedBlock moved = std::move(named);
  CHECK(named.data() == nullptr && moved.bytes() == 64);
  SharedBlock::Create(0);
}

TEST(AForkedChildRunsAlone) {
  SetNumThreads(2);
  std::vector<int> seen(100, 0);
  ParallelFor(100, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++seen[i];
  });
  for (int count : seen) CHECK(count == 1);
  CHECK(!ForkedFromTeam());
  const pid_t child = fork();
  if (child == 0) {
    int64_t calls = 0;
    ParallelFor(1000, 1, [&](int64_t begin, int64_t end) { calls += end - begin == 1000; });
    _exit(ForkedFromTeam() && calls == 1 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK_THROWS(ParallelFor(10, 1, [](int64_t, int64_t) { throw ValueError("body").Says("no"); }), ValueError, "body");
  CHECK_THROWS(SetNumThreads(0), ValueError, "set_num_threads");
}

}  // namespace dragon

TEST_MAIN()
