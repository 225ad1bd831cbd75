// Random numbers in the shape and dtype of a tensor: written with `_` or `out=`, these overwrite it.
#include <cmath>
#include <limits>

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
/// Check attribute `slot`; the negation of a comparison also refuses NaN.
void Need(const CallReader& c, bool holds, const char* argument, double value, const char* expected) {
  if (!holds) throw ValueError(c.name()).Got(argument, " = ", value).Expected(expected);
}

/// The highest of consecutive integers a dtype holds; floats count up to 2^digits.
double HighestExact(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return 1;
    case DType::kFloat16:
      return 2048;
    case DType::kBFloat16:
      return 256;
    case DType::kFloat32:
      return 16777216;
    case DType::kFloat64:
      return 9007199254740992;
    default:
      return std::ldexp(1.0, static_cast<int>(ItemSize(dtype)) * 8 - (dtype == DType::kUInt8 ? 0 : 1)) - 1;
  }
}
double LowestExact(DType dtype) {
  if (dtype == DType::kBool || dtype == DType::kUInt8) return 0;
  return IsFloating(dtype) ? -HighestExact(dtype) : -HighestExact(dtype) - 1;
}

/// Integers in [low, high) for a dtype that holds them all; `high` unset means "to the end of the dtype".
void DrawIntegers(Run& r, int generator, int64_t low, const int64_t* high) {
  const DType dtype = r.y().dtype();
  const auto lowest = LowestExact(dtype), highest = HighestExact(dtype);
  if (static_cast<double>(low) < lowest || static_cast<double>(low) > highest) {
    throw ValueError(r.name()).Got("low = ", low, " for ", dtype).Expected("a number the dtype holds exactly");
  }
  uint64_t range;
  if (high) {
    if (*high <= low) throw ValueError(r.name()).Got("low = ", low, ", high = ", *high).Expected("low < high");
    if (static_cast<double>(*high - 1) > highest) {
      throw ValueError(r.name()).Got("high = ", *high, " for ", dtype).Expected("numbers the dtype holds exactly");
    }
    range = static_cast<uint64_t>(*high) - static_cast<uint64_t>(low);
  } else {
    const auto last = dtype == DType::kInt64 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(highest);
    range = static_cast<uint64_t>(last) - static_cast<uint64_t>(low) + 1;  // 0 stands for all 2^64
  }
  Draw(r, generator,
       [&](View y, RandomState* state, bool) { kernels::RandomIntegers(r.ctx(), dtype, y, state, low, range); });
}

void DefineReals() {
  Sampler("uniform(Tensor x, float low=0.0, float high=1.0", "Uniform numbers in [low, high), in the shape of x.")
      .Infers(InferFloating)
      .Runs([](Run& r) {
        const double low = r.Real(0), high = r.Real(1);
        if (!(low <= high) || std::isinf(low) || std::isinf(high)) {
          throw ValueError(r.name()).Got("low = ", low, ", high = ", high).Expected("finite numbers, low <= high");
        }
        Draw(r, 2, [&](View y, RandomState* state, bool) { kernels::Uniform(r.ctx(), y.dtype, y, state, low, high); });
      });
  Sampler("normal(Tensor x, float mean=0.0, float std=1.0", "Normal numbers, in the shape of x.")
      .Infers(InferFloating)
      .Runs([](Run& r) {
        Need(r, r.Real(1) >= 0, "std", r.Real(1), "at least 0");
        Draw(r, 2, [&](View y, RandomState* state, bool in_order) {
          kernels::Normal(r.ctx(), y.dtype, y, state, r.Real(0), r.Real(1), !in_order);
        });
      });
  Sampler("log_normal(Tensor x, float mean=1.0, float std=2.0", "Numbers whose logarithms are normal.")
      .Infers(InferFloating)
      .Runs([](Run& r) {
        Need(r, r.Real(1) > 0, "std", r.Real(1), "more than 0");
        Draw(r, 2, [&](View y, RandomState* state, bool) {
          kernels::LogNormal(r.ctx(), y.dtype, y, state, r.Real(0), r.Real(1));
        });
      });
  Sampler("cauchy(Tensor x, float median=0.0, float sigma=1.0", "Numbers with Cauchy's distribution.")
      .Infers(InferFloating)
      .Runs([](Run& r) {
        Need(r, r.Real(1) > 0, "sigma", r.Real(1), "more than 0");
        Draw(r, 2, [&](View y, RandomState* state, bool) {
          kernels::Cauchy(r.ctx(), y.dtype, y, state, r.Real(0), r.Real(1));
        });
      });
  Sampler("exponential(Tensor x, float rate=1.0", "Waiting times at a rate.").Infers(InferFloating).Runs([](Run& r) {
    Need(r, r.Real(0) > 0, "rate", r.Real(0), "more than 0");
    Draw(r, 1, [&](View y, RandomState* state, bool) { kernels::Exponential(r.ctx(), y.dtype, y, state, r.Real(0)); });
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
        Need(r, r.Real(0) > 0 && r.Real(0) < 1, "p", r.Real(0), "a probability between 0 and 1, both excluded");
        Draw(r, 1,
             [&](View y, RandomState* state, bool) { kernels::Geometric(r.ctx(), y.dtype, y, state, r.Real(0)); });
      });
  Sampler("random(Tensor x, int? low=None, int? high=None",
          "Integers in [low, high). Without bounds from 0 to what the dtype holds exactly; without `high` up to there.")
      .Infers(InferDrawLike)
      .Runs([](Run& r) {
        if (r.Given(0)) {
          const int64_t high = r.Given(1) ? r.Int(1) : 0;
          return DrawIntegers(r, 2, r.Int(0), r.Given(1) ? &high : nullptr);
        }
        if (r.Given(1)) {
          const int64_t high = r.Int(1);
          return DrawIntegers(r, 2, 0, &high);
        }
        Draw(r, 2, [&](View y, RandomState* state, bool) { kernels::RandomAll(r.ctx(), y.dtype, y, state); });
      });
  Sampler("bernoulli_like(Tensor x, float p=0.5", "1 with probability p, else 0, in the shape of x.")
      .Infers(InferDrawLike)
      .Runs([](Run& r) {
        Need(r, r.Real(0) >= 0 && r.Real(0) <= 1, "p", r.Real(0), "a probability between 0 and 1");
        Draw(r, 1,
             [&](View y, RandomState* state, bool) { kernels::Bernoulli(r.ctx(), y.dtype, y, state, r.Real(0)); });
      });
}

[[maybe_unused]] const bool defined = (DefineReals(), DefineCounts(), true);

}  // namespace
}  // namespace dragon
