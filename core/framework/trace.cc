// Writing down what comes to the door.
#include "core/framework/trace.h"

#include <algorithm>

#include "core/framework/autograd/meta.h"
#include "core/framework/graph_check.h"
#include "core/framework/op.h"
#include "core/framework/writes.h"

namespace dragon {

namespace {

std::atomic<uint64_t> g_traces{0};

}  // namespace

Trace::Trace(bool branch, bool follows)
    : epoch_((++g_traces << 1 | branch) << kMarkBits), branch_(branch), follows_(branch && follows) {}

Trace::~Trace() {
  if (running_) Stop();
}

void Trace::AddInput(const Tensor& tensor, std::string name) {
  arguments_.push_back(tensor);
  ValueInfo info = InfoOf(tensor);
  info.name = std::move(name);
  const ValueId id = graph_.AddInput(std::move(info));
  constant_.resize(graph_.values.size(), 0);
  inputs_.push_back({CapturedInput::Source::kArgument, tensor});
  if (!tensor.impl()->storage) {
    GiveUp("an argument without memory (a meta tensor)");
    return;
  }
  Storage* storage = tensor.impl()->storage.get();
  auto [place, fresh] = outside_.try_emplace(storage, static_cast<int>(cells_.size()));
  if (fresh) {
    cells_.emplace_back();
    cells_.back().storage = tensor.impl()->storage;
    cells_.back().value = id;
    cells_.back().whole = Geometry(tensor);
  }
  Cell& cell = cells_[place->second];
  cell.inputs.push_back(static_cast<int>(inputs_.size()) - 1);
  cell.views.push_back(Noted(tensor, id));
  if (follows_) SetFlow(id, tensor.requires_grad());
}

void Trace::Start() {
  if (running_) return;
  outer_ = dynamic_cast<Trace*>(Door().tracer);
  if (Door().tracer && !(branch_ && outer_)) {
    throw RuntimeError("trace").Says("this thread's calls are being traced already");
  }
  if (outer_) outer_->Leave();
  EnterBelow();
  Door().tracer = this;
  mark_before_ = std::exchange(Storage::Mark(), epoch_);
  teller_before_ = std::exchange(Teller(), notes_ ? this : nullptr);
  running_ = true;
}

void Trace::Stop() {
  if (!running_) return;
  running_ = false;
  Storage::Mark() = mark_before_;
  Teller() = teller_before_;
  Door().tracer = outer_;
  Leave();
  if (outer_) outer_->EnterBelow();
  outer_ = nullptr;
}

void Trace::GiveUp(const std::string& what) {
  if (!failure_.empty()) return;
  failure_ = AtPlace(what);
}

std::string Trace::AtPlace(const std::string& what) const {
  const std::string where = place ? place() : std::string();
  return where.empty() ? what : what + " at " + where;
}

int Trace::AddSymbol(const std::string& name) {
  graph_.symbols.push_back(name);
  return static_cast<int>(graph_.symbols.size()) - 1;
}

bool Trace::IsOurs(const Tensor& tensor) const {
  return tensor.impl()->storage->mark >> kMarkBits == epoch_ >> kMarkBits;
}

Trace::Cell* Trace::Known(const Tensor& tensor) {
  Storage* storage = tensor.impl()->storage.get();
  if (!storage) return nullptr;
  if (storage->mark >> kMarkBits == epoch_ >> kMarkBits) {
    const uint64_t slot = storage->mark & ((uint64_t{1} << kMarkBits) - 1);
    return slot ? &cells_[slot - 1] : nullptr;
  }
  const auto found = outside_.find(storage);
  return found == outside_.end() ? nullptr : &cells_[found->second];
}

Trace::Cell& Trace::CellOf(const Tensor& tensor) {
  if (Cell* known = Known(tensor)) return *known;
  Storage* storage = tensor.impl()->storage.get();
  cells_.emplace_back();
  Cell& cell = cells_.back();
  if (storage->mark >> kMarkBits == epoch_ >> kMarkBits) {
    storage->mark = epoch_ | cells_.size();
  } else {
    outside_.emplace(storage, static_cast<int>(cells_.size()) - 1);
    cell.storage = tensor.impl()->storage;
  }
  return cell;
}

void Trace::Made(const Tensor& tensor) {
  if (listener) listener->Made(tensor);
  if (Known(tensor)) return;
  Cell& cell = CellOf(tensor);
  cell.made = tensor.Detach();
  NoteImagined(tensor);
  cell.whole = Geometry(tensor);
  cell.constant = true;
}

void Trace::AddConstant(const Tensor& numbers, const std::string& name) {
  const ValueId id = graph_.AddConstant(numbers, name);
  constant_.resize(graph_.values.size(), 1);
  Begin(numbers, id, true);
}

int32_t Trace::ArgumentOf(const Tensor& tensor) const {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].is_same(tensor)) return static_cast<int32_t>(i);
  }
  return -1;
}

