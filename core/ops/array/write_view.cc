// Writing through a view, told without overwriting: what graphs make of it.
#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {

namespace {

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
        .Edits();

}  // namespace
}  // namespace dragon
