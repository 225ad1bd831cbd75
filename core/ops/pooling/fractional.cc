// Fractional max pooling: windows at random places, found by one operator and read by gather.
#include "core/kernels/pooling.h"
#include "core/ops/convolution/windows.h"

namespace dragon {
namespace {

using namespace windows;  // NOLINT: this file is about nothing else

[[maybe_unused]] const auto& places =
    DefineOp("fractional_max_pool_places(Tensor x, Tensor samples, int[] size, int[] window) -> Tensor")
        .Doc("The place in its flat plane of each window's largest element; windows lie as the samples in [0, 1) say.")
        .Batches(Batching::kSamples)
        .NotDifferentiable()
        .Infers([](Infer& i) {
          const Tensor &x = i.x("x"), &samples = i.x("samples");
          const int spatial = x.ndim() - 2;
          if (spatial < 1 || spatial > kMaxSpatial) {
            throw ValueError(i.name()).Got("shape ", x.shape()).Expected("3 to 5 axes");
          }
          PerAxis(i.name(), "size", i.Ints("size"), spatial, 1);
          PerAxis(i.name(), "window", i.Ints("window"), spatial, 1);
          if (i.Ints("size").size() != spatial || i.Ints("window").size() != spatial) {
            throw ValueError(i.name())
                .Got("size ", i.Ints("size"), " and window ", i.Ints("window"))
                .Expected(spatial, " of each");
          }
          const Dims wanted{x.size(0), x.size(1), spatial};
          if (samples.shape() != wanted || samples.dtype() != x.dtype()) {
            throw ValueError(i.name())
                .Got("samples ", samples.dtype(), samples.shape())
                .Expected(x.dtype(), wanted, ": a number per plane and axis");
          }
          Dims shape{x.size(0), x.size(1)};
          for (int k = 0; k < spatial; ++k) {
            const int64_t in = x.size(2 + k), out = i.Ints("size")[k], window = i.Ints("window")[k];
            if (out + window - 1 > in) {
              throw ValueError(i.name())
                  .Got("size ", in, " for ", out, " windows of ", window)
                  .Expected("at least ", out + window - 1);
            }
            shape.push_back(out);
          }
          i.y(0, shape, DType::kInt64);
        })
        .Runs([](Run& r) {
          PoolGeometry geometry;
          geometry.spatial = r.x("x").ndim() - 2;
          for (int k = 0; k < geometry.spatial; ++k) geometry.window[k] = r.Ints("window")[k];
          const Tensor samples = r.Contiguous("samples");
          // Samples outside [0, 1) would put windows outside the image.
          const Tensor good = Op<"logical_and">(Op<"ge">(samples, Number(0.0)), Op<"lt">(samples, Number(1.0)));
          if (!Op<"all">(good).Item().boolean()) {
            throw ValueError(r.name()).Got("samples outside [0, 1)").Expected("numbers in it");
          }
          if (r.out().numel)
            kernels::FractionalMaxPool(r.ctx(), r.x("x").dtype(), r.out(), r.in("x"), samples.view(), geometry);
        });

Tensors FractionalOf(const CallReader& c, int spatial) {
  const Tensor& given = c.x(0);
  if (given.ndim() != spatial + 1 && given.ndim() != spatial + 2) {
    throw ValueError(c.name()).Got("shape ", given.shape()).Expected(spatial + 1, " or ", spatial + 2, " axes");
  }
  const Dims window = PerAxis(c.name(), "kernel_size", c.Ints("kernel_size"), spatial, 1);
  const Dims size = PerAxis(c.name(), "output_size", c.Ints("output_size"), spatial, 1);
  return WithBatch(given, spatial, [&](const Tensor& x) -> Tensors {
    Tensor samples = c.x("samples");
    if (!samples.defined()) {
      samples = Op<"rand">(Dims{x.size(0), x.size(1), spatial}, c.attr("generator"), x.dtype(), x.device());
    }
    const Tensor indices = Op<"fractional_max_pool_places">(x.Detach(), samples, size, window);
    const Tensor flat = Op<"flatten">(x, 2, -1);
    const Tensor best = Op<"gather">(flat, 2, Op<"flatten">(indices, 2, -1));
    return {Op<"reshape">(best, indices.shape()), indices};
  });
}

[[maybe_unused]] const bool fractional_defined = [] {
  for (int spatial = 2; spatial <= kMaxSpatial; ++spatial) {
    const std::string n = std::to_string(spatial);
    const std::string arguments = "(Tensor x, int[" + n + "] kernel_size, int[" + n +
                                  "] output_size, Tensor? samples=None, *, Generator? generator=None) -> ";
    DefineOp("fractional_max_pool" + n + "d" + arguments + "Tensor")
        .Doc("The largest element of windows that lie at random places.")
        .Autocast(Precision::kFloat32)
        .As([spatial](const CallReader& c) -> Tensors { return {FractionalOf(c, spatial)[0]}; });
    DefineOp("fractional_max_pool" + n + "d_with_indices" + arguments + "(Tensor out, Tensor indices)")
        .Doc("The largest element of windows that lie at random places, and its place in the flat plane.")
        .Autocast(Precision::kFloat32)
        .As([spatial](const CallReader& c) { return FractionalOf(c, spatial); });
  }
  return true;
}();

}  // namespace
}  // namespace dragon
