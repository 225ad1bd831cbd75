// A library with the name and the functions of NCCL's, for the machine of fibres: opened at run time as the real one
// is. Calls are done when they return, or at the end of their group.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "tests/cuda/simt/machine.h"
#include "tests/cuda/simt/nccl_moves.h"

#define SIMT_NCCL extern "C" __attribute__((visibility("default")))

namespace {

using simt::Communicator;

enum Answer { kSuccess, kUnhandled, kSystem, kInternal, kArgument, kUsage, kRemote, kInProgress };
constexpr auto kRest = std::chrono::microseconds(50);

struct UniqueId {
  char bytes[128];
};
/// The head of what a user may choose.
struct Config {
  size_t size;
  unsigned magic, version;
  int blocking;
};

thread_local int t_depth = 0;
thread_local std::vector<std::unique_ptr<simt::Move>> t_moves;
thread_local std::string t_trouble;

int Fail(Answer answer, const std::string& words) {
  t_trouble = words;
  return answer;
}

void AwaitAll(Communicator* made) {
  for (int q = 0; q < made->size;) {
    if (made->aborted) break;
    if (made->segment->seats[q].joined.load() == 1) {
      ++q;
    } else {
      std::this_thread::sleep_for(kRest);
    }
  }
  if (made->rank == 0) simt::ForgetSegment(made->name);
  made->status = made->aborted ? kInternal : kSuccess;
  --made->busy;
}

int Join(Communicator** into, int size, const UniqueId& id, int rank, int device, bool waits) {
  if (size < 1 || size > simt::kMostRanks || rank < 0 || rank >= size) return Fail(kArgument, "a rank that is none");
  auto made = std::make_unique<Communicator>();
  made->name = id.bytes, made->rank = rank, made->size = size, made->device = device;
  made->segment = simt::MapSegment(made->name);
  if (!made->segment) return Fail(kSystem, "no shared memory");
  if (made->segment->seats[rank].joined.exchange(1) != 0) return Fail(kUsage, "two processes of one rank");
  *into = made.release();
  (*into)->status = kInProgress;
  ++(*into)->busy;
  if (waits) {
    AwaitAll(*into);
    return (*into)->status;
  }
  std::thread(&AwaitAll, *into).detach();
  return kInProgress;
}

/// Let all calls of a group go along until all are done.
int RunAll(std::vector<std::unique_ptr<simt::Move>>& moves) {
  std::string trouble;
  std::vector<bool> done(moves.size());
  for (size_t left = moves.size(); left > 0;) {
    const size_t before = left;
    for (size_t i = 0; i < moves.size(); ++i) {
      bool waits = done[i];
      for (size_t j = 0; j < i && !waits; ++j) {
        waits = !done[j] && moves[j]->communicator == moves[i]->communicator && moves[j]->order() == moves[i]->order();
      }
      if (moves[i]->communicator->aborted) return Fail(kRemote, "the communicator was aborted");
      if (waits || !moves[i]->Step(&trouble)) continue;
      if (!trouble.empty()) return Fail(kInternal, trouble);
      done[i] = true, --left;
    }
    if (left == before) std::this_thread::sleep_for(kRest);
  }
  return kSuccess;
}

int Finish() {
  auto moves = std::move(t_moves);
  t_moves.clear();
  for (const auto& move : moves) ++move->communicator->busy;
  const int answer = RunAll(moves);
  for (const auto& move : moves) --move->communicator->busy;
  return answer;
}

int Take(std::unique_ptr<simt::Move> move) {
  if (move->communicator->status == kInProgress) return Fail(kUsage, "a communicator that is not joined yet");
  t_moves.push_back(std::move(move));
  return t_depth > 0 ? kSuccess : Finish();
}

/// A GPU's kernel would fault at memory of another device.
bool IsOurs(const Communicator* of, const void* address) { return simt::DeviceOf(address) == of->device; }

int Collective(Communicator* of, simt::Saying saying, const void* in, void* out) {
  const bool reads = saying.kind != simt::kBroadcast || of->rank == saying.root;
  const bool writes = saying.kind != simt::kReduce || of->rank == saying.root;
  if ((reads && !IsOurs(of, in)) || (writes && !IsOurs(of, out)))
    return Fail(kArgument, "memory that is not of the communicator's device");
  if (simt::ItemOf(saying.type) == 0) return Fail(kArgument, "an unknown type");
  if (saying.op < 0 || saying.op > 4) return Fail(kArgument, "an unknown operation");
  if (saying.root < 0 || saying.root >= of->size) return Fail(kArgument, "a root that is none");
  return Take(std::make_unique<simt::CollectiveMove>(of, saying, in, out));
}

int Message(Communicator* of, void* data, size_t count, int type, int peer, bool goes_out) {
  if (!IsOurs(of, data)) return Fail(kArgument, "memory that is not of the communicator's device");
  if (peer < 0 || peer >= of->size || simt::ItemOf(type) == 0) return Fail(kArgument, "a peer or type that is none");
  return Take(
      std::make_unique<simt::MessageMove>(of, static_cast<char*>(data), count * simt::ItemOf(type), peer, goes_out));
}

}  // namespace

