// Batches at the door: which rule makes a call for one slice a call for all of them.
#include "core/framework/batching.h"

#include <algorithm>

#include "core/framework/op.h"
#include "core/framework/writes.h"

namespace dragon {

namespace {

thread_local Batch* g_innermost = nullptr;
constexpr size_t kFewStandIns = 64;  // not worth sweeping

Dims InFront(int64_t size, const Dims& shape) {
  Dims longer = shape;
  longer.insert(0, size);
  return longer;
}

/// What the call for one slice gives, or the error that it is; nothing is known of a composition before it is computed.
InlineVector<OutputSpec, 2> InferSlice(const Call& call) {
  if (call.op->compose) return {};
  if (call.op->view) {
    ViewOf geometry(call);
    call.op->view(geometry);
    InlineVector<OutputSpec, 2> results;
    results.push_back({geometry.shape, {}, geometry.dtype});
    return results;
  }
  Infer infer(call);
  call.op->infer(infer);
  return infer.outputs;
}

int64_t ShiftedAxis(int64_t axis) { return axis < 0 ? axis : axis + 1; }

}  // namespace

Tensor Slices::Raised(int i, int rank) const {
  const Tensor& tensor = batch(i);
  const int missing = Varies(i) ? rank - x(i).ndim() : 0;
  if (missing <= 0) return tensor;
  Dims shape{size_};
  for (int k = 0; k < missing; ++k) shape.push_back(1);
  for (int64_t size : x(i).shape()) shape.push_back(size);
  return Op<"reshape">(tensor, shape);
}

Tensor Slices::Repeated(int i) const {
  return Varies(i) ? batch(i) : Op<"expand">(batch(i), InFront(size_, batch(i).shape()));
}

Dims Slices::ResultShape(int k) const { return InFront(size_, results_[k].shape); }

Tensors ReshapeSlices(const Slices& s) { return {Op<"reshape">(s.batch(0), s.ResultShape())}; }

Batch* Batch::Innermost() { return g_innermost; }

Batch::~Batch() {
  if (!open_) return;
  Leave();
  for (Batch** place = &g_innermost; *place; place = &(*place)->outer_) {
    if (*place != this) continue;
    *place = outer_;
    break;
  }
}

void Batch::Open() {
  Enter();
  outer_ = std::exchange(g_innermost, this);
  open_ = true;
}

void Batch::Refuse(const std::string& who, const std::string& what) {
  refused_ = true;
  throw NotImplementedError(who).Got(what).Expected("what can be done for all slices of a batch at once");
}

Tensor Batch::StandIn(const Tensor& batch) {
  if (batch.ndim() == 0 || batch.size(0) != size_) {
    throw ValueError("batch").Got("shape ", batch.shape()).Expected("a first axis of ", size_, " slices");
  }
  Sweep();
  device_ = DeviceOfNumbers(batch);
  Dims shape = batch.shape(), strides = batch.strides();
  shape.erase(0);
  strides.erase(0);
  // A program that looks at the strides sees a slice's own; a layout that the engine chose is none of its business.
  if (batch.impl()->free_layout) strides = ContiguousStrides(shape);
  const Tensor stand_in = Tensor::EmptyStrided(shape, strides, batch.dtype(), Device{DeviceType::kMeta, 0});
  known_.emplace(stand_in.impl(), std::pair(stand_in, batch));
  return stand_in;
}

/// Forget the stand-ins that nobody else holds, once there are twice as many as there were.
void Batch::Sweep() {
  if (known_.size() < std::max(kFewStandIns, 2 * swept_)) return;
  std::erase_if(known_, [](const auto& item) { return item.first->refs() == 1; });
  swept_ = known_.size();
}

const Tensor* Batch::Find(const Tensor& tensor) const {
  if (!tensor.defined() || !tensor.is_meta()) return nullptr;
  const auto found = known_.find(tensor.impl());
  return found == known_.end() ? nullptr : &found->second.second;
}

bool Batch::Concerns(const Call& call, std::span<const Tensor> outs) const {
  const auto mine = [this](const Tensor& x) { return Find(x) != nullptr; };
  return std::any_of(call.inputs.begin(), call.inputs.end(), mine) || std::any_of(outs.begin(), outs.end(), mine);
}

/// Pass on a call that concerns no slice. A composition makes new tensors where its inputs are, and so, for all it can
/// see, on the meta device.
Tensors Batch::Forward(const Call& call, std::span<const Tensor> outs) {
  const auto on_meta = [](const Value& value) {
    return value.kind() == Value::Kind::kDevice && value.device().is_meta();
  };
  if (!composing_ || std::none_of(call.attrs.begin(), call.attrs.end(), on_meta)) return Through(call, outs);
  InlineVector<Value, 6> attrs(call.attrs);
  for (Value& value : attrs) {
    if (on_meta(value)) value = Value(device_);
  }
  return Through(Call{call.op, call.inputs, attrs, call.list_sizes}, outs);
}

Tensors Batch::Handle(const Call& call, std::span<const Tensor> outs) {
  if (!Concerns(call, outs)) return Forward(call, outs);
  const Operator& op = *call.op;
  if (!outs.empty() || Writes(op, call.attrs)) Refuse(op.name(), "a slice of a batch to write in place");
  if (op.draws()) Refuse(op.name(), "random numbers to draw for slices of a batch");
  if (op.dynamic) Refuse(op.name(), "slices of a batch, whose results differ in shape");
  const bool is_whole = op.batching == Batching::kOwn || op.batching == Batching::kApart;
  if (!op.compose || is_whole) return Compute(call);
  struct Inside {
    explicit Inside(int* depth) : depth(depth) { ++*depth; }
    ~Inside() { --*depth; }
    int* depth;
  } inside(&composing_);
  return Through(call, outs);
}

Tensors Batch::Compute(const Call& original) {
  InlineVector<Tensor, 4> promoted;
  const Call call = Promote(original, &promoted);  // as a slice alone would be: a batch of numbers has an axis
  const InlineVector<OutputSpec, 2> results = InferSlice(call);
  InlineVector<Tensor, 4> batches;
  InlineVector<char, 4> varies;
  for (const Tensor& x : call.inputs) {
    const Tensor* batch = Find(x);
    batches.push_back(batch ? *batch : x);
    varies.push_back(batch != nullptr);
  }
  const Slices s(call, batches, varies, results, size_);
  try {
    Tensors found = ByRule(s);
    if (!found.empty()) return Adopt(s, std::move(found));
  } catch (const Error&) {
    if (refused_) throw;  // else one slice may do what all together cannot, or say better what is wrong
  }
  if (!apart_) Refuse(call.name(), "slices to compute one by one");
  return Adopt(s, Apart(s));
}

/// Stand-ins for results, which must be what the slices' would be, side by side.
Tensors Batch::Adopt(const Slices& s, Tensors results) {
  Tensors stand_ins;
  for (size_t k = 0; k < results.size(); ++k) {
    Tensor& result = results[k];
    if (!result.defined() || s.result_count() == 0) {
      stand_ins.push_back(result.defined() ? StandIn(result) : result);
      continue;
    }
    const int at = static_cast<int>(k);
    const Dims shape = s.ResultShape(at);
    if (result.dtype() != s.result(at).dtype) {
      throw RuntimeError(s.name())
          .Got("a batch of ", result.dtype())
          .Expected("one of ", s.result(at).dtype, ", as a slice gives it");
    }
    stand_ins.push_back(StandIn(result.shape() == shape ? result : Op<"reshape">(result, shape)));
  }
  return stand_ins;
}

Tensors Batch::OnBatches(const Slices& s, std::span<const Tensor> inputs, std::span<const Value> attrs) {
  return Through(Call{&s.op(), inputs, attrs, s.call().list_sizes}, {});
}

Tensors Batch::ByRule(const Slices& s) {
  const Operator& op = s.op();
  const Schema& schema = op.schema;
  for (int slot = 0; slot < schema.tensor_count() && slot < s.x_count(); ++slot) {
    if ((op.batch_shared >> slot & 1) && s.Varies(slot)) return {};
  }
  switch (op.batching) {
    case Batching::kNumbers: {
      int rank = 0;
      for (const Tensor& x : s.call().inputs) rank = x.defined() ? std::max(rank, x.ndim()) : rank;
      InlineVector<Tensor, 4> inputs;
      for (int i = 0; i < s.x_count(); ++i) inputs.push_back(s.Raised(i, rank));
      return OnBatches(s, inputs, s.call().attrs);
    }
    case Batching::kRows:
      return OnRows(s);
    case Batching::kSamples:
      return OnSamples(s);
    case Batching::kOwn:
      return op.batch(s);
    case Batching::kUnsaid:
    case Batching::kApart:
      break;
  }
  return {};
}

/// All tensors as batches of one rank, in which the batch's axis is one more row; axes move by one.
Tensors Batch::OnRows(const Slices& s) {
  const Operator& op = s.op();
  const auto shared = [&](int i) { return i < 64 && (op.batch_shared >> i & 1); };
  int rank = -1;
  for (int i = 0; i < s.x_count(); ++i) {
    if (!s.x(i).defined() || shared(i)) continue;
    if (rank >= 0 && s.x(i).ndim() != rank) return {};
    rank = s.x(i).ndim();
  }
  InlineVector<Value, 6> attrs(s.call().attrs);
  bool flat = false;  // a lone axis that is not given: over all elements
  for (int k = 0; k < static_cast<int>(attrs.size()); ++k) {
    if (!(op.batch_axes >> k & 1)) continue;
    Value& value = attrs[k];
    if (value.kind() == Value::Kind::kInt) {
      value = Value(ShiftedAxis(value.integer()));
    } else if (value.kind() == Value::Kind::kInts) {
      Dims axes = value.ints();
      for (int64_t& axis : axes) axis = ShiftedAxis(axis);
      value = Value(std::move(axes));
    } else if (op.schema.attr(k).type == ArgumentType::kInt) {
      flat = true;
      value = Value(int64_t{1});
    } else {
      Dims axes;
      for (int axis = 1; axis <= std::max(rank, 1); ++axis) axes.push_back(axis);
      value = Value(std::move(axes));
    }
  }
  InlineVector<Tensor, 4> inputs;
  for (int i = 0; i < s.x_count(); ++i) {
    if (!s.x(i).defined() || shared(i)) {
      inputs.push_back(s.batch(i));
      continue;
    }
    const Tensor whole = s.Repeated(i);
    // Numbers are vectors of one, so that there is an axis to go along.
    const bool reshaped = flat || rank == 0;
    inputs.push_back(reshaped ? Op<"reshape">(whole, Dims{s.size(), s.x(i).numel()}) : whole);
  }
  return OnBatches(s, inputs, attrs);
}

/// The slices' samples, end to end.
Tensors Batch::OnSamples(const Slices& s) {
  InlineVector<Tensor, 4> inputs;
  int64_t samples = -1;
  for (int i = 0; i < s.x_count(); ++i) {
    if (!s.x(i).defined() || (s.op().batch_shared >> i & 1)) {
      inputs.push_back(s.batch(i));
      continue;
    }
    if (s.x(i).ndim() == 0 || (samples >= 0 && s.x(i).size(0) != samples)) return {};
    samples = s.x(i).size(0);
    Dims shape = s.x(i).shape();
    shape[0] *= s.size();
    inputs.push_back(Op<"reshape">(s.Repeated(i), shape));
  }
  return OnBatches(s, inputs, s.call().attrs);
}

/// Slice by slice.
Tensors Batch::Apart(const Slices& s) {
  std::vector<std::vector<Tensor>> columns;
  for (int64_t at = 0; at < size_; ++at) {
    InlineVector<Tensor, 4> inputs;
    for (int i = 0; i < s.x_count(); ++i) {
      inputs.push_back(s.Varies(i) ? Op<"select">(s.batch(i), int64_t{0}, at) : s.batch(i));
    }
    const Tensors results = OnBatches(s, inputs, s.call().attrs);
    columns.resize(results.size());
    for (size_t k = 0; k < results.size(); ++k) columns[k].push_back(results[k]);
  }
  Tensors stacked;
  for (const auto& column : columns) {
    stacked.push_back(column[0].defined() ? Op<"stack">(column, int64_t{0}) : Tensor());
  }
  return stacked;
}

const Tensor* FindBatch(const Tensor& tensor) {
  for (const Batch* batch = Batch::Innermost(); batch; batch = batch->outer()) {
    if (const Tensor* found = batch->Find(tensor)) return found;
  }
  return nullptr;
}

Device DeviceOfNumbers(const Tensor& tensor) {
  const Tensor* batch = FindBatch(tensor);
  return batch ? DeviceOfNumbers(*batch) : tensor.device();
}

Tensor DetachSlices(const Tensor& tensor) {
  for (Batch* batch = Batch::Innermost(); batch; batch = batch->outer()) {
    if (const Tensor* found = batch->Find(tensor)) return batch->StandIn(Tensor(*found).Detach());
  }
  return {};
}

bool RequiresGrad(const Tensor& tensor) {
  const Tensor* batch = FindBatch(tensor);
  if (!batch) return tensor.requires_grad();
  if (RequiresGrad(*batch)) RefuseHistory(tensor, "requires_grad");
  return false;
}

void RefuseHistory(const Tensor& tensor, const char* what) {
  for (Batch* batch = Batch::Innermost(); batch; batch = batch->outer()) {
    if (batch->Find(tensor)) batch->Refuse(what, "a slice of a batch");
  }
}

}  // namespace dragon
