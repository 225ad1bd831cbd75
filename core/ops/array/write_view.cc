// Writing through a view, told without overwriting: what graphs make of it.
#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {

namespace {

[[maybe_unused]] const auto& write_view =
    DefineOp("write_view(Tensor x, Tensor y, int[] shape, int[] strides, int offset) -> Tensor")
        .Doc("x with y's elements at those strides of the result, which lies as x does without gaps, or row-major.")
        .Infers([](Infer& f) {
          const Tensor &x = f.x(0), &y = f.x(1);
          if (y.shape() != f.Ints(0) || y.dtype() != x.dtype()) {
            throw ValueError(f.name())
                .Got("y of shape ", y.shape(), " and ", y.dtype())
                .Expected("shape ", f.Ints(0), " and ", x.dtype());
          }
          int64_t last = f.Int(2);
          if (f.Ints(0).size() != f.Ints(1).size() || last < 0) {
            throw ValueError(f.name()).Got("strides ", f.Ints(1), ", offset ", last).Expected("one stride per axis");
          }
          InferSame(f);
          bool empty = x.numel() == 0, far = false;
          const int64_t extent = x.numel() - 1;
          for (int i = 0; i < y.ndim(); ++i) {
            if (y.shape()[i] == 0) return;
            int64_t reach;
            far |= f.Ints(1)[i] < 0 || __builtin_mul_overflow(y.shape()[i] - 1, f.Ints(1)[i], &reach) ||
                   __builtin_add_overflow(last, reach, &last);
          }
          if (empty || far || last > extent) {
            throw ValueError(f.name())
                .Got("shape ", f.Ints(0), " at strides ", f.Ints(1), " from ", f.Int(2))
                .Expected("places within x, of shape ", x.shape());
          }
        })
        .Runs([](Run& r) {
          const Tensor x = r.x(0), y = r.y(0);
          if (!x.impl()->storage || x.data() != y.data()) OpInto<"copy">(y.Detach(), x);
          OpInto<"copy">(y.Alias(r.Ints(0), r.Ints(1), y.offset() + r.Int(2)), r.x(1));
        })
        .Edits();

}  // namespace
}  // namespace dragon
