// Nodes of the backward graph: what they save, what they give back.
#include "core/framework/autograd/node.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/framework/autograd/meta.h"
#include "core/framework/op.h"
#include "core/framework/thread_wait.h"

namespace dragon {

namespace {

std::atomic<uint64_t> g_sequence{1};
thread_local HistoryFloor t_floor;
std::mutex g_accumulators;  // guards AutogradMeta::accumulator of every leaf
std::atomic<bool> g_anomaly{false}, g_check_nan{true};
std::string (*g_trace_provider)() = nullptr;

/// Whether this thread sees what a node stands for.
bool IsSeen(const Node& node) { return node.sequence >= (node.when_asked ? t_floor.asked : t_floor.unasked); }

/// Whether the memory of a view was written through another alias since its history was written. Where it was not, the
/// history may be read: it was stored before the version (`BringUpToDate`), and no other thread writes it.
bool IsStale(TensorImpl& impl) {
  return impl.base && std::atomic_ref(impl.view_version).load(std::memory_order_acquire) != impl.version_value();
}

void BringUpToDate(TensorImpl& impl) {
  std::atomic_ref(impl.view_version).store(impl.version_value(), std::memory_order_release);
}

/// Chains of a million nodes must not be destroyed recursively: the last owner of an edge queues it here instead.
void DropEdges(InlineVector<Edge, 2>& edges) {
  static thread_local std::vector<Ref<Node>>* queue = nullptr;
  if (queue) {
    for (Edge& edge : edges) queue->push_back(std::move(edge.node));
    return;
  }
  std::vector<Ref<Node>> pending;
  for (Edge& edge : edges) pending.push_back(std::move(edge.node));
  queue = &pending;
  while (!pending.empty()) {
    Ref<Node> last = std::move(pending.back());
    pending.pop_back();
  }
  queue = nullptr;
}

}  // namespace

void SetAnomalyMode(bool enabled, bool check_nan) {
  g_anomaly = enabled;
  g_check_nan = check_nan;
}

bool AnomalyMode() { return g_anomaly.load(std::memory_order_relaxed); }

bool ChecksNan() { return g_anomaly && g_check_nan; }

void SetTraceProvider(std::string (*provider)()) { g_trace_provider = provider; }

Node::Node() : sequence(g_sequence.fetch_add(1, std::memory_order_relaxed)) {
  if (DRAGON_UNLIKELY(AnomalyMode())) extras().trace = g_trace_provider ? g_trace_provider() : std::string();
}

void Node::AskAsBehind() {
  when_asked = std::all_of(edges.begin(), edges.end(), [](const Edge& edge) { return !edge || edge.node->when_asked; });
}

Node::~Node() {
  bool any = false;
  for (const Edge& edge : edges) any |= edge.node && edge.node->refs() == 1;
  if (any) DropEdges(edges);
}

static thread_local std::vector<Ref<SavedTensorHooks>> t_saved_hooks;

void PushSavedTensorHooks(Ref<SavedTensorHooks> hooks) { t_saved_hooks.push_back(std::move(hooks)); }

void PopSavedTensorHooks() {
  if (t_saved_hooks.empty()) throw RuntimeError("saved_tensors_hooks").Says("there are no hooks to take away");
  t_saved_hooks.pop_back();
}

void SavedTensor::Pack() {
  if (requires_grad_) history_ = GradEdge(tensor_);
  attached_ |= static_cast<bool>(history_);
  const auto hooks = std::exchange(t_saved_hooks, {});  // what packing itself saves is not packed
  struct Restore {
    const std::vector<Ref<SavedTensorHooks>>& hooks;
    ~Restore() { t_saved_hooks = hooks; }
  } restore{hooks};
  GradMode off(false);
  packed_ = MakeRef<Packed>();
  packed_->hooks = hooks.back();
  packed_->what = packed_->hooks->Pack(tensor_);
  tensor_ = Tensor();
}

SavedTensor::SavedTensor(const Tensor& tensor, bool is_output) {
  if (!tensor.defined()) return;
  const AutogradMeta* meta = tensor.impl()->autograd.get();
  if (is_output) {
    tensor_ = tensor.Detach();
    output_ = meta ? meta->output : 0;
    attached_ = meta && meta->node;
  } else if (meta && (meta->node || tensor.impl()->base || meta->keeps_saved)) {
    // A copy without the tensor's own books: were the tensor written later, holding it would make a cycle; and where
    // a variable takes other memory for new numbers, the old ones stay here.
    history_ = GradEdge(tensor);
    tensor_ = tensor.Detach();
    attached_ = static_cast<bool>(history_);
  } else {
    tensor_ = tensor;
  }
  requires_grad_ = meta && meta->requires_grad;
  version_ = tensor.impl()->version_value();
  if (DRAGON_UNLIKELY(!t_saved_hooks.empty())) {
    if (Door().tracer) Door().tracer->GiveUp("hooks that say how saved tensors are kept");
    Pack();
  }
}

Tensor SavedTensor::Unpack(const char* who, const Ref<Node>& owner) const {
  if (DRAGON_UNLIKELY(static_cast<bool>(packed_))) {
    Tensor fresh = packed_->hooks->Unpack(packed_->what).Detach();
    if (attached_) SetHistory(fresh, output_ >= 0 ? owner : history_.node, output_ >= 0 ? output_ : history_.index);
    return fresh;
  }
  if (!tensor_.defined()) return {};
  const uint32_t now = tensor_.impl()->version_value();
  if (now != version_) {
    if (now < version_) throw RuntimeError(who).Says("a saved tensor has taken other memory since the forward call");
    throw RuntimeError(who)
        .Got("a tensor of shape ", tensor_.shape(), " that was written ", now - version_,
             " time(s) since the forward call saved it for its gradient")
        .Expected("version ", version_, " (clone it before writing in place)");
  }
  if (!attached_) return tensor_;
  Tensor fresh = tensor_.Detach();
  if (output_ >= 0) {
    SetHistory(fresh, owner, output_);
  } else if (history_.node->is_accumulator() &&
             static_cast<AccumulateNode*>(history_.node.get())->leaf().impl()->storage == tensor_.impl()->storage) {
    return static_cast<AccumulateNode*>(history_.node.get())->leaf();
  } else {
    SetHistory(fresh, history_.node, history_.index);
  }
  return fresh;
}

namespace {

bool SharesMemory(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.impl()->storage && a.impl()->storage == b.impl()->storage;
}

/// A clone that a trace hears of, though it is made below the door. It has the history of what it is a copy of.
Tensor CopyToKeep(const Tensor& x) {
  if (!Door().tracer) return Op<"clone">(x);
  const Tensor copy = Door().tracer->Keep(x);
  if (const Edge edge = GradEdge(x)) SetHistory(copy, edge.node, edge.index);
  return copy;
}

}  // namespace

OpNode::OpNode(const Call& call, std::span<const Tensor> written)
    : op_(call.op), attrs_(call.attrs), list_sizes_(call.list_sizes) {
  const Schema& schema = op_->schema;
  edges.resize(call.inputs.size());
  x_metas_.resize(call.inputs.size());
  inputs_.resize(call.inputs.size());
  const auto for_each_input = [&](auto&& visit) {
    size_t i = 0, list = 0;
    for (int slot = 0; slot < schema.tensor_count(); ++slot) {
      const size_t count = schema.tensor(slot).type == ArgumentType::kTensorList ? call.list_sizes[list++] : 1;
      for (size_t k = 0; k < count; ++k, ++i) {
        if (call.inputs[i].defined()) visit(slot, i, call.inputs[i]);
      }
    }
  };
  for_each_input([&](int slot, size_t i, const Tensor& x) {
    x_metas_[i] = TensorMeta(x);
    edges[i] = GradEdge(x);
    if (edges[i]) wanting_ |= uint64_t{1} << slot;
  });
  for_each_input([&](int slot, size_t i, const Tensor& x) {
    if (IsSaved(op_->saved_inputs, op_->inputs_saved_for, slot)) {
      bool about_to_change = false;
      for (const Tensor& target : written) about_to_change |= SharesMemory(x, target);
      inputs_[i] = SavedTensor(about_to_change ? CopyToKeep(x) : x, /*is_output=*/false);
    }
  });
}

bool OpNode::IsSaved(uint64_t saved, const std::array<uint64_t, 8>& saved_for, size_t slot) const {
  if (!(saved >> slot & 1)) return false;
  return slot >= saved_for.size() || saved_for[slot] & wanting_;
}

void OpNode::SaveOutputs(const Tensors& outputs) {
  y_metas.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) y_metas[i] = TensorMeta(outputs[i]);
  if (!op_->saved_outputs) return;
  outputs_.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (IsSaved(op_->saved_outputs, op_->outputs_saved_for, i))
      outputs_[i] = SavedTensor(outputs[i], /*is_output=*/true);
  }
}

