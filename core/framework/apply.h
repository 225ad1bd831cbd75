// The one door: everything that computes goes through Apply.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/framework/operator.h"

namespace dragon {

/// Compute `call`. With `outs`, the results are written into those tensors (in place, `out=`), and these are returned:
/// casting where the dtypes allow it, counting a write, and rewriting autograd's history of what they alias.
DRAGON_API Tensors Apply(const Call& call, std::span<const Tensor> outs = {});

/// Someone who stands at the door: may handle a call, change it, or pass it down with `Below`.
/// Record (autograd) and Run (compute) are the ground floor and always there; Trace, Cast, Batch, Profile stand above.
class DRAGON_API Interpreter {
 public:
  virtual ~Interpreter() = default;
  virtual Tensors Handle(const Call& call, std::span<const Tensor> outs) = 0;

 protected:
  /// Pass a call to whoever stands below this interpreter; what that one calls in turn passes below as well.
  Tensors Below(const Call& call, std::span<const Tensor> outs);
  /// The same, but calls made in turn (the parts of a composition) come to the top of the door again.
  Tensors Through(const Call& call, std::span<const Tensor> outs);
  /// Stand above all at this thread's door; leave it, wherever one stands.
  void Enter();
  void Leave();

 private:
  friend class InterpreterGuard;
  Interpreter* below_ = nullptr;
};

/// Puts an interpreter at this thread's door for the guard's lifetime.
class DRAGON_API InterpreterGuard {
 public:
  explicit InterpreterGuard(Interpreter* interpreter) : interpreter_(interpreter) { interpreter_->Enter(); }
  ~InterpreterGuard() { interpreter_->Leave(); }
  InterpreterGuard(const InterpreterGuard&) = delete;
  InterpreterGuard& operator=(const InterpreterGuard&) = delete;

 private:
  Interpreter* interpreter_;
};

/// Per-thread switches of the door.
struct DoorState {
  Interpreter* top = nullptr;
  bool grad_enabled = true;
};
DRAGON_API DoorState& Door();

/// Switches recording for a scope.
class GradMode {
 public:
  explicit GradMode(bool enabled) : previous_(Door().grad_enabled) { Door().grad_enabled = enabled; }
  ~GradMode() { Door().grad_enabled = previous_; }

 private:
  bool previous_;
};

/// The float dtype of Python floats and of integer tensors in float functions. Per process.
DRAGON_API DType DefaultDType();
DRAGON_API void SetDefaultDType(DType dtype);

}  // namespace dragon
