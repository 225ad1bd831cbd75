// Convolution on oneDNN: activations channels-last, weights in whatever blocks it likes best.
#include <optional>

#include "core/kernels/convolution/products.h"
#include "core/kernels/onednn.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace onednn;  // NOLINT: this file is about nothing else

/// One operand of the primitive: where the caller has it, where the primitive wants it, and the way between.
struct Port {
  Memory outside, inside;
  Primitive reorder;  // null when both are the same
  size_t bytes = 0;
};

struct Plan {
  Primitive primitive;  // null when oneDNN has nothing fast
  Port x, y, w, bias;
};

/// Weights as oneDNN has them: (groups, O / groups, C / groups, window...) if there are groups.
void LayOutWeight(const View& w, int64_t groups, Dims* shape, Dims* strides) {
  *shape = ShapeOf(w);
  *strides = StridesOf(w);
  if (groups == 1) return;
  (*shape)[0] /= groups;
  shape->insert(0, groups);
  strides->insert(0, (*shape)[1] * w.strides[0]);
}

struct Descriptions {
  MemoryDesc x, y, w, bias;
};

dnnl_status_t MakeDesc(ConvPass pass, const Descriptions& md, const ConvGeometry& geometry, const int64_t* pad_after,
                       const_dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t* made) {
  int64_t dilates[kMaxSpatial];  // oneDNN counts the gaps
  for (int i = 0; i < kMaxSpatial; ++i) dilates[i] = geometry.dilation[i] - 1;
  dnnl_primitive_desc_t forward;
  const dnnl_status_t status = dnnl_convolution_forward_primitive_desc_create(
      &forward, Engine(), dnnl_forward_training, dnnl_convolution_direct, md.x.get(), md.w.get(), md.bias.get(),
      md.y.get(), geometry.stride, dilates, geometry.padding, pad_after,
      pass == ConvPass::kForward ? attributes : nullptr);
  if (status != dnnl_success || pass == ConvPass::kForward) {
    *made = forward;
    return status;
  }
  const PrimitiveDesc hint(forward);
  if (pass == ConvPass::kBackwardData) {
    return dnnl_convolution_backward_data_primitive_desc_create(made, Engine(), dnnl_convolution_direct, md.x.get(),
                                                                md.w.get(), md.y.get(), geometry.stride, dilates,
                                                                geometry.padding, pad_after, forward, nullptr);
  }
  return dnnl_convolution_backward_weights_primitive_desc_create(
      made, Engine(), dnnl_convolution_direct, md.x.get(), md.w.get(), md.bias.get(), md.y.get(), geometry.stride,
      dilates, geometry.padding, pad_after, forward, nullptr);
}

Port MakePort(const_dnnl_memory_desc_t outside, const_dnnl_memory_desc_t inside, bool is_output) {
  Port port;
  port.outside = MakeMemory(outside);
  if (dnnl_memory_desc_equal(outside, inside)) return port;
  port.inside = MakeMemory(inside);
  port.bytes = dnnl_memory_desc_get_size(inside);
  dnnl_primitive_desc_t made_desc;
  Check(dnnl_reorder_primitive_desc_create(&made_desc, is_output ? inside : outside, Engine(),
                                           is_output ? outside : inside, Engine(), nullptr),
        "conv");
  const PrimitiveDesc desc(made_desc);
  dnnl_primitive_t made;
  Check(dnnl_primitive_create(&made, made_desc), "conv");
  port.reorder.reset(made);
  return port;
}

Attributes ReluAfter() {
  dnnl_primitive_attr_t made;
  Check(dnnl_primitive_attr_create(&made), "conv");
  Attributes attributes(made);
  dnnl_post_ops_t made_ops;
  Check(dnnl_post_ops_create(&made_ops), "conv");
  const PostOps ops(made_ops);
  Check(dnnl_post_ops_append_eltwise(made_ops, dnnl_eltwise_relu, 0, 0), "conv");
  Check(dnnl_primitive_attr_set_post_ops(made, made_ops), "conv");
  return attributes;
}

