// Padding, rolling, flipping on CUDA: one launch, in which every element of the result looks up the piece of each axis
// that it lies in. The gradient goes box by box, in the order of the CPU's, so that sums have one order.
#include <algorithm>
#include <vector>

#include "core/kernels/arrange.h"
#include "core/kernels/index/walk_cuda.h"
#include "core/kernels/index/write_cuda.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Piece;
using kernels::Pieces;
using kernels::Walk;

namespace {

constexpr int kTablePieces = 40, kTableAxes = 12;

/// The pieces of all axes, those of y's last axis last. x's offset at place p of a piece is base + (p - to) * step.
struct PieceTable {
  struct Entry {
    int64_t to, base, step;
    bool outside;
  };
  int32_t ndim = 0, first[kTableAxes + 1] = {};
  int64_t y_strides[kTableAxes];
  Entry pieces[kTablePieces];

  /// False if there is not enough room.
  bool Fill(const View& y, const View& x, const Pieces* lists) {
    if (y.ndim > kTableAxes) return false;
    ndim = y.ndim;
    int count = 0;
    for (int axis = 0; axis < ndim; ++axis) {
      y_strides[axis] = y.strides[axis];
      first[axis] = count;
      std::vector<Entry> mine;
      for (const Piece& piece : lists[axis]) {
        if (piece.count == 0) continue;
        mine.push_back({piece.to, piece.outside ? 0 : piece.from * x.strides[axis],
                        piece.outside ? 0 : piece.step * x.strides[axis], piece.outside});
      }
      std::sort(mine.begin(), mine.end(), [](const Entry& a, const Entry& b) { return a.to < b.to; });
      if (count + mine.size() > kTablePieces) return false;
      for (const Entry& entry : mine) pieces[count++] = entry;
    }
    first[ndim] = count;
    return true;
  }
};

template <typename W, typename Index>
struct AssembleElement {
  PieceTable table;
  cuda::Divider<Index> shape[kTableAxes];
  W* y;
  const W* x;
  W fill;
  __device__ void operator()(int64_t i) const {
    Index rest = static_cast<Index>(i);
    int64_t to = 0, from = 0;
    bool outside = false;
    for (int axis = table.ndim - 1; axis >= 0; --axis) {
      const Index outer = axis > 0 ? shape[axis].Divide(rest) : 0;
      const int64_t place = rest - outer * shape[axis].divisor;
      int n = table.first[axis];
      while (n + 1 < table.first[axis + 1] && table.pieces[n + 1].to <= place) ++n;
      const PieceTable::Entry& piece = table.pieces[n];
      to += place * table.y_strides[axis];
      from += piece.base + (place - piece.to) * piece.step;
      outside |= piece.outside;
      rest = outer;
    }
    y[to] = outside ? fill : x[from];
  }
};

/// One box of y: where it begins, its shape, and how x runs beside it.
struct Box {
  int64_t y_offset = 0, x_offset = 0;
  bool outside = false;
  Dims shape, x_strides;
};

/// Call `body(box)` for every combination of one piece per axis of y.
template <typename F>
void ForBoxes(const View& y, const View& x, const Pieces* pieces, F body) {
  int64_t boxes = 1;
  for (int axis = 0; axis < y.ndim; ++axis) boxes *= static_cast<int64_t>(pieces[axis].size());
  for (int64_t n = 0; n < boxes; ++n) {
    Box box;
    bool empty = false;
    int64_t rest = n, stride = boxes;
    for (int axis = 0; axis < y.ndim; ++axis) {
      stride /= static_cast<int64_t>(pieces[axis].size());
      const Piece& piece = pieces[axis][rest / stride];
      rest %= stride;
      box.y_offset += piece.to * y.strides[axis];
      box.x_offset += piece.outside ? 0 : piece.from * x.strides[axis];
      box.outside |= piece.outside;
      empty |= piece.count == 0;
      box.shape.push_back(piece.count);
      box.x_strides.push_back(piece.outside ? 0 : piece.step * x.strides[axis]);
    }
    if (!empty) body(box);
  }
}

template <typename W>
struct FillElement {
  DeviceWalk<1, int64_t> walk;
  W* y;
  W value;
  __device__ void operator()(int64_t i) const {
    int64_t at[1];
    walk.At(i, at);
    y[at[0]] = value;
  }
};

/// One value at every place of `walk`.
template <typename W>
void Fill(const Context& ctx, const Walk<1>& walk, W* y, W value) {
  LaunchOver("fill", ctx, walk.total(), FillElement<W>{DeviceWalk<1, int64_t>(WalkAxes<1>(walk)), y, value});
}

template <typename W>
void AssembleBoxes(const Context& ctx, const View& y, const View& x, const Pieces* pieces, W fill) {
  ForBoxes(y, x, pieces, [&](const Box& box) {
    W* to = y.as<W>() + box.y_offset;
    if (box.outside) return Fill(ctx, Walk<1>(box.shape.data(), 0, y.ndim, {y.strides}), to, fill);
    const Walk<2> walk(box.shape.data(), 0, y.ndim, {y.strides, box.x_strides.data()});
    CopyWalk("pad", ctx, sizeof(W), walk, to, x.as<const W>() + box.x_offset);
  });
}

/// An element of dx takes all elements of a box of dy that came from it: those along `repeated` axes, in order.
template <typename T>
struct AddBox {
  DeviceWalk<2, int64_t> walk;
  DeviceWalk<1, int64_t> repeated;
  int64_t repeats;
  T* dx;
  const T* dy;
  __device__ void operator()(int64_t i) const {
    int64_t at[2];
    walk.At(i, at);
    Wide<T> sum = static_cast<Wide<T>>(dx[at[0]]);
    for (int64_t k = 0; k < repeats; ++k) {
      int64_t more[1];
      repeated.At(k, more);
      sum += static_cast<Wide<T>>(dy[at[1] + more[0]]);
    }
    dx[at[0]] = static_cast<T>(sum);
  }
};

}  // namespace