namespace {

/// Kernels of gradients rely on the sizes that the forward call had. A leaf that was given other memory since (`.data`,
/// `resize_`, `set_`), or what a hook has unpacked, may have others.
void RequireForm(const Node& node, const Tensor& saved, const TensorMeta& meta) {
  if (DRAGON_LIKELY(!saved.defined() || (saved.shape() == meta.shape && saved.dtype() == meta.dtype))) return;
  throw RuntimeError(node.name())
      .Got("a saved tensor that is now ", saved.dtype(), " of shape ", saved.shape())
      .Expected(meta.dtype, " of shape ", meta.shape, ", as it was in the forward call");
}

}  // namespace

Tensors OpNode::Backward(const Tensors& grads, uint64_t unwanted) {
  // It overwrote a tensor with history: nothing flows to what was there before. Where no input wants a gradient,
  // nothing was saved that a gradient could be computed from.
  if (!op_->differentiable || !wanting_) {
    Tensors nothing;
    nothing.resize(edges.size());
    return nothing;
  }
  if (!op_->gradient) {
    throw NotImplementedError(op_->name()).Says("this operator has no gradient");
  }
  if (released_) {
    throw RuntimeError(op_->name())
        .Says(
            "its saved tensors were freed by an earlier backward pass; pass retain_graph=True to that one to go "
            "through the graph again");
  }
  const Ref<Node> self(this);
  InlineVector<Tensor, 4> inputs, outputs;
  InlineVector<bool, 4> needs;
  inputs.resize(inputs_.size());
  outputs.resize(y_metas.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    inputs[i] = inputs_[i].Unpack(op_->name().c_str(), self);
    RequireForm(*this, inputs[i], x_metas_[i]);
    needs.push_back(edges[i] && !(i < 64 && unwanted >> i & 1));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) outputs[i] = outputs_[i].Unpack(op_->name().c_str(), self);
  const Call call{op_, inputs, attrs_, list_sizes_};
  Tensors fitting;  // gradients of destinations that were of another dtype than what was computed
  for (size_t i = 0; i < grads.size() && i < y_metas.size(); ++i) {
    if (!grads[i].defined()) continue;
    if (DRAGON_UNLIKELY(grads[i].shape() != y_metas[i].shape)) {  // by a hook, or since the result took other memory
      throw RuntimeError(op_->name())
          .Got("a gradient of shape ", grads[i].shape(), " for a result of shape ", y_metas[i].shape)
          .Expected("equal shapes");
    }
    if (DRAGON_LIKELY(grads[i].dtype() == y_metas[i].dtype)) continue;
    if (fitting.empty()) fitting = grads;
    fitting[i] = FitGrad(grads[i], y_metas[i]);
  }
  Grad grad(call, outputs, fitting.empty() ? grads : fitting, {needs.data(), needs.size()}, x_metas_, y_metas);
  op_->gradient(grad);
  for (size_t i = 0; i < grad.results.size(); ++i) {
    Tensor& result = grad.results[i];
    if (!needs[i]) {
      result = Tensor();
    } else if (result.defined()) {
      result = FitGrad(std::move(result), x_metas_[i]);
    }
  }
  return std::move(grad.results);
}