ValueId Trace::AddOutside(Cell& cell, const Tensor& tensor) {
  const ValueId id = graph_.AddInput(InfoOf(tensor));
  constant_.resize(graph_.values.size(), 0);
  CapturedInput input{CapturedInput::Source::kOutside, tensor};
  const auto leaf = gradient_of_.find(tensor.impl()->storage.get());
  if (leaf != gradient_of_.end()) {
    input = {CapturedInput::Source::kGradient, leaf->second, ArgumentOf(leaf->second)};
  }
  inputs_.push_back(std::move(input));
  cell.inputs.push_back(static_cast<int>(inputs_.size()) - 1);
  if (cell.value == kNoValue) {
    cell.value = id;
    cell.whole = Geometry(tensor);
  }
  cell.views.push_back(Noted(tensor, id));
  if (follows_) SetFlow(id, tensor.requires_grad());
  return id;
}

ValueId Trace::Emit(const char* op, std::vector<ValueId> inputs, std::vector<Value> attrs) {
  const bool constant = IsConstant(inputs);
  const ValueId id = graph_.AddCall(GetOp(op), std::move(inputs), std::move(attrs)).outputs[0];
  constant_.resize(graph_.values.size(), constant);
  if (follows_) SetFlow(id, Flows(graph_.calls.back().inputs));
  return id;
}

ValueId Trace::Read(const Tensor& tensor) {
  if (!tensor.defined()) return kNoValue;
  const ValueId value = ReadValue(tensor);
  return follows_ && failure_.empty() ? WithFlowOf(tensor, value) : value;
}

Trace::View Trace::Noted(const Tensor& tensor, ValueId value) const {
  return {Geometry(tensor), value, tells_views_apart_ ? tensor : Tensor()};
}

/// The view that a tensor is, or one that lies as it does: an alias of it.
const Trace::View* Trace::Seen(const Cell& cell, const Tensor& tensor) {
  const Geometry geometry(tensor);
  const View* found = nullptr;
  for (const View& view : cell.views) {
    if (!(view.geometry == geometry)) continue;
    if (follows_ && tensor.requires_grad() && !Flows({view.value})) continue;  // it was seen without its history before
    if (!tells_views_apart_ || (view.tensor.defined() && view.tensor.is_same(tensor))) return &view;
    found = &view;
  }
  return found;
}

ValueId Trace::ReadValue(const Tensor& tensor) {
  if (tensor.impl()->weak && !Known(tensor)) {
    const ValueId id = graph_.AddConstant(Tensor::Scalar(tensor.Item(), tensor.dtype()));
    graph_.constants[id].impl()->weak = true;
    constant_.resize(graph_.values.size(), 1);
    return id;
  }
  if (!tensor.impl()->storage) {
    GiveUp("a tensor without memory (a meta tensor)");
    return kNoValue;
  }
  const bool ours = IsOurs(tensor);
  if (ours && !Known(tensor)) {
    GiveUp("memory that was filled without a call of an operator");
    return kNoValue;
  }
  Cell& cell = CellOf(tensor);
  if (cell.made.defined()) {  // numbers that the program holds: as they are now, before any call writes to them
    GradMode off(false);
    const Call clone{&OpNamed<"clone">(), std::span<const Tensor>(&cell.made, 1), {}, {}};
    const Tensor copy = Door().phantom ? CopyOfSizes(cell.made) : Below(clone, {})[0];
    cell.value = graph_.AddConstant(copy);
    constant_.resize(graph_.values.size(), 1);
    cell.views.push_back({cell.whole, cell.value, {}});
    cell.made = Tensor();
  }
  if (const View* seen = Seen(cell, tensor)) {
    for (int input : cell.inputs) {  // an alias without history came by first: the one with it is the owner
      Tensor& owner = inputs_[input].tensor;
      const bool outside = inputs_[input].source == CapturedInput::Source::kOutside;
      const bool is_owner =
          outside && graph_.inputs[input] == seen->value && !owner.requires_grad() && tensor.requires_grad();
      if (is_owner && !branch_) owner = tensor;
    }
    return seen->value;
  }
  const Geometry geometry(tensor);
  if (cell.value == kNoValue || (!cell.written && cell.storage)) return AddOutside(cell, tensor);
  if (geometry.dtype != cell.whole.dtype) {
    GiveUp("a view of another dtype whose memory was written since");
    return kNoValue;
  }
  const int64_t offset = geometry.offset - cell.whole.offset;
  if (offset < 0) {
    GiveUp("a view of memory before the one that was written");
    return kNoValue;
  }
  const ValueId id =
      Emit("as_strided_of", {cell.value}, {geometry.shape, geometry.strides, offset, cell.whole.strides, int64_t{0}});
  cell.views.push_back(Noted(tensor, id));
  return id;
}

