// Scribe: an interpreter that stands above all and writes down what the program asks for, as it asks: the call that
// comes to the door, and not what becomes of it there.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/framework/procedure.h"

namespace dragon {

class DRAGON_API Scribe final : public Interpreter, public Listener {
 public:
  ~Scribe() override;

  /// An argument of the call, in order, and those of its axes that may have other sizes. Before Start.
  void AddArgument(const Tensor& tensor, std::span<const int> open_axes);
  int AddSymbol(const std::string& name);
  /// A trace must be at work, which tells of what is no call.
  void Start();
  void Stop();
  bool is_running() const { return running_; }
  /// This thread's, if one is at work.
  static Scribe* Current();

  /// Why there is no procedure; empty if there is one.
  const std::string& failure() const { return failure_; }
  void Fail(const std::string& what);
  /// The procedure that leads to these results. The scribe must have stopped.
  Procedure Finish(const std::vector<Tensor>& outputs);
  /// Called for the place in the program where something is decided.
  std::function<std::string()> place;

  /// How many steps are over.
  int32_t Position() const { return static_cast<int32_t>(procedure_.steps.size()); }

  // --- numbers; -1 stands for one that is the same for all sizes
  NumberId NumberOf(const Tensor& tensor, NumberKind kind, int axis, int64_t now);
  Sizes& sizes() { return procedure_.sizes; }
  const Sizes& sizes() const { return procedure_.sizes; }
  NumberId Constant(const Value& value) { return sizes().Note(NumberKind::kConstant, -1, -1, Position(), value); }
  NumberId Combine(NumberKind kind, NumberId a, NumberId b) { return sizes().Combine(kind, a, b, Position()); }
  bool Decide(Relation relation, NumberId a, NumberId b);
  /// The number is this for all that follows: somebody took it for an ordinary one.
  void Fix(NumberId id);
  /// The number in a tensor of one, which the program wants to know; its id is -1 where it never changes.
  std::pair<NumberId, Value> ReadNumber(const Tensor& tensor);
  /// The same for a number of a tensor that is told to somebody who cannot keep it.
  void FixNumberOf(const Tensor& tensor, NumberKind kind, int axis, int64_t now);
  /// Attribute `attr` of the next call, or an element of its list, is this number.
  void Follow(const std::string& op, int attr, int element, NumberId number);
  /// The next call is another one than the one that was being prepared.
  void ForgetFollowed();
  /// A bare number that was made a tensor is this one.
  void NoteNumber(const Tensor& tensor, NumberId number);

  /// The tensor was made of numbers that the program holds, some of which are these: (element, number).
  void NoteNumbers(const Tensor& tensor, std::span<const std::pair<int32_t, NumberId>> numbers);
  /// An element of a tensor that was made of such numbers; -1 if it is the same for all sizes.
  NumberId ElementOf(const Tensor& tensor, int64_t place);
  /// Somebody takes the elements for ordinary numbers.
  void FixElements(const Tensor& tensor);

  void NoteDetached(const Tensor& from, const Tensor& alias, bool unversioned);

  // --- Interpreter and Listener
  void Made(const Tensor& tensor) override;
  void GradRead(const Tensor& leaf) override;
  void GradWritten(const Tensor& leaf, const Tensor& grad) override;
  void BackwardBegins(bool accumulates, const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                      const std::vector<Tensor>& wanted, const BackwardOptions& options) override;
  void BackwardEnds(std::span<const Tensor> results) override;
  Tensors Handle(const Call& call, std::span<const Tensor> outs) override;

 private:
  struct Pending {
    std::string op;
    ProcedureStep::Follows follows;
  };

  bool IsListening() const { return running_ && depth_ == 0 && failure_.empty(); }
  TensorId IdOf(const Tensor& tensor);
  TensorId NewId(const Tensor& tensor, bool open);
  std::vector<TensorId> IdsOf(std::span<const Tensor> tensors);
  bool IsOpen(std::span<const TensorId> ids) const;
  ProcedureStep& AddStep(ProcedureStep::Kind kind);
  bool IsOpen(TensorId id) const { return open_[id] || open_pieces_[procedure_.pieces[id]]; }
  void TakePending(const Call& call, ProcedureStep* step);
  void FindLastUses();
  void FindLoose();
  void NoteTold(const Tensor& tensor, const Value& number);
  void NoteDraws(const Call& call);
  void NoteWrites(const ProcedureStep& step, std::span<const uint64_t> before, bool open);
  std::vector<uint64_t> VersionsOf(const ProcedureStep& step) const;

  Procedure procedure_;
  std::unordered_map<TensorImpl*, TensorId> ids_;
  std::vector<Tensor> seen_;            ///< by id; kept, so that no other tensor comes to lie where one was
  std::vector<char> open_;              ///< by id: its sizes may follow those of arguments
  std::vector<std::vector<int>> axes_;  ///< by argument: the open ones
  std::vector<Pending> pending_;
  std::unordered_map<Storage*, int32_t> pieces_;  ///< of memory
  std::string failure_;
  NumberId told_ = -1;             ///< the number that was read last
  bool asked_ = false;             ///< by somebody who keeps it as what it is
  std::vector<char> open_pieces_;  ///< by piece of memory: what was written there may follow sizes
  std::vector<int32_t> written_;   ///< by piece of memory: the step after which it was written last
  Trace* trace_ = nullptr;
  uint64_t mark_ = 0;
  int depth_ = 0;
  bool running_ = false;
  bool knew_numbers_ = false;
};

}  // namespace dragon