void OpNode::ReleaseSaved() {
  if (!op_->saved_inputs && !op_->saved_outputs) return;
  released_ = true;
  for (SavedTensor& saved : inputs_) saved = SavedTensor();
  for (SavedTensor& saved : outputs_) saved = SavedTensor();
}

Tensor FitGrad(Tensor grad, const TensorMeta& like) {
  if (DRAGON_LIKELY(grad.shape() == like.shape && grad.dtype() == like.dtype)) return grad;
  if (grad.is_complex() && !IsComplex(like.dtype)) grad = Op<"real">(grad);
  if (grad.shape() != like.shape) {
    Dims axes;
    const int extra = grad.ndim() - like.shape.size();
    for (int i = 0; i < grad.ndim(); ++i) {
      if (i < extra || (like.shape[i - extra] == 1 && grad.shape()[i] != 1)) axes.push_back(i);
    }
    if (extra < 0) {
      throw RuntimeError("backward").Got("a gradient of shape ", grad.shape()).Expected("shape ", like.shape);
    }
    if (!axes.empty()) grad = Op<"sum">(grad, axes, /*keepdims=*/true);
    if (extra > 0) grad = Op<"reshape">(grad, Dims(grad.shape().begin() + extra, grad.ndim() - extra));
    if (grad.shape() != like.shape) grad = Op<"expand">(grad, like.shape);
  }
  if (grad.dtype() != like.dtype) grad = Op<"cast">(grad, like.dtype);
  return grad;
}

