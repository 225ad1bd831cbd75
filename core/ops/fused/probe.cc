// Running operators on a few numbers while a listener stands in for the driver of loops.
#include "core/ops/fused/probe.h"

#include <algorithm>
#include <cstring>

#include "core/device/device.h"
#include "core/framework/apply.h"
#include "core/kernels/array.h"

namespace dragon {

namespace {

/// Nobody at the door hears of what is tried here.
class QuietDoor {
 public:
  QuietDoor() : before_(Door()), listener_(kernels::CurrentLoopListener()) {
    Door() = DoorState{};
    Door().grad_enabled = kGradOff;
  }
  ~QuietDoor() {
    Door() = before_;
    kernels::CurrentLoopListener() = listener_;
  }
  QuietDoor(const QuietDoor&) = delete;
  QuietDoor& operator=(const QuietDoor&) = delete;

 private:
  DoorState before_;
  kernels::LoopListener* listener_;
};

class Listener : public kernels::LoopListener {
 public:
  Listener(const Tensor& output, std::span<const Tensor> inputs) : output_(output), inputs_(inputs) {}

  void Hear(const kernels::Loop& loop, const void* functor, const View* const* views) override {
    usable_ = heard_.empty() && loop.functor_bytes > 0 && loop.outputs == 1 && Is(*views[0], output_);
    HeardLoop heard;
    heard.loop = loop;
    heard.functor.resize((loop.functor_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t) + 1);
    std::memset(heard.functor.data(), 0, heard.functor.size() * sizeof(std::max_align_t));
    std::memcpy(heard.functor.data(), functor, loop.functor_bytes);
    heard.dtypes.push_back(views[0]->dtype);
    for (int k = 1; k < loop.count && usable_; ++k) {
      const View& view = *views[k];
      size_t input = 0;
      while (input < inputs_.size() && !(inputs_[input].defined() && Is(view, inputs_[input]))) ++input;
      const bool number = input == inputs_.size();
      usable_ = !number || (view.numel == 1 && view.dtype == loop.dtypes[k]);
      heard.inputs.push_back(number ? -1 : static_cast<int32_t>(input));
      heard.dtypes.push_back(view.dtype);
      if (!number || !usable_) continue;
      heard.numbers.push_back(Tensor::Empty({}, view.dtype));
      std::memcpy(heard.numbers.back().mutable_data(), view.data, ItemSize(view.dtype));
    }
    heard_.push_back(std::move(heard));
  }
  std::optional<HeardLoop> Result() {
    if (!usable_ || heard_.size() != 1) return std::nullopt;
    return std::move(heard_[0]);
  }

 private:
  /// The view shows this very tensor, element by element (a lone number may be repeated).
  static bool Is(const View& view, const Tensor& tensor) {
    if (view.data != tensor.data() || ItemSize(view.dtype) != tensor.item_size()) return false;
    if (view.numel != tensor.numel() && tensor.numel() != 1) return false;
    return tensor.numel() == 1 || view.is_contiguous();
  }

