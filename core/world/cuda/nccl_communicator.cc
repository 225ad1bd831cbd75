// Collectives as calls of NCCL's.
#include "core/world/cuda/nccl_communicator.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/device/accelerator.h"
#include "core/world/mail.h"

namespace dragon::cuda {

namespace {

Accelerator& Devices() { return AcceleratorOf(DeviceType::kCUDA); }

size_t CountOf(Communicator::Elements elements) {
  return static_cast<size_t>(elements.count) * NumbersOf(elements.dtype).per_element;
}

/// Parts that follow each other in memory are one.
void RequireOnePiece(const char* who, std::span<const char* const> parts, int64_t bytes) {
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i] == parts[i - 1] + bytes) continue;
    throw ValueError(who).Got("parts here and there in memory").Expected("parts that follow each other");
  }
}

/// In a group: bytes to a rank, or from one.
NcclStatus SendBytes(const char* data, int64_t bytes, int to, NcclHandle handle, cudaStream_t stream) {
  if (bytes == 0) return NcclStatus::kSuccess;
  return NcclLibrary().send(data, static_cast<size_t>(bytes), NcclType::kUint8, to, handle, stream);
}
NcclStatus ReceiveBytes(char* data, int64_t bytes, int from, NcclHandle handle, cudaStream_t stream) {
  if (bytes == 0) return NcclStatus::kSuccess;
  return NcclLibrary().receive(data, static_cast<size_t>(bytes), NcclType::kUint8, from, handle, stream);
}

/// Call `act(i)` for each of a number of places until one goes wrong.
template <typename Act>
NcclStatus ForEach(size_t count, const Act& act) {
  NcclStatus status = NcclStatus::kSuccess;
  for (size_t i = 0; i < count; ++i) {
    if (const NcclStatus found = act(i); found != NcclStatus::kSuccess && found != NcclStatus::kInProgress)
      return found;
  }
  return status;
}

}  // namespace

/// One whose event comes when the device has moved it.
struct NcclCommunicator::DeviceMessage : Message {
  explicit DeviceMessage(const Posting& from, int index)
      : Message{from.data, from.bytes, from.rank, from.tag, from.goes_out}, index(index) {}
  ~DeviceMessage() {
    if (event) Devices().DropEvent(index, event);
  }
  int index;
  void* event = nullptr;
  std::shared_ptr<NcclRing> ring;
};

NcclCommunicator::NcclCommunicator(std::shared_ptr<Communicator> host, Device device, DeviceOptions options)
    : host_(std::move(host)),
      device_(device),
      rank_(host_->rank()),
      size_(host_->size()),
      options_(std::move(options)) {}

NcclCommunicator::NcclCommunicator(std::shared_ptr<NcclRing> ring, int rank, int size)
    : device_(ring->device()), ring_(std::move(ring)), rank_(rank), size_(size) {}

/// That others have ended is no trouble where all that was begun is done.
std::string NcclCommunicator::Trouble() { return ring_ ? ring_->why() : std::string{}; }

void NcclCommunicator::SetTimeout(double seconds) {
  std::lock_guard lock(mutex_);
  options_.seconds = seconds;
  if (ring_) ring_->SetTimeout(seconds);
  for (const auto& [peer, ring] : pairs_) {
    if (ring) ring->SetTimeout(seconds);
  }
}

/// As the board of the host's communicators does in every call. Ranks that are about to do different things would wait
/// for each other on their devices.
void NcclCommunicator::Compare(Collective collective, Elements elements, int root, Reduction reduction) {
  ++number_;
  if (!DevicesCompare() || !host_) return;
  const Signature mine{number_, collective, reduction, static_cast<uint32_t>(elements.dtype), root, elements.count};
  std::vector<Signature> all(size_);
  std::vector<char*> places;
  for (Signature& each : all) places.push_back(reinterpret_cast<char*>(&each));
  host_->AllGather(reinterpret_cast<const char*>(&mine), places, {sizeof(Signature), DType::kUInt8});
  for (int rank = 0; rank < size_; ++rank) {
    if (all[rank] == mine) continue;
    throw RuntimeError(NameOf(collective))
        .Got(mine.Text(), " on rank ", rank_, " and ", all[rank].Text(), " on rank ", rank, " as collective ", number_,
             " of the group on its devices")
        .Expected("the same on all ranks");
  }
}

