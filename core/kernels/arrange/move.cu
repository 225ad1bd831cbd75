// Plain movement and concatenation on CUDA. Memory that lies alike moves in words of sixteen bytes; a tensor whose axes
// are turned moves by squares through shared memory, so that both sides are touched in whole lines.
#include <algorithm>
#include <numeric>

#include "core/device/cuda/block.h"
#include "core/kernels/arrange.h"
#include "core/kernels/index/walk_cuda.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Walk;

namespace {

constexpr int kSquare = 32, kSquareRows = 8;

/// Two axes of which y runs along one and x along the other; `walk` has all others.
template <typename W, typename Index>
struct Turn {
  DeviceWalk<2, Index> walk;
  W* y;
  const W* x;
  int64_t y_size, x_size;      ///< of the axis that lies side by side in y, and of the one in x
  int64_t y_across, x_across;  ///< y's step along x's axis, and x's along y's
  int64_t y_squares, x_squares;
};

template <typename W, typename Index>
__global__ void TurnKernel(const __grid_constant__ Turn<W, Index> turn, int64_t squares) {
  alignas(16) __shared__ unsigned char memory[kSquare * (kSquare + 1) * sizeof(W)];
  cuda::FillShared(memory);
  W* square = reinterpret_cast<W*>(memory);
  for (int64_t s = blockIdx.x; s < squares; s += gridDim.x) {
    const int64_t across = s / turn.y_squares, box = across / turn.x_squares;
    const int64_t y_first = s % turn.y_squares * kSquare, x_first = across % turn.x_squares * kSquare;
    int64_t at[2];
    turn.walk.At(box, at);
    const W* x = turn.x + at[1];
    W* y = turn.y + at[0];
    __syncthreads();  // the last square has been written
    for (int row = threadIdx.y; row < kSquare; row += kSquareRows) {
      const int64_t i = y_first + row, j = x_first + threadIdx.x;
      if (i < turn.y_size && j < turn.x_size) square[row * (kSquare + 1) + threadIdx.x] = x[i * turn.x_across + j];
    }
    __syncthreads();
    for (int row = threadIdx.y; row < kSquare; row += kSquareRows) {
      const int64_t j = x_first + row, i = y_first + threadIdx.x;
      if (i < turn.y_size && j < turn.x_size) y[j * turn.y_across + i] = square[threadIdx.x * (kSquare + 1) + row];
    }
  }
}

/// Axes of y and x by falling strides of y: a Walk over them meets y in the order of its memory.
struct Sorted {
  Dims shape, y, x;

  Sorted(const View& y_view, const View& x_view) {
    Dims order = Dims::Filled(y_view.ndim, 0);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return y_view.strides[a] > y_view.strides[b]; });
    for (const int64_t axis : order) {
      shape.push_back(y_view.shape[axis]);
      y.push_back(y_view.strides[axis]);
      x.push_back(x_view.strides[axis]);
    }
  }
  Walk<2> Walked() const { return Walk<2>(shape.data(), 0, shape.size(), {y.data(), x.data()}); }
};

/// Whether y runs along the last axis and x along another, both of which are long enough for squares.
bool TurnsSquares(const WalkAxes<2>& axes, int* x_axis) {
  const int last = axes.ndim - 1;
  if (axes.steps[last][0] != 1 || axes.steps[last][1] == 1 || axes.steps[last][1] == 0) return false;
  for (int axis = 0; axis < last; ++axis) {
    if (axes.steps[axis][1] != 1) continue;
    *x_axis = axis;
    return axes.shape[axis] >= kSquare / 2 && axes.shape[last] >= kSquare / 2;
  }
  return false;
}

void TurnSquares(const Context& ctx, int64_t item, const WalkAxes<2>& axes, int x_axis, void* y, const void* x) {
  const int last = axes.ndim - 1;
  WalkAxes<2> others = axes;
  others.total = axes.total / axes.shape[last] / axes.shape[x_axis];
  others.ndim = 0;
  for (int axis = 0; axis < last; ++axis) {
    if (axis == x_axis) continue;
    others.shape[others.ndim] = axes.shape[axis];
    std::copy_n(axes.steps[axis], 2, others.steps[others.ndim++]);
  }
  if (others.ndim == 0) others.shape[0] = 1, others.steps[0][0] = others.steps[0][1] = 0, others.ndim = 1;
  const int64_t y_squares = (axes.shape[last] + kSquare - 1) / kSquare;
  const int64_t x_squares = (axes.shape[x_axis] + kSquare - 1) / kSquare;
  const int64_t squares = others.total * y_squares * x_squares;
  const cuda::Grid grid{dim3(static_cast<unsigned>(std::min<int64_t>(squares, int64_t{1} << 20))),
                        dim3(kSquare, kSquareRows)};
  WithWord(item, [&]<typename W>(W) {
    WithIndexType(others.total, [&]<typename Index>(Index) {
      const Turn<W, Index> turn{DeviceWalk<2, Index>(others),
                                static_cast<W*>(y),
                                static_cast<const W*>(x),
                                axes.shape[last],
                                axes.shape[x_axis],
                                axes.steps[x_axis][0],
                                axes.steps[last][1],
                                y_squares,
                                x_squares};
      cuda::Launch("move", ctx, &TurnKernel<W, Index>, grid, turn, squares);
    });
  });
}

void MoveBytes(const char* who, const Context& ctx, int64_t item, const View& y, const View& x) {
  if (y.numel == 0) return;
  const Walk<2> walk = Sorted(y, x).Walked();
  const WalkAxes<2> axes(walk);
  int x_axis = 0;
  if (TurnsSquares(axes, &x_axis)) return TurnSquares(ctx, item, axes, x_axis, y.data, x.data);
  CopyWalk(who, ctx, item, walk, y.data, x.data);
}

}  // namespace

template <typename T>
void Move(Context& ctx, View y, View x) {
  MoveBytes("move", ctx, sizeof(T), y, x);
}
DRAGON_KERNEL(Move, AllTypes);

template <typename T>
void Concat(Context& ctx, View y, const View* xs, int count, int axis) {
  char* to = y.as<char>();
  for (int n = 0; n < count; ++n) {
    if (xs[n].numel == 0) continue;
    const View part{to, xs[n].shape, y.strides, xs[n].numel, y.ndim, y.dtype};
    MoveBytes("cat", ctx, sizeof(T), part, xs[n]);
    to += xs[n].shape[axis] * y.strides[axis] * static_cast<int64_t>(sizeof(T));
  }
}
DRAGON_KERNEL(Concat, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
