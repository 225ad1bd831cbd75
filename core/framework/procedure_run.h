// A run of a procedure: the tensors and numbers so far. It may be done step by step, or some steps at once by somebody
// else, who takes the tensors that they need and gives those that are needed later.
#pragma once

#include "core/framework/procedure.h"

namespace dragon {

class DRAGON_API ProcedureRun {
 public:
  /// `known`: the first numbers, of a part of a program.
  ProcedureRun(const Procedure& procedure, std::span<const Tensor> arguments, std::span<const double> symbols,
               std::span<const Value> known = {});

  /// Do all steps before this one. A ProcedureParts where the program would have done something else.
  void Advance(int32_t step);
  /// Find the numbers and look after the decisions that lie before the next step.
  void Reach();
  int32_t position() const { return position_; }
  /// The results; all steps must be over.
  std::vector<Tensor> Finish();

  const Tensor& tensor(TensorId id) const { return tensors_[id]; }
  /// Have another tensor stand for one that the program found by itself. Before the first step.
  void Put(TensorId id, const Tensor& tensor) { tensors_[id] = tensor; }
  const SizesNow& numbers() const { return now_; }
  /// Make the tensor of a bare number before its turn.
  void MakeEarly(int32_t step);
  /// Go on after steps that somebody else has done: there are these tensors now.
  void Skip(int32_t step, std::span<const TensorId> ids, std::span<const Tensor> made);

 private:
  std::vector<Tensor> TensorsOf(std::span<const TensorId> ids) const;
  void Fill(const ProcedureStep& step, InlineVector<Value, 6>* attrs) const;
  void TellTrace(const ProcedureStep& step) const;
  void Do(const ProcedureStep& step);
  void DoCall(const ProcedureStep& step);
  void DoDetach(const ProcedureStep& step);
  void DoBackward(const ProcedureStep& step);
  void DoGradRead(const ProcedureStep& step);
  void LetGo(const ProcedureStep& step);

  const Procedure& procedure_;
  std::vector<Tensor> tensors_;
  std::vector<double> symbols_;
  SizesNow now_;
  size_t decided_ = 0;
  int32_t position_ = 0;
};

}  // namespace dragon
