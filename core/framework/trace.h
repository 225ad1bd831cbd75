// Trace: an interpreter that writes down what comes to the door. It stands below all others, so it sees calls as they
// are computed: after mixed precision, with compositions taken apart. The calls run all the same: a traced call is an
// ordinary call that is listened to, and if the listener has to give up, nothing is lost but the graph.
//
// A graph never overwrites anything, programs do. So the trace keeps a cell per piece of memory: which value lies there
// now. Reading through a view is a view of that value; writing through one makes a new value (`write_view`).
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/framework/apply.h"
#include "core/framework/findings.h"
#include "core/framework/graph.h"
#include "core/framework/known.h"

namespace dragon {

/// Where an input of a captured graph comes from when the graph runs again.
struct CapturedInput {
  enum class Source : uint8_t {
    kArgument,  ///< given at each call
    kOutside,   ///< a tensor that the function found by itself: a parameter, a buffer, a constant of the program
    kGradient,  ///< what then is the gradient of such a tensor
    kUpstream,  ///< the gradient of a result, in the backward pass
  };
  Source source = Source::kArgument;
  Tensor tensor;          ///< the argument of the traced call; the tensor outside; the leaf whose gradient it is
  int32_t argument = -1;  ///< for the gradient of an argument: which
};

/// What a captured call gives back, or leaves behind, per result.
struct CapturedOutput {
  enum class Kind : uint8_t {
    kValue,  ///< fresh memory with what output `index` of the graph holds
    kInput,  ///< input `index` itself
    kAlias,  ///< a view of input `index`'s memory
  };
  Kind kind = Kind::kValue;
  int32_t index = 0;
  Dims shape, strides;
  int64_t offset = 0;  ///< relative to the value's or input's first element
  DType dtype = DType::kFloat32;
  bool free_layout = false;
  bool requires_grad = false;
};

/// What becomes of a leaf's gradient slot.
struct CapturedGradient {
  Tensor leaf;
  int32_t argument = -1;     ///< the leaf is an argument, this one
  bool guarded = false;      ///< what was there before matters:
  bool was_defined = false;  ///< there was a gradient
  bool written = false;      ///< and afterwards there is another one, or none:
  bool is_none = true;
  CapturedOutput output;
};

/// The backward pass of a capture, as calls after those of the forward pass.
struct Differentiation {
  Graph graph;             ///< its inputs are those of the capture and then the gradients of `roots`
  int forward_calls = 0;   ///< calls from here on belong to the backward pass
  std::vector<int> roots;  ///< the capture's outputs through which gradients come
  std::vector<std::pair<int, std::string>> spent;  ///< those whose backward pass is over, or fails; what it then says
  std::vector<int> wanted;                         ///< the capture's inputs that get gradients
  std::vector<ValueId> grads;                      ///< theirs; kNoValue where none flows
  std::vector<std::vector<char>> reaches;          ///< by root: which of `wanted` gradients flow to from there
  std::vector<std::vector<char>> spent_reaches;    ///< the same by entry of `spent`
  std::string failure;                             ///< why there is none
};

/// What a call did: all that is needed to do it again.
struct Capture {
  Graph graph;
  std::vector<CapturedInput> inputs;    ///< of the graph, in its order
  std::vector<CapturedOutput> outputs;  ///< in the order given to Finish
  std::vector<CapturedGradient> gradients;
  std::vector<int32_t> placed;  ///< inputs whose place in their memory matters
  int argument_count = 0;
  Differentiation backward;  ///< empty until somebody asks for it
};

class DRAGON_API Trace final : public Interpreter, public Tracer, public NumberTeller {
 public:
  /// With `branch`, of a part of what another trace of this thread writes down, for a graph that is an argument (see
  /// core/framework/bodies.h): the other one stands aside meanwhile. What it writes outside, its graph
  /// updates.
  /// `follows`: gradients will flow through it, so the graph must say where they do not.
  explicit Trace(bool branch = false, bool follows = true);
  ~Trace() override;

  /// Called for the place in the program when the trace gives up.
  std::function<std::string()> place;
  /// Called for where each call comes from, if it is there.
  std::function<std::string()> scope;
  /// Called where somebody looks at numbers that are the same whenever the graph runs.
  std::function<void(const Tensor&)> looked;

