// Random tensors from nothing but a shape: compositions of `empty` and a sampler, so that there is one way to draw.
#include "core/ops/random/draw.h"

namespace dragon {
namespace {

const char* const kOptions = ", *, Generator? generator=None, dtype? dtype=None, device? device=None) -> Tensor";

/// Overwrite a new tensor by a sampler.
template <OpName name, typename... Args>
Tensors Sampled(const CallReader& c, const Tensor& memory, const Args&... args) {
  CallBuilder builder(OpNamed<name>());
  builder.Add(memory);
  (builder.Add(args), ...);
  builder.Add(c.attr("generator"));
  builder.Apply(std::span<const Tensor>(&memory, 1));
  return {memory};
}

Device DeviceOr(const CallReader& c, Device otherwise) {
  return c.Given("device") ? c.attr("device").device() : otherwise;
}
/// Uninitialised memory as a call's options say.
Tensor Memory(const CallReader& c, DType otherwise) {
  const Dims& shape = c.Ints("shape");
  CheckedNumel(c.name(), shape, 16);
  return Op<"empty">(shape, c.DTypeOr("dtype", otherwise), DeviceOr(c, Device{}));
}
Tensor MemoryLike(const CallReader& c) {
  const Tensor& x = c.x(0);
  const DType dtype = c.DTypeOr("dtype", x.dtype());
  const auto is_dense = [&] {
    const LayoutReaders reading(x);
    return IsDense(x.shape(), x.strides());
  };
  if (is_dense()) return Op<"empty_like">(x, dtype, DeviceOr(c, x.device()));
  return Op<"empty_strided">(x.shape(), DenseStrides(x), dtype, DeviceOr(c, x.device()));
}

/// The same for floating or complex numbers.
Tensor FloatMemory(const CallReader& c) {
  const DType dtype = c.DTypeOr("dtype", DefaultDType());
  CheckFloatingOrComplex(c.name(), dtype);
  return Memory(c, dtype);
}
Tensor FloatMemoryLike(const CallReader& c) {
  const DType dtype = c.DTypeOr("dtype", c.x(0).dtype());
  CheckFloatingOrComplex(c.name(), dtype);
  return MemoryLike(c);
}

Operator& Creator(const std::string& arguments, const char* doc) {
  return DefineOp(arguments + kOptions).Doc(doc).NotDifferentiable();
}

void DefineReals() {
  Creator("rand(int[] shape", "Uniform numbers in [0, 1).").As([](const CallReader& c) {
    return Sampled<"uniform">(c, FloatMemory(c), 0.0, 1.0);
  });
  Creator("randn(int[] shape", "Normal numbers with mean 0 and standard deviation 1.").As([](const CallReader& c) {
    return Sampled<"normal">(c, FloatMemory(c), 0.0, 1.0);
  });
  Creator("rand_like(Tensor x", "Uniform numbers in [0, 1), in the shape of x.").As([](const CallReader& c) {
    return Sampled<"uniform">(c, FloatMemoryLike(c), 0.0, 1.0);
  });
  Creator("randn_like(Tensor x", "Normal numbers, in the shape of x.").As([](const CallReader& c) {
    return Sampled<"normal">(c, FloatMemoryLike(c), 0.0, 1.0);
  });
}

void DefineIntegers() {
  Creator("randint(int low, int high, int[] shape", "Integers in [low, high).").As([](const CallReader& c) {
    const int64_t low = c.Int("low"), high = c.Int("high");
    CheckIntegerRange(c.name(), c.DTypeOr("dtype", DType::kInt64), low, high);
    return Sampled<"random">(c, Memory(c, DType::kInt64), low, high);
  });
  Creator("randint_like(Tensor x, int low, int high", "Integers in [low, high), in the shape of x.")
      .As([](const CallReader& c) {
        const int64_t low = c.Int("low"), high = c.Int("high");
        CheckIntegerRange(c.name(), c.DTypeOr("dtype", c.x(0).dtype()), low, high);
        return Sampled<"random">(c, MemoryLike(c), low, high);
      });
  Creator("randperm(int n", "The integers from 0 to n - 1 in random order.")
      .Pointwise()
      .Infers([](Infer& i) {
        const int64_t n = i.Int("n");
        if (n < 0) throw ValueError(i.name()).Got("n = ", n).Expected("at least 0");
        const DType dtype = i.DTypeOr("dtype", DType::kInt64);
        if (IsComplex(dtype) || dtype == DType::kBool) {
          throw TypeError(i.name()).Got(dtype).Expected("an integer or floating dtype");
        }
        i.y(0, {n}, dtype);
        i.device = DeviceOr(i, i.device);
      })
      .Runs([](Run& r) {
        Draw(r, [&](View y, RandomState* state, bool) { kernels::Permutation(r.ctx(), y.dtype, y, state); });
      });
}

[[maybe_unused]] const bool create_defined = (DefineReals(), DefineIntegers(), true);

}  // namespace
}  // namespace dragon