  const Tensor& output_;
  std::span<const Tensor> inputs_;
  std::vector<HeardLoop> heard_;
  bool usable_ = false;
};

/// A little tensor in place of a value: a lone number stays one, since some operators treat those apart.
Tensor Sample(const Tensor& value, int64_t number) {
  const Dims shape = value.numel() == 1 ? Dims{} : Dims{2};
  const Tensor sample = Tensor::Empty(shape, value.dtype());
  const Tensor one = Tensor::Scalar(Value(number), value.dtype());
  for (int64_t i = 0; i < sample.numel(); ++i) {
    std::memcpy(static_cast<char*>(sample.mutable_data()) + i * sample.item_size(), one.data(), sample.item_size());
  }
  return sample;
}

/// A known number where the host can look at it.
Tensor OnHost(const Tensor& number) {
  if (number.device().is_cpu()) return number;
  const Tensor copy = Tensor::Empty(number.shape(), number.dtype());
  BackendOf(number.device().type)
      .CopyToHost(number.device().index, copy.mutable_data(), number.data(), static_cast<size_t>(number.item_size()));
  return copy;
}

std::optional<HeardLoop> HearOnce(const Graph& graph, const GraphCall& call, const std::vector<Tensor>& values,
                                  int64_t number) {
  InlineVector<Tensor, 4> inputs;
  for (ValueId id : call.inputs) {
    const bool known = id != kNoValue && graph.constants.count(id) && values[id].numel() == 1;
    inputs.push_back(id == kNoValue ? Tensor() : known ? OnHost(values[id]) : Sample(values[id], number));
  }
  const ValueId made = call.outputs[0];
  Tensors outputs{Tensor::Empty(values[made].numel() == 1 ? Dims{} : Dims{2}, values[made].dtype())};
  const Call concrete{call.op, inputs, call.attrs, call.list_sizes};
  Listener listener(outputs[0], inputs);
  Context ctx;
  Run run(concrete, ctx, outputs);
  kernels::CurrentLoopListener() = &listener;
  call.op->run(run);
  return listener.Result();
}

/// A lone number that is not known may decide which loop is run (the exponent of a power): that shows when it differs.
bool ReadsLoneNumber(const Graph& graph, const GraphCall& call, const std::vector<Tensor>& values) {
  return std::any_of(call.inputs.begin(), call.inputs.end(), [&](ValueId id) {
    return id != kNoValue && values[id].numel() == 1 && !graph.constants.count(id);
  });
}

/// Kernels are loaded when the first of them is asked for: before anybody listens.
void LoadKernels() {
  static const bool loaded = [] {
    const Tensor x = Tensor::Scalar(Value(0.0), DType::kFloat32), y = Tensor::Empty({}, DType::kFloat32);
    Context host;
    kernels::Copy(host, DType::kFloat32, y.mutable_view(), x.view());
    return true;
  }();
  static_cast<void>(loaded);
}

bool Same(const HeardLoop& a, const HeardLoop& b) {
  for (size_t k = 0; k < a.numbers.size() && k < b.numbers.size(); ++k) {
    if (std::memcmp(a.numbers[k].data(), b.numbers[k].data(), a.numbers[k].item_size()) != 0) return false;
  }
  if (a.loop.run != b.loop.run || a.inputs != b.inputs || a.loop.functor_bytes != b.loop.functor_bytes) return false;
  // The one byte of a functor without members is whatever lay there.
  return a.loop.functor_bytes == 1 || std::memcmp(a.functor.data(), b.functor.data(), a.loop.functor_bytes) == 0;
}

}  // namespace

std::vector<Tensor> InferBody(const Graph& body, std::span<const Tensor> inputs) {
  std::vector<Tensor> values(body.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[body.inputs[i]] = inputs[i];
  for (const auto& [id, tensor] : body.constants) values[id] = tensor;
  for (const GraphCall& call : body.calls) {
    InlineVector<Tensor, 4> x;
    for (ValueId id : call.inputs) x.push_back(id == kNoValue ? Tensor() : values[id]);
    const Call concrete{call.op, x, call.attrs, call.list_sizes};
    Infer infer(concrete);
    infer.device = CommonDevice(concrete);
    call.op->infer(infer);
    for (size_t k = 0; k < infer.outputs.size() && k < call.outputs.size(); ++k) {
      if (call.outputs[k] == kNoValue) continue;
      const OutputSpec& spec = infer.outputs[k];
      values[call.outputs[k]] = Tensor::Phantom(spec.shape, spec.strides, spec.dtype, infer.device);
      values[call.outputs[k]].impl()->free_layout = spec.free_layout;
    }
  }
  return values;
}

std::optional<HeardLoop> HearLoop(const Graph& graph, const GraphCall& call, const std::vector<Tensor>& values) {
  if (!call.op->pointwise || !call.op->run || call.op->dynamic || call.is_ordered()) return std::nullopt;
  if (call.outputs.size() != 1 || call.outputs[0] == kNoValue) return std::nullopt;
  const QuietDoor quiet;
  LoadKernels();
  try {
    std::optional<HeardLoop> heard = HearOnce(graph, call, values, 2);
    if (!heard || !ReadsLoneNumber(graph, call, values)) return heard;
    const std::optional<HeardLoop> again = HearOnce(graph, call, values, 5);
    return again && Same(*heard, *again) ? heard : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace dragon
