// Rings of bytes between pairs of ranks, and who takes what comes out of them.
#include "core/world/mail.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/world/streaming.h"

namespace dragon {

namespace {

constexpr uint64_t kMostRing = 128 << 10, kLeastRing = 4 << 10, kAllRings = 4 << 20;
constexpr uint64_t kPieces = 4;  // of a ring: while one is written another is read
constexpr int kNapMilliseconds = 50;

struct Head {
  int64_t bytes, tag;
};

uint64_t RingBytes(int size) {
  const uint64_t share = kAllRings / (static_cast<uint64_t>(size) * size);
  return std::bit_floor(std::clamp(share, kLeastRing, kMostRing));
}

}  // namespace

/// Bytes are numbered from the first on; place i holds byte i modulo the ring's size.
struct Mail::Ring {
  alignas(128) std::atomic<uint64_t> written;
  alignas(128) std::atomic<uint64_t> read;
  alignas(128) char bytes[];

  uint64_t Ready() const { return written.load(std::memory_order_acquire) - read.load(std::memory_order_relaxed); }
  uint64_t Room(uint64_t size) const {
    return size - (written.load(std::memory_order_relaxed) - read.load(std::memory_order_acquire));
  }
  void Put(uint64_t size, const void* data, uint64_t count) {
    const uint64_t at = written.load(std::memory_order_relaxed), place = at % size;
    const uint64_t first = std::min(count, size - place);
    StreamInto(bytes + place, static_cast<const char*>(data), first);
    StreamInto(bytes, static_cast<const char*>(data) + first, count - first);
    written.store(at + count, std::memory_order_release);
  }
  /// `data` may be null: then the bytes are dropped.
  void Get(uint64_t size, void* data, uint64_t count) {
    const uint64_t at = read.load(std::memory_order_relaxed), place = at % size;
    const uint64_t first = std::min(count, size - place);
    if (data) {
      std::memcpy(data, bytes + place, first);
      std::memcpy(static_cast<char*>(data) + first, bytes, count - first);
    }
    read.store(at + count, std::memory_order_release);
  }
};

/// Rung when there is something to read for a rank, or room where it writes.
struct alignas(128) Mail::Bell {
  SharedWord rung;
  SharedWord sleepers;
};

uint64_t Mail::BytesFor(int size) { return size * (sizeof(Bell) + size * (sizeof(Ring) + RingBytes(size))); }

Mail::Mail(char* memory, Board* board)
    : memory_(memory),
      board_(board),
      me_(board->rank()),
      size_(board->size()),
      ring_bytes_(RingBytes(board->size())),
      sends_(board->size()),
      early_(board->size()),
      reading_(board->size()) {}

Mail::~Mail() {
  ending_ = true;
  if (!courier_.joinable()) return;
  CallCourier();
  RingBell(me_);
  courier_.join();
}

Mail::Bell& Mail::BellOf(int rank) const { return reinterpret_cast<Bell*>(memory_)[rank]; }

Mail::Ring& Mail::RingOf(int from, int to) const {
  const uint64_t place = static_cast<uint64_t>(from) * size_ + to;
  return *reinterpret_cast<Ring*>(memory_ + size_ * sizeof(Bell) + place * (sizeof(Ring) + ring_bytes_));
}

void Mail::RingBell(int rank) {
  Bell& bell = BellOf(rank);
  bell.rung.fetch_add(1);
  if (bell.sleepers.load() != 0) WakeAll(bell.rung);
}

std::shared_ptr<Message> Mail::Send(const char* data, int64_t bytes, int to, int64_t tag) {
  auto message = std::make_shared<Message>(Message{const_cast<char*>(data), bytes, to, tag, true});
  std::lock_guard lock(mutex_);
  sends_[to].push_back(message);
  HelpAlong();
  return message;
}

std::shared_ptr<Message> Mail::Receive(char* data, int64_t bytes, int from, int64_t tag) {
  auto message = std::make_shared<Message>(Message{data, bytes, from, tag, false});
  std::lock_guard lock(mutex_);
  if (TakeEarly(message.get())) return message;
  receives_.push_back(message);
  HelpAlong();
  return message;
}

/// The mutex is held.
void Mail::HelpAlong() {
  while (Advance()) continue;
  if (IsAnythingLeft() && !courier_.joinable()) courier_ = std::thread([this] { Courier(); });
  CallCourier();
}

bool Mail::IsAnythingLeft() const {
  const auto begun = [](const Reading& reading) { return reading.begun; };
  return !receives_.empty() || std::any_of(reading_.begin(), reading_.end(), begun) ||
         std::any_of(sends_.begin(), sends_.end(), [](auto& to) { return !to.empty(); });
}

void Mail::CallCourier() {
  called_.fetch_add(1);
  if (courier_rests_.load()) WakeAll(called_);
}

// It has nothing to do while somebody waits, who helps all messages along, and does not have the others wake it then.
void Mail::Courier() {
  Bell& bell = BellOf(me_);
  while (!ending_) {
    const uint32_t seen = bell.rung.load(), calls = called_.load();
    bool moved = false, rests = waiting_.load() > 0;
    if (!rests) {
      std::lock_guard lock(mutex_);
      while (Advance()) moved = true;
      rests = !IsAnythingLeft();
    }
    if (moved || ending_) continue;
    if (rests) {
      courier_rests_ = true;
      if (called_.load() == calls) SleepOn(called_, calls, kNapMilliseconds);
      courier_rests_ = false;
    } else {
      bell.sleepers.fetch_add(1);
      if (bell.rung.load() == seen) SleepOn(bell.rung, seen, kNapMilliseconds);
      bell.sleepers.fetch_sub(1);
    }
  }
}

bool Mail::Advance() {
  bool moved = false;
  for (int rank = 0; rank < size_; ++rank) {
    moved |= Write(rank);
    moved |= Read(rank);
  }
  return moved;
}

bool Mail::Write(int to) {
  bool moved = false;
  Ring& ring = RingOf(me_, to);
  while (!sends_[to].empty()) {
    Message& message = *sends_[to].front();
    uint64_t room = ring.Room(ring_bytes_);
    if (!message.begun) {
      if (room < sizeof(Head)) break;
      const Head head{message.bytes, message.tag};
      ring.Put(ring_bytes_, &head, sizeof(head));
      message.begun = true, room -= sizeof(head);
      moved = true;
    }
    const uint64_t count =
        std::min<uint64_t>({room, ring_bytes_ / kPieces, static_cast<uint64_t>(message.bytes - message.moved)});
    ring.Put(ring_bytes_, message.data + message.moved, count);
    message.moved += static_cast<int64_t>(count);
    moved |= count > 0;
    if (message.moved < message.bytes) break;  // for the others' turn, and for who reads meanwhile
    message.done = true;
    sends_[to].pop_front();
  }
  if (moved) RingBell(to);
  return moved;
}

bool Mail::Read(int from) {
  bool moved = false;
  Ring& ring = RingOf(from, me_);
  for (;;) {
    Reading& reading = reading_[from];
    if (!reading.begun && !BeginReading(from)) break;
    const uint64_t count =
        std::min<uint64_t>({ring.Ready(), ring_bytes_ / kPieces, static_cast<uint64_t>(reading.bytes - reading.moved)});
    char* there = reading.into ? reading.into->data : reading.early.data();
    const bool dropped = reading.into && !reading.into->trouble.empty();
    ring.Get(ring_bytes_, dropped ? nullptr : there + reading.moved, count);
    reading.moved += static_cast<int64_t>(count);
    if (reading.into) reading.into->moved = reading.moved;
    moved |= count > 0;
    if (reading.moved < reading.bytes) break;
    EndReading(from);
    moved = true;
  }
  if (moved) RingBell(from);
  return moved;
}

bool Mail::BeginReading(int from) {
  Ring& ring = RingOf(from, me_);
  Head head;
  if (ring.Ready() < sizeof(head)) return false;
  ring.Get(ring_bytes_, &head, sizeof(head));
  Reading& reading = reading_[from];
  reading = {true, head.tag, head.bytes, 0, Claim(from, head.tag), {}};
  if (!reading.into) {
    reading.early.resize(head.bytes);
  } else if (reading.into->bytes != head.bytes) {
    reading.into->trouble = "got a message of " + std::to_string(head.bytes) + " bytes of rank " +
                            std::to_string(from) + ", expected one of " + std::to_string(reading.into->bytes);
  }
  return true;
}

void Mail::EndReading(int from) {
  Reading reading = std::move(reading_[from]);
  reading_[from] = {};
  if (reading.into) {
    reading.into->done = true;
    return;
  }
  early_[from].push_back({reading.tag, std::move(reading.early)});
  // Somebody may have asked for it meanwhile.
  for (auto asked = receives_.begin(); asked != receives_.end(); ++asked) {
    if (!TakeEarly(asked->get())) continue;
    receives_.erase(asked);
    return;
  }
}

std::shared_ptr<Message> Mail::Claim(int from, int64_t tag) {
  for (auto asked = receives_.begin(); asked != receives_.end(); ++asked) {
    const std::shared_ptr<Message> message = *asked;
    if (message->tag != tag || (message->rank != from && message->rank != -1)) continue;
    receives_.erase(asked);
    message->rank = from, message->begun = true;
    return message;
  }
  return nullptr;
}

bool Mail::TakeEarly(Message* message) {
  for (int from = 0; from < size_; ++from) {
    if (message->rank != from && message->rank != -1) continue;
    for (auto early = early_[from].begin(); early != early_[from].end(); ++early) {
      if (early->tag != message->tag) continue;
      message->rank = from;
      const auto bytes = static_cast<int64_t>(early->bytes.size());
      if (bytes == message->bytes) {
        std::memcpy(message->data, early->bytes.data(), bytes);
      } else {
        message->trouble = "got a message of " + std::to_string(bytes) + " bytes of rank " + std::to_string(from) +
                           ", expected one of " + std::to_string(message->bytes);
      }
      message->done = true;
      early_[from].erase(early);
      return true;
    }
  }
  return false;
}

bool Mail::IsDone(const std::shared_ptr<Message>& message) {
  int64_t moved;
  return IsDone(message, &moved);
}

bool Mail::IsDone(const std::shared_ptr<Message>& message, int64_t* moved) {
  std::lock_guard lock(mutex_);
  while (!message->done && Advance()) continue;
  *moved = message->moved;
  if (message->done && !message->trouble.empty()) throw RuntimeError("receive").Says(message->trouble);
  return message->done;
}

/// Somebody waits; the courier goes on where it left off afterwards.
class Mail::Attending {
 public:
  explicit Attending(Mail* mail) : mail_(mail) { mail_->waiting_.fetch_add(1); }
  Attending(const Attending&) = delete;
  ~Attending() {
    if (mail_->waiting_.fetch_sub(1) == 1) mail_->CallCourier();
  }

