// The parts of a procedure whose program looks at numbers. Between two looks nothing depends on what was found, so that
// a plan may do it; what looks itself is done operator by operator.
#pragma once

#include <string>
#include <vector>

#include "core/framework/procedure_run.h"

namespace dragon {

struct ProcedurePart {
  int32_t begin = 0, end = 0;          ///< steps
  bool planned = false;                ///< whether a plan may do it
  std::vector<TensorId> takes, gives;  ///< what it needs of before, and what is needed of it
  std::vector<int32_t> early;  ///< steps that make tensors of numbers, done before: their numbers are no part of it
  std::vector<NumberId> keys;  ///< numbers of before that it is made for
  Procedure procedure;         ///< where a plan may do it: its arguments are `takes`, its outputs `gives`
};

/// The parts, one after another.
DRAGON_API std::vector<ProcedurePart> PartsOf(const Procedure& procedure);

/// What a run must be able to take back, since it goes on by a number afterwards: it may be another one than before.
struct Undoing {
  std::vector<TensorId> written;  ///< tensors that were there before
  std::vector<TensorId> leaves;   ///< whose gradients are replaced
  int32_t lasting = 0;            ///< the first step with an effect that is not taken back
};

/// A ProcedureParts where too much would have to be taken back.
DRAGON_API Undoing UndoingOf(const Procedure& procedure);

/// What was there before a run.
class DRAGON_API Before {
 public:
  Before(const Procedure& procedure, const Undoing& undoing, const ProcedureRun& run);
  void Restore() const;

 private:
  std::vector<std::pair<Tensor, Tensor>> numbers_, gradients_;
  std::vector<uint8_t> drawn_;
};

/// The tensors that a part takes; numbers that it needs as tensors are made.
DRAGON_API std::vector<Tensor> TakenBy(const ProcedurePart& part, ProcedureRun* run);

/// What the part comes to for tensors like these, before this trace, which is new.
DRAGON_API Capture TracedPart(const ProcedurePart& part, const ProcedureRun& run, std::span<const Tensor> taken,
                              const Capture& like, Trace* trace, std::vector<Tensor>* results);

/// What a plan of the part is made for: where this is the same, the plan fits.
DRAGON_API std::string KeyOf(const ProcedurePart& part, const ProcedureRun& run, std::span<const Tensor> taken);

}  // namespace dragon
