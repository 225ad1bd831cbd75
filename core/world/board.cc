// How ranks meet at a board: words that count steps, looked at for a while and then slept on.
#include "core/world/board.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

#include "core/base/error.h"

namespace dragon {

namespace {

constexpr uint64_t kApart = 128;        // bytes that move between processors together
constexpr int kSleepMilliseconds = 50;  // after which a thread looks around
constexpr int kAwakeAlone = 4000, kAwakeCrowded = 50;

uint64_t Rounded(uint64_t bytes) { return (bytes + kApart - 1) / kApart * kApart; }

}  // namespace

struct alignas(kApart) Board::Head {
  SharedWord breaking;  ///< taken by the first who gives up
  SharedWord broken;    ///< set once the reason is written
  char reason[512];
};

struct alignas(kApart) Board::Seat {
  SharedWord posted;    ///< how many steps this rank has written
  SharedWord sleepers;  ///< how many threads sleep on it
  SharedWord process;   ///< the rank's; 0 until it has joined
  Signature signatures[kSheets];
};

uint64_t Board::BytesFor(const Options& options) {
  return sizeof(Head) + options.size * (sizeof(Seat) + kSheets * Rounded(options.sheet_bytes));
}

Board::Board(SharedBlock memory, const Options& options)
    : memory_(std::move(memory)), options_(options), timeout_seconds_(options.timeout_seconds) {
  if (options.size < 1 || options.size > kMostRanks || options.rank < 0 || options.rank >= options.size) {
    throw ValueError("Board")
        .Got("rank ", options.rank, " of ", options.size, " processes")
        .Expected("1 to ", kMostRanks, " processes, of which it is one");
  }
  if (memory_.bytes() < BytesFor(options)) {
    throw ValueError("Board").Got("memory of ", memory_.bytes(), " bytes").Expected(BytesFor(options));
  }
  options_.sheet_bytes = Rounded(options.sheet_bytes);
  // All zeros is how each part begins, so nobody has to be the first.
  head_ = reinterpret_cast<Head*>(memory_.data());
  sheets_ = static_cast<char*>(memory_.data()) + sizeof(Head) + options_.size * sizeof(Seat);
  const unsigned processors = std::max(std::thread::hardware_concurrency(), 1U);
  awake_ = static_cast<unsigned>(options_.size) <= processors ? kAwakeAlone : kAwakeCrowded;
}

Board::Seat& Board::SeatOf(int rank) const {
  return reinterpret_cast<Seat*>(static_cast<char*>(memory_.data()) + sizeof(Head))[rank];
}

char* Board::sheet(int rank, int64_t step) {
  const uint64_t place = rank * uint64_t{kSheets} + (step_ + step) % kSheets;
  return sheets_ + place * options_.sheet_bytes;
}

void Board::Join() {
  Seat& mine = SeatOf(options_.rank);
  const auto process = static_cast<uint32_t>(getpid());
  uint32_t nobody = 0;
  if (!mine.process.compare_exchange_strong(nobody, process)) {
    throw RuntimeError("Board")
        .Got("two processes of rank ", options_.rank, " (", nobody, " and ", process, ")")
        .Expected("one for each rank");
  }
  WakeAll(mine.process);
  const Deadline deadline(timeout_seconds_);
  std::vector<int> processes(options_.size);
  for (int rank = 0; rank < options_.size; ++rank) {
    SharedWord& there = SeatOf(rank).process;
    while (there.load() == 0) {
      SleepOn(there, 0, kSleepMilliseconds);
      CheckWhole();
      LookAround();
      if (deadline.Over()) GiveUp(rank, "has not joined the group");
    }
    processes[rank] = static_cast<int>(there.load());
  }
  peers_ = std::make_unique<Peers>(processes);
}

void Board::Begin(const Signature& signature) {
  doing_ = signature;
  SeatOf(options_.rank).signatures[step_ % kSheets] = signature;
  Post(0);
  Await(0);
  CheckSignatures();
}

void Board::Post(int64_t step) {
  Seat& mine = SeatOf(options_.rank);
  mine.posted.store(static_cast<uint32_t>(step_ + step + 1));
  if (mine.sleepers.load() != 0) WakeAll(mine.posted);
}

void Board::Await(int64_t step) {
  const uint32_t posted = static_cast<uint32_t>(step_ + step + 1);
  for (int i = 1; i < options_.size; ++i) AwaitSeat((options_.rank + i) % options_.size, posted);
}

void Board::AwaitSeat(int rank, uint32_t posted) {
  Seat& seat = SeatOf(rank);
  const auto there = [&] { return static_cast<int32_t>(seat.posted.load(std::memory_order_acquire) - posted) >= 0; };
  for (int i = 0; i < awake_; ++i) {
    if (there()) return;
    Breathe();
  }
  const Deadline deadline(timeout_seconds_);
  while (!there()) {
    seat.sleepers.fetch_add(1);
    const uint32_t seen = seat.posted.load();
    if (static_cast<int32_t>(seen - posted) < 0) SleepOn(seat.posted, seen, kSleepMilliseconds);
    seat.sleepers.fetch_sub(1);
    if (there()) return;
    CheckWhole();
    if (peers_->Gone(rank) && !there()) {
      GiveUp(rank, "(process " + std::to_string(peers_->process(rank)) + ") has ended");
    }
    if (deadline.Over()) GiveUp(rank, "has not come in time");
    LookAround();
  }
}

void Board::LookAround() {
  if (!Waiting().look_around) return;
  try {
    Waiting().look_around();
  } catch (...) {
    Break("rank " + std::to_string(options_.rank) + " was interrupted in " + Place());
    throw;
  }
}

std::string Board::Place() const {
  if (doing_.number == 0) return "joining";
  return doing_.Text() + ", collective " + std::to_string(doing_.number) + " of the group";
}

void Board::CheckSignatures() {
  for (int rank = 0; rank < options_.size; ++rank) {
    const Signature theirs = SeatOf(rank).signatures[step_ % kSheets];
    if (theirs == doing_) continue;
    const std::string mine = doing_.Text();
    const int me = options_.rank;
    const uint64_t number = doing_.number;
    End(1);  // everybody sees it in this step, so all can go on together
    throw RuntimeError(NameOf(doing_.collective))
        .Got(mine, " on rank ", me, " and ", theirs.Text(), " on rank ", rank, " as collective ", number,
             " of the group")
        .Expected("the same on all ranks");
  }
}

void Board::CheckWhole() const {
  if (head_->broken.load() == 0) return;
  char reason[sizeof(head_->reason)];
  std::memcpy(reason, head_->reason, sizeof(reason));
  reason[sizeof(reason) - 1] = 0;
  throw RuntimeError("process group").Says(reason, "; the group is of no use any more, expected a new one");
}

std::string Board::Trouble() const {
  try {
    CheckWhole();
  } catch (const Error& error) {
    return error.what();
  }
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank == options_.rank || !peers_ || !peers_->Gone(rank)) continue;
    return "rank " + std::to_string(rank) + " (process " + std::to_string(peers_->process(rank)) + ") has ended";
  }
  return {};
}

void Board::Break(const std::string& why) {
  if (head_->breaking.exchange(1) == 0) {
    std::strncpy(head_->reason, why.c_str(), sizeof(head_->reason) - 1);
    head_->broken.store(1);
  }
  for (int rank = 0; rank < options_.size; ++rank) WakeAll(SeatOf(rank).posted);
}

void Board::GiveUp(int missing, const std::string& how) {
  Break("rank " + std::to_string(missing) + " " + how + " (rank " + std::to_string(options_.rank) +
        " waited for it in " + Place() + ")");
  CheckWhole();
  throw RuntimeError("process group").Says("somebody gave up");  // and writes down why just now
}

}  // namespace dragon