template <typename T>
void Assemble(Context& ctx, View y, View x, const Pieces* pieces, View fill) {
  using W = kernels::Word<T>;
  if (y.numel == 0) return;
  const W value = fill.data ? *fill.as<const W>() : W{};  // the fill is a number of the host's
  PieceTable table;
  if (!table.Fill(y, x, pieces)) return AssembleBoxes<W>(ctx, y, x, pieces, value);
  WithIndexType(y.numel, [&]<typename Index>(Index) {
    AssembleElement<W, Index> element{table, {}, y.as<W>(), x.as<const W>(), value};
    for (int axis = 0; axis < y.ndim; ++axis) element.shape[axis] = cuda::Divider<Index>(y.shape[axis]);
    LaunchOver("pad", ctx, y.numel, element);
  });
}
DRAGON_KERNEL(Assemble, AllTypes);

template <typename T>
void AssembleBackward(Context& ctx, View dx, View dy, const Pieces* pieces) {
  if (dx.numel == 0) return;
  Fill(ctx, Walk<1>(dx.shape, 0, dx.ndim, {dx.strides}), dx.as<T>(), T(0));
  if (dy.numel == 0) return;
  ForBoxes(dy, dx, pieces, [&](const Box& box) {
    if (box.outside) return;
    Dims shape, x_strides, y_strides, repeated_shape, repeated_strides;
    for (int axis = 0; axis < dy.ndim; ++axis) {
      if (box.x_strides[axis] == 0) {
        repeated_shape.push_back(box.shape[axis]);
        repeated_strides.push_back(dy.strides[axis]);
        continue;
      }
      shape.push_back(box.shape[axis]);
      x_strides.push_back(box.x_strides[axis]);
      y_strides.push_back(dy.strides[axis]);
    }
    const WalkAxes<2> walk(Walk<2>(shape.data(), 0, shape.size(), {x_strides.data(), y_strides.data()}));
    const WalkAxes<1> repeated(Walk<1>(repeated_shape.data(), 0, repeated_shape.size(), {repeated_strides.data()}));
    LaunchOver("pad", ctx, walk.total,
               AddBox<T>{DeviceWalk<2, int64_t>(walk), DeviceWalk<1, int64_t>(repeated), repeated.total,
                         dx.as<T>() + box.x_offset, dy.as<const T>() + box.y_offset});
  });
}
DRAGON_KERNEL(AssembleBackward, Inexact);