Plan MakePlan(ConvPass pass, const View& y, const View& x, const View& w, const View& bias,
              const ConvGeometry& geometry, Activation activation) {
  Plan plan;
  Dims w_shape, w_strides;
  LayOutWeight(w, geometry.groups, &w_shape, &w_strides);
  int64_t pad_after[kMaxSpatial] = {0, 0, 0};
  for (int i = 0; i < geometry.spatial; ++i) {
    const int64_t reach = (w.shape[2 + i] - 1) * geometry.dilation[i] + 1;
    pad_after[i] = (y.shape[2 + i] - 1) * geometry.stride[i] + reach - x.shape[2 + i] - geometry.padding[i];
  }
  Descriptions md;
  md.x = Describe(x.dtype, ShapeOf(x), ChannelsLast(ShapeOf(x)));
  md.y = Describe(y.dtype, ShapeOf(y), ChannelsLast(ShapeOf(y)));
  md.w = DescribeAny(w.dtype, w_shape);
  if (bias) md.bias = Describe(bias.dtype, ShapeOf(bias), Dims{1});
  Attributes attributes;
  if (activation == Activation::kRelu) attributes = ReluAfter();
  dnnl_primitive_desc_t made_desc;
  if (MakeDesc(pass, md, geometry, pad_after, attributes.get(), &made_desc) != dnnl_success) return plan;
  const PrimitiveDesc desc(made_desc);
  if (IsReference(made_desc)) return plan;
  const auto query = pass == ConvPass::kBackwardWeights ? dnnl_query_diff_weights_md : dnnl_query_weights_md;
  const_dnnl_memory_desc_t w_inside = dnnl_primitive_desc_query_md(made_desc, query, 0);
  plan.x = MakePort(md.x.get(), md.x.get(), false);
  plan.y = MakePort(md.y.get(), md.y.get(), false);
  plan.w = MakePort(Describe(w.dtype, w_shape, w_strides).get(), w_inside, pass == ConvPass::kBackwardWeights);
  if (bias) plan.bias = MakePort(md.bias.get(), md.bias.get(), false);
  dnnl_primitive_t made;
  Check(dnnl_primitive_create(&made, made_desc), "conv");
  plan.primitive.reset(made);
  return plan;
}

void Execute(const Primitive& primitive, const dnnl_exec_arg_t* args, int count) {
  Check(dnnl_primitive_execute(primitive.get(), Stream(), count, args), "conv");
}

/// Binds the ports of one call; inputs are reordered on the way in, the output on the way out.
class Binding {
 public:
  explicit Binding(const Context& ctx) : ctx_(ctx) {}

  void Input(int argument, const Port& port, void* data) {
    if (!Bind(argument, port, data) || !port.reorder) return;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, port.outside.get()}, {DNNL_ARG_TO, port.inside.get()}};
    Execute(port.reorder, args, 2);
  }
  void Output(int argument, const Port& port, void* data) {
    Bind(argument, port, data);
    if (port.reorder) output_ = &port;
  }
  void Run(const Primitive& primitive) {
    Execute(primitive, args_, count_);
    if (!output_) return;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, output_->inside.get()}, {DNNL_ARG_TO, output_->outside.get()}};
    Execute(output_->reorder, args, 2);
  }

 private:
  bool Bind(int argument, const Port& port, void* data) {
    if (!port.outside) return false;
    Check(dnnl_memory_set_data_handle(port.outside.get(), data), "conv");
    if (port.reorder) {
      scratch_[count_].emplace(ctx_.Allocate<char>(static_cast<int64_t>(port.bytes)));
      Check(dnnl_memory_set_data_handle(port.inside.get(), scratch_[count_]->data()), "conv");
    }
    args_[count_++] = {argument, port.reorder ? port.inside.get() : port.outside.get()};
    return true;
  }

  const Context& ctx_;
  dnnl_exec_arg_t args_[4];
  std::optional<Scratch> scratch_[4];
  const Port* output_ = nullptr;
  int count_ = 0;
};

/// oneDNN describes tensors that do not overlap themselves and are not walked backwards.
bool IsDescribable(const View& x) {
  for (int axis = 0; axis < x.ndim; ++axis) {
    if (x.shape[axis] > 1 && x.strides[axis] <= 0) return false;
  }
  return true;
}

/// What oneDNN computes, and computes right.
bool IsForOneDnn(ConvPass pass, const View& y, const View& x, const View& w, const View& bias,
                 const ConvGeometry& geometry, Activation activation) {
  if (!IsDescribable(x) || !IsDescribable(y) || !IsDescribable(w)) return false;
  if (bias && bias.numel > 1 && bias.strides[0] != 1) return false;
  if (activation != Activation::kNone && activation != Activation::kRelu) return false;
  // oneDNN 3.2 sums uninitialised memory into bfloat16 weights' gradients when a step is wider than the image.
  if (pass == ConvPass::kBackwardWeights && x.dtype == DType::kBFloat16 &&
      x.shape[x.ndim - 1] < geometry.stride[geometry.spatial - 1]) {
    return false;
  }
  return x.numel > 0 && y.numel > 0 && w.numel > 0;
}

