// The one door: everything that computes goes through Apply.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/framework/operator.h"
#include "core/framework/promotion.h"

namespace dragon {

/// Compute `call`. With `outs`, the results are written into those tensors (in place, `out=`), and these are returned:
/// casting where the dtypes allow it, counting a write, and rewriting autograd's history of what they alias.
DRAGON_API Tensors Apply(const Call& call, std::span<const Tensor> outs = {});

/// Someone who stands at the door: may handle a call, change it, or pass it down with `Below`.
/// Record (autograd) and Run (compute) are the ground floor, always there; Trace, Autocast, Batch, Profile stand above.
class DRAGON_API Interpreter {
 public:
  virtual ~Interpreter() = default;
  virtual Tensors Handle(const Call& call, std::span<const Tensor> outs) = 0;
  /// Whether calls are passed on with the attributes that they came with, whatever becomes of operands.
  virtual bool passes_whole() const { return false; }

 protected:
  /// Stand below all others at this thread's door.
  void EnterBelow();
  /// Pass a call to whoever stands below this interpreter; what that one calls in turn passes below as well.
  Tensors Below(const Call& call, std::span<const Tensor> outs);
  /// The same, but calls made in turn (the parts of a composition) come to the top of the door again.
  Tensors Through(const Call& call, std::span<const Tensor> outs);
  /// Whether all who stand above pass calls on whole.
  bool CallsComeWhole() const;
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

struct BackwardOptions;  // core/framework/autograd/backward.h

/// What happens beside the calls that come to the door.
class DRAGON_API Listener {
 public:
  virtual ~Listener() = default;
  /// A tensor was made of numbers that the program holds.
  virtual void Made(const Tensor& tensor) = 0;
  /// The gradient slot of a leaf is read, or gets something else.
  virtual void GradRead(const Tensor& leaf) = 0;
  virtual void GradWritten(const Tensor& leaf, const Tensor& grad) = 0;
  /// What is called from here to the end is part of a backward pass: gradients are accumulated into leaves, or are
  /// results. It may end without them, on the way out of an error.
  virtual void BackwardBegins(bool accumulates, const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                              const std::vector<Tensor>& wanted, const BackwardOptions& options) = 0;
  virtual void BackwardEnds(std::span<const Tensor> results) = 0;
};

/// What a trace must hear of although it is no call.
class DRAGON_API Tracer : public Listener {
 public:
  /// Somebody looks at numbers, so what follows may depend on them.
  virtual void Observe(const Tensor& tensor, const char* how) = 0;
  /// to_row_major on behalf of somebody who looks at the strides, wherever in the engine he stands.
  virtual Tensor Settle(const Tensor& tensor) = 0;
  /// A copy of what is about to be written and whose present numbers a gradient needs.
  virtual Tensor Keep(const Tensor& tensor) = 0;
  /// Something happens that a graph cannot say; `what` names it.
  virtual void GiveUp(const std::string& what) = 0;
  /// Somebody wants to see the gradient of a tensor.
  virtual void Hooked() = 0;
};

/// Whether calls are recorded for gradients. It reads as a bool: where nobody has said so, the engine records as well,
/// and whose users expect otherwise holds its calls back (`HeldBack` of core/bindings/recording.h).
enum GradSaid : uint8_t { kGradOff, kGradUnsaid, kGradOn };

/// Per-thread switches of the door.
struct DoorState {
  Interpreter* top = nullptr;
  Tracer* tracer = nullptr;  ///< the trace that stands in the stack of `top`, if any
  GradSaid grad_enabled = kGradUnsaid;
  bool phantom = false;  ///< shapes only: results get no memory, and no kernel runs
};
DRAGON_API DoorState& Door();

/// Switches recording for a scope.
class GradMode {
 public:
  explicit GradMode(bool enabled) : previous_(Door().grad_enabled) {
    Door().grad_enabled = enabled ? kGradOn : kGradOff;
  }
  ~GradMode() { Door().grad_enabled = previous_; }

 private:
  GradSaid previous_;
};

/// The call with its inputs cast to the dtypes that the operator computes in; `storage` keeps what had to be cast.
DRAGON_API Call Promote(const Call& call, InlineVector<Tensor, 4>* storage);
/// Where the results of a call will be: the device of its inputs. A ValueError if they are on several.
DRAGON_API Device CommonDevice(const Call& call);

}  // namespace dragon