// --- accumulation

namespace {

/// Where an element of y stands, as a key, and where that of x does.
struct FindPlace {
  DeviceWalk<2, int64_t> walk;
  int64_t low;
  uint32_t* keys;
  int64_t* sources;
  __device__ void operator()(int64_t i) const {
    int64_t at[2];
    walk.At(i, at);
    keys[i] = static_cast<uint32_t>(at[0] - low);
    sources[i] = at[1];
  }
};

/// One thread, for what is too large to bring in order.
template <typename T>
struct AddInOrder {
  DeviceWalk<2, int64_t> walk;
  int64_t count;
  T* y;
  const T* x;
  __device__ void operator()(int64_t) const {
    for (int64_t i = 0; i < count; ++i) {
      int64_t at[2];
      walk.At(i, at);
      y[at[0]] = static_cast<T>(static_cast<Wide<T>>(y[at[0]]) + static_cast<Wide<T>>(x[at[1]]));
    }
  }
};

/// Whether no two elements share a place: each axis steps over all that the smaller ones reach.
bool Apart(const WalkAxes<2>& axes) {
  std::vector<int> order;
  for (int axis = 0; axis < axes.ndim; ++axis) order.push_back(axis);
  const auto step = [&](int axis) { return std::abs(axes.steps[axis][0]); };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return step(a) < step(b); });
  int64_t reach = 0;
  for (const int axis : order) {
    if (axes.shape[axis] == 1) continue;
    if (step(axis) <= reach) return false;
    reach += step(axis) * (axes.shape[axis] - 1);
  }
  return true;
}

}  // namespace

template <typename T>
void Accumulate(Context& ctx, View y, View x) {
  if (y.numel == 0) return;
  const WalkAxes<2> axes(Walk<2>(y.shape, 0, y.ndim, {y.strides, x.strides}));
  const DeviceWalk<2, int64_t> walk(axes);
  if (Apart(axes)) {
    const int64_t none = 0, one = 1;
    const WalkAxes<1> once(Walk<1>(&one, 0, 1, {&none}));
    return LaunchOver("accumulate", ctx, axes.total,
                      AddBox<T>{walk, DeviceWalk<1, int64_t>(once), 1, y.as<T>(), x.as<const T>()});
  }
  PlaceKeys places{0, 1, 1};
  for (int axis = 0; axis < axes.ndim; ++axis) {
    const int64_t far = axes.steps[axis][0] * (axes.shape[axis] - 1);
    places.keys += std::abs(far);
    places.low += std::min<int64_t>(far, 0);
  }
  if (!places.Fits(axes.total)) {
    return LaunchOver("accumulate", ctx, 1, AddInOrder<T>{walk, axes.total, y.as<T>(), x.as<const T>()});
  }
  const Scratch keys = ctx.Allocate<uint32_t>(axes.total), sources = ctx.Allocate<int64_t>(axes.total);
  LaunchOver("accumulate", ctx, axes.total, FindPlace{walk, places.low, keys.as<uint32_t>(), sources.as<int64_t>()});
  const int64_t none = 0, one = 1;
  JoinOrdered<T>(ctx, "accumulate", y.as<T>(), x.as<const T>(), keys.as<uint32_t>(), sources.as<int64_t>(), nullptr,
                 axes.total, places, Walk<2>(&one, 0, 1, {&none, &none}), Combine::kAdd);
}
DRAGON_KERNEL(Accumulate, Inexact);

}  // namespace dragon::DRAGON_DEVICE
