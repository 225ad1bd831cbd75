// Convolution with bias, residual and activation in one oneDNN primitive, activations channels-last.
#include "core/kernels/fused_onednn.h"

#include "core/kernels/convolution/products.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace onednn;  // NOLINT: this file is about nothing else

struct Problem {
  const View &y, &x, &w, &bias;
  const ConvGeometry& geometry;
  const FusedTail& tail;
};

/// The fastest convolution with weights so described; null if there is none.
PrimitiveDesc Describe(const Problem& p, const_dnnl_memory_desc_t weights) {
  const ConvGeometry& g = p.geometry;
  int64_t gaps[kMaxSpatial] = {0, 0, 0}, pad_after[kMaxSpatial] = {0, 0, 0};  // oneDNN counts the gaps of dilation
  for (int i = 0; i < g.spatial; ++i) {
    gaps[i] = g.dilation[i] - 1;
    const int64_t reach = (p.w.shape[2 + i] - 1) * g.dilation[i] + 1;
    pad_after[i] = (p.y.shape[2 + i] - 1) * g.stride[i] + reach - p.x.shape[2 + i] - g.padding[i];
  }
  const MemoryDesc x = onednn::Describe(p.x.dtype, ShapeOf(p.x), ChannelsLast(ShapeOf(p.x)));
  const MemoryDesc y = onednn::Describe(p.y.dtype, ShapeOf(p.y), ChannelsLast(ShapeOf(p.y)));
  MemoryDesc bias;
  if (p.bias) bias = onednn::Describe(p.bias.dtype, ShapeOf(p.bias), Dims{1});
  const Attributes attributes = MakeTail(p.tail, p.tail.residual ? y.get() : nullptr);
  dnnl_primitive_desc_t made = nullptr;
  const auto status = dnnl_convolution_forward_primitive_desc_create(
      &made, Engine(), dnnl_forward_inference, dnnl_convolution_direct, x.get(), weights, bias.get(), y.get(), g.stride,
      gaps, g.padding, pad_after, attributes.get());
  if (status != dnnl_success) return nullptr;
  PrimitiveDesc desc(made);
  return IsReference(made) ? nullptr : std::move(desc);
}

FusedPrimitive MakePrimitive(const Problem& p, const WeightLayout& layout) {
  FusedPrimitive fused;
  const WeightShape weights(p.w, p.geometry.groups);
  const MemoryDesc given = weights.DescribeGiven("conv_fused", p.w.dtype, layout);
  PrimitiveDesc desc = layout ? Describe(p, given.get()) : nullptr;
  if (!desc) desc = Describe(p, weights.DescribeAny(p.w.dtype).get());
  if (!desc) return fused;
  fused.Arrange(given.get(), dnnl_primitive_desc_query_md(desc.get(), dnnl_query_weights_md, 0));
  fused.x = MakeMemory(dnnl_primitive_desc_query_md(desc.get(), dnnl_query_src_md, 0));
  fused.y = MakeMemory(dnnl_primitive_desc_query_md(desc.get(), dnnl_query_dst_md, 0));
  if (p.bias) fused.bias = MakeMemory(dnnl_primitive_desc_query_md(desc.get(), dnnl_query_weights_md, 1));
  if (p.tail.residual) fused.residual = MakeMemory(dnnl_primitive_desc_query_md(desc.get(), dnnl_query_dst_md, 0));
  fused.Make(desc.get());
  return fused;
}

/// oneDNN describes tensors that do not overlap themselves and are not walked backwards.
bool Describable(const View& w) {
  for (int axis = 0; axis < w.ndim; ++axis) {
    if (w.shape[axis] > 1 && w.strides[axis] <= 0) return false;
  }
  return true;
}

double Work(const View& y, const View& w) {
  return static_cast<double>(y.numel) * static_cast<double>(w.numel / std::max<int64_t>(w.shape[0], 1));
}

