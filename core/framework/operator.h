// What an operator is: its schema, what it infers, how it runs, its gradient. Declared once, in core/ops.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device/context.h"
#include "core/framework/schema.h"
#include "core/framework/tensor.h"
#include "core/kernels/kernel.h"

namespace dragon {

class Operator;

/// A call on its way through the door. It borrows everything; the caller keeps it alive.
struct Call {
  const Operator* op = nullptr;
  std::span<const Tensor> inputs;       ///< tensor arguments in schema order, lists flattened; undefined where None
  std::span<const Value> attrs;         ///< the other arguments in schema order, all present
  std::span<const int32_t> list_sizes;  ///< lengths of the tensor lists, in schema order
  /// A destination of another shape is an error, unless this is given: then it takes on the result's shape, and what
  /// this points at becomes true if it had elements.
  bool* resized = nullptr;

  const char* name() const;
};

/// Read access to a call, shared by all the functions of an operator. Arguments are addressed by their names in the
/// schema; tensors also by position (lists flattened), for rules that serve operators of many kinds.
class DRAGON_API CallReader {
 public:
  explicit CallReader(const Call& call) : call_(call) {}
  const Call& call() const { return call_; }
  const Operator& op() const { return *call_.op; }
  const char* name() const { return call_.name(); }

  int x_count() const { return static_cast<int>(call_.inputs.size()); }
  const Tensor& x(int i) const { return call_.inputs[i]; }
  const Tensor& x(ArgumentName name) const { return x(Place(name)); }
  /// An optional tensor that was given.
  bool has(int i) const { return x(i).defined(); }
  bool has(ArgumentName name) const { return x(name).defined(); }
  /// The list in a tensor slot of the schema.
  std::span<const Tensor> list(int slot) const;
  std::span<const Tensor> list(ArgumentName name) const { return list(TensorSlot(name)); }

  const Value& attr(ArgumentName name) const { return call_.attrs[AttrSlot(name)]; }
  bool Given(ArgumentName name) const { return !attr(name).is_none(); }
  bool Bool(ArgumentName name) const { return attr(name).boolean(); }
  int64_t Int(ArgumentName name) const { return attr(name).integer(); }
  double Real(ArgumentName name) const { return attr(name).real(); }
  const Dims& Ints(ArgumentName name) const { return attr(name).ints(); }
  const std::string& String(ArgumentName name) const { return attr(name).string(); }
  DType DTypeOr(ArgumentName name, DType otherwise) const {
    const Value& given = attr(name);
    return given.is_none() ? otherwise : given.dtype();
  }

 protected:
  /// Where a tensor stands among the inputs; of a list, where it begins.
  int Place(ArgumentName name) const;
  int TensorSlot(ArgumentName name) const;
  int AttrSlot(ArgumentName name) const;

  const Call& call_;
};

struct OutputSpec {
  Dims shape, strides;  ///< empty strides: row-major
  DType dtype = DType::kFloat32;
  bool free_layout = false;
};

/// Shapes and dtypes of the results; sees no numbers, so it also runs for meta tensors and tracing.
class DRAGON_API Infer : public CallReader {
 public:
  using CallReader::CallReader;
  void y(int i, Dims shape, DType dtype);
  /// The same, with strides the engine chose for speed.
  void y(int i, Dims shape, DType dtype, Dims strides);
  InlineVector<OutputSpec, 2> outputs;
  /// Where the results will be; the device of the first defined input unless said otherwise.
  Device device;
};

/// A tensor, if there is one, as kernels take it: for a call's arguments, which live until the call is done.
class LentView {
 public:
  explicit LentView(Tensor tensor) : tensor_(std::move(tensor)) {
    if (tensor_.defined()) view_ = tensor_.view();
  }
  LentView(Tensor tensor, View view) : tensor_(std::move(tensor)), view_(view) {}
  operator View() const { return view_; }  // NOLINT: it stands for the view