AccumulateNode::AccumulateNode(const Tensor& leaf) : leaf_(leaf) { y_metas.push_back(TensorMeta(leaf)); }

AccumulateNode::~AccumulateNode() {
  std::lock_guard<std::mutex> lock(g_accumulators);
  AutogradMeta& meta = AutogradMeta::Of(leaf_);
  if (meta.accumulator == this) meta.accumulator = nullptr;
}

Tensors AccumulateNode::Backward(const Tensors& grads, uint64_t /*unwanted*/) {
  static std::mutex mutexes[16];  // two backward passes may meet in one leaf
  Tensor grad = grads[0];
  if (!grad.defined()) return {};
  AutogradMeta& meta = AutogradMeta::Of(leaf_);
  for (const auto& hook : std::vector(meta.hooks)) {  // a hook may remove itself
    if (Tensor replaced = hook->Call(grad); replaced.defined()) grad = replaced;
  }
  {
    std::lock_guard<std::mutex> lock(mutexes[reinterpret_cast<uintptr_t>(leaf_.impl()) / 64 % 16]);
    const bool recording = Door().grad_enabled;
    if (Door().tracer) Door().tracer->GradRead(leaf_);
    if (!meta.grad.defined()) {
      // A gradient that nobody else holds is taken as it is; others may still change theirs.
      const TensorImpl& x = *grad.impl();
      const bool ours = x.parts || (x.refs() <= 2 && x.contiguous && !x.base && x.storage && x.storage->refs() == 1);
      const bool itself = grad.is_same(leaf_);  // would never be freed
      meta.grad = itself ? Op<"clone">(grad) : recording ? grad : ours ? grad.Detach() : Op<"clone">(grad.Detach());
    } else if (recording || meta.grad.impl()->parts || grad.impl()->parts) {
      meta.grad = Op<"add">(meta.grad, grad);
    } else {
      OpInto<"add">(meta.grad, meta.grad, grad);
    }
  }
  for (const auto& hook : std::vector(meta.accumulated_hooks)) hook->Call(leaf_);
  return {};
}

