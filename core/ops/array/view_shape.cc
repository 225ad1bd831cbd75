// Views that see the same elements in another shape: view, reshape, expand, squeeze and their kin.
#include "core/framework/batching.h"
#include "core/framework/infer.h"
#include "core/ops/array/geometry.h"

namespace dragon {
namespace {

/// `shape` with its -1, if any, replaced; a ValueError if x has another number of elements.
Dims Resolved(const char* who, const Dims& shape, const Tensor& x) { return ResolveShape(who, shape, x.numel()); }

void SetReshaped(ViewOf& v, Dims shape) {
  const Tensor& x = v.x(0);
  Dims strides;
  if (!Reshaped(x, shape, &strides)) {
    throw ValueError(v.name())
        .Got("shape ", shape, " for a tensor of shape ", x.shape(), " at strides ", x.strides())
        .Expected("a shape that needs no copy")
        .Hint("reshape copies where it must");
  }
  v.Set(std::move(shape), std::move(strides), x.offset());
}

void ReshapeBack(Grad& g) { g.dx(0, Op<"reshape">(g.dy(), g.x_shape(0))); }

/// A view where strides allow it, else a row-major copy.
Tensor Reshape(const char* who, const Tensor& x, const Dims& wanted) {
  const Dims shape = Resolved(who, wanted, x);
  if (shape == x.shape()) return Op<"view">(x, shape);
  Dims strides;
  if (Reshaped(x, shape, &strides)) return Op<"view">(x, shape);
  return Op<"view">(Op<"contiguous">(x), shape);
}

/// PyTorch's expand: new axes in front, -1 keeps a size, axes of size 1 repeat.
Geometry Expanded(const char* who, Geometry from, Dims shape) {
  const int added = shape.size() - from.shape.size();
  const auto refuse = [&] {
    throw ValueError(who)
        .Got("shape ", shape, " for a tensor of shape ", from.shape)
        .Expected("a shape it broadcasts to");
  };
  if (added < 0) refuse();
  Dims strides = Dims::Filled(shape.size(), 0);
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (axis < added) {
      if (shape[axis] < 0) refuse();
      continue;
    }
    const int64_t size = from.shape[axis - added];
    if (shape[axis] == -1) shape[axis] = size;
    if (shape[axis] < 0 || (size != 1 && shape[axis] != size)) refuse();
    strides[axis] = size == 1 && shape[axis] != 1 ? 0 : from.strides[axis - added];
  }
  CheckedNumel(who, shape, 1);
  return {std::move(shape), std::move(strides), from.offset};
}

Dims Flattened(const char* who, const Dims& shape, int64_t start, int64_t stop) {
  if (shape.empty()) return {1};
  start = NormalizeAxis(who, start, shape.size());
  stop = NormalizeAxis(who, stop, shape.size());
  if (start > stop)
    throw ValueError(who).Got("start_axis ", start, " after stop_axis ", stop).Expected("them in order");
  Dims flat;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (axis > start && axis <= stop) {
      flat.back() *= shape[axis];
    } else {
      flat.push_back(shape[axis]);
    }
  }
  return flat;
}

Dims Unflattened(const char* who, const Dims& shape, int64_t axis, const Dims& sizes) {
  axis = NormalizeAxis(who, axis, shape.size());
  if (sizes.empty()) throw ValueError(who).Got("no sizes").Expected("at least one");
  const Dims inner = ResolveShape(who, sizes, shape.empty() ? 1 : shape[axis]);
  Dims to;
  for (int i = 0; i < axis; ++i) to.push_back(shape[i]);
  for (int64_t size : inner) to.push_back(size);
  for (int i = axis + 1; i < shape.size(); ++i) to.push_back(shape[i]);
  return to;
}

/// Without the axes of size 1, or without those of them that are listed.
void SetSqueezed(ViewOf& v) {
  const Tensor& x = v.x(0);
  const bool listed = v.Given("axis");
  const Dims axes = listed ? NormalizeAxes(v.name(), v.Ints("axis"), x.ndim(), /*empty_is_all=*/false) : Dims();
  Geometry to{{}, {}, x.offset()};
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const bool drop = x.size(axis) == 1 && (!listed || std::find(axes.begin(), axes.end(), axis) != axes.end());
    if (drop) continue;
    to.shape.push_back(x.size(axis));
    to.strides.push_back(x.strides()[axis]);
  }
  Set(v, std::move(to));
}

void SetUnsqueezed(ViewOf& v) {
  Geometry to = GeometryOf(v.x(0));
  const int64_t axis = NormalizeAxis(v.name(), v.Int("axis"), to.shape.size() + 1);
  const int64_t stride = axis < to.shape.size() ? to.shape[axis] * to.strides[axis] : 1;
  to.shape.insert(axis, 1);
  to.strides.insert(axis, stride);
  Set(v, std::move(to));
}

[[maybe_unused]] const auto& view =
    DefineOp("view(Tensor x, int[] shape) -> Tensor")
        .Doc("The same elements in another shape, without a copy.")
        .Batches(ReshapeSlices)
        .Views([](ViewOf& v) { SetReshaped(v, Resolved(v.name(), v.Ints("shape"), v.x(0))); })
        .Gradient("", ReshapeBack);