/// What each rank sends and wants, as all see it.
void NcclCommunicator::CompareSizes(std::span<const Piece> ins, std::span<const Piece> outs) {
  if (!DevicesCompare() || !host_) return;
  const int64_t numbers = int64_t{2} * size_;
  std::vector<int64_t> mine, all(numbers * size_);
  for (const Piece& piece : ins) mine.push_back(piece.bytes);
  for (const Piece& piece : outs) mine.push_back(piece.bytes);
  std::vector<char*> places;
  for (int q = 0; q < size_; ++q) places.push_back(reinterpret_cast<char*>(&all[q * numbers]));
  host_->AllGather(reinterpret_cast<const char*>(mine.data()), places, {numbers, DType::kInt64});
  for (int from = 0; from < size_; ++from) {
    for (int to = 0; to < size_; ++to) {
      const int64_t sent = all[from * numbers + to], wanted = all[to * numbers + size_ + from];
      if (sent == wanted) continue;
      throw ValueError("all_to_all")
          .Got(sent, " bytes that rank ", from, " sends to rank ", to)
          .Expected("the ", wanted, " that it wants");
    }
  }
}

void NcclCommunicator::AllReduce(const char* in, char* out, Elements elements, Reduction reduction) {
  Compare(Collective::kAllReduce, elements, -1, reduction);
  if (elements.count == 0) return;
  Ring()->Run("all_reduce", [&](NcclHandle handle, cudaStream_t stream) {
    return NcclLibrary().all_reduce(in, out, CountOf(elements), NumbersOf(elements.dtype).type,
                                    OpOf(elements.dtype, reduction), handle, stream);
  });
}

void NcclCommunicator::Reduce(const char* in, char* out, Elements elements, Reduction reduction, int root) {
  Compare(Collective::kReduce, elements, root, reduction);
  if (elements.count == 0) return;
  Ring()->Run("reduce", [&](NcclHandle handle, cudaStream_t stream) {
    return NcclLibrary().reduce(in, out, CountOf(elements), NumbersOf(elements.dtype).type,
                                OpOf(elements.dtype, reduction), root, handle, stream);
  });
}

void NcclCommunicator::Broadcast(char* data, Elements elements, int root) {
  Compare(Collective::kBroadcast, elements, root);
  if (elements.count == 0) return;
  Ring()->Run("broadcast", [&](NcclHandle handle, cudaStream_t stream) {
    return NcclLibrary().broadcast(data, data, CountOf(elements), NumbersOf(elements.dtype).type, root, handle, stream);
  });
}

void NcclCommunicator::AllGather(const char* in, std::span<char* const> outs, Elements each) {
  Compare(Collective::kAllGather, each);
  if (each.count == 0) return;
  const std::vector<const char*> parts(outs.begin(), outs.end());
  RequireOnePiece("all_gather", parts, each.bytes());
  Ring()->Run("all_gather", [&](NcclHandle handle, cudaStream_t stream) {
    return NcclLibrary().all_gather(in, outs[0], CountOf(each), NumbersOf(each.dtype).type, handle, stream);
  });
}

void NcclCommunicator::ReduceScatter(std::span<const char* const> ins, char* out, Elements each, Reduction reduction) {
  Compare(Collective::kReduceScatter, each, -1, reduction);
  if (each.count == 0) return;
  RequireOnePiece("reduce_scatter", ins, each.bytes());
  Ring()->Run("reduce_scatter", [&](NcclHandle handle, cudaStream_t stream) {
    return NcclLibrary().reduce_scatter(ins[0], out, CountOf(each), NumbersOf(each.dtype).type,
                                        OpOf(each.dtype, reduction), handle, stream);
  });
}

void NcclCommunicator::Gather(const char* in, std::span<char* const> outs, Elements each, int root) {
  Compare(Collective::kGather, each, root);
  if (each.count == 0) return;
  Ring()->Run("gather", [&](NcclHandle handle, cudaStream_t stream) {
    const NcclStatus status = SendBytes(in, each.bytes(), root, handle, stream);
    if (rank_ != root || status != NcclStatus::kSuccess) return status;
    return ForEach(outs.size(),
                   [&](size_t q) { return ReceiveBytes(outs[q], each.bytes(), static_cast<int>(q), handle, stream); });
  });
}

void NcclCommunicator::Scatter(std::span<const char* const> ins, char* out, Elements each, int root) {
  Compare(Collective::kScatter, each, root);
  if (each.count == 0) return;
  Ring()->Run("scatter", [&](NcclHandle handle, cudaStream_t stream) {
    const NcclStatus status = ReceiveBytes(out, each.bytes(), root, handle, stream);
    if (rank_ != root || status != NcclStatus::kSuccess) return status;
    return ForEach(ins.size(),
                   [&](size_t q) { return SendBytes(ins[q], each.bytes(), static_cast<int>(q), handle, stream); });
  });
}

