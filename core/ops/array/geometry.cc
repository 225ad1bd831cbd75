// The arithmetic of views, and `restride`, the one operator that is the gradient of them all.
#include "core/ops/array/geometry.h"

#include "core/framework/infer.h"
#include "core/framework/layout.h"
#include "core/kernels/arrange.h"
#include "core/ops/fill.h"

namespace dragon {

Geometry GeometryOf(const Tensor& x) { return {x.shape(), x.strides(), x.offset()}; }
Geometry RowMajor(const Dims& shape) { return {shape, ContiguousStrides(shape), 0}; }

bool Reshaped(const Tensor& x, const Dims& shape, Dims* strides) {
  const LayoutReaders reading(x);
  if (x.is_contiguous() || x.numel() == 0) {
    *strides = ContiguousStrides(shape);
    return true;
  }
  const Dims &from = x.shape(), &steps = x.strides();
  strides->resize(shape.size());
  // Walk both shapes from the back; each run of old axes that lie in one piece is dealt out to new axes.
  int to = shape.size() - 1;
  int64_t run = 1, dealt = 1, stride = from.empty() ? 1 : steps.back();
  for (int axis = from.size() - 1; axis >= 0; --axis) {
    run *= from[axis];
    const bool ends = axis == 0 || (from[axis - 1] != 1 && steps[axis - 1] != run * stride);
    if (!ends) continue;
    while (to >= 0 && (dealt < run || shape[to] == 1)) {
      (*strides)[to] = dealt * stride;
      dealt *= shape[to--];
    }
    if (dealt != run) return false;
    if (axis > 0) run = dealt = 1, stride = steps[axis - 1];
  }
  for (; to >= 0; --to) (*strides)[to] = dealt * stride;  // axes of size 1 in front
  return true;
}

Geometry Selected(const char* who, const Dims& shape, const Dims& strides, int64_t offset, int64_t axis,
                  int64_t index) {
  const int ndim = shape.size();
  if (ndim == 0) throw IndexError(who).Got("a 0-d tensor").Expected("at least one axis to index");
  axis = NormalizeAxis(who, axis, ndim);
  const int64_t size = shape[axis], wrapped = index < 0 ? index + size : index;
  if (DRAGON_UNLIKELY(wrapped < 0 || wrapped >= size)) {
    throw IndexError(who)
        .Got("index ", index, " for axis ", axis)
        .Expected(-size, " to ", size - 1, " as it has size ", size);
  }
  const int64_t *sizes = shape.data(), *steps = strides.data();
  Geometry to{Dims(sizes, ndim - 1), Dims(steps, ndim - 1), offset + wrapped * steps[axis]};
  int64_t *to_sizes = to.shape.data(), *to_steps = to.strides.data();
  for (int64_t n = axis; n < ndim - 1; ++n) {
    to_sizes[n] = sizes[n + 1];
    to_steps[n] = steps[n + 1];
  }
  return to;
}

namespace {

/// What a slice of an axis comes to.
struct Places {
  int64_t start, count, step;
};

Places PlacesOf(int64_t start, int64_t stop, int64_t step, int64_t size) {
  const auto bound = [size](int64_t place) { return std::clamp<int64_t>(place < 0 ? place + size : place, 0, size); };
  const int64_t first = bound(start), last = std::max(bound(stop), first);
  // A step beyond the axis never takes effect; kept small, it cannot overflow.
  return {first, (last - first) / step + ((last - first) % step != 0), std::min(step, std::max<int64_t>(size, 1))};
}

}  // namespace

Geometry Sliced(const char* who, Geometry&& from, int64_t axis, const Value& start, const Value& stop, int64_t step) {
  if (from.shape.empty()) throw IndexError(who).Got("a 0-d tensor").Expected("at least one axis to slice");
  if (step <= 0) throw ValueError(who).Got("step ", step).Expected("a positive step");
  axis = NormalizeAxis(who, axis, from.shape.size());
  const Places places = PlacesOf(start.is_none() ? 0 : start.integer(), stop.is_none() ? kToTheEnd : stop.integer(),
                                 step, from.shape[axis]);
  from.offset += places.start * from.strides[axis];
  from.shape[axis] = places.count;
  from.strides[axis] *= places.step;
  return std::move(from);
}

Geometry Diagonal(const char* who, Geometry&& from, int64_t offset, int64_t axis1, int64_t axis2) {
  const int ndim = from.shape.size();
  if (ndim < 2) throw ValueError(who).Got("a tensor of shape ", from.shape).Expected("at least two axes");
  axis1 = NormalizeAxis(who, axis1, ndim);
  axis2 = NormalizeAxis(who, axis2, ndim);
  if (axis1 == axis2) throw ValueError(who).Got("axis ", axis1, " twice").Expected("two different axes");
  const int64_t rows = from.shape[axis1], columns = from.shape[axis2];
  const int64_t row = offset < 0 ? -std::max(offset, -rows) : 0, column = offset > 0 ? std::min(offset, columns) : 0;
  const int64_t size = std::max<int64_t>(0, std::min(rows - row, columns - column));
  if (size > 0) from.offset += row * from.strides[axis1] + column * from.strides[axis2];
  const int64_t stride = from.strides[axis1] + from.strides[axis2];
  for (int64_t axis : {std::max(axis1, axis2), std::min(axis1, axis2)}) {
    from.shape.erase(axis);
    from.strides.erase(axis);
  }
  from.shape.push_back(size);
  from.strides.push_back(stride);
  return std::move(from);
}

Geometry Windows(const char* who, Geometry&& from, int64_t axis, int64_t size, int64_t step) {
  axis = NormalizeAxis(who, axis, from.shape.size());
  const int64_t length = from.shape.empty() ? 1 : from.shape[axis];
  if (size < 0 || size > length)
    throw ValueError(who).Got("size ", size).Expected("0 to the ", length, " of axis ", axis);
  if (step <= 0) throw ValueError(who).Got("step ", step).Expected("a positive step");
  const int64_t stride = from.shape.empty() ? 1 : from.strides[axis];
  if (!from.shape.empty()) {
    from.shape[axis] = (length - size) / step + 1;
    from.strides[axis] *= std::min(step, std::max<int64_t>(length, 1));
  }
  from.shape.push_back(size);
  from.strides.push_back(stride);
  return std::move(from);
}

Geometry Subview(const char* who, const Geometry& from, const Dims& items) {
  Geometry to;
  to.offset = from.offset;
  const auto keep = [&](int axis) {
    to.shape.push_back(from.shape[axis]);
    to.strides.push_back(from.strides[axis]);
  };
  const int ndim = from.shape.size();
  int axis = 0, i = 0;
  const auto next = [&] {
    if (i >= items.size()) throw ValueError(who).Got("items that end too early").Expected("whole items");
    return items[i++];
  };
  while (i < items.size()) {
    const int64_t kind = next();
    if (kind == kSubviewNew) {
      to.shape.push_back(1);
      to.strides.push_back(axis < ndim ? from.shape[axis] * from.strides[axis] : 1);
      continue;
    }
    if (axis >= ndim) throw IndexError(who).Got("more subscripts than axes").Expected("at most ", ndim);
    if (kind == kSubviewSelect) {
      const int64_t index = next();
      if (index < 0 || index >= from.shape[axis]) {
        throw IndexError(who).Got("index ", index, " for axis ", axis).Expected("0 to ", from.shape[axis] - 1);
      }
      to.offset += index * from.strides[axis++];
    } else if (kind == kSubviewSlice) {
      const int64_t start = next(), count = next(), step = next(), size = from.shape[axis];
      if (start < 0 || count < 0 || step < 1 || start > size ||
          (count > 0 && (count - 1) > (size - 1 - start) / step)) {
        throw IndexError(who)
            .Got("a slice of ", count, " from ", start, " by ", step, " of axis ", axis)
            .Expected("places below ", size);
      }
      to.offset += start * from.strides[axis];
      to.shape.push_back(count);
      to.strides.push_back(from.strides[axis++] * (count > 1 ? step : 1));
    } else if (kind == kSubviewRange) {
      const int64_t start = next(), stop = next(), step = next();
      if (step < 1) throw ValueError(who).Got("step ", step).Expected("a positive step");
      const Places places = PlacesOf(start, stop, step, from.shape[axis]);
      to.offset += places.start * from.strides[axis];
      to.shape.push_back(places.count);
      to.strides.push_back(from.strides[axis++] * (places.count > 1 ? places.step : 1));
    } else if (kind == kSubviewKeep) {
      for (int64_t count = next(); count > 0; --count) {
        if (axis >= ndim) throw IndexError(who).Got("more subscripts than axes").Expected("at most ", ndim);
        keep(axis++);
      }
    } else {
      throw ValueError(who).Got("an item of kind ", kind).Expected("0 to ", static_cast<int>(kSubviewRange));
    }
  }
  while (axis < ndim) keep(axis++);
  return to;
}

Tensor ViewBackward(const Tensor& dy, const Dims& shape, const Geometry& shown) {
  return Op<"restride">(dy, shown.strides, shown.offset, shape, ContiguousStrides(shape), 0);
}

namespace {

/// Elements from the first to one past the last that a geometry with non-negative strides touches.
int64_t End(const char* who, const Dims& shape, const Dims& strides, int64_t offset) {
  if (shape.size() != strides.size()) {
    throw ValueError(who).Got(strides.size(), " strides for ", shape.size(), " axes").Expected("one stride per axis");
  }
  if (offset < 0) throw ValueError(who).Got("offset ", offset).Expected("at least 0");
  int64_t end = offset + 1;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (strides[axis] < 0) throw ValueError(who).Got("strides ", strides).Expected("none below 0");
    if (shape[axis] == 0) return 0;
    int64_t reach;
    if (__builtin_mul_overflow(shape[axis] - 1, strides[axis], &reach) || __builtin_add_overflow(end, reach, &end)) {
      throw ValueError(who).Got("shape ", shape, " at strides ", strides).Expected("places that an int64 can count");
    }
  }
  return end;
}

void RunRestride(Run& r) {
  const Tensor& x = r.x(0);
  Tensor& y = r.y();
  const Dims &strides = r.Ints("strides"), &to_strides = r.Ints("to_strides");
  const int64_t offset = r.Int("offset"), to_offset = r.Int("to_offset");
  const int64_t x_end = End(r.name(), x.shape(), strides, offset);
  const int64_t y_end = End(r.name(), y.shape(), to_strides, to_offset);
  const bool into_y = y.is_contiguous() && IsContiguous(y.shape(), to_strides) && to_offset == 0 && x_end <= y.numel();
  const bool from_x = x.is_contiguous() && IsContiguous(x.shape(), strides) && offset == 0 && y_end <= x.numel();
  Tensor memory = from_x ? x : into_y ? y : Tensor::Empty({std::max(x_end, y_end)}, x.dtype(), x.device());
  if (!from_x) {
    Fill(r.ctx(), memory.mutable_view(), Value(int64_t{0}));
    View to = memory.mutable_view();
    to.data = static_cast<char*>(to.data) + offset * x.item_size();
    to.shape = x.shape().data(), to.strides = strides.data(), to.numel = x.numel(), to.ndim = x.ndim();
    const auto& put = MayOverlap(x.shape(), strides) ? kernels::Accumulate : kernels::Move;
    if (x.numel() > 0) put(r.ctx(), x.dtype(), to, x.view());
    if (into_y) return;
  }
  View from = memory.view();
  from.data = static_cast<char*>(from.data) + to_offset * x.item_size();
  from.shape = y.shape().data(), from.strides = to_strides.data(), from.numel = y.numel(), from.ndim = y.ndim();
  if (y.numel() > 0) kernels::Move(r.ctx(), x.dtype(), r.out(), from);
}

[[maybe_unused]] const auto& restride =
    DefineOp("restride(Tensor x, int[] strides, int offset, int[] shape, int[] to_strides, int to_offset) -> Tensor")
        .Doc("Add x at one geometry into zeroed memory, then read that memory at another: the gradient of every view.")
        .Infers([](Infer& i) {
          CheckedNumel(i.name(), i.Ints("shape"), ItemSize(i.x(0).dtype()));
          CheckedNumel(i.name(), {End(i.name(), i.x(0).shape(), i.Ints("strides"), i.Int("offset"))},
                       ItemSize(i.x(0).dtype()));
          CheckedNumel(i.name(), {End(i.name(), i.Ints("shape"), i.Ints("to_strides"), i.Int("to_offset"))},
                       ItemSize(i.x(0).dtype()));
          if (!IsInexact(i.x(0).dtype()) && MayOverlap(i.x(0).shape(), i.Ints("strides"))) {
            throw TypeError(i.name())
                .Got(i.x(0).dtype(), " at overlapping places")
                .Expected("a floating or complex dtype");
          }
          i.y(0, i.Ints("shape"), i.x(0).dtype());
        })
        .Runs(RunRestride)
        .Gradient("", [](Grad& g) {
          g.dx(0, Op<"restride">(g.dy(), g.attr("to_strides"), g.Int("to_offset"), g.x_shape(0), g.attr("strides"),
                                 g.Int("offset")));
        });

}  // namespace
}  // namespace dragon
