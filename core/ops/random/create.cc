// Random tensors from nothing but a shape: compositions of `empty` and a sampler, so that there is one way to draw.
#include "core/ops/random/draw.h"

namespace dragon {
namespace {

const char* const kOptions = ", *, Generator? generator=None, dtype? dtype=None, device? device=None) -> Tensor";

/// Overwrite a new tensor by a sampler; its generator stands at attribute `generator`.
template <OpName name, typename... Args>
Tensors Sampled(const CallReader& c, int generator, const Tensor& memory, const Args&... args) {
  CallBuilder builder(OpNamed<name>());
  builder.Add(memory);
  (builder.Add(args), ...);
  builder.Add(c.attr(generator));
  builder.Apply(std::span<const Tensor>(&memory, 1));
  return {memory};
}

/// Uninitialised memory by the options from attribute `slot` on.
Tensor Memory(const CallReader& c, const Dims& shape, int slot, DType otherwise) {
  CheckedNumel(c.name(), shape, 16);
  return Op<"empty">(shape, c.DTypeOr(slot, otherwise), c.Given(slot + 1) ? c.attr(slot + 1).device() : Device{});
}
Tensor MemoryLike(const CallReader& c, int slot) {
  const Tensor& x = c.x(0);
  return Op<"empty_like">(x, c.DTypeOr(slot, x.dtype()), c.Given(slot + 1) ? c.attr(slot + 1).device() : x.device());
}

/// The same for floating or complex numbers.
Tensor FloatMemory(const CallReader& c) {
  if (!IsComplex(c.DTypeOr(2, DefaultDType()))) CheckFloating(c.name(), c.DTypeOr(2, DefaultDType()));
  return Memory(c, c.Ints(0), 2, DefaultDType());
}
Tensor FloatMemoryLike(const CallReader& c) {
  if (!IsComplex(c.DTypeOr(1, c.x(0).dtype()))) CheckFloating(c.name(), c.DTypeOr(1, c.x(0).dtype()));
  return MemoryLike(c, 1);
}
/// Both parts of complex numbers are drawn, one after the other; normal ones share the variance.
template <OpName name>
Tensors SampledParts(const CallReader& c, int generator, const Tensor& memory, double first, double second) {
  if (!memory.is_complex()) return Sampled<name>(c, generator, memory, first, second);
  Sampled<name>(c, generator, Op<"view_as_real">(memory), first, second);
  return {memory};
}
constexpr double kPartOfNormal = 0.70710678118654752;

Operator& Creator(const std::string& arguments, const char* doc) {
  return DefineOp(arguments + kOptions).Doc(doc).NotDifferentiable();
}

void DefineReals() {
  Creator("rand(int[] shape", "Uniform numbers in [0, 1).").As([](const CallReader& c) {
    return SampledParts<"uniform">(c, 1, FloatMemory(c), 0.0, 1.0);
  });
  Creator("randn(int[] shape", "Normal numbers with mean 0 and standard deviation 1.").As([](const CallReader& c) {
    const Tensor y = FloatMemory(c);
    return SampledParts<"normal">(c, 1, y, 0.0, y.is_complex() ? kPartOfNormal : 1.0);
  });
  Creator("rand_like(Tensor x", "Uniform numbers in [0, 1), in the shape of x.").As([](const CallReader& c) {
    return SampledParts<"uniform">(c, 0, FloatMemoryLike(c), 0.0, 1.0);
  });
  Creator("randn_like(Tensor x", "Normal numbers, in the shape of x.").As([](const CallReader& c) {
    const Tensor y = FloatMemoryLike(c);
    return SampledParts<"normal">(c, 0, y, 0.0, y.is_complex() ? kPartOfNormal : 1.0);
  });
}

void DefineIntegers() {
  Creator("randint(int low, int high, int[] shape", "Integers in [low, high).").As([](const CallReader& c) {
    CheckIntegerRange(c.name(), c.DTypeOr(4, DType::kInt64), c.Int(0), c.Int(1));
    return Sampled<"random">(c, 3, Memory(c, c.Ints(2), 4, DType::kInt64), c.Int(0), c.Int(1));
  });
  Creator("randint_like(Tensor x, int low, int high", "Integers in [low, high), in the shape of x.")
      .As([](const CallReader& c) {
        CheckIntegerRange(c.name(), c.DTypeOr(3, c.x(0).dtype()), c.Int(0), c.Int(1));
        return Sampled<"random">(c, 2, MemoryLike(c, 3), c.Int(0), c.Int(1));
      });
  Creator("randperm(int n", "The integers from 0 to n - 1 in random order.")
      .Pointwise()
      .Infers([](Infer& i) {
        if (i.Int(0) < 0) throw ValueError(i.name()).Got("n = ", i.Int(0)).Expected("at least 0");
        const DType dtype = i.DTypeOr(2, DType::kInt64);
        if (IsComplex(dtype) || dtype == DType::kBool) {
          throw TypeError(i.name()).Got(dtype).Expected("an integer or floating dtype");
        }
        i.y(0, {i.Int(0)}, dtype);
        if (i.Given(3)) i.device = i.attr(3).device();
      })
      .Runs([](Run& r) {
        Draw(r, 1, [&](View y, RandomState* state, bool) { kernels::Permutation(r.ctx(), y.dtype, y, state); });
      });
}

[[maybe_unused]] const bool defined = (DefineReals(), DefineIntegers(), true);

}  // namespace
}  // namespace dragon
