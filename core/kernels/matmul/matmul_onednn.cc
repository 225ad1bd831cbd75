// Large matrix products on oneDNN, transposed and broadcast operands described by strides.
#include "core/kernels/matmul.h"
#include "core/kernels/onednn.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace onednn;  // NOLINT: this file is about nothing else

/// Shape and strides as oneDNN takes them: batch axes merged where they can be, broadcast ones of size 1.
struct Operand {
  Dims shape, strides;
};

/// oneDNN reads a matrix whose rows or columns are contiguous.
bool Readable(const View& x) {
  const int64_t rows = x.dim(-2), cols = x.dim(-1), row = x.stride(-2), col = x.stride(-1);
  return (col == 1 && row >= cols) || (row == 1 && col >= rows);
}

void AddMatrix(const View& x, Operand* operand) {
  for (int axis = -2; axis < 0; ++axis) {
    operand->shape.push_back(x.dim(axis));
    operand->strides.push_back(x.stride(axis));
  }
}

/// Merge neighbouring batch axes that all three operands walk alike.
void Collapse(const View* const views[3], Operand operands[3]) {
  const int batch_axes = views[0]->ndim - 2;
  for (int axis = 0; axis < batch_axes; ++axis) {
    const int64_t size = views[0]->shape[axis];
    if (size == 1) continue;
    bool merges = !operands[0].shape.empty();
    for (int i = 0; merges && i < 3; ++i) {
      merges = operands[i].strides.back() == size * views[i]->strides[axis];
    }
    for (int i = 0; i < 3; ++i) {
      Operand& operand = operands[i];
      if (merges) {
        operand.shape.back() *= size;
        operand.strides.back() = views[i]->strides[axis];
      } else {
        operand.shape.push_back(size);
        operand.strides.push_back(views[i]->strides[axis]);
      }
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int axis = 0; axis < operands[i].shape.size(); ++axis) {
      if (operands[i].strides[axis] != 0) continue;
      operands[i].shape[axis] = 1;
      operands[i].strides[axis] = 1;
    }
    AddMatrix(*views[i], &operands[i]);
  }
}

/// A product ready to run; no primitive if oneDNN has no fast one.
struct Product {
  Primitive primitive;
  Memory y, a, b, bias;
};

Attributes MakeAttributes(const MatmulPost& post) {
  dnnl_primitive_attr_t made;
  Check(dnnl_primitive_attr_create(&made), "matmul");
  Attributes attributes(made);
  dnnl_post_ops_t made_ops;
  Check(dnnl_post_ops_create(&made_ops), "matmul");
  const PostOps ops(made_ops);
  const auto eltwise = [&](dnnl_alg_kind_t kind, double alpha) {
    Check(dnnl_post_ops_append_eltwise(made_ops, kind, static_cast<float>(alpha), 0), "matmul");
  };
  if (post.alpha != 1) eltwise(dnnl_eltwise_linear, post.alpha);
  if (post.beta != 0) {
    Check(dnnl_post_ops_append_sum(made_ops, static_cast<float>(post.beta), 0, dnnl_data_type_undef), "matmul");
  }
  if (post.activation == Activation::kRelu) eltwise(dnnl_eltwise_relu, 0);
  if (post.activation == Activation::kGelu) eltwise(dnnl_eltwise_gelu_erf, 0);
  if (post.activation == Activation::kGeluTanh) eltwise(dnnl_eltwise_gelu_tanh, 0);
  Check(dnnl_primitive_attr_set_post_ops(made, made_ops), "matmul");
  return attributes;
}

Product MakeProduct(DType dtype, const Operand operands[3], bool has_bias, const MatmulPost& post) {
  Product product;
  const MemoryDesc y = Describe(dtype, operands[0].shape, operands[0].strides);
  const MemoryDesc a = Describe(dtype, operands[1].shape, operands[1].strides);
  const MemoryDesc b = Describe(dtype, operands[2].shape, operands[2].strides);
  MemoryDesc bias;
  if (has_bias) {
    Dims shape = Dims::Filled(operands[0].shape.size(), 1);
    shape.back() = operands[0].shape.back();
    bias = Describe(dtype, shape, Dims::Filled(shape.size(), 1));
  }
  const Attributes attributes = MakeAttributes(post);
  dnnl_primitive_desc_t made_desc;
  if (dnnl_matmul_primitive_desc_create(&made_desc, Engine(), a.get(), b.get(), bias.get(), y.get(),
                                        attributes.get()) != dnnl_success) {
    return product;
  }
  const PrimitiveDesc desc(made_desc);
  if (IsReference(made_desc)) return product;
  dnnl_primitive_t made;
  Check(dnnl_primitive_create(&made, made_desc), "matmul");
  product.primitive.reset(made);
  product.y = MakeMemory(y.get());
  product.a = MakeMemory(a.get());
  product.b = MakeMemory(b.get());
  if (has_bias) product.bias = MakeMemory(bias.get());
  return product;
}

}  // namespace

template <typename T>
void MatmulOneDnn(Context&, View y, View a, View b, View bias, const MatmulPost& post, bool* done) {
  *done = false;
  if (!Readable(a) || !Readable(b) || y.stride(-1) != 1 || y.stride(-2) < y.dim(-1) || a.dim(-1) == 0) return;
  // oneDNN adds the bias before it scales.
  if (bias && (post.alpha != 1 || post.beta != 0 || bias.numel != y.dim(-1) || bias.stride(-1) != 1)) return;
  const View* views[3] = {&y, &a, &b};
  Operand operands[3];
  Collapse(views, operands);
  const Team team(static_cast<double>(y.numel) * static_cast<double>(a.dim(-1)));
  Key key;
  key.Add(team.threads())
      .Add(static_cast<int64_t>(y.dtype))
      .Add(static_cast<bool>(bias))
      .Add(post.alpha)
      .Add(post.beta);
  key.Add(static_cast<int64_t>(post.activation)).Add(operands[0].shape.size());
  for (const Operand& operand : operands) key.Add(operand.shape).Add(operand.strides);
  if (!key.fits()) return;
  static thread_local Cache<Product> products(512);
  Product& product = products.Get(key, [&] { return MakeProduct(y.dtype, operands, static_cast<bool>(bias), post); });
  if (!product.primitive) return;
  dnnl_exec_arg_t args[4];
  int count = 0;
  const auto bind = [&](int argument, dnnl_memory_t memory, void* data) {
    Check(dnnl_memory_set_data_handle(memory, data), "matmul");
    args[count++] = {argument, memory};
  };
  bind(DNNL_ARG_SRC, product.a.get(), a.data);
  bind(DNNL_ARG_WEIGHTS, product.b.get(), b.data);
  bind(DNNL_ARG_DST, product.y.get(), y.data);
  if (bias) bind(DNNL_ARG_BIAS, product.bias.get(), bias.data);
  Check(dnnl_primitive_execute(product.primitive.get(), Stream(), count, args), "matmul");
  *done = true;
}

using OneDnnTypes = TypeList<float, bfloat16>;
DRAGON_KERNEL(MatmulOneDnn, OneDnnTypes);

}  // namespace dragon::DRAGON_DEVICE