WriteThroughView::WriteThroughView(const Tensor& base, const Tensor& view, Ref<OpNode> writer,
                                   std::vector<int> own_inputs)
    : base_shape_(base.shape()),
      base_strides_(base.strides()),
      view_shape_(view.shape()),
      view_strides_(view.strides()),
      offset_(view.offset() - base.offset()),
      writer_(std::move(writer)),
      own_inputs_(std::move(own_inputs)) {
  y_metas.push_back(TensorMeta(base));
  edges.push_back(GradEdge(base));
  for (size_t i = 0; i < writer_->edges.size(); ++i) {
    const bool own = std::find(own_inputs_.begin(), own_inputs_.end(), static_cast<int>(i)) != own_inputs_.end();
    edges.push_back(own ? Edge{} : writer_->edges[i]);
    // The writer must still compute its gradient for the old value of the view: the base receives it.
    if (own && edges[0] && !writer_->edges[i]) writer_->edges[i] = edges[0];
  }
}

Tensors WriteThroughView::Backward(const Tensors& grads, uint64_t /*unwanted*/) {
  const Dims strides = IsDense(base_shape_, base_strides_) ? base_strides_ : ContiguousStrides(base_shape_);
  if (strides != base_strides_) {
    throw NotImplementedError(name()).Got("a base with strides ", base_strides_).Expected("one that fills its memory");
  }
  Tensor result = Tensor::EmptyStrided(base_shape_, base_strides_, grads[0].dtype(), grads[0].device());
  OpInto<"copy">(result, grads[0]);
  Tensor part = Op<"as_strided">(result, view_shape_, view_strides_, offset_);
  const Tensors inner = writer_->Backward({Op<"clone">(part)}, 0);  // these edges are not the writer's
  Tensor own;
  for (int i : own_inputs_) {
    if (inner[i].defined()) own = own.defined() ? own + inner[i] : inner[i];
  }
  if (own.defined()) {
    OpInto<"copy">(part, own);
  } else {
    OpInto<"copy">(part, Op<"zeros">(view_shape_, part.dtype(), part.device()));
  }
  Tensors out;
  out.push_back(result);
  for (size_t i = 0; i < inner.size(); ++i) out.push_back(edges[i + 1] ? inner[i] : Tensor());
  return out;
}

void ReleaseGrad(TensorImpl& impl) {
  if (!impl.autograd || !impl.autograd->retain_grad) return;
  impl.autograd->retain_grad = false;
  if (!impl.autograd->node) return;
  std::erase_if(impl.autograd->node->extras().retained, [&](const auto& entry) { return entry.second == &impl; });
}

TensorImpl::~TensorImpl() { ReleaseGrad(*this); }

void SetHistory(const Tensor& tensor, Ref<Node> node, int index) {
  AutogradMeta& meta = AutogradMeta::Of(tensor);
  if (DRAGON_UNLIKELY(t_floor.asked != 0) && node) node->AskAsBehind();
  const bool retains = DRAGON_UNLIKELY(meta.retain_grad);
  if (retains) ReleaseGrad(*tensor.impl());
  meta.node = std::move(node);
  meta.output = index;
  meta.requires_grad = false;
  if (retains && meta.node) {
    meta.retain_grad = true;
    meta.node->extras().retained.emplace_back(index, tensor.impl());
  }
  BringUpToDate(*tensor.impl());
}

