// The dropout family: whole elements, whole channels, and the variants that keep mean and variance (for SELU networks).
#include <cmath>

#include "core/ops/random/draw.h"

namespace dragon {
namespace {

const char* const kArguments = "(Tensor x, float p=0.5, bool training=True, *, Generator? generator=None) -> Tensor";

void CheckP(const CallReader& c) {
  const double p = c.Real("p");
  CheckFloating(c.name(), c.x(0).dtype());
  if (!(p >= 0 && p <= 1)) throw ValueError(c.name()).Got("p = ", p).Expected("a probability between 0 and 1");
}
/// Nothing is dropped.
bool IsIdentity(const CallReader& c) { return c.Real("p") == 0 || !c.Bool("training") || c.x(0).numel() == 0; }

/// 1 with probability 1 - p, else 0, of a shape.
Tensor Noise(const CallReader& c, const Tensor& x, const Dims& shape) {
  const Tensor noise = Op<"empty">(shape, x.dtype(), x.device());
  CallBuilder builder(OpNamed<"bernoulli_like">());
  builder.Add(noise);
  builder.Add(1 - c.Real("p"));
  builder.Add(c.attr("generator"));
  builder.Apply(std::span<const Tensor>(&noise, 1));
  return noise;
}

/// An input with its elements in the order in which result 0 lies in memory, by way of that result if need be.
Tensor InOrderOfResult(Run& r, ArgumentName name) {
  if (r.x(name).strides() == r.y(0).strides()) return r.x(name);
  OpInto<"copy">(r.y(0), r.x(name));
  return r.y(0);
}

/// One coin per channel of every sample.
Dims ChannelShape(const CallReader& c, const Tensor& x) {
  if (x.ndim() < 2) {
    throw ValueError(c.name()).Got("a tensor of ", x.ndim(), " axes").Expected("at least 2: samples and channels");
  }
  Dims shape = x.shape();
  for (int axis = 2; axis < shape.size(); ++axis) shape[axis] = 1;
  return shape;
}

Tensor DropChannels(const CallReader& c, const Tensor& x) {
  CheckP(c);
  const Dims shape = ChannelShape(c, x);
  if (IsIdentity(c)) return x;
  if (c.Real("p") == 1) return x * 0.0;
  return x * (Noise(c, x, shape) / (1 - c.Real("p")));
}

/// What is dropped becomes the value SELU tends to far left; scale and shift restore mean 0 and variance 1.
Tensor DropAlpha(const CallReader& c, bool channels) {
  const Tensor& x = c.x(0);
  CheckP(c);
  const Dims shape = channels ? ChannelShape(c, x) : x.shape();
  if (IsIdentity(c)) return x;
  const double p = c.Real("p"), alpha = 1.7580993408473766;
  if (p == 1) return x * 0.0;
  const double scale = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  const Tensor noise = Noise(c, x, shape);
  const Tensor shift = (noise - 1.0) * (alpha * scale) + alpha * scale * p;
  return x * (noise * scale) + shift;
}

/// dropout1d, 2d, 3d: inputs with `batched` axes, or one fewer, which are one sample.
Operator& DefineChannels(const char* name, int batched, bool single_is_batch, const char* doc) {
  return DefineOp(std::string(name) + kArguments).Doc(doc).As([=](const CallReader& c) -> Tensors {
    const Tensor& x = c.x(0);
    if (x.ndim() != batched && x.ndim() != batched - 1) {
      throw ValueError(c.name()).Got("a tensor of ", x.ndim(), " axes").Expected(batched - 1, " or ", batched);
    }
    if (x.ndim() == batched || single_is_batch) return {DropChannels(c, x)};
    return {Op<"squeeze">(DropChannels(c, Op<"unsqueeze">(x, 0)), Dims{0})};
  });
}

/// With the mask, for those who need it, and the way back.
void DefineMasked() {
  DefineOp(
      "native_dropout(Tensor x, float p=0.5, bool training=True, *, Generator? generator=None) -> (Tensor out, Tensor "
      "mask)")
      .Doc("Elements kept with probability 1 - p and scaled by its inverse, and which were kept.")
      .Infers([](Infer& i) {
        CheckP(i);
        // Coins fall in the order of memory, as PyTorch's do for tensors whose axes were exchanged.
        const Dims strides = DenseStrides(i.x(0));
        i.y(0, i.x(0).shape(), i.x(0).dtype(), strides);
        i.y(1, i.x(0).shape(), DType::kBool, strides);
        i.outputs[0].free_layout = i.outputs[1].free_layout = false;
      })
      .Runs([](Run& r) {
        if (r.x(0).numel() == 0) return;
        if (!r.Bool("training")) {
          OpInto<"copy">(r.y(0), r.x(0));
          return OpInto<"fill">(r.y(1), r.y(1), true);
        }
        const Tensor x = InOrderOfResult(r, "x");
        GeneratorOf(r.name(), r.attr("generator")).Draw([&](RandomState* state) {
          kernels::Dropout(r.ctx(), x.dtype(), r.out(0), r.out(1), x.view(), state, r.Real("p"));
        });
      })
      .Gradient("mask", [](Grad& g) {
        const double scale = g.Bool("training") ? 1 / (1 - g.Real("p")) : 1.0;
        g.dx(0, Op<"native_dropout_backward">(g.dy(), g.y(1), scale));
      });
  DefineOp("native_dropout_backward(Tensor dy, Tensor mask, float scale) -> Tensor")
      .Doc("The gradient of dropout: dy where the mask kept, scaled.")
      .Infers([](Infer& i) {
        CheckFloating(i.name(), i.x("dy").dtype());
        if (i.x("mask").shape() != i.x("dy").shape() || i.x("mask").dtype() != DType::kBool) {
          throw ValueError(i.name())
              .Got("a mask of shape ", i.x("mask").shape(), ", ", i.x("mask").dtype())
              .Expected("shape ", i.x("dy").shape(), ", bool");
        }
        i.y(0, i.x("dy").shape(), i.x("dy").dtype());
        if (IsDense(i.x("mask").shape(), i.x("mask").strides())) i.outputs[0].strides = i.x("mask").strides();
      })
      .Runs([](Run& r) {
        const Tensor dy = InOrderOfResult(r, "dy");
        const Tensor mask = r.x("mask").strides() == r.y(0).strides() ? r.x("mask") : r.Contiguous("mask");
        kernels::DropoutBackward(r.ctx(), dy.dtype(), r.out(), dy.view(), mask.view(), r.Real("scale"));
      })
      .Gradient("mask",
                [](Grad& g) { g.dx("dy", Op<"native_dropout_backward">(g.dy(), g.x("mask"), g.Real("scale"))); });
}

void DefineElements() {
  DefineOp(std::string("dropout") + kArguments)
      .Doc("Elements kept with probability 1 - p and scaled by its inverse; x itself when not training.")
      .As([](const CallReader& c) -> Tensors {
        CheckP(c);
        if (IsIdentity(c)) return {c.x(0)};
        if (c.Real("p") == 1) return {c.x(0) * 0.0};
        CallBuilder builder(OpNamed<"native_dropout">());
        builder.Add(c.x(0));
        for (const Value& attr : c.call().attrs) builder.Add(attr);
        return {builder.Apply()[0]};
      });
  DefineOp(std::string("alpha_dropout") + kArguments)
      .Doc("Dropout that keeps mean 0 and variance 1.")
      .As([](const CallReader& c) -> Tensors { return {DropAlpha(c, false)}; });
}

void DefineFeatures() {
  DefineOp(std::string("feature_dropout") + kArguments)
      .Doc("Dropout of whole channels: the first two axes decide.")
      .As([](const CallReader& c) -> Tensors { return {DropChannels(c, c.x(0))}; });
  DefineOp(std::string("feature_alpha_dropout") + kArguments)
      .Doc("Dropout of whole channels that keeps mean 0 and variance 1.")
      .As([](const CallReader& c) -> Tensors { return {DropAlpha(c, true)}; });
  DefineChannels("dropout1d", 3, false, "Dropout of whole channels of sequences.");
  // PyTorch reads three axes as samples, channels and length here.
  DefineChannels("dropout2d", 4, true, "Dropout of whole channels of images.");
  DefineChannels("dropout3d", 5, false, "Dropout of whole channels of volumes.");
}

[[maybe_unused]] const bool dropout_defined = (DefineMasked(), DefineElements(), DefineFeatures(), true);

}  // namespace
}  // namespace dragon