[[maybe_unused]] const auto& reshape =
    DefineOp("reshape(Tensor x, int[] shape) -> Tensor")
        .Doc("The same elements in another shape: a view where strides allow it, else a copy.")
        .As([](const CallReader& c) -> Tensors { return {Reshape(c.name(), c.x(0), c.Ints("shape"))}; });

[[maybe_unused]] const auto& expand =
    DefineOp("expand(Tensor x, int[] shape) -> Tensor")
        .Doc("A view that repeats axes of size 1; -1 keeps a size.")
        .Batches([](const Slices& s) -> Tensors {
          return {Op<"expand">(s.Raised(0, s.result(0).shape.size()), s.ResultShape())};
        })
        .Views([](ViewOf& v) { Set(v, Expanded(v.name(), GeometryOf(v.x(0)), v.Ints("shape"))); })
        .Gradient("", [](Grad& g) { g.dx(0, g.dy()); });

[[maybe_unused]] const auto& squeeze = DefineOp("squeeze(Tensor x, int[1]? axis=None) -> Tensor")
                                           .Doc("A view without axes of size 1, or without those listed.")
                                           .Batches(ReshapeSlices)
                                           .Views(SetSqueezed)
                                           .Gradient("", ReshapeBack);

[[maybe_unused]] const auto& unsqueeze = DefineOp("unsqueeze(Tensor x, int axis) -> Tensor")
                                             .Doc("A view with a new axis of size 1.")
                                             .Batches(Batching::kRows, "axis")
                                             .Views(SetUnsqueezed)
                                             .Gradient("", ReshapeBack);

[[maybe_unused]] const auto& broadcast_to =
    DefineOp("broadcast_to(Tensor x, int[] shape) -> Tensor")
        .Doc("View with another shape: axes of size 1 repeat.")
        .As([](const CallReader& c) -> Tensors { return {Op<"expand">(c.x(0), c.attr("shape"))}; });

[[maybe_unused]] const auto& expand_as =
    DefineOp("expand_as(Tensor x, Tensor other) -> Tensor")
        .Doc("View with another tensor's shape: axes of size 1 repeat.")
        .As([](const CallReader& c) -> Tensors { return {Op<"expand">(c.x("x"), c.x("other").shape())}; });

[[maybe_unused]] const auto& view_as =
    DefineOp("view_as(Tensor x, Tensor other) -> Tensor")
        .Doc("View with another tensor's shape.")
        .As([](const CallReader& c) -> Tensors { return {Op<"view">(c.x("x"), c.x("other").shape())}; });

[[maybe_unused]] const auto& reshape_as =
    DefineOp("reshape_as(Tensor x, Tensor other) -> Tensor")
        .Doc("The same elements in another tensor's shape.")
        .As([](const CallReader& c) -> Tensors { return {Reshape(c.name(), c.x("x"), c.x("other").shape())}; });

[[maybe_unused]] const auto& flatten =
    DefineOp("flatten(Tensor x, int start_axis=0, int stop_axis=-1) -> Tensor")
        .Doc("Merge a range of axes into one.")
        .As([](const CallReader& c) -> Tensors {
          return {
              Reshape(c.name(), c.x(0), Flattened(c.name(), c.x(0).shape(), c.Int("start_axis"), c.Int("stop_axis")))};
        });

[[maybe_unused]] const auto& unflatten =
    DefineOp("unflatten(Tensor x, int axis, int[] sizes) -> Tensor")
        .Doc("Split an axis into several.")
        .As([](const CallReader& c) -> Tensors {
          return {Op<"view">(c.x(0), Unflattened(c.name(), c.x(0).shape(), c.Int("axis"), c.Ints("sizes")))};
        });

[[maybe_unused]] const auto& ravel =
    DefineOp("ravel(Tensor x) -> Tensor")
        .Doc("All elements in row-major order along one axis.")
        .As([](const CallReader& c) -> Tensors { return {Reshape(c.name(), c.x(0), {c.x(0).numel()})}; });

[[maybe_unused]] const auto& atleast_1d =
    DefineOp("atleast_1d(Tensor x) -> Tensor")
        .Doc("View with at least one axis.")
        .As([](const CallReader& c) -> Tensors { return {c.x(0).ndim() > 0 ? c.x(0) : Op<"unsqueeze">(c.x(0), 0)}; });

[[maybe_unused]] const auto& atleast_2d = DefineOp("atleast_2d(Tensor x) -> Tensor")
                                              .Doc("View with at least two axes.")
                                              .As([](const CallReader& c) -> Tensors {
                                                Tensor x = c.x(0);
                                                while (x.ndim() < 2) x = Op<"unsqueeze">(x, 0);
                                                return {x};
                                              });

/// A matrix gains its third axis at the end, as in NumPy and PyTorch.
[[maybe_unused]] const auto& atleast_3d = DefineOp("atleast_3d(Tensor x) -> Tensor")
                                              .Doc("View with at least three axes.")
                                              .As([](const CallReader& c) -> Tensors {
                                                Tensor x = c.x(0);
                                                while (x.ndim() < 2) x = Op<"unsqueeze">(x, 0);
                                                return {x.ndim() < 3 ? Op<"unsqueeze">(x, -1) : x};
                                              });

}  // namespace
}  // namespace dragon