 private:
  Mail* mail_;
};

void Mail::Wait(const std::shared_ptr<Message>& message, double seconds) {
  Bell& bell = BellOf(me_);
  const Deadline deadline(seconds);
  const char* what = message->goes_out ? "send" : "receive";
  const Attending attending(this);
  int64_t moved = 0, before = 0;
  for (int looks = 0;; ++looks) {
    const uint32_t seen = bell.rung.load();
    if (IsDone(message, &moved)) return;
    if (std::exchange(before, moved) != moved) looks = 0;
    if (looks < board_->awake()) {
      Breathe();
      continue;
    }
    bell.sleepers.fetch_add(1);
    if (bell.rung.load() == seen) SleepOn(bell.rung, seen, kNapMilliseconds);
    bell.sleepers.fetch_sub(1);
    if (IsDone(message)) return;
    board_->CheckWhole();
    if (message->rank >= 0 && board_->peers().Gone(message->rank) && !IsDone(message)) {
      throw RuntimeError(what).Says("rank ", message->rank, " (process ", board_->peers().process(message->rank),
                                    ") has ended");
    }
    if (deadline.Over()) {
      throw RuntimeError(what)
          .Got("no end of a message of ", message->bytes, " bytes with tag ", message->tag, " within ", seconds,
               " seconds")
          .Expected("one; the other rank is ", message->rank);
    }
    if (Waiting().look_around) Waiting().look_around();
  }
}

void Mail::Cancel(const std::shared_ptr<Message>& message) {
  std::lock_guard lock(mutex_);
  if (message->done) return;
  if (!message->begun) {
    if (message->goes_out) {
      std::erase(sends_[message->rank], message);
    } else {
      std::erase(receives_, message);
    }
    message->done = true, message->trouble = "was cancelled";
  } else if (message->goes_out) {
    message->kept.assign(message->data, message->data + message->bytes);
    message->data = message->kept.data();
  } else if (message->trouble.empty()) {
    message->trouble = "was cancelled";
  }
}

}  // namespace dragon