  /// An argument of the traced function, in order. Before Start.
  void AddInput(const Tensor& tensor, std::string name = "");
  /// Say which of two tensors a call reads that lie alike in memory, as x and x[:9] do where x is short: for graphs of
  /// other sizes, where they do not. All tensors are kept meanwhile, so there should be nothing in them. Before Start.
  void TellViewsApart() { tells_views_apart_ = true; }
  /// Go on where the program looks at numbers, and note what it finds. Before Start.
  void NoteFindings() { notes_ = true; }
  /// The same for a program that computes nothing: it finds what another call of it has found. Before Start.
  void Foretell(std::vector<Finding> findings);
  const std::vector<Finding>& findings() const { return findings_; }
  /// How many of them the program has come by.
  int found() const { return found_; }
  /// Where the program first found something that may be otherwise the next time; empty if nowhere.
  const std::string& first_look() const { return first_look_; }
  /// Called after a number was told.
  std::function<void(const Tensor&, const Value&)> when_told;
  void Start();
  void Stop();
  /// Why there is no graph; empty if there is one.
  const std::string& failure() const { return failure_; }
  /// The tensors that came from outside, so far.
  std::vector<Tensor> Outside() const;
  const std::vector<CapturedInput>& inputs() const { return inputs_; }
  /// Say that an input is to be re-read from another tensor that holds the same memory (its owner, say).
  void SetOwner(int input, const Tensor& owner) { inputs_[input].tensor = owner; }
  /// The graph that leads to these results. The trace must have stopped.
  Capture Finish(const std::vector<Tensor>& outputs);
  /// Give leaves whose gradients were touched back what they had: after a call of which only the shapes were wanted.
  void RestoreGradients();
  /// Go on from there through the backward pass, without computing anything.
  Differentiation Differentiate(const std::vector<Tensor>& outputs, const Capture& capture);

  // --- Interpreter and Tracer
  Tensors Handle(const Call& call, std::span<const Tensor> outs) override;
  void Observe(const Tensor& tensor, const char* how) override;
  void Made(const Tensor& tensor) override;
  Tensor Settle(const Tensor& tensor) override;
  Tensor Keep(const Tensor& tensor) override;
  void GradRead(const Tensor& leaf) override;
  void GradWritten(const Tensor& leaf, const Tensor& grad) override;
  void BackwardBegins(bool accumulates, const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                      const std::vector<Tensor>& wanted, const BackwardOptions& options) override;
  void BackwardEnds(std::span<const Tensor> results) override;
  /// Who hears of it as well.
  Listener* listener = nullptr;
  void GiveUp(const std::string& what) override;
  void Hooked() override;
  std::optional<Value> Tell(const Tensor& tensor) override;
  /// Whether what looks at these numbers cannot be a graph: they may be others the next time.
  bool IsOpen(const Tensor& tensor);
  /// The program has looked at where a tensor begins in its memory.
  void NotePlace(const Tensor& tensor);
  /// A number that is asked for anew before each run: attribute `attr` of the next call.
  int AddSymbol(const std::string& name);
  int symbol_count() const { return static_cast<int>(graph_.symbols.size()); }
  void NoteSymbol(int attr, int element, Expression value) { pending_.push_back({attr, element, std::move(value)}); }

  /// These numbers are known, and nobody writes them.
  void AddConstant(const Tensor& numbers, const std::string& name);
  /// The value that a tensor holds now.
  ValueId Read(const Tensor& tensor);
  Graph& graph() { return graph_; }

 private:
  /// How a tensor lies in its memory.
  struct Geometry {
    Dims shape, strides;
    int64_t offset = 0;
    DType dtype = DType::kFloat32;
    Geometry() = default;
    explicit Geometry(const Tensor& x) : shape(x.shape()), strides(x.strides()), offset(x.offset()), dtype(x.dtype()) {}
    friend bool operator==(const Geometry&, const Geometry&) = default;
  };
  /// A tensor that has come by, and the value that it holds.
  struct View {
    Geometry geometry;
    ValueId value = kNoValue;
    Tensor tensor;  ///< itself, where views are told apart
  };
  /// What is known about one piece of memory.
  struct Cell {
    ValueId value = kNoValue;  ///< of the whole, as `whole` looks at it; kNoValue: nothing known (`made` holds it)
    Geometry whole;
    std::vector<View> views;  ///< of the present value
    Tensor made;              ///< numbers the program holds
    Ref<Storage> storage;     ///< of memory from outside, kept alive while traced
    std::vector<int> inputs;  ///< the graph's inputs that lie here
    bool constant = false;    ///< depends on nothing that may change
    bool written = false;
  };
  struct GradSlot {
    Tensor leaf, before;
    bool read_first = false;
  };

