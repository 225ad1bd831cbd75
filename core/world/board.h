// A board in shared memory on which each rank of a group writes and all others read, step by step.
//
// In step s a rank writes into its own sheet s % 3 and then says so (`Post`); having waited until all have said so
// (`Await`), it may read everybody's sheet s % 3. It may write its sheet for step s + 1 while others still read those
// of step s: nobody reads that of step s - 2 any more, since who has posted s has read s - 2.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/macros.h"
#include "core/device/shared.h"
#include "core/world/patience.h"
#include "core/world/peers.h"
#include "core/world/signature.h"

namespace dragon {

class DRAGON_API Board {
 public:
  static constexpr int kSheets = 3;
  static constexpr int kMostRanks = 4096;

  struct Options {
    int rank = 0, size = 1;
    uint64_t sheet_bytes = 0;
    double timeout_seconds = -1;
  };

  static uint64_t BytesFor(const Options& options);
  Board(SharedBlock memory, const Options& options);

  int rank() const { return options_.rank; }
  int size() const { return options_.size; }
  uint64_t sheet_bytes() const { return options_.sheet_bytes; }
  void set_timeout(double seconds) { timeout_seconds_ = seconds; }

  /// Say that this rank is there. Once all are, each watches the others.
  void Join();
  /// What a rank has written, or this one writes, in a step of the collective at hand.
  char* sheet(int rank, int64_t step);

  /// Say what this collective is, its sheet of step 0 being written, and wait for the others to say the same.
  void Begin(const Signature& signature);
  /// Say that this rank's sheet of a step is written.
  void Post(int64_t step);
  /// Wait until everybody's is; throws if somebody is gone, or gave up, or does not come in time.
  void Await(int64_t step);
  /// The collective has ended, after so many steps.
  void End(int64_t steps) { step_ += steps; }

  /// Tell the others that this rank gives up, so that they do not wait for it.
  void Break(const std::string& why);
  /// What this rank is at, for letters.
  const Signature& doing() const { return doing_; }
  uint64_t count() const { return doing_.number; }
  /// How often a thread looks before it sleeps.
  int awake() const { return awake_; }
  /// What comes behind the board in the memory.
  char* rest() const { return static_cast<char*>(memory_.data()) + BytesFor(options_); }
  const Peers& peers() const { return *peers_; }
  /// Throw if somebody has given up.
  void CheckWhole() const;
  /// Why somebody gave up, or who of the others has ended; empty if nobody has.
  std::string Trouble() const;

 private:
  struct Head;
  struct Seat;

  Seat& SeatOf(int rank) const;
  /// Wait until a rank has posted as much; `what` for letters.
  void AwaitSeat(int rank, uint32_t posted);
  void CheckSignatures();
  /// Let whoever wants this to end do so, as an interrupt from the keyboard does.
  void LookAround();
  std::string Place() const;
  [[noreturn]] void GiveUp(int missing, const std::string& how);

  SharedBlock memory_;
  Options options_;
  std::atomic<double> timeout_seconds_;  ///< as the options have it, until somebody says otherwise
  Head* head_;
  char* sheets_;
  std::unique_ptr<Peers> peers_;
  Signature doing_;
  uint64_t step_ = 0;  ///< the first one of the collective at hand, counted from the beginning on
  int awake_ = 0;
};

}  // namespace dragon
