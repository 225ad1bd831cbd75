// Random numbers that are functions of a seed: the streams of TensorFlow's stateless functions on the CPU. The seed is
// a tensor, so that graphs may count it on.
#include <cmath>
#include <limits>

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/random/philox.h"
#include "core/ops/random/draw.h"

namespace dragon {
namespace {

/// The stream of the seed: of two integers, scrambled; of three, the counter's halves and the key
/// as they are.
Philox StreamOf(Run& r) {
  const Tensor seed = Op<"contiguous">(Op<"cast">(Op<"to_device">(r.x("seed"), Device{}), DType::kInt64));
  const auto* const words = seed.view().as<int64_t>();
  if (seed.numel() == 3) {
    auto half = [&](int word, int shift) { return static_cast<uint32_t>(static_cast<uint64_t>(words[word]) >> shift); };
    return {half(2, 0), half(2, 32), {half(0, 0), half(0, 32), half(1, 0), half(1, 32)}};
  }
  return Philox::OfSeed(static_cast<uint64_t>(words[0]), static_cast<uint64_t>(words[1]));
}

void CheckSeed(Infer& i) {
  const Tensor& seed = i.x("seed");
  if (seed.dtype() != DType::kInt32 && seed.dtype() != DType::kInt64) {
    throw TypeError(i.name()).Got("a seed of ", seed.dtype()).Expected("int32 or int64");
  }
  if (seed.shape() != Dims{2} && seed.shape() != Dims{3}) {
    throw ValueError(i.name())
        .Got("a seed of shape ", seed.shape())
        .Expected("two integers, or the three of a stream's counter and key");
  }
}

/// shape, two numbers, then the dtype and the device: the seed's own if none is named. The host reads the seed, so one
/// that lies there is not waited for.
Operator& OfSeed(const char* name, const char* more, const char* doc) {
  return DefineOp(std::string(name) + "(Tensor seed, int[] shape, *, " + more +
                  ", dtype? dtype=None, device? device=None) -> Tensor")
      .Doc(doc)
      .NotDifferentiable();
}
void InferDevice(Infer& i) {
  if (i.Given("device")) i.device = i.attr("device").device();
}
void InferFloats(Infer& i) {
  CheckSeed(i);
  CheckedNumel(i.name(), i.Ints("shape"), 16);
  const DType dtype = i.DTypeOr("dtype", DType::kFloat32);
  CheckFloating(i.name(), dtype);
  i.y(0, i.Ints("shape"), dtype);
  InferDevice(i);
}

void DefineStatelessReals() {
  OfSeed("stateless_uniform", "float low=0.0, float high=1.0",
         "Uniform numbers in [low, high), by a seed of two integers.")
      .Infers(InferFloats)
      .Runs([](Run& r) {
        kernels::StatelessUniform(r.ctx(), r.y().dtype(), r.out(), StreamOf(r), r.Real("low"), r.Real("high"));
      });
  OfSeed("stateless_normal", "float mean=0.0, float std=1.0", "Normal numbers, by a seed of two integers.")
      .Infers(InferFloats)
      .Runs([](Run& r) {
        kernels::StatelessNormal(r.ctx(), r.y().dtype(), r.out(), StreamOf(r), r.Real("mean"), r.Real("std"));
      });
  OfSeed("stateless_truncated_normal", "float mean=0.0, float std=1.0",
         "Normal numbers within two standard deviations, by a seed of two integers.")
      .Infers(InferFloats)
      .Runs([](Run& r) {
        kernels::StatelessTruncatedNormal(r.ctx(), r.y().dtype(), r.out(), StreamOf(r), r.Real("mean"), r.Real("std"));
      });
  OfSeed("stateless_integers", "int? low=None, int? high=None",
         "Integers in [low, high), by a seed of two integers; all numbers of the dtype without bounds.")
      .Infers([](Infer& i) {
        CheckSeed(i);
        CheckedNumel(i.name(), i.Ints("shape"), 16);
        const DType dtype = i.DTypeOr("dtype", DType::kInt32);
        if (dtype != DType::kInt32 && dtype != DType::kInt64) {
          throw TypeError(i.name()).Got(dtype).Expected("int32 or int64");
        }
        if (i.Given("low") != i.Given("high")) throw ValueError(i.name()).Got("one bound").Expected("both, or none");
        if (i.Given("low")) CheckIntegerRange(i.name(), dtype, i.Int("low"), i.Int("high"));
        i.y(0, i.Ints("shape"), dtype);
        InferDevice(i);
      })
      .Runs([](Run& r) {
        const bool bounded = r.Given("low");
        const int64_t low = bounded ? r.Int("low") : 0;
        const uint64_t range = bounded ? static_cast<uint64_t>(r.Int("high")) - static_cast<uint64_t>(low) : 0;
        kernels::StatelessIntegers(r.ctx(), r.y().dtype(), r.out(), StreamOf(r), low, range);
      });
}

void DefineSamples() {
  DefineOp("stateless_gamma(Tensor seed, Tensor alpha, int? samples=None) -> Tensor")
      .Doc("Gamma numbers of shapes alpha and scale 1, by a seed of two integers; `samples` of each, in a first axis.")
      .NotDifferentiable()
      .Infers([](Infer& i) {
        CheckSeed(i);
        CheckFloating(i.name(), i.x("alpha").dtype());
        Dims shape = i.x("alpha").shape();
        if (i.Given("samples")) {
          if (i.Int("samples") < 0)
            throw ValueError(i.name()).Got("samples = ", i.Int("samples")).Expected("at least 0");
          shape.insert(0, i.Int("samples"));
        }
        CheckedNumel(i.name(), shape, 16);
        i.y(0, std::move(shape), i.x("alpha").dtype());
      })
      .Runs([](Run& r) {
        if (r.y().numel() == 0) return;
        kernels::StatelessGamma(r.ctx(), r.y().dtype(), r.out(), r.Contiguous("alpha").view(), StreamOf(r));
      });
  DefineOp("stateless_categorical(Tensor seed, Tensor logits, int samples) -> Tensor")
      .Doc("Categories drawn by the exponentials of logits, by a seed of two integers, for each row.")
      .NotDifferentiable()
      .Infers([](Infer& i) {
        CheckSeed(i);
        CheckFloating(i.name(), i.x("logits").dtype());
        if (i.x("logits").ndim() != 2 || i.x("logits").size(1) < 1 || i.Int("samples") < 0) {
          throw ValueError(i.name())
              .Got("logits of shape ", i.x("logits").shape(), ", samples = ", i.Int("samples"))
              .Expected("rows of at least one class, and at least 0 samples");
        }
        i.y(0, {i.x("logits").size(0), i.Int("samples")}, DType::kInt64);
      })
      .Runs([](Run& r) {
        if (r.y().numel() == 0) return;
        kernels::StatelessCategorical(r.ctx(), r.x("logits").dtype(), r.out(), r.Contiguous("logits").view(),
                                      StreamOf(r));
      });
  DefineOp("stateless_binomial(Tensor seed, Tensor count, Tensor p) -> Tensor")
      .Doc("Successes in `count` trials of probability p, by a seed of two integers.")
      .NotDifferentiable()
      .Infers([](Infer& i) {
        CheckSeed(i);
        CheckFloating(i.name(), i.x("count").dtype());
        if (i.x("count").shape() != i.x("p").shape() || i.x("count").dtype() != i.x("p").dtype()) {
          throw ValueError(i.name())
              .Got("counts of shape ", i.x("count").shape(), " and probabilities of shape ", i.x("p").shape())
              .Expected("one shape and dtype");
        }
        i.y(0, i.x("count").shape(), i.x("count").dtype());
      })
      .Runs([](Run& r) {
        kernels::StatelessBinomial(r.ctx(), r.y().dtype(), r.out(), r.rows("count"), r.rows("p"), StreamOf(r));
      });
}

[[maybe_unused]] const bool stateless_defined = (DefineStatelessReals(), DefineSamples(), true);

}  // namespace
}  // namespace dragon
