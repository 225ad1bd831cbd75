// Sliding windows as columns, and columns added back into an image. Each thread makes one number: of columns it knows
// where it lies in the image, and of an image it adds up what the windows over it hold, in their order.
#include <limits>
#include <type_traits>

#include "core/device/cuda/divide.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/vision/windows.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// What of Windows a launch needs; `Index` is wide enough for all indices.
template <typename Index>
struct WindowWalk {
  using Signed = std::make_signed_t<Index>;

  cuda::Divider<Index> height, width, rows, columns, down, across;
  Signed padding[2], dilation[2];
  cuda::Divider<Index> stride[2];

  explicit WindowWalk(const Windows& windows)
      : height(windows.height),
        width(windows.width),
        rows(windows.rows),
        columns(windows.columns),
        down(windows.spec.size[0]),
        across(windows.spec.size[1]),
        stride{cuda::Divider<Index>(windows.spec.stride[0]), cuda::Divider<Index>(windows.spec.stride[1])} {
    for (int i = 0; i < 2; ++i) {
      padding[i] = static_cast<Signed>(windows.spec.padding[i]);
      dilation[i] = static_cast<Signed>(windows.spec.dilation[i]);
    }
  }
};

/// i becomes what is left of it, the result is its place along an axis.
template <typename Index>
__device__ __forceinline__ Index TakeAxis(Index* i, const cuda::Divider<Index>& size) {
  const Index outer = size.Divide(*i), index = *i - outer * size.divisor;
  *i = outer;
  return index;
}

template <typename Bits, typename Index>
__global__ void Im2ColKernel(const WindowWalk<Index> walk, Index numel, Bits* __restrict__ y,
                             const Bits* __restrict__ x) {
  using Signed = typename WindowWalk<Index>::Signed;
  const Index step = static_cast<Index>(cuda::StepOfThreads());
  for (Index i = static_cast<Index>(cuda::FirstOfThread()); i < numel; i += step) {
    Index rest = i;
    const Index column = TakeAxis(&rest, walk.columns), row = TakeAxis(&rest, walk.rows);
    const Index across = TakeAxis(&rest, walk.across), down = TakeAxis(&rest, walk.down);
    const Signed top = static_cast<Signed>(row * walk.stride[0].divisor) +
                       static_cast<Signed>(down) * walk.dilation[0] - walk.padding[0];
    const Signed left = static_cast<Signed>(column * walk.stride[1].divisor) +
                        static_cast<Signed>(across) * walk.dilation[1] - walk.padding[1];
    const bool inside = top >= 0 && top < static_cast<Signed>(walk.height.divisor) && left >= 0 &&
                        left < static_cast<Signed>(walk.width.divisor);
    Bits value{};
    if (inside)
      value = x[(rest * walk.height.divisor + static_cast<Index>(top)) * walk.width.divisor + static_cast<Index>(left)];
    y[i] = value;
  }
}

/// The window along an axis whose element `tap` lies at `at`, or -1.
template <typename Index, typename Signed>
__device__ __forceinline__ Signed WindowAt(Signed at, Signed tap, Signed padding, Signed dilation,
                                           const cuda::Divider<Index>& stride, Index count) {
  const Signed moved = at + padding - tap * dilation;
  if (moved < 0) return -1;
  const Index window = stride.Divide(static_cast<Index>(moved));
  return window * stride.divisor == static_cast<Index>(moved) && window < count ? static_cast<Signed>(window)
                                                                                : Signed{-1};
}

template <typename T, typename Index>
__global__ void Col2ImKernel(const WindowWalk<Index> walk, Index numel, T* __restrict__ y, const T* __restrict__ x) {
  using W = Wide<T>;
  using Signed = typename WindowWalk<Index>::Signed;
  const Signed high = static_cast<Signed>(walk.down.divisor), wide = static_cast<Signed>(walk.across.divisor);
  const Index step = static_cast<Index>(cuda::StepOfThreads());
  for (Index i = static_cast<Index>(cuda::FirstOfThread()); i < numel; i += step) {
    Index plane = i;
    const Signed left = static_cast<Signed>(TakeAxis(&plane, walk.width));
    const Signed top = static_cast<Signed>(TakeAxis(&plane, walk.height));
    W sum{};
    for (Signed down = 0; down < high; ++down) {
      const Signed row = WindowAt(top, down, walk.padding[0], walk.dilation[0], walk.stride[0], walk.rows.divisor);
      if (row < 0) continue;
      for (Signed across = 0; across < wide; ++across) {
        const Signed column =
            WindowAt(left, across, walk.padding[1], walk.dilation[1], walk.stride[1], walk.columns.divisor);
        if (column < 0) continue;
        const Index element = (plane * walk.down.divisor + down) * walk.across.divisor + across;
        sum += static_cast<W>(x[(element * walk.rows.divisor + row) * walk.columns.divisor + column]);
      }
    }
    y[i] = static_cast<T>(sum);
  }
}

/// Columns are moved, not computed: what matters of a type is its size.
template <size_t kBytes>
struct BitsOf {
  struct alignas(16) type {
    uint64_t low, high;
  };
};
template <>
struct BitsOf<2> {
  using type = uint16_t;
};
template <>
struct BitsOf<4> {
  using type = uint32_t;
};
template <>
struct BitsOf<8> {
  using type = uint64_t;
};

/// 32 bits, where places outside of an image fit too.
bool Fits32(const View& y, const View& x, const WindowSpec& spec) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 2;
  int64_t reach = std::max(y.numel, x.numel);
  for (int i = 0; i < 2; ++i) reach += 2 * spec.padding[i] + spec.dilation[i] * spec.size[i];
  return reach <= kMost;
}

}  // namespace

template <typename T>
void Im2Col(Context& ctx, View y, View x, const WindowSpec& spec) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  if (y.numel == 0) return;
  const Windows windows(spec, x.dim(-2), x.dim(-1));
  const auto run = [&]<typename Index>(Index numel) {
    cuda::Launch("im2col", ctx, &Im2ColKernel<Bits, Index>, cuda::GridFor(y.numel), WindowWalk<Index>(windows), numel,
                 y.as<Bits>(), x.as<Bits>());
  };
  Fits32(y, x, spec) ? run(static_cast<uint32_t>(y.numel)) : run(y.numel);
}
DRAGON_KERNEL(Im2Col, Inexact);

template <typename T>
void Col2Im(Context& ctx, View y, View x, const WindowSpec& spec) {
  if (y.numel == 0) return;
  if (x.numel == 0) {
    CheckCuda(cudaMemsetAsync(y.data, 0, y.numel * sizeof(T), cuda::StreamOf(ctx)), "col2im");
    return;
  }
  const Windows windows(spec, y.dim(-2), y.dim(-1));
  const auto run = [&]<typename Index>(Index numel) {
    cuda::Launch("col2im", ctx, &Col2ImKernel<T, Index>, cuda::GridFor(y.numel), WindowWalk<Index>(windows), numel,
                 y.as<T>(), x.as<T>());
  };
  Fits32(y, x, spec) ? run(static_cast<uint32_t>(y.numel)) : run(y.numel);
}
DRAGON_KERNEL(Col2Im, Inexact);

}  // namespace dragon::DRAGON_DEVICE