Ref<Node> GradNode(const Tensor& tensor) {
  static std::recursive_mutex looking;  // taken by threads that read the same view; the base may be a view as well
  TensorImpl& impl = *tensor.impl();
  if (DRAGON_UNLIKELY(IsStale(impl))) {
    std::unique_lock<std::recursive_mutex> lock(looking, std::defer_lock);
    while (!lock.try_lock()) WaitForThread();
    if (!IsStale(impl)) return GradNode(tensor);
    const Tensor base(impl.base);
    if (base.requires_grad() && impl.dtype == base.dtype()) {
      // The memory was written through another alias: this view's history is that of the base, looked at again.
      GradMode on(true);
      const Tensor again = Op<"as_strided">(base, impl.shape, impl.strides, impl.offset);
      again.impl()->autograd->node->AskAsBehind();
      SetHistory(tensor, again.impl()->autograd->node, again.impl()->autograd->output);
    }
    BringUpToDate(impl);
  }
  return impl.autograd ? impl.autograd->node : nullptr;
}

uint64_t NextSequence() { return g_sequence.load(std::memory_order_relaxed); }

HistoryFloor ExchangeHistoryFloor(HistoryFloor floor) { return std::exchange(t_floor, floor); }

Edge GradEdge(const Tensor& tensor) {
  TensorImpl& impl = *tensor.impl();
  if (!impl.base && !impl.autograd) return {};
  Ref<Node> node = GradNode(tensor);
  if (node && IsSeen(*node)) return {std::move(node), impl.autograd->output};
  AutogradMeta* meta = impl.autograd.get();
  if (!meta || !meta->requires_grad) return {};
  std::lock_guard<std::mutex> lock(g_accumulators);
  if (meta->accumulator && meta->accumulator->TryRetain()) return {Ref<Node>::Adopt(meta->accumulator), 0};
  auto accumulator = MakeRef<AccumulateNode>(tensor);
  accumulator->when_asked = meta->when_asked;
  meta->accumulator = accumulator.get();
  return {Ref<Node>(accumulator), 0};
}

bool Tensor::requires_grad() const {
  if (DRAGON_UNLIKELY(IsStale(*impl_))) GradNode(*this);
  const AutogradMeta* meta = impl_->autograd.get();
  return meta && (meta->requires_grad || (meta->node && IsSeen(*meta->node)));
}

bool RecordsUnasked(const Tensor& tensor) {
  TensorImpl* impl = tensor.impl();
  if (!impl || (!impl->base && !impl->autograd)) return false;
  if (IsStale(*impl)) GradNode(tensor);
  if (impl->autograd && impl->autograd->of_recorder) return true;
  if (!tensor.requires_grad()) return false;
  const Ref<Node> node = GradNode(tensor);
  return node && IsSeen(*node) ? !node->when_asked : !impl->autograd->when_asked;
}

bool Tensor::is_leaf() const { return !GradNode(*this); }

void Tensor::set_requires_grad(bool value) const {
  if (value == requires_grad()) return;
  if (const Ref<Node> node = GradNode(*this); node && IsSeen(*node)) {
    throw RuntimeError("requires_grad").Says("only leaf tensors can change it; use detach() to get one");
  }
  if (value && !IsInexact(dtype())) {
    throw RuntimeError("requires_grad").Got(dtype()).Expected("a floating or complex dtype");
  }
  AutogradMeta::Of(*this).requires_grad = value;
}

const Tensor& Tensor::grad() const {
  static const Tensor* none = new Tensor;
  if (DRAGON_UNLIKELY(Door().tracer != nullptr)) Door().tracer->GradRead(*this);
  return impl_->autograd ? impl_->autograd->grad : *none;
}

void Tensor::set_grad(Tensor grad) const {
  if (!grad.defined() && !impl_->autograd) return;
  if (grad.defined() && grad.shape() != shape()) {
    throw RuntimeError("grad").Got("a tensor of shape ", grad.shape()).Expected("shape ", shape());
  }
  if (grad.is_same(*this)) throw RuntimeError("grad").Got("the tensor itself").Expected("another one");
  if (DRAGON_UNLIKELY(Door().tracer != nullptr)) Door().tracer->GradWritten(*this, grad);
  AutogradMeta::Of(*this).grad = std::move(grad);
}

}  // namespace dragon
