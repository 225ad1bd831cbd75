// Processes of one machine, over memory that all of them map. Every number is reduced by one rank, or by each in the
// same order, so all ranks have the same bits.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/world/board.h"
#include "core/world/communicator.h"
#include "core/world/mail.h"

namespace dragon {

class DRAGON_API SharedCommunicator : public Communicator {
 public:
  /// How much memory a group takes.
  static uint64_t BytesFor(const Board::Options& options);
  explicit SharedCommunicator(std::unique_ptr<Board> board);

  int rank() const override { return board_->rank(); }
  int size() const override { return board_->size(); }

  void AllReduce(const char* in, char* out, Elements elements, Reduction reduction) override;
  void Reduce(const char* in, char* out, Elements elements, Reduction reduction, int root) override;
  void Broadcast(char* data, Elements elements, int root) override;
  void AllGather(const char* in, std::span<char* const> outs, Elements each) override;
  void Gather(const char* in, std::span<char* const> outs, Elements each, int root) override;
  void Scatter(std::span<const char* const> ins, char* out, Elements each, int root) override;
  void ReduceScatter(std::span<const char* const> ins, char* out, Elements each, Reduction reduction) override;
  void AllToAll(std::span<const Piece> ins, std::span<const Piece> outs) override;
  void Barrier() override;
  void Break(const std::string& why) override { board_->Break(why); }
  std::string Trouble() override { return board_->Trouble(); }
  void SetTimeout(double seconds) override { board_->set_timeout(seconds); }

  std::shared_ptr<Message> Send(const char* data, int64_t bytes, int to, int64_t tag) override;
  std::shared_ptr<Message> Receive(char* data, int64_t bytes, int from, int64_t tag) override;
  bool IsDone(const std::shared_ptr<Message>& message) override { return mail_.IsDone(message); }
  void Wait(const std::shared_ptr<Message>& message, double seconds) override { mail_.Wait(message, seconds); }
  void Cancel(const std::shared_ptr<Message>& message) override { mail_.Cancel(message); }

 private:
  static constexpr int64_t kLine = 64;  ///< bytes: parts of sheets begin at multiples

  /// What is done in a step, of which only the number is told.
  using Step = std::function<void(int64_t step)>;
  /// Write and read sheets in turns: `fill` writes this rank's of a step, and may read those of the step before; `take`
  /// reads those of the step.
  void Run(Signature signature, int64_t steps, const Step& fill, const Step& take);
  void RunSteps(int64_t steps, const Step& fill, const Step& take);
  Signature Say(Collective collective, Elements elements, int root = -1, Reduction reduction = Reduction::kSum) const;
  void ShareSizes(std::span<const Piece> ins, std::span<const Piece> outs, std::span<int64_t> told);
  void AllReduceAtOnce(const char* in, char* out, Elements elements, Reduction reduction);
  void AllReduceInParts(const char* in, char* out, Elements elements, Reduction reduction);
  /// out[i] = the reduction of sources_[..][i].
  void Combine(Elements elements, Reduction reduction, char* out);
  /// Call `act(offset, count)` for part `step` of elements that go `most` at a time.
  template <typename Act>
  static void Part(int64_t step, int64_t most, int64_t count, const Act& act) {
    const int64_t offset = step * most;
    if (offset < count) act(offset, std::min<int64_t>(most, count - offset));
  }

  std::unique_ptr<Board> board_;
  Mail mail_;
  std::mutex mutex_;
  std::vector<const char*> sources_;  ///< of each rank, what is reduced at the moment
  uint64_t number_ = 0;               ///< of collectives so far
};

}  // namespace dragon