 private:
  Tensor tensor_;
  View view_;
};

/// The computation: inputs are ready, outputs allocated as inferred.
class DRAGON_API Run : public CallReader {
 public:
  Run(const Call& call, Context& ctx, Tensors& outputs) : CallReader(call), ctx_(ctx), outputs_(outputs) {}
  Context& ctx() { return ctx_; }
  Tensor& y(int i = 0) { return outputs_[i]; }
  int y_count() const { return static_cast<int>(outputs_.size()); }
  View in(int i) const { return ViewHere(x(i)); }
  View in(ArgumentName name) const { return in(Place(name)); }
  View out(int i = 0) const { return outputs_[i].defined() ? outputs_[i].mutable_view() : View{}; }
  /// A mutated argument (`Tensor!`).
  View inout(int i) const { return x(i).defined() ? x(i).mutable_view() : View{}; }
  View inout(ArgumentName name) const { return inout(Place(name)); }
  /// A tensor where the call runs: a number of the host is brought there, anything else stays as it is. For operators
  /// that hand on more than a view of their inputs.
  Tensor Here(const Tensor& x) const;
  /// The input in row-major order, copied if need be, where the call runs.
  Tensor Contiguous(int i) const;
  Tensor Contiguous(ArgumentName name) const { return Contiguous(Place(name)); }
  /// The same for a kernel's call.
  LentView rows(int i) const {
    Tensor dense = Contiguous(i);
    const View view = ViewHere(dense);
    return LentView(std::move(dense), view);
  }
  LentView rows(ArgumentName name) const { return rows(Place(name)); }
  DType dtype() const { return x(0).dtype(); }
  /// What a kernel sees of a tensor: a number of the CPU goes anywhere.
  View ViewHere(const Tensor& x) const {
    if (!x.defined()) return View{};
    return DRAGON_LIKELY(x.device() == ctx_.device) ? x.view() : FromElsewhere(x);
  }
  /// For operators whose result shapes depend on numbers (`Dynamic`): set the results here.
  void set_y(int i, Tensor tensor);

 private:
  View FromElsewhere(const Tensor& x) const;

  Context& ctx_;
  Tensors& outputs_;
};

/// The geometry of a view; the result shares the first input's memory.
class DRAGON_API ViewOf : public CallReader {
 public:
  explicit ViewOf(const Call& call) : CallReader(call), dtype(call.inputs[0].dtype()) {}
  void Set(Dims the_shape, Dims the_strides, int64_t the_offset) {
    shape = std::move(the_shape), strides = std::move(the_strides), offset = the_offset;
  }
  Dims shape, strides;
  int64_t offset = 0;  ///< absolute, in elements of `dtype`
  DType dtype;
};

/// What is known of a tensor without holding its numbers.
struct TensorMeta {
  Dims shape;
  DType dtype = DType::kFloat32;
  Device device;

  TensorMeta() = default;
  explicit TensorMeta(const Tensor& tensor) {
    if (tensor.defined()) shape = tensor.shape(), dtype = tensor.dtype(), device = tensor.device();
  }
};

/// One step of the backward pass. What was saved is named in `Gradient("x, out", ...)`.
class DRAGON_API Grad : public CallReader {
 public:
  Grad(const Call& call, std::span<const Tensor> outputs, std::span<const Tensor> grads, std::span<const bool> needs,
       std::span<const TensorMeta> x_metas, std::span<const TensorMeta> y_metas)
      : CallReader(call), outputs_(outputs), grads_(grads), needs_(needs), x_metas_(x_metas), y_metas_(y_metas) {
    results.resize(call.inputs.size());
  }
  /// A result of the forward call, if saved.
  const Tensor& y(int i = 0) const { return outputs_[i]; }
  /// The incoming gradient of result i. Undefined if nothing depends on that result.
  const Tensor& dy(int i = 0) const { return grads_[i]; }
  /// Must input i get a gradient?
  bool needs(int i) const { return needs_[i]; }
  bool needs(ArgumentName name) const { return needs(Place(name)); }
  /// Input i's gradient. It is summed to the input's shape, made real or cast to its dtype as need be.
  void dx(int i, Tensor grad) { results[i] = std::move(grad); }
  void dx(ArgumentName name, Tensor grad) { dx(Place(name), std::move(grad)); }
  /// Shapes and dtypes of inputs and outputs are known even when their numbers were not saved.
  const Dims& x_shape(int i) const { return x_metas_[i].shape; }
  const Dims& x_shape(ArgumentName name) const { return x_shape(Place(name)); }
  DType x_dtype(int i) const { return x_metas_[i].dtype; }
  DType x_dtype(ArgumentName name) const { return x_dtype(Place(name)); }
  Device x_device(int i) const { return x_metas_[i].device; }
  Device x_device(ArgumentName name) const { return x_device(Place(name)); }
  const Dims& y_shape(int i = 0) const { return y_metas_[i].shape; }
  DType y_dtype(int i = 0) const { return y_metas_[i].dtype; }
  Device device() const { return y_metas_[0].device; }
  int y_count() const { return static_cast<int>(y_metas_.size()); }

