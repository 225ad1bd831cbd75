// Calls of a communicator as steps that can be taken or must wait: several go along side by side in one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/cuda/simt/nccl_segment.h"

namespace simt {

/// A rank's communicator.
struct Communicator {
  Segment* segment = nullptr;
  std::string name;
  int rank = 0, size = 0, device = 0;
  uint32_t step = 0;  // of collectives so far
  std::atomic<int> status{0}, busy{0};
  std::atomic<bool> aborted{false};
};

enum Kind { kAllReduce = 1, kReduce, kBroadcast, kAllGather, kReduceScatter };

/// One call on its way.
class Move {
 public:
  virtual ~Move() = default;
  /// Go on as far as one can; true when it is done. A text in `trouble` ends it.
  virtual bool Step(std::string* trouble) = 0;
  /// Calls of one communicator that have to go one after the other have the same.
  virtual int64_t order() const = 0;
  Communicator* communicator = nullptr;
};

class CollectiveMove : public Move {
 public:
  CollectiveMove(Communicator* of, Saying saying, const void* in, void* out);
  bool Step(std::string* trouble) override;
  int64_t order() const override { return -1; }

 private:
  bool All(std::atomic<uint32_t> Seat::* word) const;
  void Fill();
  void Take();

  Saying saying_;
  const char* in_;
  char* out_;
  uint64_t item_, each_, chunk_, at_ = 0;  // elements, but for the item's bytes
  int phase_ = 0;
};

class MessageMove : public Move {
 public:
  MessageMove(Communicator* of, char* data, uint64_t bytes, int peer, bool goes_out)
      : data_(data), bytes_(bytes), peer_(peer), goes_out_(goes_out) {
    communicator = of;
  }
  bool Step(std::string* trouble) override;
  int64_t order() const override { return peer_ * 2 + (goes_out_ ? 1 : 0); }

 private:
  char* data_;
  uint64_t bytes_, moved_ = 0;
  int peer_;
  bool goes_out_;
};

uint64_t ItemOf(int type);

}  // namespace simt