/// The plan of all calls that differ in numbers only; one without a primitive is not oneDNN's to compute.
const Plan& FindPlan(ConvPass pass, const View& y, const View& x, const View& w, const View& bias,
                     const ConvGeometry& geometry, Activation activation, int threads) {
  Key key;
  key.Add(threads).Add(pass).Add(x.dtype).Add(static_cast<bool>(bias)).Add(activation).Add(x.ndim);
  key.Add(x.shape, x.ndim).Add(y.shape, x.ndim).Add(w.shape, x.ndim).Add(w.strides, x.ndim);
  key.Add(geometry.stride, geometry.spatial).Add(geometry.dilation, geometry.spatial);
  key.Add(geometry.padding, geometry.spatial).Add(geometry.groups);
  static thread_local Cache<Plan> plans(512);
  return plans.Get(key, [&] { return MakePlan(pass, y, x, w, bias, geometry, activation); });
}

void RunPlan(const Context& ctx, ConvPass pass, const Plan& plan, void* y, void* x, void* w, void* bias) {
  Binding binding(ctx);
  if (pass == ConvPass::kForward) {
    binding.Input(DNNL_ARG_SRC, plan.x, x);
    binding.Input(DNNL_ARG_WEIGHTS, plan.w, w);
    binding.Input(DNNL_ARG_BIAS, plan.bias, bias);
    binding.Output(DNNL_ARG_DST, plan.y, y);
  } else if (pass == ConvPass::kBackwardData) {
    binding.Input(DNNL_ARG_DIFF_DST, plan.y, y);
    binding.Input(DNNL_ARG_WEIGHTS, plan.w, w);
    binding.Output(DNNL_ARG_DIFF_SRC, plan.x, x);
  } else {
    binding.Input(DNNL_ARG_SRC, plan.x, x);
    binding.Input(DNNL_ARG_DIFF_DST, plan.y, y);
    binding.Input(DNNL_ARG_DIFF_BIAS, plan.bias, bias);
    binding.Output(DNNL_ARG_DIFF_WEIGHTS, plan.w, w);
  }
  binding.Run(plan.primitive);
}

}  // namespace

template <typename T>
void ConvOneDnn(Context& ctx, ConvPass pass, View y, View x, View w, View bias, const ConvGeometry& geometry,
                Activation activation, bool* done) {
  *done = false;
  if (!IsForOneDnn(pass, y, x, w, bias, geometry, activation)) return;
  if (const auto stops = StopsOnly(pass, y, x, w, geometry)) {
    const Scratch memory = ctx.Allocate<T>(stops->view.numel);
    const OwnedView dense(memory.data(), x.dtype, stops->shape, ChannelsLast(stops->shape));
    kernels::Copy(ctx, x.dtype, dense.view, stops->view);
    ConvGeometry once = geometry;
    std::fill_n(once.stride, geometry.spatial, 1);
    return ConvOneDnn<T>(ctx, pass, y, dense.view, w, bias, once, activation, done);
  }
  const Team team(static_cast<double>(y.numel) * static_cast<double>(w.numel / std::max<int64_t>(w.shape[0], 1)));
  const Plan& plan = FindPlan(pass, y, x, w, bias, geometry, activation, team.threads());
  if (!plan.primitive) return;
  Image x_image(ctx, x, pass == ConvPass::kBackwardData), y_image(ctx, y, pass == ConvPass::kForward);
  *done = true;
  // Weights' gradients with a bias are oneDNN's; those of 16 bits would be rounded after each picture.
  const bool one_sum = !kIsHalf<T> || (x_image.channels_last() && y_image.channels_last());
  const bool able = pass != ConvPass::kBackwardWeights || (!bias && one_sum);
  if (able && IsProduct(y_image, x_image, w, geometry)) {
    return RunProduct(ctx, pass, y_image, x_image, w, bias, activation);
  }
  x.data = x_image.Settle();
  y.data = y_image.Settle();
  if constexpr (std::is_same_v<T, float>) {
    const SteppingWeights stepping(y, x, w, geometry);
    if (pass == ConvPass::kBackwardWeights && !bias && stepping.usable()) {
      return stepping.Run(ctx, w.as<float>(), y.as<const float>(), x.as<const float>());
    }
  }
  RunPlan(ctx, pass, plan, y.data, x.data, w.data, bias.data);
  x_image.Finish();
  y_image.Finish();
}

DRAGON_KERNEL(ConvOneDnn, OneDnnTypes);

}  // namespace dragon::DRAGON_DEVICE
