// Samples whose parameters are tensors: coins, categories, counts, waiting amounts.
#include "core/device/accelerator.h"
#include "core/ops/random/draw.h"

namespace dragon {
namespace {

const char* const kEnd = ", *, Generator? generator=None) -> Tensor";

/// Result 0 like floating input 0, in row-major order.
void InferRowMajor(Infer& i) {
  CheckFloating(i.name(), i.x(0).dtype());
  i.y(0, i.x(0).shape(), i.x(0).dtype());
}

void DefineCoins() {
  DefineOp(std::string("bernoulli(Tensor p") + kEnd)
      .Doc("1 with the probability that stands in p, else 0.")
      .Infers(InferRowMajor)
      .Runs([](Run& r) {
        const Tensor p = r.Contiguous(0);
        Draw(r,
             [&](View y, RandomState* state, bool) { kernels::BernoulliOf(r.ctx(), p.dtype(), y, p.view(), state); });
      })
      .Gradient("", NoGradient);
  DefineOp(std::string("bernoulli_of(Tensor x, Tensor p") + kEnd)
      .Doc("1 with the probability that stands in p, else 0, in the shape and dtype of x.")
      .Infers([](Infer& i) {
        CheckFloating(i.name(), i.x("p").dtype());
        if (BroadcastShapes(i.name(), i.x("x").shape(), i.x("p").shape()) != i.x("x").shape()) {
          throw ValueError(i.name())
              .Got("probabilities of shape ", i.x("p").shape())
              .Expected("a shape that broadcasts to ", i.x("x").shape());
        }
        if (IsComplex(i.x("x").dtype())) throw TypeError(i.name()).Got(i.x("x").dtype()).Expected("a real dtype");
        i.y(0, i.x("x").shape(), i.x("x").dtype());
      })
      .Runs([](Run& r) {
        const Tensor p = Op<"contiguous">(Op<"broadcast_to">(r.Here(r.x("p")), r.x("x").shape()));
        Draw(r,
             [&](View y, RandomState* state, bool) { kernels::BernoulliOf(r.ctx(), p.dtype(), y, p.view(), state); });
      })
      .Gradient("", NoGradient);
}

/// Weights [.., categories] -> samples [.., count].
void InferMultinomial(Infer& i) {
  const Tensor& p = i.x(0);
  CheckFloating(i.name(), p.dtype());
  const int64_t count = i.Int("num_samples");
  if (p.ndim() < 1 || p.ndim() > 2 || p.size(-1) == 0) {
    throw ValueError(i.name()).Got("weights of shape ", p.shape()).Expected("one or two axes, the last not empty");
  }
  if (count < 1) throw ValueError(i.name()).Got("num_samples = ", count).Expected("at least 1");
  if (!i.Bool("replacement") && count > p.size(-1)) {
    throw ValueError(i.name())
        .Got(count, " samples of ", p.size(-1), " categories without replacement")
        .Expected("at most as many samples as categories");
  }
  if (p.size(-1) > (int64_t{1} << 24)) {
    throw ValueError(i.name()).Got(p.size(-1), " categories").Expected("at most 2^24");
  }
  Dims shape = p.shape();
  shape.back() = count;
  i.y(0, std::move(shape), DType::kInt64);
}

/// The host asks whether weights are any, which it cannot where the call is noted down for a graph: there, as with
/// replacement, what is no weight counts for nothing or wins.
void CheckWeights(Run& r, const Tensor& p) {
  if (p.device().type == DeviceType::kCUDA && CapturesUnderWay().load() > 0 &&
      AcceleratorOf(DeviceType::kCUDA).IsCapturing(r.ctx().device.index, r.ctx().stream)) {
    return;
  }
  const bool valid = Op<"all">(Op<"logical_and">(Op<"ge">(p, Number(0.0)), Op<"isfinite">(p))).Item().boolean();
  if (!valid)
    throw ValueError(r.name()).Got("a weight below 0, infinite or NaN").Expected("finite weights of at least 0");
  if (!Op<"all">(Op<"gt">(Op<"sum">(p, Dims{-1}), Number(0.0))).Item().boolean()) {
    throw ValueError(r.name()).Got("weights that sum to 0").Expected("a positive sum");
  }
}

/// Without replacement: the largest of weight / exponential noise win.
Tensor RaceOfWeights(Run& r, const Tensor& p) {
  CheckWeights(r, p);
  const Tensor noise = Tensor::Empty(p.shape(), p.dtype(), p.device());
  const FlatView flat(noise);
  GeneratorOf(r.name(), r.attr("generator")).Draw([&](RandomState* state) {
    kernels::Exponential(r.ctx(), p.dtype(), flat.view, state, 1.0);
  });
  const Tensor race = p / noise;
  return r.Int("num_samples") == 1 ? Op<"argmax">(race, -1, true) : OpN<"topk">(race, r.Int("num_samples"))[1];
}

void DefineCategories() {
  DefineOp(std::string("multinomial(Tensor p, int num_samples, bool replacement=False") + kEnd)
      .Doc("Indices drawn by weight, from one distribution per row.")
      .Infers(InferMultinomial)
      .Runs([](Run& r) {
        if (r.y().numel() == 0) return;
        const Tensor p = r.Contiguous(0);
        if (!r.Bool("replacement") || r.Int("num_samples") == 1) return OpInto<"copy">(r.y(), RaceOfWeights(r, p));
        const Tensor rows = Op<"reshape">(p, Dims{-1, p.size(-1)});
        const Tensor out = Tensor::Empty({rows.size(0), r.Int("num_samples")}, DType::kInt64, p.device());
        GeneratorOf(r.name(), r.attr("generator")).Draw([&](RandomState* state) {
          kernels::Multinomial(r.ctx(), p.dtype(), out.mutable_view(), rows.view(), state);
        });
        OpInto<"copy">(r.y(), Op<"reshape">(out, r.y().shape()));
      })
      .NotDifferentiable();
}

/// Normal numbers of a mean and a deviation for each; the deviations are looked at before any number is drawn.
void DefineNormals() {
  DefineOp(std::string("normal_of(Tensor x, Tensor mean, Tensor std") + kEnd)
      .Doc("Normal numbers in the shape and dtype of x, with a mean and a standard deviation for each element.")
      .Infers([](Infer& i) {
        CheckFloating(i.name(), i.x("x").dtype());
        if (i.x("std").is_complex() || i.x("mean").is_complex()) {
          throw TypeError(i.name())
              .Got("a mean of ", i.x("mean").dtype(), " and a std of ", i.x("std").dtype())
              .Expected("real numbers");
        }
        const Dims shape = BroadcastShapes(i.name(), i.x("mean").shape(), i.x("std").shape());
        if (BroadcastShapes(i.name(), i.x("x").shape(), shape) != i.x("x").shape()) {
          throw ValueError(i.name())
              .Got("means and deviations of shape ", shape)
              .Expected(i.x("x").shape(), " or less");
        }
        i.y(0, i.x("x").shape(), i.x("x").dtype());
      })
      .Runs([](Run& r) {
        const Tensor std = r.Here(r.x("std")), mean = r.Here(r.x("mean"));
        if (std.numel() > 0 && !Op<"all">(Op<"ge">(std, Number(0.0))).Item().boolean())
          throw ValueError(r.name()).Got("a std below 0 or NaN").Expected("deviations of at least 0");
        Draw(r, [&](View y, RandomState* state, bool) { kernels::Normal(r.ctx(), y.dtype, y, state, 0, 1, false); });
        OpInto<"mul">(r.y(), r.y(), std.dtype() == r.y().dtype() ? std : Op<"cast">(std, r.y().dtype()));
        OpInto<"add">(r.y(), r.y(), mean.dtype() == r.y().dtype() ? mean : Op<"cast">(mean, r.y().dtype()));
      })
      .Gradient("", NoGradient);
}

void DefineAmounts() {
  DefineOp(std::string("poisson(Tensor x") + kEnd)
      .Doc("Counts of events at the rates in x.")
      .Infers(InferRowMajor)
      .Runs([](Run& r) {
        const Tensor x = r.Contiguous(0);
        Draw(r, [&](View y, RandomState* state, bool) { kernels::Poisson(r.ctx(), y.dtype, y, x.view(), state); });
      })
      .Gradient("", NoGradient);
  DefineOp(std::string("binomial(Tensor count, Tensor p") + kEnd)
      .Doc("Successes in `count` trials of probability p.")
      .Promotes(Promotion::kCommon)
      .Infers([](Infer& i) {
        CheckFloating(i.name(), i.x("count").dtype());
        i.y(0, BroadcastShapes(i.name(), i.x("count").shape(), i.x("p").shape()), i.x("count").dtype());
      })
      .Runs([](Run& r) {
        const Tensor count = Op<"contiguous">(Op<"broadcast_to">(r.Here(r.x("count")), r.y().shape()));
        const Tensor p = Op<"contiguous">(Op<"broadcast_to">(r.Here(r.x("p")), r.y().shape()));
        Draw(r, [&](View y, RandomState* state, bool) {
          kernels::Binomial(r.ctx(), y.dtype, y, count.view(), p.view(), state);
        });
      })
      .NotDifferentiable();
  DefineOp(std::string("standard_gamma(Tensor x") + kEnd)
      .Doc("Gamma samples of shape x and scale 1.")
      .Infers(InferRowMajor)
      .Runs([](Run& r) {
        const Tensor x = r.Contiguous(0);
        Draw(r,
             [&](View y, RandomState* state, bool) { kernels::StandardGamma(r.ctx(), y.dtype, y, x.view(), state); });
      });
}

[[maybe_unused]] const bool sample_defined =
    (DefineCoins(), DefineCategories(), DefineNormals(), DefineAmounts(), true);

}  // namespace
}  // namespace dragon
