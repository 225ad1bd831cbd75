// A linear layer with bias, residual and activation in one oneDNN primitive.
#include "core/kernels/fused_onednn.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace onednn;  // NOLINT: this file is about nothing else

struct Problem {
  const View &y, &x, &w, &bias;
  const FusedTail& tail;
};

MemoryDesc DescribeRows(const View& x) {
  return onednn::Describe(x.dtype, Dims{x.shape[0], x.shape[1]}, Dims{x.strides[0], x.strides[1]});
}

/// The fastest product with weights so described; null if there is none.
PrimitiveDesc DescribeProduct(const Problem& p, const_dnnl_memory_desc_t weights) {
  const MemoryDesc x = DescribeRows(p.x), y = DescribeRows(p.y);
  MemoryDesc bias, residual;
  if (p.bias) bias = onednn::Describe(p.bias.dtype, Dims{1, p.bias.numel}, Dims{p.bias.numel, 1});
  if (p.tail.residual) residual = DescribeRows(p.tail.residual);
  const Attributes attributes = MakeTail(p.tail, residual.get());
  dnnl_primitive_desc_t made = nullptr;
  const auto status =
      dnnl_matmul_primitive_desc_create(&made, Engine(), x.get(), weights, bias.get(), y.get(), attributes.get());
  if (status != dnnl_success) return nullptr;
  PrimitiveDesc desc(made);
  return IsReference(made) ? nullptr : std::move(desc);
}

FusedPrimitive MakePrimitive(const Problem& p, const WeightLayout& layout) {
  FusedPrimitive fused;
  const WeightShape weights(p.w, kTurnedProduct);
  const MemoryDesc given = weights.DescribeGiven("linear_fused", p.w.dtype, layout);
  PrimitiveDesc desc = DescribeProduct(p, given.get());
  if (!desc && layout) desc = DescribeProduct(p, weights.DescribeAny(p.w.dtype).get());
  if (!desc) return fused;
  fused.Arrange(given.get(), dnnl_primitive_desc_query_md(desc.get(), dnnl_query_weights_md, 0));
  fused.x = MakeMemory(dnnl_primitive_desc_query_md(desc.get(), dnnl_query_src_md, 0));
  fused.y = MakeMemory(dnnl_primitive_desc_query_md(desc.get(), dnnl_query_dst_md, 0));
  if (p.bias) fused.bias = MakeMemory(dnnl_primitive_desc_query_md(desc.get(), dnnl_query_weights_md, 1));
  if (p.tail.residual) fused.residual = MakeMemory(DescribeRows(p.tail.residual).get());
  fused.Make(desc.get());
  return fused;
}

double Work(const View& y, const View& x) { return static_cast<double>(y.numel) * static_cast<double>(x.shape[1]); }

/// Rows whose elements lie side by side.
bool IsRows(const View& x) { return x.strides[1] == 1 && x.strides[0] >= x.shape[1]; }

bool IsReadable(const View& w) { return IsRows(w) || (w.strides[0] == 1 && w.strides[1] >= w.shape[0]); }

}  // namespace

template <typename T>
void LinearFusedOneDnn(Context& ctx, View y, View x, View w, View bias, const FusedTail& tail,
                       const WeightLayout& layout, bool* done) {
  *done = false;
  if (y.numel == 0 || x.numel == 0 || !IsRows(x) || !IsRows(y) || !(layout || IsReadable(w))) return;
  if (bias && (bias.numel != y.shape[1] || (bias.numel > 1 && bias.strides[bias.ndim - 1] != 1))) return;
  if (tail.residual && !IsRows(tail.residual)) return;
  const Team team(Work(y, x));
  Key key;
  key.Add(team.threads()).Add(x.dtype).Add(static_cast<bool>(bias)).Add(x.shape[0]);
  key.Add(x.strides[0]).Add(y.strides[0]).Add(tail.residual ? tail.residual.strides[0] : 0);
  AddTail(key, tail);
  AddLayout(key, w, layout);
  static thread_local Cache<FusedPrimitive> primitives(1024);
  const FusedPrimitive& fused = primitives.Get(key, [&] { return MakePrimitive({y, x, w, bias, tail}, layout); });
  if (!fused.primitive) return;
  fused.Run(ctx, y.data, x.data, w.data, bias.data, tail.residual.data);
  *done = true;
}

template <typename T>
void LinearLayout(Context&, View y, View x, View w, View bias, const FusedTail& tail, WeightLayout* layout) {
  *layout = WeightLayout{};
  if (y.numel == 0 || x.numel == 0 || !IsReadable(w)) return;
  const Team team(Work(y, x));
  const WeightShape weights(w, kTurnedProduct);
  const PrimitiveDesc desc = DescribeProduct({y, x, w, bias, tail}, weights.DescribeAny(w.dtype).get());
  if (!desc) return;
  *layout = weights.NameOf(w.dtype, dnnl_primitive_desc_query_md(desc.get(), dnnl_query_weights_md, 0));
}

DRAGON_KERNEL(LinearFusedOneDnn, OneDnnTypes);
DRAGON_KERNEL(LinearLayout, OneDnnTypes);

}  // namespace dragon::DRAGON_DEVICE
