// The three transforms that all others are made of: complex to complex, real to complex, complex to real.
#include "core/kernels/fft.h"
#include "core/ops/fft/common.h"

namespace dragon {
namespace {

void CheckDType(const CallReader& c, bool complex) {
  const DType dtype = c.x(0).dtype();
  if (complex ? IsComplex(dtype) : (dtype == DType::kFloat32 || dtype == DType::kFloat64)) return;
  throw TypeError(c.name())
      .Got("x of dtype ", dtype)
      .Expected(complex ? "complex64 or complex128" : "float32 or float64");
}

int64_t AxisOf(const CallReader& c) {
  if (c.x(0).ndim() == 0) throw ValueError(c.name()).Got("a 0-d tensor").Expected("at least one axis");
  return NormalizeAxis(c.name(), c.Int("axis"), c.x(0).ndim());
}

/// Half a spectrum of n numbers has n / 2 + 1.
Dims WithSize(Dims shape, int64_t axis, int64_t size) {
  shape[axis] = size;
  return shape;
}

[[maybe_unused]] const auto& fft_c2c =
    DefineOp("fft_c2c(Tensor x, int[] axis, bool forward, float scale=1.0) -> Tensor")
        .Doc("The complex Fourier transform over some axes, times a scale.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          CheckDType(i, /*complex=*/true);
          NormalizeAxes(i.name(), i.Ints("axis"), i.x(0).ndim(), /*empty_is_all=*/false);
          i.y(0, i.x(0).shape(), i.x(0).dtype());
        })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0);
          const Dims axes = NormalizeAxes(r.name(), r.Ints("axis"), x.ndim(), /*empty_is_all=*/false);
          kernels::FftC2C(r.ctx(), r.dtype(), r.out(), x.view(), axes, r.Bool("forward"), r.Real("scale"));
        })
        .Gradient("",
                  [](Grad& g) { g.dx(0, Op<"fft_c2c">(g.dy(), g.attr("axis"), !g.Bool("forward"), g.Real("scale"))); });

[[maybe_unused]] const auto& fft_r2c =
    DefineOp("fft_r2c(Tensor x, int axis, bool forward, float scale=1.0) -> Tensor")
        .Doc("The first n / 2 + 1 numbers of the Fourier transform of reals, which determine the others.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          CheckDType(i, /*complex=*/false);
          const int64_t axis = AxisOf(i), n = i.x(0).size(axis);
          if (n < 1) throw ValueError(i.name()).Got("an axis of size 0").Expected("at least 1");
          i.y(0, WithSize(i.x(0).shape(), axis, n / 2 + 1), ComplexDType(i.x(0).dtype()));
        })
        .Runs([](Run& r) {
          kernels::FftR2C(r.ctx(), r.y().dtype(), r.out(), r.rows(0), AxisOf(r), r.Bool("forward"), r.Real("scale"));
        })
        .Gradient("", [](Grad& g) {  // the adjoint reads the half as if the rest were zeros, and takes the real part
          const Dims& shape = g.x_shape(0);
          const int64_t axis = NormalizeAxis(g.name(), g.Int("axis"), shape.size());
          Dims pad = Dims::Filled(2 * (shape.size() - axis), 0);
          pad[pad.size() - 1] = shape[axis] - g.y_shape()[axis];
          g.dx(0, Op<"real">(Op<"fft_c2c">(Op<"pad">(g.dy(), pad), Dims{axis}, !g.Bool("forward"), g.Real("scale"))));
        });

[[maybe_unused]] const auto& fft_c2r =
    DefineOp("fft_c2r(Tensor x, int axis, int n, bool forward, float scale=1.0) -> Tensor")
        .Doc("The n reals whose spectrum, or half of it, is given.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          CheckDType(i, /*complex=*/true);
          const int64_t axis = AxisOf(i), n = i.Int("n");
          if (n < 1 || i.x(0).size(axis) != n / 2 + 1) {
            throw ValueError(i.name()).Got("n ", n, " for shape ", i.x(0).shape()).Expected("n / 2 + 1 numbers");
          }
          i.y(0, WithSize(i.x(0).shape(), axis, n), RealDType(i.x(0).dtype()));
        })
        .Runs([](Run& r) {
          kernels::FftC2R(r.ctx(), r.dtype(), r.out(), r.rows(0), AxisOf(r), r.Bool("forward"), r.Real("scale"));
        })
        .Gradient("", [](Grad& g) {  // the numbers that stand for two count twice
          const int64_t axis = NormalizeAxis(g.name(), g.Int("axis"), g.x_shape(0).size()), n = g.Int("n");
          const Tensor half = Op<"fft_r2c">(g.dy(), axis, !g.Bool("forward"), g.Real("scale"));
          const int64_t doubled = (n - 1) / 2;
          std::vector<Tensor> parts{Op<"slice">(half, axis, 0, 1, 1), Op<"slice">(half, axis, 1, doubled + 1, 1) * 2.0};
          if (n % 2 == 0) parts.push_back(Op<"slice">(half, axis, n / 2, n / 2 + 1, 1));
          g.dx(0, Op<"cat">(parts, axis));
        });

}  // namespace
}  // namespace dragon
