// Post-operations and named arrangements of weights: what fused convolutions and products on oneDNN have in common.
#pragma once

#include <dnnl_debug.h>

#include <cstring>
#include <optional>
#include <utility>

#include "core/kernels/fused.h"
#include "core/kernels/onednn.h"

namespace dragon::onednn {

struct Eltwise {
  dnnl_alg_kind_t kind;
  float alpha, beta;
};

inline Eltwise EltwiseOf(const FusedTail& tail) {
  const float alpha = static_cast<float>(tail.alpha), beta = static_cast<float>(tail.beta);
  switch (tail.activation) {
    case FusedActivation::kRelu:
      return {dnnl_eltwise_relu, 0, 0};
    case FusedActivation::kLeakyRelu:
      return {dnnl_eltwise_relu, alpha, 0};
    case FusedActivation::kHardtanh:
      return {dnnl_eltwise_clip, alpha, beta};
    case FusedActivation::kElu:
      return {dnnl_eltwise_elu, alpha, 0};
    case FusedActivation::kHardsigmoid:
      return {dnnl_eltwise_hardsigmoid, 1.0f / 6, 0.5f};
    case FusedActivation::kHardswish:
      return {dnnl_eltwise_hardswish, 1.0f / 6, 0.5f};
    case FusedActivation::kSigmoid:
      return {dnnl_eltwise_logistic, 0, 0};
    case FusedActivation::kSilu:
      return {dnnl_eltwise_swish, 1, 0};
    case FusedActivation::kTanh:
      return {dnnl_eltwise_tanh, 0, 0};
    case FusedActivation::kGelu:
      return {dnnl_eltwise_gelu_erf, 0, 0};
    case FusedActivation::kGeluTanh:
      return {dnnl_eltwise_gelu_tanh, 0, 0};
    case FusedActivation::kNone:
      break;
  }
  return {dnnl_eltwise_linear, 1, 0};
}

/// The tail as oneDNN's post-operations: first the residual, described by `residual` if there is one, then the
/// activation.
inline Attributes MakeTail(const FusedTail& tail, const_dnnl_memory_desc_t residual) {
  dnnl_primitive_attr_t made;
  Check(dnnl_primitive_attr_create(&made), "fused");
  Attributes attributes(made);
  dnnl_post_ops_t made_ops;
  Check(dnnl_post_ops_create(&made_ops), "fused");
  const PostOps ops(made_ops);
  if (residual) Check(dnnl_post_ops_append_binary(made_ops, dnnl_binary_add, residual), "fused");
  if (tail.activation != FusedActivation::kNone) {
    const Eltwise eltwise = EltwiseOf(tail);
    Check(dnnl_post_ops_append_eltwise(made_ops, eltwise.kind, eltwise.alpha, eltwise.beta), "fused");
  }
  Check(dnnl_primitive_attr_set_post_ops(made, made_ops), "fused");
  return attributes;
}

inline constexpr int kResidualArgument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;

/// Weights as oneDNN has them: (groups, O / groups, C / groups, window...) of convolutions in groups, (in, out) of a
/// turned product.
struct WeightShape {
  Dims shape, strides;
  WeightShape(const View& w, int64_t groups) : shape(w.shape, w.ndim), strides(w.strides, w.ndim) {
    if (groups == kTurnedProduct) {
      std::swap(shape[0], shape[1]);
      std::swap(strides[0], strides[1]);
    } else if (groups > 1) {
      shape[0] /= groups;
      shape.insert(0, groups);
      strides.insert(0, shape[1] * w.strides[0]);
    }
  }
  MemoryDesc Describe(DType dtype) const { return onednn::Describe(dtype, shape, strides); }
  MemoryDesc DescribeAny(DType dtype) const { return onednn::DescribeAny(dtype, shape); }
  /// The weights as a caller has them: as they lie, or so arranged.
  MemoryDesc DescribeGiven(const char* who, DType dtype, const dragon::WeightLayout& layout) const {
    MemoryDesc desc = layout ? DescribeAs(dtype, layout.name) : Describe(dtype);
    if (!layout || (desc && static_cast<int64_t>(dnnl_memory_desc_get_size(desc.get())) <= layout.bytes)) return desc;
    throw ValueError(who)
        .Got("weights of ", layout.bytes, " bytes in layout '", layout.name, "'")
        .Expected(desc ? "as many as such weights take" : "a layout that weights of so many axes can have");
  }
  /// Null if oneDNN knows no such arrangement of so many axes.
  MemoryDesc DescribeAs(DType dtype, const char* name) const {
    for (int tag = dnnl_format_tag_any + 1; tag < dnnl_format_tag_last; ++tag) {
      if (std::strcmp(dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(tag)), name) == 0) return DescribeTag(dtype, tag);
    }
    return nullptr;
  }
  /// The arrangement's name; none if it is not one of those that have a name.
  dragon::WeightLayout NameOf(DType dtype, const_dnnl_memory_desc_t desc) const {
    dragon::WeightLayout layout;
    for (int tag = dnnl_format_tag_any + 1; tag < dnnl_format_tag_last; ++tag) {
      const MemoryDesc named = DescribeTag(dtype, tag);
      if (!named || !dnnl_memory_desc_equal(named.get(), desc)) continue;
      const char* name = dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(tag));
      if (std::strlen(name) >= dragon::WeightLayout::kSize) continue;
      std::strcpy(layout.name, name);
      layout.bytes = static_cast<int64_t>(dnnl_memory_desc_get_size(desc));
      break;
    }
    return layout;
  }

 private:
  MemoryDesc DescribeTag(DType dtype, int tag) const {
    dnnl_memory_desc_t desc = nullptr;
    const auto status = dnnl_memory_desc_create_with_tag(&desc, shape.size(), shape.data(), DataType(dtype),
                                                         static_cast<dnnl_format_tag_t>(tag));
    return MemoryDesc(status == dnnl_success ? desc : nullptr);
  }
};

