// A group's tensors on a CUDA device, carried by NCCL on the device's current stream.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/world/communicator.h"
#include "core/world/cuda/nccl_ring.h"
#include "core/world/devices.h"

namespace dragon::cuda {

class NcclCommunicator : public Communicator {
 public:
  /// Over the host's communicator ranks tell each other how to join, compare what they are about to do where they are
  /// asked to, and learn who is gone. They join at their first collective: who only sends has no others to wait for.
  NcclCommunicator(std::shared_ptr<Communicator> host, Device device, DeviceOptions options);
  /// Of one process alone.
  NcclCommunicator(std::shared_ptr<NcclRing> ring, int rank, int size);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool CanReduce(DType dtype, Reduction reduction) const override;
  std::string Trouble() override;
  void SetTimeout(double seconds) override;

  void AllReduce(const char* in, char* out, Elements elements, Reduction reduction) override;
  void Reduce(const char* in, char* out, Elements elements, Reduction reduction, int root) override;
  void Broadcast(char* data, Elements elements, int root) override;
  void AllGather(const char* in, std::span<char* const> outs, Elements each) override;
  void Gather(const char* in, std::span<char* const> outs, Elements each, int root) override;
  void Scatter(std::span<const char* const> ins, char* out, Elements each, int root) override;
  void ReduceScatter(std::span<const char* const> ins, char* out, Elements each, Reduction reduction) override;
  void AllToAll(std::span<const Piece> ins, std::span<const Piece> outs) override;
  void Barrier() override;

  /// Tags tell nothing here: messages of two ranks come in the order in which they were sent.
  std::shared_ptr<Message> Send(const char* data, int64_t bytes, int to, int64_t tag) override;
  std::shared_ptr<Message> Receive(char* data, int64_t bytes, int from, int64_t tag) override;
  std::vector<std::shared_ptr<Message>> Post(std::span<const Posting> postings) override;
  bool IsDone(const std::shared_ptr<Message>& message) override;
  /// Have the current stream wait; the host goes on.
  void Wait(const std::shared_ptr<Message>& message, double seconds) override;
  void Cancel(const std::shared_ptr<Message>& message) override;
  void Break(const std::string& why) override;

 private:
  struct DeviceMessage;

  void Compare(Collective collective, Elements elements, int root = -1, Reduction reduction = Reduction::kSum);
  void CompareSizes(std::span<const Piece> ins, std::span<const Piece> outs);
  std::shared_ptr<NcclRing> Ring();
  std::shared_ptr<NcclRing> RingWith(int peer);

  std::shared_ptr<Communicator> host_;
  Device device_;
  std::shared_ptr<NcclRing> ring_;
  int rank_, size_;
  DeviceOptions options_;
  uint64_t number_ = 0;  ///< of collectives so far
  std::mutex mutex_;
  std::map<int, std::shared_ptr<NcclRing>> pairs_;  ///< with one other rank each
};

/// How NCCL is told of numbers: complex ones are pairs.
struct NcclNumbers {
  NcclType type;
  int per_element;
};
NcclNumbers NumbersOf(DType dtype);
NcclOp OpOf(DType dtype, Reduction reduction);

}  // namespace dragon::cuda