  Tensors results;

 private:
  std::span<const Tensor> outputs_, grads_;
  std::span<const bool> needs_;
  std::span<const TensorMeta> x_metas_, y_metas_;
};

/// How inputs of different dtypes meet. The frontend's promotion rule decides the common dtype.
enum class Promotion : uint8_t {
  kNone,    ///< dtypes are the operator's own business
  kCommon,  ///< tensor inputs are cast to their common dtype
  kFloat,   ///< the same, and integers become the default float dtype
};

/// What autocast makes of an operator's inputs: PyTorch's choices on the CPU.
enum class Precision : uint8_t {
  kAsGiven,  ///< nothing; parts of a composition have policies of their own
  kLower,    ///< the region's 16 bits
  kFloat32,  ///< float32
  kPlain,    ///< nothing, and its parts are not cast either, though they would be by themselves
};

/// How a call for many slices at once is made of the call for one. Batches have their slices along the first axis.
enum class Batching : uint8_t {
  kUnsaid,   ///< no rule: slice by slice, but compositions come apart into operators that may have one
  kApart,    ///< slice by slice: the numbers of others matter, or where they lie
  kNumbers,  ///< every number by itself; axes of slices are aligned behind the batch's
  kRows,     ///< whatever axes stand in front are rows of their own, and so the batch's is; named axes move by one
  kSamples,  ///< the first axis counts samples already: slices are laid end to end
  kOwn,      ///< a function of its own
};
class Slices;  // core/framework/batching.h
using BatchFn = std::function<InlineVector<Tensor, 2>(const Slices&)>;

/// activation(sum; alpha, beta), as the attributes of fused products say it.
struct Tail {
  const char* activation = "none";
  double alpha = 0, beta = 0;
  bool drops_nan = false;  ///< oneDNN's minima and maxima do
};
/// A call that might be a tail: its attributes, and the numbers that its inputs are known to be.
struct TailCall {
  const Schema& schema;
  std::span<const Value> attrs;
  std::span<const std::optional<double>> numbers;
  double Real(ArgumentName name) const { return attrs[schema.AttrSlot(name)].real(); }
  const std::string& String(ArgumentName name) const { return attrs[schema.AttrSlot(name)].string(); }
  std::optional<double> Number(ArgumentName name) const { return numbers[schema.TensorSlot(name)]; }
};
/// What such a call makes of its first input; nothing where it is no tail.
using TailFn = std::function<std::optional<Tail>(const TailCall&)>;

/// Refuses a bare number, given for the tensor in a slot, that the dtype in which an operator's inputs meet does not
/// take.
using NumberCheck = void (*)(const char* who, int slot, DType dtype, const Value& number);

class DRAGON_API Operator {
 public:
  using InferFn = std::function<void(Infer&)>;
  using RunFn = std::function<void(Run&)>;
  using ViewFn = std::function<void(ViewOf&)>;
  using GradFn = std::function<void(Grad&)>;
  using ComposeFn = std::function<Tensors(const CallReader&)>;

  explicit Operator(Schema schema);

