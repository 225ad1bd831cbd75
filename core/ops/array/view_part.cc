// Views of a part: select, slice, diagonal, windows, as_strided, and several subscripts at once.
#include "core/framework/batching.h"
#include "core/framework/infer.h"
#include "core/ops/array/geometry.h"

namespace dragon {
namespace {

[[maybe_unused]] const auto& select =
    DefineOp("select(Tensor x, int axis, int index) -> Tensor")
        .Doc("A view of one place of an axis.")
        .Batches(Batching::kRows, "axis")
        .Views([](ViewOf& v) {
          const Tensor& x = v.x(0);
          Set(v, Selected("select", x.shape(), x.strides(), x.offset(), v.Int("axis"), v.Int("index")));
        })
        .Gradient("", [](Grad& g) {
          const Dims& shape = g.x_shape(0);
          g.dx(0, ViewBackward(g.dy(), shape,
                               Selected("select", shape, ContiguousStrides(shape), 0, g.Int("axis"), g.Int("index"))));
        });

/// A view by a rule (call, geometry) -> geometry, which on row-major strides is that of its gradient, too.
template <typename Rule>
Operator& ShowsBy(Operator& op, Rule rule) {
  return op.Views([rule](ViewOf& v) { Set(v, rule(v, GeometryOf(v.x(0)))); }).Gradient("", [rule](Grad& g) {
    g.dx(0, ViewBackward(g.dy(), g.x_shape(0), rule(g, RowMajor(g.x_shape(0)))));
  });
}

[[maybe_unused]] const auto& slice =
    ShowsBy(DefineOp("slice(Tensor x, int axis=0, int? start=None, int? stop=None, int step=1) -> Tensor")
                .Doc("A view of every step-th place of an axis from start to before stop.")
                .Batches(Batching::kRows, "axis"),
            [](const CallReader& c, Geometry&& from) {
              return Sliced(c.name(), std::move(from), c.Int("axis"), c.attr("start"), c.attr("stop"), c.Int("step"));
            });

[[maybe_unused]] const auto& subview = ShowsBy(
    DefineOp("subview(Tensor x, int[] items) -> Tensor")
        .Doc(
            "A view by several subscripts at once: 0 index | 1 start count step | 2 (new axis) | 3 count (kept axes) | "
            "4 start stop step, as Python has them.")
        .Batches([](const Slices& s) -> Tensors {
          Dims items{3, 1};
          for (int64_t item : s.Ints("items")) items.push_back(item);
          return {Op<"subview">(s.batch(0), items)};
        }),
    [](const CallReader& c, Geometry&& from) { return Subview(c.name(), from, c.Ints("items")); });

[[maybe_unused]] const auto& narrow =
    DefineOp("narrow(Tensor x, int axis, int start, int length) -> Tensor")
        .Doc("View of a range of an axis, by its start and length.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          if (x.ndim() == 0) throw ValueError("narrow").Got("a 0-d tensor").Expected("at least one axis");
          const int64_t axis = NormalizeAxis("narrow", c.Int("axis"), x.ndim()), size = x.size(axis);
          const int64_t start = c.Int("start") < 0 ? c.Int("start") + size : c.Int("start"), length = c.Int("length");
          if (start < 0 || start > size || length < 0 || length > size - start) {
            throw IndexError("narrow")
                .Got("start ", c.Int("start"), " and length ", length)
                .Expected("places of axis ", axis, ", which has size ", size);
          }
          return {Op<"slice">(x, axis, start, start + length, 1)};
        });

[[maybe_unused]] const auto& diagonal =
    ShowsBy(DefineOp("diagonal(Tensor x, int offset=0, int axis1=0, int axis2=1) -> Tensor")
                .Doc("A view of the places (i, i + offset) of two axes, as the last axis.")
                .Batches(Batching::kRows, "axis1, axis2"),
            [](const CallReader& c, Geometry&& from) {
              return Diagonal(c.name(), std::move(from), c.Int("offset"), c.Int("axis1"), c.Int("axis2"));
            });

[[maybe_unused]] const auto& unfold =
    ShowsBy(DefineOp("unfold(Tensor x, int axis, int size, int step) -> Tensor")
                .Doc("A view of all windows of an axis; a window's elements become the last axis.")
                .Batches(Batching::kRows, "axis"),
            [](const CallReader& c, Geometry&& from) {
              return Windows(c.name(), std::move(from), c.Int("axis"), c.Int("size"), c.Int("step"));
            });

/// Refuse places outside the memory of x.
void CheckReach(const char* who, const Tensor& x, const Dims& shape, const Dims& strides, int64_t offset) {
  if (shape.size() != strides.size()) {
    throw ValueError(who).Got(strides.size(), " strides for ", shape.size(), " axes").Expected("one stride per axis");
  }
  if (offset < 0) throw ValueError(who).Got("offset ", offset).Expected("at least 0");
  if (CheckedNumel(who, shape, x.item_size()) == 0) return;
  int64_t last = offset;
  bool far = false;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (strides[axis] < 0) throw ValueError(who).Got("strides ", strides).Expected("none below 0");
    int64_t reach;
    far |= __builtin_mul_overflow(shape[axis] - 1, strides[axis], &reach) || __builtin_add_overflow(last, reach, &last);
  }
  const auto bytes = x.impl()->storage ? static_cast<int64_t>(x.impl()->storage->bytes) : int64_t{-1};
  if (far || (bytes >= 0 && last >= bytes / x.item_size())) {
    throw ValueError(who)
        .Got("shape ", shape, " at strides ", strides, " from ", offset)
        .Expected("places within the memory of x, which holds ", bytes / x.item_size(), " elements");
  }
}

/// The attributes of the second operator remember how x lay in memory, which the gradient has to know.
[[maybe_unused]] const auto& as_strided =
    DefineOp("as_strided(Tensor x, int[] shape, int[] strides, int? offset=None) -> Tensor")
        .Doc("A view of x's memory at any shape, strides and offset.")
        .Batches(Batching::kApart)
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          x.Settle();
          const int64_t offset = c.Given("offset") ? c.Int("offset") : x.offset();
          return {Op<"as_strided_of">(x, c.attr("shape"), c.attr("strides"), offset, x.strides(), x.offset())};
        });

[[maybe_unused]] const auto& as_strided_of =
    DefineOp("as_strided_of(Tensor x, int[] shape, int[] strides, int offset, int[] x_strides, int x_offset) -> Tensor")
        .Doc("as_strided for a tensor that lies at x_strides and x_offset.")
        .Views([](ViewOf& v) {
          CheckReach("as_strided", v.x(0), v.Ints("shape"), v.Ints("strides"), v.Int("offset"));
          v.Set(v.Ints("shape"), v.Ints("strides"), v.Int("offset"));
        })
        .Gradient("", [](Grad& g) {
          const Dims &strides = g.Ints("strides"), &x_strides = g.Ints("x_strides");
          // Memory before x's first element cannot be reached from x alone; both offsets move down together.
          const int64_t base = std::min(g.Int("offset"), g.Int("x_offset")), offset = g.Int("offset") - base,
                        x_offset = g.Int("x_offset") - base;
          Tensor dx = Op<"restride">(g.dy(), strides, offset, g.x_shape(0), x_strides, x_offset);
          if (MayOverlap(g.x_shape(0), x_strides)) {  // elements of x that share a place share its gradient
            const Tensor ones = Op<"ones_like">(dx);
            dx = dx / Op<"restride">(ones, x_strides, x_offset, g.x_shape(0), x_strides, x_offset);
          }
          g.dx(0, dx);
        });

}  // namespace
}  // namespace dragon