bool Trace::IsConstant(const std::vector<ValueId>& values) const {
  return std::all_of(values.begin(), values.end(), [&](ValueId id) { return id == kNoValue || constant_[id]; });
}

void Trace::Begin(const Tensor& tensor, ValueId value, bool constant) {
  Cell& cell = CellOf(tensor);
  cell.made = Tensor();
  cell.value = value;
  cell.whole = Geometry(tensor);
  cell.views.assign(1, Noted(tensor, value));
  cell.constant = constant;
}

void Trace::NotePlace(const Tensor& tensor) {
  if (!failure_.empty() || backward_ || !tensor.impl()->storage) return;
  if (IsOurs(tensor)) return;
  Read(tensor);
  if (!failure_.empty()) return;
  const std::vector<int>& inputs = Known(tensor)->inputs;
  const bool gradient = std::any_of(inputs.begin(), inputs.end(),
                                    [&](int i) { return inputs_[i].source == CapturedInput::Source::kGradient; });
  if (gradient) return GiveUp("the place of a gradient in its memory");
  placed_.insert(placed_.end(), inputs.begin(), inputs.end());
}

void NotePlace(const Tensor& tensor) {
  if (auto* trace = dynamic_cast<Trace*>(Door().tracer)) trace->NotePlace(tensor);
}

/// Offsets count from the start of memory where the call is made, and from the first element of the input in a graph.
void Trace::MakeRelative(const Tensor& x, GraphCall* call) {
  const Cell& cell = *Known(x);
  for (int input : cell.inputs) {
    if (inputs_[input].tensor.offset() != cell.whole.offset) return GiveUp("a view of memory that two tensors share");
  }
  const int64_t offset = call->attr("offset").integer() - cell.whole.offset;
  const int64_t x_offset = call->attr("x_offset").integer() - cell.whole.offset;
  int64_t elements = 1;
  for (int axis = 0; axis < cell.whole.shape.size(); ++axis) {
    elements += std::max<int64_t>(cell.whole.shape[axis] - 1, 0) * cell.whole.strides[axis];
  }
  elements = elements * ItemSize(cell.whole.dtype) / x.item_size();
  if (!LiesWithin(call->attr("shape").ints(), call->attr("strides").ints(), offset, elements)) {
    return GiveUp("a view of memory around a tensor");
  }
  call->attr("offset") = Value(offset);
  call->attr("x_offset") = Value(x_offset);
}

/// Where the call comes from; of a call of the backward pass, where its forward call did.
std::string Trace::ScopeOfCall() {
  const uint64_t node = RunningSequence();
  if (node) {
    auto after = std::upper_bound(scopes_.begin(), scopes_.end(), node,
                                  [](uint64_t sequence, const auto& entry) { return sequence < entry.first; });
    if (after != scopes_.begin()) {
      const std::string& forward = std::prev(after)->second;  // "Net.layer at net.py:3", or without a module
      return (forward.rfind("at ", 0) == 0 ? "backward " : "backward.") + forward;
    }
  }
  if (backward_) return {};
  std::string found = scope();
  scopes_.emplace_back(NextSequence(), found);
  return found;
}

