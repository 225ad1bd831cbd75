// What processes of a group do together. Each call is made by all ranks, in one order.
//
// A group has a communicator over memory of the host. One for a device's tensors is made of it when the first of them
// comes (core/world/devices.h): its memory is that device's, and its calls go on the device's current stream.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/macros.h"
#include "core/base/types.h"
#include "core/world/signature.h"
#include "core/world/turns.h"

namespace dragon {

struct Message;

/// The tag of the engine's own messages; programs' are not negative.
inline constexpr int64_t kOwnTag = INT64_MIN + 1;

class DRAGON_API Communicator {
 public:
  /// Elements of one dtype, next to each other.
  struct Elements {
    int64_t count;
    DType dtype;
    int64_t bytes() const { return count * ItemSize(dtype); }
  };
  struct Piece {
    char* data;
    int64_t bytes;
  };

  /// One of several messages that begin together.
  struct Posting {
    char* data;
    int64_t bytes;
    int rank;
    int64_t tag;
    bool goes_out;
  };

  virtual ~Communicator() = default;
  Turns& turns() { return turns_; }
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Whether numbers have a reduction here; asked before anything is begun.
  virtual bool CanReduce(DType dtype, Reduction reduction) const { return kernels::CanCombine(dtype, reduction); }
  /// Why the group is of no use any more, as far as this rank can tell without waiting; empty if it is whole.
  virtual std::string Trouble() { return {}; }
  /// Wait so long for the others from the next call on; negative: for ever.
  virtual void SetTimeout(double seconds) = 0;

  /// `out` may be `in`.
  virtual void AllReduce(const char* in, char* out, Elements elements, Reduction reduction) = 0;
  /// `out` is written on the root only; it may be `in`.
  virtual void Reduce(const char* in, char* out, Elements elements, Reduction reduction, int root) = 0;
  virtual void Broadcast(char* data, Elements elements, int root) = 0;
  /// `outs` has a place for each rank.
  virtual void AllGather(const char* in, std::span<char* const> outs, Elements each) = 0;
  /// `outs` is empty but on the root.
  virtual void Gather(const char* in, std::span<char* const> outs, Elements each, int root) = 0;
  /// `ins` is empty but on the root.
  virtual void Scatter(std::span<const char* const> ins, char* out, Elements each, int root) = 0;
  /// `ins` has what each rank wants a part of.
  virtual void ReduceScatter(std::span<const char* const> ins, char* out, Elements each, Reduction reduction) = 0;
  /// Sizes may differ; what i sends to j has to be what j wants of i.
  virtual void AllToAll(std::span<const Piece> ins, std::span<const Piece> outs) = 0;
  virtual void Barrier() = 0;

  /// Begin to send or to receive, of any rank if `from` is -1. The memory stays where it is until the message is done.
  virtual std::shared_ptr<Message> Send(const char* data, int64_t bytes, int to, int64_t tag) = 0;
  virtual std::shared_ptr<Message> Receive(char* data, int64_t bytes, int from, int64_t tag) = 0;
  /// Begin several, in whichever order they can go.
  virtual std::vector<std::shared_ptr<Message>> Post(std::span<const Posting> postings) {
    std::vector<std::shared_ptr<Message>> begun;
    for (const Posting& each : postings) {
      begun.push_back(each.goes_out ? Send(each.data, each.bytes, each.rank, each.tag)
                                    : Receive(each.data, each.bytes, each.rank, each.tag));
    }
    return begun;
  }
  virtual bool IsDone(const std::shared_ptr<Message>& message) = 0;
  virtual void Wait(const std::shared_ptr<Message>& message, double seconds) = 0;
  virtual void Cancel(const std::shared_ptr<Message>& message) = 0;

  /// Give up: others who wait for this rank raise.
  virtual void Break(const std::string& why) = 0;

 private:
  Turns turns_;
};

}  // namespace dragon