bool IsEmpty(const View& y, const View& x, const View& w) { return x.numel == 0 || y.numel == 0 || w.numel == 0; }

}  // namespace

template <typename T>
void ConvFusedOneDnn(Context& ctx, View y, View x, View w, View bias, const ConvGeometry& geometry,
                     const FusedTail& tail, const WeightLayout& layout, bool* done) {
  *done = false;
  if (IsEmpty(y, x, w) || !(layout || Describable(w)) || (bias && bias.numel > 1 && bias.strides[0] != 1)) return;
  Image x_image(ctx, x, false), y_image(ctx, y, true);
  // Weights that would have to be rearranged each time are better read where they lie.
  if (!layout && IsProduct(y_image, x_image, w, geometry)) return;
  const Team team(Work(y, w));
  Key key;
  key.Add(team.threads()).Add(x.dtype).Add(static_cast<bool>(bias)).Add(x.ndim);
  AddTail(key, tail);
  AddLayout(key, w, layout);
  key.Add(x.shape, x.ndim).Add(y.shape, x.ndim);
  key.Add(geometry.stride, geometry.spatial).Add(geometry.dilation, geometry.spatial);
  key.Add(geometry.padding, geometry.spatial).Add(geometry.groups);
  static thread_local Cache<FusedPrimitive> primitives(1024);
  const FusedPrimitive& fused =
      primitives.Get(key, [&] { return MakePrimitive({y, x, w, bias, geometry, tail}, layout); });
  if (!fused.primitive) return;
  std::optional<Image> residual;
  if (tail.residual) residual.emplace(ctx, tail.residual, false);
  fused.Run(ctx, y_image.Settle(), x_image.Settle(), w.data, bias.data, residual ? residual->Settle() : nullptr);
  y_image.Finish();
  *done = true;
}

template <typename T>
void ConvLayout(Context&, View y, View x, View w, View bias, const ConvGeometry& geometry, const FusedTail& tail,
                WeightLayout* layout) {
  *layout = WeightLayout{};
  if (IsEmpty(y, x, w) || !Describable(w)) return;
  const Team team(Work(y, w));
  const WeightShape weights(w, geometry.groups);
  const PrimitiveDesc desc = Describe({y, x, w, bias, geometry, tail}, weights.DescribeAny(w.dtype).get());
  if (!desc) return;
  *layout = weights.NameOf(w.dtype, dnnl_primitive_desc_query_md(desc.get(), dnnl_query_weights_md, 0));
}

template <typename T>
void PackWeight(Context& ctx, View packed, View w, int64_t groups, const WeightLayout& layout, bool back) {
  const WeightShape weights(w, groups);
  const MemoryDesc plain = weights.Describe(w.dtype);
  const MemoryDesc arranged = weights.DescribeGiven("pack_weight", w.dtype, layout);
  dnnl_primitive_desc_t made_desc;
  Check(dnnl_reorder_primitive_desc_create(&made_desc, (back ? arranged : plain).get(), Engine(),
                                           (back ? plain : arranged).get(), Engine(), nullptr),
        "pack_weight");
  const PrimitiveDesc desc(made_desc);
  dnnl_primitive_t made;
  Check(dnnl_primitive_create(&made, made_desc), "pack_weight");
  const Primitive reorder(made);
  const Memory from = MakeMemory((back ? arranged : plain).get()), to = MakeMemory((back ? plain : arranged).get());
  Check(dnnl_memory_set_data_handle(from.get(), back ? packed.data : w.data), "pack_weight");
  Check(dnnl_memory_set_data_handle(to.get(), back ? w.data : packed.data), "pack_weight");
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
  Check(dnnl_primitive_execute(reorder.get(), Stream(), 2, args), "pack_weight");
}

DRAGON_KERNEL(ConvFusedOneDnn, OneDnnTypes);
DRAGON_KERNEL(ConvLayout, OneDnnTypes);
DRAGON_KERNEL(PackWeight, OneDnnTypes);

}  // namespace dragon::DRAGON_DEVICE