Tensors Trace::Handle(const Call& original, std::span<const Tensor> outs) {
  const Operator& op = *original.op;
  RefuseLeaked(original);
  if (!failure_.empty() || looking_) return Through(original, outs);
  if (op.compose && op.name() == "as_strided" && !original.attrs[2].is_none()) NotePlace(original.inputs[0]);
  if (op.compose || (op.view && !outs.empty())) {
    if (!std::exchange(pending_, {}).empty()) GiveUp(op.name() + ": a number that changes from call to call");
    return Through(original, outs);
  }
  std::vector<GraphCall::Symbolic> symbolic = std::exchange(pending_, {});
  Tensors known;
  if (op.dynamic && RecordKnown(original, outs, &known)) return known;
  const bool found = op.dynamic && MayFind() && outs.empty() && !op.schema.mutates();
  if (op.dynamic && !found) {
    GiveUp(op.name() + ": the shape of its result depends on numbers");
    if (Door().phantom) throw RuntimeError("trace").Says(failure_);
    return Through(original, outs);
  }
  if (op.view) original.inputs[0].Settle();
  if (op.draws()) {  // numbers are drawn in the order in which the user sees the elements
    for (const Tensor& x : original.inputs) {
      if (x.defined()) x.Settle();
    }
  }
  InlineVector<Tensor, 4> kept;
  const Call call = Promote(original, &kept);
  GraphCall record;
  record.op = &op;
  record.attrs.assign(call.attrs.begin(), call.attrs.end());
  record.list_sizes.assign(call.list_sizes.begin(), call.list_sizes.end());
  record.symbolic = std::move(symbolic);
  if (scope) record.scope = ScopeOfCall();
  for (const Tensor& x : call.inputs) record.inputs.push_back(Read(x));
  if (found) return RecordFound(call, std::move(record));
  if (branch_) RefuseEffects(call, outs);
  if (op.view && op.name() == "as_strided_of" && failure_.empty()) MakeRelative(call.inputs[0], &record);
  InlineVector<OutputSpec, 2> specs;
  if (!op.view) {
    Infer infer(call);
    infer.device = CommonDevice(call);
    op.infer(infer);
    specs = infer.outputs;
  }
  const Tensors results = Below(call, outs);
  if (failure_.empty()) Record(call, outs, results, std::move(record), {specs.data(), specs.size()});
  return results;
}

void Trace::Record(const Call& call, std::span<const Tensor> outs, const Tensors& results, GraphCall record,
                   std::span<const OutputSpec> specs) {
  const bool ordered = record.is_ordered();
  const std::vector<int> written = record.Written();
  const bool constant = !ordered && written.empty() && IsConstant(record.inputs);
  const Device device = call.op->view ? call.inputs[0].device() : results.empty() ? Device{} : results[0].device();
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) {
      record.outputs.push_back(kNoValue);
      continue;
    }
    record.outputs.push_back(graph_.AddValue(call.op->view ? InfoOf(results[i]) : InfoOf(specs[i], device)));
  }
  for (int i : written) {
    ValueInfo after = graph_.values[record.inputs[i]];
    after.name.clear();
    record.outputs.push_back(graph_.AddValue(std::move(after)));
  }
  constant_.resize(graph_.values.size(), constant);
  std::vector<ValueId> outputs = record.outputs;
  graph_.calls.push_back(std::move(record));
  if (follows_) NoteFlows(results, &outputs);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) continue;
    if (i < outs.size() && outs[i].defined()) {
      ValueId value = outputs[i];
      if (outs[i].dtype() != graph_.values[value].dtype) value = Emit("cast", {value}, {outs[i].dtype()});
      Write(outs[i], value, constant);
    } else if (call.op->view) {
      CellOf(results[i]).views.push_back(Noted(results[i], outputs[i]));
    } else if (!results[i].impl()->storage) {
      GiveUp("a result without memory (a meta tensor)");
    } else {
      Begin(results[i], outputs[i], constant);
    }
  }
  if (branch_ && !Writes(*call.op, call.attrs)) return;
  for (size_t k = 0; k < written.size(); ++k) Write(call.inputs[written[k]], outputs[results.size() + k], false);
}

void Trace::Observe(const Tensor& tensor, const char* how) {
  if (looking_) return;
  if (!IsOpen(tensor)) {
    if (looked) looked(tensor);
    return;
  }
  GiveUp(std::string("the program looks at a tensor's numbers (") + how + ")");
  if (Door().phantom) throw RuntimeError("trace").Says(failure_);
}

Tensor Trace::Settle(const Tensor& tensor) {
  const Call call{&OpNamed<"to_row_major">(), std::span<const Tensor>(&tensor, 1), {}, {}};
  return Handle(call, {})[0];
}

Tensor Trace::Keep(const Tensor& tensor) {
  GradMode off(false);
  const Tensor plain = tensor.Detach();
  const Call call{&OpNamed<"clone">(), std::span<const Tensor>(&plain, 1), {}, {}};
  return Handle(call, {})[0];
}

}  // namespace dragon
