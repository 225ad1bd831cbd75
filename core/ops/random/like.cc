// Random numbers in the shape and dtype of a tensor: written with `_` or `out=`, these overwrite it.
#include <cmath>
#include <limits>
#include <numbers>

#include "core/ops/random/draw.h"

namespace dragon {
namespace {

Operator& Sampler(const std::string& arguments, const char* doc) {
  return DefineOp(arguments + ", *, Generator? generator=None) -> Tensor")
      .Doc(doc)
      .Pointwise()
      .Gradient("", NoGradient);
}
void InferFloating(Infer& i) {
  CheckFloating(i.name(), i.x(0).dtype());
  InferDrawLike(i);
}
void InferFloatingOrComplex(Infer& i) {
  CheckFloatingOrComplex(i.name(), i.x(0).dtype());
  InferDrawLike(i);
}
/// Check attribute `slot`; the negation of a comparison also refuses NaN.
void Need(const CallReader& c, bool holds, const char* argument, double value, const char* expected) {
  if (!holds) throw ValueError(c.name()).Got(argument, " = ", value).Expected(expected);
}

/// Integers in [low, high) for a dtype that holds them all; without `high` to the end of the dtype.
void DrawIntegers(Run& r, int64_t low, std::optional<int64_t> high) {
  const DType dtype = r.y().dtype();
  CheckIntegerRange(r.name(), dtype, low, high);
  uint64_t range;
  if (high) {
    range = static_cast<uint64_t>(*high) - static_cast<uint64_t>(low);
  } else {
    const int64_t last =
        dtype == DType::kInt64 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(HighestExact(dtype));
    range = static_cast<uint64_t>(last) - static_cast<uint64_t>(low) + 1;  // 0 stands for all 2^64
  }
  Draw(r, [&](View y, RandomState* state, bool) { kernels::RandomIntegers(r.ctx(), dtype, y, state, low, range); });
}

void DefineRealsLike() {
  Sampler("uniform(Tensor x, float low=0.0, float high=1.0",
          "Uniform numbers in [low, high), in the shape of x; both parts of complex ones.")
      .Infers(InferFloatingOrComplex)
      .Runs([](Run& r) {
        const double low = r.Real("low"), high = r.Real("high");
        if (!(low <= high) || std::isinf(low) || std::isinf(high)) {
          throw ValueError(r.name()).Got("low = ", low, ", high = ", high).Expected("finite numbers, low <= high");
        }
        Draw(r, [&](View y, RandomState* state, bool) { kernels::Uniform(r.ctx(), y.dtype, y, state, low, high); });
      });
  Sampler("normal(Tensor x, float mean=0.0, float std=1.0",
          "Normal numbers, in the shape of x; the parts of complex ones share the variance.")
      .Infers(InferFloatingOrComplex)
      .Runs([](Run& r) {
        Need(r, r.Real("std") >= 0, "std", r.Real("std"), "at least 0");
        const double std = r.Real("std") * (r.y().is_complex() ? std::numbers::sqrt2 / 2 : 1);
        Draw(r, [&](View y, RandomState* state, bool in_order) {
          kernels::Normal(r.ctx(), y.dtype, y, state, r.Real("mean"), std, !in_order);
        });
      });
  Sampler("log_normal(Tensor x, float mean=1.0, float std=2.0", "Numbers whose logarithms are normal.")
      .Infers(InferFloating)
      .Runs([](Run& r) {
        Need(r, r.Real("std") > 0, "std", r.Real("std"), "more than 0");
        Draw(r, [&](View y, RandomState* state, bool) {
          kernels::LogNormal(r.ctx(), y.dtype, y, state, r.Real("mean"), r.Real("std"));
        });
      });
  Sampler("cauchy(Tensor x, float median=0.0, float sigma=1.0", "Numbers with Cauchy's distribution.")
      .Infers(InferFloating)
      .Runs([](Run& r) {
        Need(r, r.Real("sigma") > 0, "sigma", r.Real("sigma"), "more than 0");
        Draw(r, [&](View y, RandomState* state, bool) {
          kernels::Cauchy(r.ctx(), y.dtype, y, state, r.Real("median"), r.Real("sigma"));
        });
      });
  Sampler("exponential(Tensor x, float rate=1.0", "Waiting times at a rate.").Infers(InferFloating).Runs([](Run& r) {
    Need(r, r.Real("rate") > 0, "rate", r.Real("rate"), "more than 0");
    Draw(r,
         [&](View y, RandomState* state, bool) { kernels::Exponential(r.ctx(), y.dtype, y, state, r.Real("rate")); });
  });
}

void DefineCounts() {
  Sampler("geometric(Tensor x, float p", "How many trials of probability p until the first success.")
      .Infers([](Infer& i) {
        if (IsComplex(i.x(0).dtype()) || i.x(0).dtype() == DType::kBool) {
          throw TypeError(i.name()).Got(i.x(0).dtype()).Expected("an integer or floating dtype");
        }
        InferDrawLike(i);
      })
      .Runs([](Run& r) {
        Need(r, r.Real("p") > 0 && r.Real("p") < 1, "p", r.Real("p"), "a probability between 0 and 1, both excluded");
        Draw(r, [&](View y, RandomState* state, bool) { kernels::Geometric(r.ctx(), y.dtype, y, state, r.Real("p")); });
      });
  Sampler("random(Tensor x, int? low=None, int? high=None",
          "Integers in [low, high). Without bounds from 0 to what the dtype holds exactly; without `high` up to there.")
      .Infers([](Infer& i) {
        if (IsComplex(i.x(0).dtype())) throw TypeError(i.name()).Got(i.x(0).dtype()).Expected("a real dtype");
        InferDrawLike(i);
      })
      .Runs([](Run& r) {
        const auto high = r.Given("high") ? std::optional<int64_t>(r.Int("high")) : std::nullopt;
        if (r.Given("low") || high) return DrawIntegers(r, r.Given("low") ? r.Int("low") : 0, high);
        Draw(r, [&](View y, RandomState* state, bool) { kernels::RandomAll(r.ctx(), y.dtype, y, state); });
      });
  Sampler("bernoulli_like(Tensor x, float p=0.5", "1 with probability p, else 0, in the shape of x.")
      .Infers([](Infer& i) {
        if (IsComplex(i.x(0).dtype())) throw TypeError(i.name()).Got(i.x(0).dtype()).Expected("a real dtype");
        InferDrawLike(i);
      })
      .Runs([](Run& r) {
        Need(r, r.Real("p") >= 0 && r.Real("p") <= 1, "p", r.Real("p"), "a probability between 0 and 1");
        Draw(r, [&](View y, RandomState* state, bool) { kernels::Bernoulli(r.ctx(), y.dtype, y, state, r.Real("p")); });
      });
}

[[maybe_unused]] const bool like_defined = (DefineRealsLike(), DefineCounts(), true);

}  // namespace
}  // namespace dragon
