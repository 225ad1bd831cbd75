// Procedure: what a call did, as the program asked for it. Slices are not clamped yet, axes not resolved, compositions
// whole, and numbers that follow sizes are kept as they were computed (core/framework/sizes.h). So it can be done again
// with arguments of other sizes: the operators' own code finds out what that comes to, as it would for the program.
//
// A `Procedure` knows no graph. Done again over real tensors it is the call without its Python; done again over
// phantoms, before a trace, it yields the graph for those sizes.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/framework/apply.h"
#include "core/framework/autograd/backward.h"
#include "core/framework/sizes.h"
#include "core/framework/trace.h"

namespace dragon {

/// A tensor of a procedure, by position among all that come by.
using TensorId = int32_t;
inline constexpr TensorId kNoTensor = -1;

/// One thing that the program asked for.
struct ProcedureStep {
  enum class Kind : uint8_t {
    kCall,       ///< an operator
    kDetach,     ///< an alias without history
    kNumber,     ///< a bare number, as a tensor of one
    kMade,       ///< numbers that the program holds
    kBackward,   ///< gradients accumulated into leaves
    kGradients,  ///< gradients of inputs
    kGradRead,   ///< what a leaf has for a gradient
    kGradWrite,  ///< a leaf gets another, or none
  };
  /// An attribute that is a number: the attribute itself (element -1), or an element of its list.
  struct Follows {
    int32_t attr = 0, element = -1;
    NumberId number = 0;
  };

  Kind kind = Kind::kCall;
  GradSaid recorded = kGradUnsaid;  ///< the door's switch at the time
  const Operator* op = nullptr;
  std::vector<TensorId> inputs;  ///< of a call, in schema order; roots, their gradients, and what is wanted
  std::vector<TensorId> outs;    ///< destinations
  std::vector<TensorId> outputs;
  std::vector<int> ranks;  ///< of a call's results: how many axes they have, which the program takes for granted
  std::vector<Value> attrs;
  std::vector<int32_t> list_sizes;  ///< of a call; of a backward pass, how many roots and gradients there are
  std::vector<Follows> follows;
  std::vector<TensorId> last;  ///< tensors that nobody asks for from here on
  NumberId number = -1;        ///< of a number; -1: it is the constant in `made`
  Tensor made;  ///< numbers that the program holds; `follows` says which elements are others another time
  DType dtype = DType::kFloat32;
  BackwardOptions backward;
  bool unversioned = false;  ///< of an alias: its writes are none of autograd's business
  bool defined = false;      ///< whether there was a gradient to be read
  bool eager = false;        ///< of a call: it looks at numbers itself, so no plan holds it
};

/// Why a procedure does not hold for what it was given.
class DRAGON_API ProcedureParts : public Error {
 public:
  explicit ProcedureParts(const std::string& why) : Error(ErrorKind::kRuntime, why) {}
};

class DRAGON_API Procedure {
 public:
  /// Do everything again. A ProcedureParts where the program would have done something else, and whatever an operator
  /// says to operands that it does not take. `known`: the first numbers, of a part of a program.
  std::vector<Tensor> Run(std::span<const Tensor> arguments, std::span<const double> symbols,
                          std::span<const Value> known = {}) const;
  /// Whether it holds for arguments like these, found out over phantoms; what an operator or decision says against it.
  std::string Refusal(std::span<const Tensor> arguments, std::span<const double> symbols) const;
  /// What these numbers are for arguments like these, found out over phantoms.
  std::vector<Value> NumbersAt(std::span<const Tensor> arguments, std::span<const double> symbols,
                               std::span<const NumberId> numbers) const;
  /// What the call comes to for arguments of these sizes: done again over phantoms before this trace, which is new.
  /// `like` is what it came to in the program itself.
  Capture Traced(std::span<const Tensor> arguments, const Capture& like, Trace* trace, std::vector<Tensor>* results,
                 std::span<const Value> known = {}) const;
  /// Sizes of arguments (argument, axis) that are always what they were, since the program took them for plain numbers.
  std::vector<std::pair<int, int>> FixedSizes() const;
  /// What is decided by sizes, for people.
  std::vector<std::string> Conditions() const;
  /// Whether numbers of tensors may change what the number is.
  bool DependsOnItems(NumberId number) const;
  /// The size of the axis of the argument, as people call it.
  std::string NameOf(const Sizes::Number& number) const;

  std::string name = "call";
  Sizes sizes;
  std::vector<ProcedureStep> steps;
  std::vector<TensorId> arguments;
  std::vector<int> ranks;                            ///< of the arguments
  std::vector<std::pair<TensorId, Tensor>> outside;  ///< tensors that the program found by itself
  std::vector<TensorId> outputs;
  std::vector<std::string> symbols;
  TensorId tensor_count = 0;

  // --- of programs that look at numbers
  struct Look {
    int32_t step = 0;  ///< before which
    std::string place;
  };
  struct Write {
    int32_t step = 0, piece = 0;
  };
  std::vector<Look> looks;
  std::vector<char> loose;      ///< by tensor: its sizes may follow what the program found by looking
  std::vector<int32_t> pieces;  ///< by tensor: of memory; tensors of one piece may share it
  std::vector<int64_t> bytes;   ///< by tensor
  std::vector<Write> writes;
  int32_t first_effect = std::numeric_limits<int32_t>::max();  ///< the step that first does what cannot be taken back
  bool draws = false;                                          ///< random numbers
};

/// Arguments without numbers, otherwise like the given; what is one tensor stays one.
DRAGON_API std::vector<Tensor> PhantomsOf(std::span<const Tensor> arguments);

}  // namespace dragon
