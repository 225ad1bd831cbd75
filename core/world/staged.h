// A group's tensors of a device by way of the host: copied to pinned memory, carried by the host's communicator, and
// copied back. The host waits for the device, as it does for the other processes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/world/communicator.h"

namespace dragon {

class DRAGON_API StagedCommunicator : public Communicator {
 public:
  StagedCommunicator(std::shared_ptr<Communicator> host, Device device);

  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  bool CanReduce(DType dtype, Reduction reduction) const override { return host_->CanReduce(dtype, reduction); }
  std::string Trouble() override { return host_->Trouble(); }
  void SetTimeout(double seconds) override { host_->SetTimeout(seconds); }

  void AllReduce(const char* in, char* out, Elements elements, Reduction reduction) override;
  void Reduce(const char* in, char* out, Elements elements, Reduction reduction, int root) override;
  void Broadcast(char* data, Elements elements, int root) override;
  void AllGather(const char* in, std::span<char* const> outs, Elements each) override;
  void Gather(const char* in, std::span<char* const> outs, Elements each, int root) override;
  void Scatter(std::span<const char* const> ins, char* out, Elements each, int root) override;
  void ReduceScatter(std::span<const char* const> ins, char* out, Elements each, Reduction reduction) override;
  void AllToAll(std::span<const Piece> ins, std::span<const Piece> outs) override;
  void Barrier() override;

  std::shared_ptr<Message> Send(const char* data, int64_t bytes, int to, int64_t tag) override;
  std::shared_ptr<Message> Receive(char* data, int64_t bytes, int from, int64_t tag) override;
  bool IsDone(const std::shared_ptr<Message>& message) override;
  void Wait(const std::shared_ptr<Message>& message, double seconds) override;
  void Cancel(const std::shared_ptr<Message>& message) override;
  void Break(const std::string& why) override { host_->Break(why); }

 private:
  class Pinned;
  struct StagedMessage;

  std::vector<Pinned> Taken(std::span<const char* const> ins, int64_t bytes) const;
  std::vector<Pinned> Room(size_t count, int64_t bytes) const;
  void Deliver(const std::vector<Pinned>& from, std::span<char* const> outs) const;
  void Arrived(StagedMessage& message);

  std::shared_ptr<Communicator> host_;
  Device device_;
};

}  // namespace dragon
