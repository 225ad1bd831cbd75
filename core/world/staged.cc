// Copies before and after the host's collectives.
#include "core/world/staged.h"

#include <utility>

#include "core/base/error.h"
#include "core/device/pinned.h"
#include "core/world/mail.h"

namespace dragon {

/// Memory that both sides reach.
class StagedCommunicator::Pinned {
 public:
  Pinned(Device device, int64_t bytes) : device_(device), bytes_(bytes), data_(AllocatePinned(bytes)) {}
  Pinned(Pinned&& other) noexcept
      : device_(other.device_), bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() {
    if (data_) FreePinned(data_);
  }

  char* data() const { return static_cast<char*>(data_); }
  void Take(const char* from) const {
    if (bytes_) BackendOf(device_.type).CopyToHost(device_.index, data_, from, bytes_);
  }
  void Give(char* to) const {
    if (bytes_) BackendOf(device_.type).CopyFromHost(device_.index, to, data_, bytes_);
  }

 private:
  Device device_;
  int64_t bytes_;
  void* data_;
};

/// One whose bytes lie in pinned memory until it is done.
struct StagedCommunicator::StagedMessage : Message {
  StagedMessage(Message head, Pinned held) : Message(std::move(head)), pinned(std::move(held)) {}
  Pinned pinned;
  std::shared_ptr<Message> carried;
};

namespace {

template <typename Held>
auto PlacesOf(const std::vector<Held>& held) {
  std::vector<char*> places;
  for (const Held& each : held) places.push_back(each.data());
  return places;
}

template <typename Held>
auto ReadOf(const std::vector<Held>& held) {
  std::vector<const char*> places;
  for (const Held& each : held) places.push_back(each.data());
  return places;
}

}  // namespace

StagedCommunicator::StagedCommunicator(std::shared_ptr<Communicator> host, Device device)
    : host_(std::move(host)), device_(device) {}

std::vector<StagedCommunicator::Pinned> StagedCommunicator::Room(size_t count, int64_t bytes) const {
  std::vector<Pinned> made;
  for (size_t i = 0; i < count; ++i) made.emplace_back(device_, bytes);
  return made;
}

std::vector<StagedCommunicator::Pinned> StagedCommunicator::Taken(std::span<const char* const> ins,
                                                                  int64_t bytes) const {
  std::vector<Pinned> made = Room(ins.size(), bytes);
  for (size_t i = 0; i < ins.size(); ++i) made[i].Take(ins[i]);
  return made;
}

void StagedCommunicator::Deliver(const std::vector<Pinned>& from, std::span<char* const> outs) const {
  for (size_t i = 0; i < outs.size(); ++i) from[i].Give(outs[i]);
}

void StagedCommunicator::AllReduce(const char* in, char* out, Elements elements, Reduction reduction) {
  const Pinned held(device_, elements.bytes());
  held.Take(in);
  host_->AllReduce(held.data(), held.data(), elements, reduction);
  held.Give(out);
}

void StagedCommunicator::Reduce(const char* in, char* out, Elements elements, Reduction reduction, int root) {
  const Pinned held(device_, elements.bytes());
  held.Take(in);
  host_->Reduce(held.data(), held.data(), elements, reduction, root);
  if (rank() == root) held.Give(out);
}

void StagedCommunicator::Broadcast(char* data, Elements elements, int root) {
  const Pinned held(device_, elements.bytes());
  if (rank() == root) held.Take(data);
  host_->Broadcast(held.data(), elements, root);
  if (rank() != root) held.Give(data);
}

void StagedCommunicator::AllGather(const char* in, std::span<char* const> outs, Elements each) {
  const Pinned held(device_, each.bytes());
  held.Take(in);
  const auto all = Room(outs.size(), each.bytes());
  host_->AllGather(held.data(), PlacesOf(all), each);
  Deliver(all, outs);
}

void StagedCommunicator::Gather(const char* in, std::span<char* const> outs, Elements each, int root) {
  const Pinned held(device_, each.bytes());
  held.Take(in);
  const auto all = Room(outs.size(), each.bytes());
  host_->Gather(held.data(), PlacesOf(all), each, root);
  Deliver(all, outs);
}

void StagedCommunicator::Scatter(std::span<const char* const> ins, char* out, Elements each, int root) {
  const auto all = Taken(ins, each.bytes());
  const Pinned mine(device_, each.bytes());
  host_->Scatter(ReadOf(all), mine.data(), each, root);
  mine.Give(out);
}

void StagedCommunicator::ReduceScatter(std::span<const char* const> ins, char* out, Elements each,
                                       Reduction reduction) {
  const auto all = Taken(ins, each.bytes());
  const Pinned mine(device_, each.bytes());
  host_->ReduceScatter(ReadOf(all), mine.data(), each, reduction);
  mine.Give(out);
}

void StagedCommunicator::AllToAll(std::span<const Piece> ins, std::span<const Piece> outs) {
  std::vector<Pinned> out_of, into;
  std::vector<Piece> sent, received;
  for (const Piece& piece : ins) {
    out_of.emplace_back(device_, piece.bytes).Take(piece.data);
    sent.push_back({out_of.back().data(), piece.bytes});
  }
  for (const Piece& piece : outs) {
    into.emplace_back(device_, piece.bytes);
    received.push_back({into.back().data(), piece.bytes});
  }
  host_->AllToAll(sent, received);
  for (size_t i = 0; i < outs.size(); ++i) into[i].Give(outs[i].data);
}

void StagedCommunicator::Barrier() {
  BackendOf(device_.type).Synchronize(device_.index);
  host_->Barrier();
}

std::shared_ptr<Message> StagedCommunicator::Send(const char* data, int64_t bytes, int to, int64_t tag) {
  auto made =
      std::make_shared<StagedMessage>(Message{const_cast<char*>(data), bytes, to, tag, true}, Pinned(device_, bytes));
  made->pinned.Take(data);
  made->carried = host_->Send(made->pinned.data(), bytes, to, tag);
  return made;
}

std::shared_ptr<Message> StagedCommunicator::Receive(char* data, int64_t bytes, int from, int64_t tag) {
  auto made = std::make_shared<StagedMessage>(Message{data, bytes, from, tag, false}, Pinned(device_, bytes));
  made->carried = host_->Receive(made->pinned.data(), bytes, from, tag);
  return made;
}

/// It is done, and what came is copied to where it belongs, once.
void StagedCommunicator::Arrived(StagedMessage& message) {
  if (!message.done && !message.goes_out) message.pinned.Give(message.data);
  message.done = true;
  message.rank = message.carried->rank;
}

bool StagedCommunicator::IsDone(const std::shared_ptr<Message>& message) {
  auto& staged = static_cast<StagedMessage&>(*message);
  if (staged.done) return true;
  if (!host_->IsDone(staged.carried)) return false;
  Arrived(staged);
  return true;
}

void StagedCommunicator::Wait(const std::shared_ptr<Message>& message, double seconds) {
  auto& staged = static_cast<StagedMessage&>(*message);
  if (staged.done) return;
  host_->Wait(staged.carried, seconds);
  Arrived(staged);
}

void StagedCommunicator::Cancel(const std::shared_ptr<Message>& message) {
  host_->Cancel(static_cast<StagedMessage&>(*message).carried);
}

}  // namespace dragon
