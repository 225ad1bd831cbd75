// Messages between two processes of a group, through a ring of bytes for each pair and direction.
//
// Who calls helps all messages of its process along; where one is not done at once, a thread does so in the background,
// so that no order of sends, receives and collectives can leave two processes waiting for each other's memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/macros.h"
#include "core/world/board.h"

namespace dragon {

/// A message on its way out or in. Its memory belongs to who made it, until it is done.
struct Message {
  char* data;
  int64_t bytes;
  int rank;  ///< of the other side; -1 for a message of anybody, until one has come
  int64_t tag;
  bool goes_out;
  int64_t moved = 0;   ///< bytes so far
  bool begun = false;  ///< its head has been written, or read
  bool done = false;
  std::string trouble{};     ///< what went wrong
  std::vector<char> kept{};  ///< bytes that nobody else keeps any more
};

class DRAGON_API Mail {
 public:
  static uint64_t BytesFor(int size);
  /// `memory`: zeros that all ranks see, of so many bytes. The board tells who is still there.
  Mail(char* memory, Board* board);
  Mail(const Mail&) = delete;
  ~Mail();

  std::shared_ptr<Message> Send(const char* data, int64_t bytes, int to, int64_t tag);
  std::shared_ptr<Message> Receive(char* data, int64_t bytes, int from, int64_t tag);
  /// Whether a message is done; helps it along. Throws what went wrong.
  bool IsDone(const std::shared_ptr<Message>& message);
  /// Wait until it is; throws if it never will be, or takes longer than so many seconds (negative: without a limit).
  void Wait(const std::shared_ptr<Message>& message, double seconds);
  /// Its memory is about to go: what has begun to move ends elsewhere, what has not is forgotten.
  void Cancel(const std::shared_ptr<Message>& message);

 private:
  struct Ring;
  struct Bell;
  class Attending;
  /// A message that came before anybody had asked for it.
  struct Early {
    int64_t tag;
    std::vector<char> bytes;
  };
  /// What is being read of a ring.
  struct Reading {
    bool begun = false;
    int64_t tag = 0, bytes = 0, moved = 0;
    std::shared_ptr<Message> into;  ///< null: it is early, or nobody can take it
    std::vector<char> early;
  };

  Ring& RingOf(int from, int to) const;
  Bell& BellOf(int rank) const;
  void RingBell(int rank);
  /// Likewise, and how many of its bytes have moved: between sender and ring, or ring and receiver.
  bool IsDone(const std::shared_ptr<Message>& message, int64_t* moved);
  bool Advance();
  bool Write(int to);
  bool Read(int from);
  bool BeginReading(int from);
  void EndReading(int from);
  bool TakeEarly(Message* message);
  std::shared_ptr<Message> Claim(int from, int64_t tag);
  void HelpAlong();
  bool IsAnythingLeft() const;
  void CallCourier();
  void Courier();

  char* memory_;
  Board* board_;
  int me_, size_;
  uint64_t ring_bytes_;
  std::mutex mutex_;
  std::vector<std::deque<std::shared_ptr<Message>>> sends_;
  std::deque<std::shared_ptr<Message>> receives_;
  std::vector<std::deque<Early>> early_;
  std::vector<Reading> reading_;
  std::atomic<int> waiting_{0};  ///< threads in Wait
  SharedWord called_{0};         ///< how often the courier was
  std::atomic<bool> courier_rests_{false};
  std::thread courier_;
  std::atomic<bool> ending_{false};
};

}  // namespace dragon
