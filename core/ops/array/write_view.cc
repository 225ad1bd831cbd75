// Writing through a view, told without overwriting: what graphs make of it.
#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {

namespace {

/// What was written over gets nothing, and what was written gets what lies in its places.
void WriteViewGradient(Grad& g) {
  const Tensor& x = g.x("x");
  const Dims lies = IsDense(x.shape(), x.strides()) ? x.strides() : ContiguousStrides(x.shape());
  const Dims &shape = g.Ints("shape"), &strides = g.Ints("strides");
  const int64_t offset = g.Int("offset");
  if (g.needs("y")) g.dx("y", Op<"restride">(g.dy(), lies, int64_t{0}, shape, strides, offset));
  if (!g.needs("x")) return;
  const Tensor ones = Op<"ones">(shape, g.dy().dtype(), g.dy().device());
  const Tensor written = Op<"restride">(ones, strides, offset, x.shape(), lies, int64_t{0});
  g.dx("x", Op<"masked_fill">(g.dy(), Op<"cast">(written, DType::kBool), Number(0.0)));
}

[[maybe_unused]] const auto& write_view =
    DefineOp("write_view(Tensor x, Tensor y, int[] shape, int[] strides, int offset) -> Tensor")
        .Doc("x with y's elements at those strides of the result, which lies as x does without gaps, or row-major.")
        .Infers([](Infer& f) {
          const Tensor &x = f.x("x"), &y = f.x("y");
          if (y.shape() != f.Ints("shape") || y.dtype() != x.dtype()) {
            throw ValueError(f.name())
                .Got("y of shape ", y.shape(), " and ", y.dtype())
                .Expected("shape ", f.Ints("shape"), " and ", x.dtype());
          }
          int64_t last = f.Int("offset");
          if (f.Ints("shape").size() != f.Ints("strides").size() || last < 0) {
            throw ValueError(f.name())
                .Got("strides ", f.Ints("strides"), ", offset ", last)
                .Expected("one stride per axis");
          }
          InferSame(f);
          bool empty = x.numel() == 0, far = false;
          const int64_t extent = x.numel() - 1;
          for (int i = 0; i < y.ndim(); ++i) {
            if (y.shape()[i] == 0) return;
            int64_t reach;
            far |= f.Ints("strides")[i] < 0 || __builtin_mul_overflow(y.shape()[i] - 1, f.Ints("strides")[i], &reach) ||
                   __builtin_add_overflow(last, reach, &last);
          }
          if (empty || far || last > extent) {
            throw ValueError(f.name())
                .Got("shape ", f.Ints("shape"), " at strides ", f.Ints("strides"), " from ", f.Int("offset"))
                .Expected("places within x, of shape ", x.shape());
          }
        })
        .Runs([](Run& r) {
          const Tensor x = r.x("x"), y = r.y(0);
          if (!x.impl()->storage || x.data() != y.data()) OpInto<"copy">(y.Detach(), x);
          OpInto<"copy">(y.Alias(r.Ints("shape"), r.Ints("strides"), y.offset() + r.Int("offset")), r.x("y"));
        })
        .Edits()
        .Gradient("x", WriteViewGradient);

}  // namespace
}  // namespace dragon