inline Key& AddTail(Key& key, const FusedTail& tail) {
  return key.Add(static_cast<bool>(tail.residual)).Add(tail.activation).Add(tail.alpha).Add(tail.beta);
}

inline Key& AddLayout(Key& key, const View& w, const dragon::WeightLayout& layout) {
  key.Add(w.shape, w.ndim).Add(static_cast<bool>(layout));
  if (!layout) return key.Add(w.strides, w.ndim);
  int64_t words[dragon::WeightLayout::kSize / sizeof(int64_t)];
  std::memcpy(words, layout.name, sizeof(words));
  return key.Add(words, std::size(words)).Add(layout.bytes);
}

/// A primitive with weights that it may have to rearrange before each run.
struct FusedPrimitive {
  Primitive primitive, reorder;  // no primitive where oneDNN has nothing fast; no reorder where weights lie right
  Memory x, y, w, bias, residual, arranged;
  size_t arranged_bytes = 0;

  void Arrange(const_dnnl_memory_desc_t from, const_dnnl_memory_desc_t to) {
    w = MakeMemory(from);
    if (dnnl_memory_desc_equal(from, to)) return;
    arranged = MakeMemory(to);
    arranged_bytes = dnnl_memory_desc_get_size(to);
    dnnl_primitive_desc_t made_desc;
    Check(dnnl_reorder_primitive_desc_create(&made_desc, from, Engine(), to, Engine(), nullptr), "fused");
    const PrimitiveDesc desc(made_desc);
    dnnl_primitive_t made;
    Check(dnnl_primitive_create(&made, made_desc), "fused");
    reorder.reset(made);
  }
  void Make(const_dnnl_primitive_desc_t desc) {
    dnnl_primitive_t made;
    Check(dnnl_primitive_create(&made, desc), "fused");
    primitive.reset(made);
  }

  void Run(const Context& ctx, void* y_data, void* x_data, void* w_data, void* bias_data, void* residual_data) const {
    std::optional<Scratch> scratch;
    const auto bind = [](const Memory& memory, void* data) {
      Check(dnnl_memory_set_data_handle(memory.get(), data), "fused");
    };
    bind(w, w_data);
    if (reorder) {
      scratch.emplace(ctx.Allocate<char>(static_cast<int64_t>(arranged_bytes)));
      bind(arranged, scratch->data());
      const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, w.get()}, {DNNL_ARG_TO, arranged.get()}};
      Check(dnnl_primitive_execute(reorder.get(), Stream(), 2, args), "fused");
    }
    bind(x, x_data);
    bind(y, y_data);
    dnnl_exec_arg_t args[5] = {
        {DNNL_ARG_SRC, x.get()}, {DNNL_ARG_WEIGHTS, reorder ? arranged.get() : w.get()}, {DNNL_ARG_DST, y.get()}};
    int count = 3;
    if (bias) {
      bind(bias, bias_data);
      args[count++] = {DNNL_ARG_BIAS, bias.get()};
    }
    if (residual) {
      bind(residual, residual_data);
      args[count++] = {kResidualArgument, residual.get()};
    }
    Check(dnnl_primitive_execute(primitive.get(), Stream(), count, args), "fused");
  }
};

}  // namespace dragon::onednn