  // --- how an operator is told; every function returns *this
  Operator& Doc(const char* text) { return doc = text, *this; }
  Operator& Infers(InferFn fn) { return infer = std::move(fn), *this; }
  Operator& Runs(RunFn fn) { return run = std::move(fn), *this; }
  /// Result shapes depend on numbers: no Infer, and Runs() calls set_y. Meta tensors are refused by name.
  Operator& Dynamic() { return dynamic = true, *this; }
  /// It meets other processes: each of its calls is made, once and in its turn, whoever asks for the result.
  Operator& Meets() { return meets = true, *this; }
  /// The result is a view of the first input.
  Operator& Views(ViewFn fn) { return view = std::move(fn), *this; }
  /// The operator is a composition of others; gradients, meta execution and tracing come by themselves.
  Operator& As(ComposeFn fn) { return compose = std::move(fn), *this; }
  /// `saves` names tensor arguments and results whose numbers the gradient reads: "x, out". What is read for the
  /// gradient of one argument only says so, "x for y, out for y", and is not kept when that argument wants none.
  Operator& Gradient(const char* saves, GradFn fn);
  /// Results never carry gradients (comparisons, argmax, ...).
  Operator& NotDifferentiable() { return differentiable = false, *this; }
  Operator& Promotes(Promotion how) { return promotion = how, *this; }
  /// Only these tensor slots take part in promotion (default: all).
  Operator& PromotesOnly(uint32_t slots) { return promoted_slots = slots, *this; }
  /// What bare numbers must be before they take on the dtype in which the inputs meet; without this, integers wrap.
  Operator& ChecksNumbers(NumberCheck check) { return number_check = check, *this; }
  /// Result i, j, k... pointwise of inputs: the shape rule is broadcasting, in-place writing is safe.
  Operator& Pointwise() {
    if (batching == Batching::kUnsaid) batching = Batching::kNumbers;
    return pointwise = true, *this;
  }
  /// The result is the first input with some places changed: given that input as destination, it is edited where it is.
  /// Runs() then finds the result's memory to be the first input's.
  Operator& Edits() { return edits = true, *this; }
  /// The kernel converts to whatever dtype the destination has.
  Operator& CastsOutput() { return casts_output = true, *this; }
  /// Its kernels take all dtypes, those that numbers are only kept in as well; others compute in a stand-in.
  Operator& TakesKept() { return takes_kept = true, *this; }
  /// Results whose bit is set carry no gradient though the operator is differentiable (saved statistics).
  Operator& NoGradientFor(uint64_t results) { return nondifferentiable_outputs = results, *this; }
  /// What autocast makes of the inputs.
  Operator& Autocast(Precision how) { return autocast = how, *this; }
  /// f(x, y) is f(y, x), to the bit; with `factor`, where that attribute, which multiplies y, is 1.
  Operator& Commutes(const char* factor = nullptr);
  /// `Tensor!` arguments are written only in calls where this bool attribute is true.
  Operator& WritesWhen(const char* attribute);
  /// A product may do this to the numbers it stores.
  Operator& Tails(TailFn fn) { return tail = std::move(fn), *this; }
  Operator& Tails(Tail always) {
    return Tails([always](const TailCall&) { return always; });
  }
  /// How slices are computed at once. `axes` names the attributes that are axes of the first tensor; `shared` the
  /// tensors that must be the same for all slices, which go one by one otherwise: "weight, bias".
  Operator& Batches(Batching how, const char* axes = "", const char* shared = "");
  Operator& Batches(BatchFn fn) { return batching = Batching::kOwn, batch = std::move(fn), *this; }

  const std::string& name() const { return schema.name(); }

  Schema schema;
  const char* doc = "";
  InferFn infer;
  RunFn run;
  ViewFn view;
  GradFn gradient;
  ComposeFn compose;
  uint64_t saved_inputs = 0, saved_outputs = 0;  ///< bit i: tensor argument i (a whole list), result i
  /// Bit i of entry k: argument or result k is saved if argument i wants a gradient. Later ones are always saved.
  std::array<uint64_t, 8> inputs_saved_for, outputs_saved_for;
  Promotion promotion = Promotion::kNone;
  uint32_t promoted_slots = ~0u;
  NumberCheck number_check = nullptr;
  Precision autocast = Precision::kAsGiven;
  Batching batching = Batching::kUnsaid;
  BatchFn batch;
  uint64_t batch_axes = 0, batch_shared = 0;  ///< bit i: attribute i, tensor argument i
  TailFn tail;
  int8_t writes_when = -1;      ///< the attribute that says whether `Tensor!` arguments are written; -1: they are
  int8_t commutes_factor = -1;  ///< the attribute that must be 1 for the first two inputs to change places; -1: none
  bool commutes = false;
  bool differentiable = true;
  bool dynamic = false;
  bool meets = false;
  bool pointwise = false;
  bool edits = false;
  bool casts_output = false;
  bool takes_kept = false;
  uint64_t nondifferentiable_outputs = 0;
  KernelTable* kernel;  ///< the table of the operator's own name

  /// It draws random numbers.
  bool draws() const;
};

inline const char* Call::name() const { return op->schema.name().c_str(); }
inline int CallReader::TensorSlot(ArgumentName name) const { return op().schema.TensorSlot(name); }
inline int CallReader::AttrSlot(ArgumentName name) const { return op().schema.AttrSlot(name); }
inline int CallReader::Place(ArgumentName name) const { return op().schema.PlaceOf(name, call_.list_sizes); }

/// Tell a new operator. Telling a name twice is a RuntimeError.
DRAGON_API Operator& DefineOp(const std::string& schema_line);
/// nullptr if there is no operator of that name.
DRAGON_API const Operator* FindOp(const std::string& name);
/// The operator, or a NotImplementedError that names the nearest ones.
DRAGON_API const Operator& GetOp(const std::string& name);
/// All names, sorted.
DRAGON_API std::vector<std::string> OpNames();

}  // namespace dragon