  /// What a trial of the backward pass changes.
  struct Snapshot {
    Graph graph;
    std::vector<CapturedInput> inputs;
    std::vector<char> constant;
    std::deque<Cell> cells;
    std::unordered_map<Storage*, int> outside;
    size_t arguments;
  };

  Cell* Known(const Tensor& tensor);
  Cell& CellOf(const Tensor& tensor);
  ValueId AddOutside(Cell& cell, const Tensor& tensor);
  void Begin(const Tensor& tensor, ValueId value, bool constant);
  void Write(const Tensor& tensor, ValueId value, bool constant);
  bool WriteWhole(Cell& cell, const Tensor& tensor, ValueId value);
  bool RecordKnown(const Call& call, std::span<const Tensor> outs, Tensors* results);
  Tensors RecordFound(const Call& call, GraphCall record);
  bool MayFind() const;
  const Finding& NextFinding(bool of_results);
  void NoteFinding(Finding finding, const std::string& what);
  void NoteResults(const Tensors& results, const Operator& op);
  std::string AtPlace(const std::string& what) const;
  void Record(const Call& call, std::span<const Tensor> outs, const Tensors& results, GraphCall record,
              std::span<const OutputSpec> specs);
  std::string ScopeOfCall();
  void TouchGrad(const Tensor& leaf, bool read);
  void TakeGradients(const std::vector<Tensor>& outputs, Differentiation* result);
  void FindSpentRoots(const std::vector<Tensor>& outputs, Differentiation* result);
  std::vector<char> Reached(const Tensor& root, const std::vector<int>& wanted) const;
  Snapshot Save() const { return {graph_, inputs_, constant_, cells_, outside_, arguments_.size()}; }
  void Restore(const Snapshot& snapshot);
  std::string TryGradients(const std::vector<Tensor>& outputs, Differentiation* result);
  int32_t ArgumentOf(const Tensor& tensor) const;
  void MakeRelative(const Tensor& x, GraphCall* call);
  void CheckHistory(const Tensor& tensor, const Cell& cell);
  CapturedOutput DescribeOutput(const Tensor& tensor, Capture* capture, std::unordered_map<Storage*, int>* known);
  bool IsConstant(const std::vector<ValueId>& values) const;
  bool Flows(const std::vector<ValueId>& values) const;
  void SetFlow(ValueId value, bool flows);
  void NoteFlows(const Tensors& results, std::vector<ValueId>* outputs);
  bool IsOurs(const Tensor& tensor) const;
  ValueId WithFlowOf(const Tensor& tensor, ValueId value);
  void RefuseEffects(const Call& call, std::span<const Tensor> outs);
  [[noreturn]] void Refuse(const std::string& what);
  static void RefuseLeaked(const Call& call);
  ValueId ReadValue(const Tensor& tensor);
  View Noted(const Tensor& tensor, ValueId value) const;
  const View* Seen(const Cell& cell, const Tensor& tensor);
  ValueId Emit(const char* op, std::vector<ValueId> inputs, std::vector<Value> attrs);

  Graph graph_;
  std::vector<CapturedInput> inputs_;
  std::vector<Tensor> arguments_;
  std::vector<char> constant_;  ///< by value: depends on nothing that may change
  std::vector<char> flows_;     ///< of a branch, by value: gradients flow through the calls in the graph that make it
  std::deque<Cell> cells_;
  std::unordered_map<Storage*, int> outside_;
  std::unordered_map<Storage*, Tensor> gradient_of_;
  std::unordered_map<TensorImpl*, GradSlot> grads_;
  std::vector<TensorImpl*> touched_;                      ///< the keys of `grads_`, in the order of the program
  std::vector<std::pair<uint64_t, std::string>> scopes_;  ///< of forward calls, by the nodes that they could make
  std::vector<GraphCall::Symbolic> pending_;
  std::vector<int32_t> placed_;
  std::string failure_;
  uint64_t epoch_, mark_before_ = 0;
  bool running_ = false, backward_ = false;
  std::vector<Finding> findings_;
  std::string first_look_;
  int found_ = 0;
  bool notes_ = false, foretells_ = false, looking_ = false, tells_views_apart_ = false;
  const bool branch_, follows_;
  Trace* outer_ = nullptr;
  NumberTeller* teller_before_ = nullptr;
};

/// Whether this thread is traced, and to look at these numbers would be the end of the trace.
DRAGON_API bool IsOpen(const Tensor& tensor);

/// Tell this thread's trace, if there is one, that the program looks at where a tensor begins in its memory.
DRAGON_API void NotePlace(const Tensor& tensor);

}  // namespace dragon