SIMT_NCCL int ncclGetVersion(int* version) { return *version = 22903, kSuccess; }

SIMT_NCCL int ncclGetUniqueId(UniqueId* id) {
  std::random_device noise;
  std::memset(id, 0, sizeof(*id));
  std::snprintf(id->bytes, sizeof(id->bytes), "/dragon-nccl-%d-%08x%08x", getpid(), noise(), noise());
  return kSuccess;
}

SIMT_NCCL int ncclCommInitRankConfig(Communicator** made, int size, UniqueId id, int rank, Config* config) {
  if (config && config->magic != 0xcafebeef) return Fail(kArgument, "a configuration without its magic number");
  return Join(made, size, id, rank, simt::CurrentDevice(), !config || config->blocking != 0);
}

SIMT_NCCL int ncclCommInitAll(Communicator** made, int count, const int* devices) {
  UniqueId id;
  ncclGetUniqueId(&id);
  for (int rank = 0; rank < count; ++rank) {
    for (int other = 0; other < rank && devices; ++other) {
      if (devices[rank] == devices[other]) return Fail(kUsage, "a device twice");
    }
    const int answer = Join(&made[rank], count, id, rank, devices ? devices[rank] : rank, false);
    if (answer != kInProgress) return answer;
  }
  for (int rank = 0; rank < count; ++rank) {
    while (made[rank]->status == kInProgress) std::this_thread::sleep_for(kRest);
  }
  return kSuccess;
}

SIMT_NCCL int ncclCommAbort(Communicator* of) {
  of->aborted = true;
  while (of->busy > 0) std::this_thread::sleep_for(kRest);
  if (of->rank == 0) simt::ForgetSegment(of->name);
  simt::UnmapSegment(of->segment);
  of->segment = nullptr;  // what is left stays: others may still ask how it is
  return kSuccess;
}

SIMT_NCCL int ncclCommDestroy(Communicator* of) {
  while (of->busy > 0) std::this_thread::sleep_for(kRest);
  simt::UnmapSegment(of->segment);
  delete of;
  return kSuccess;
}

SIMT_NCCL int ncclCommGetAsyncError(Communicator* of, int* status) {
  *status = of->status;
  return kSuccess;
}

SIMT_NCCL const char* ncclGetErrorString(int answer) {
  constexpr const char* kWords[] = {"no error",
                                    "unhandled cuda error",
                                    "unhandled system error",
                                    "internal error",
                                    "invalid argument",
                                    "invalid usage",
                                    "remote process exited or there was a network error",
                                    "in progress"};
  return answer >= 0 && answer <= kInProgress ? kWords[answer] : "unknown result code";
}
SIMT_NCCL const char* ncclGetLastError(Communicator*) { return t_trouble.c_str(); }

SIMT_NCCL int ncclGroupStart() { return ++t_depth, kSuccess; }
SIMT_NCCL int ncclGroupEnd() {
  if (t_depth == 0) return Fail(kUsage, "the end of a group that was not begun");
  return --t_depth > 0 ? kSuccess : Finish();
}

SIMT_NCCL int ncclAllReduce(const void* in, void* out, size_t count, int type, int op, Communicator* of, void*) {
  return Collective(of, {simt::kAllReduce, type, op, 0, count}, in, out);
}
SIMT_NCCL int ncclReduce(const void* in, void* out, size_t count, int type, int op, int root, Communicator* of, void*) {
  return Collective(of, {simt::kReduce, type, op, root, count}, in, out);
}
SIMT_NCCL int ncclBroadcast(const void* in, void* out, size_t count, int type, int root, Communicator* of, void*) {
  return Collective(of, {simt::kBroadcast, type, 0, root, count}, in, out);
}
SIMT_NCCL int ncclAllGather(const void* in, void* out, size_t count, int type, Communicator* of, void*) {
  return Collective(of, {simt::kAllGather, type, 0, 0, count}, in, out);
}
SIMT_NCCL int ncclReduceScatter(const void* in, void* out, size_t count, int type, int op, Communicator* of, void*) {
  return Collective(of, {simt::kReduceScatter, type, op, 0, count}, in, out);
}
SIMT_NCCL int ncclSend(const void* data, size_t count, int type, int to, Communicator* of, void*) {
  return Message(of, const_cast<void*>(data), count, type, to, true);
}
SIMT_NCCL int ncclRecv(void* data, size_t count, int type, int from, Communicator* of, void*) {
  return Message(of, data, count, type, from, false);
}