void NcclCommunicator::AllToAll(std::span<const Piece> ins, std::span<const Piece> outs) {
  Compare(Collective::kAllToAll, {0, DType::kUInt8});
  CompareSizes(ins, outs);
  Ring()->Run("all_to_all", [&](NcclHandle handle, cudaStream_t stream) {
    return ForEach(ins.size(), [&](size_t q) {
      const int peer = static_cast<int>(q);
      const NcclStatus sent = SendBytes(ins[q].data, ins[q].bytes, peer, handle, stream);
      return sent == NcclStatus::kSuccess ? ReceiveBytes(outs[q].data, outs[q].bytes, peer, handle, stream) : sent;
    });
  });
}

/// The host waits for its device's work, and then for the others.
void NcclCommunicator::Barrier() {
  const auto ring = Ring();  // a group is joined now, where it was not
  Devices().SynchronizeStream(device_.index, Devices().CurrentStream(device_.index));
  ring->Tell();
  if (host_) host_->Barrier();
}

std::shared_ptr<Message> NcclCommunicator::Send(const char* data, int64_t bytes, int to, int64_t tag) {
  const Posting one{const_cast<char*>(data), bytes, to, tag, true};
  return Post({&one, 1})[0];
}

std::shared_ptr<Message> NcclCommunicator::Receive(char* data, int64_t bytes, int from, int64_t tag) {
  const Posting one{data, bytes, from, tag, false};
  return Post({&one, 1})[0];
}

std::vector<std::shared_ptr<Message>> NcclCommunicator::Post(std::span<const Posting> postings) {
  std::vector<int> peers;
  for (const Posting& each : postings) {
    const char* const who = each.goes_out ? "send" : "receive";
    if (each.rank == -1) {
      throw RuntimeError(who)
          .Says("NCCL does not support receives of any rank")
          .Got("no source")
          .Expected("a rank of the group");
    }
    if (each.rank < 0 || each.rank >= size_ || each.rank == rank_)
      throw ValueError(who).Got("rank ", each.rank).Expected("another one of the group's, 0 to ", size_ - 1);
    peers.push_back(each.rank);
  }
  // In one order on all ranks, that of the lower and then the higher one of a pair: none waits for one that waits.
  std::sort(peers.begin(), peers.end());
  for (const int peer : peers) (void)RingWith(peer);
  std::vector<std::shared_ptr<Message>> begun;
  std::vector<NcclRing::Part> parts;
  for (const Posting& each : postings) {
    auto message = std::make_shared<DeviceMessage>(each, device_.index);
    message->ring = RingWith(each.rank);
    const int peer = host_ ? (rank_ < each.rank ? 1 : 0) : each.rank;
    parts.push_back({message->ring.get(), [each, peer](NcclHandle handle, cudaStream_t stream) {
                       return each.goes_out ? SendBytes(each.data, each.bytes, peer, handle, stream)
                                            : ReceiveBytes(each.data, each.bytes, peer, handle, stream);
                     }});
    begun.push_back(std::move(message));
  }
  NcclRing::RunTogether(postings.size() > 1 ? "messages" : postings[0].goes_out ? "send" : "receive", parts);
  const int index = device_.index;
  for (const auto& message : begun) {
    auto& mine = static_cast<DeviceMessage&>(*message);
    if (CapturesUnderWay().load() > 0) continue;
    mine.event = Devices().NewEvent(index, false, false, false);
    Devices().RecordEvent(index, mine.event, Devices().CurrentStream(index));
  }
  return begun;
}

bool NcclCommunicator::IsDone(const std::shared_ptr<Message>& message) {
  auto& mine = static_cast<DeviceMessage&>(*message);
  mine.ring->Tell();
  return !mine.event || Devices().EventIsDone(mine.index, mine.event);
}

void NcclCommunicator::Wait(const std::shared_ptr<Message>& message, double) {
  auto& mine = static_cast<DeviceMessage&>(*message);
  mine.ring->Tell();
  if (mine.event) Devices().AwaitEvent(mine.index, mine.event, Devices().CurrentStream(mine.index));
}

/// What was given to a device cannot be taken back.
void NcclCommunicator::Cancel(const std::shared_ptr<Message>&) {}

void NcclCommunicator::Break(const std::string& why) {
  if (ring_) ring_->Abort(why);
  std::lock_guard lock(mutex_);
  for (const auto& [peer, ring] : pairs_) {
    if (ring) ring->Abort(why);
  }
  if (host_) host_->Break(why);
}

}  // namespace dragon::cuda
