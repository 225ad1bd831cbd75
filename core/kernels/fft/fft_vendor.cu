// Fourier transforms by cuFFT: of up to three neighbouring axes at a time. Axes that others lie behind are transformed
// where they are, a call for each place of the axes before; where these are many, the axes are moved to the end and
// back.
#include "core/device/cuda/block.h"
#include "core/kernels/fft.h"
#include "core/kernels/fft/plans_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using cuda::cufft::Numbers;

constexpr int kTile = 32, kTileRows = 8;
/// So many calls for the places of the axes before are cheaper than moving all elements twice.
constexpr int64_t kFewCalls = 16;

/// y (outer, columns, rows) = x (outer, rows, columns), by tiles.
template <typename T>
__global__ void TurnKernel(T* __restrict__ y, const T* __restrict__ x, int64_t outer, int64_t rows, int64_t columns) {
  alignas(16) __shared__ unsigned char memory[kTile * (kTile + 1) * sizeof(T)];
  cuda::FillShared(memory);
  T* const tile = reinterpret_cast<T*>(memory);
  const int64_t wide = (columns + kTile - 1) / kTile, high = (rows + kTile - 1) / kTile;
  for (int64_t t = blockIdx.x; t < outer * high * wide; t += gridDim.x) {
    const int64_t plane = t / (high * wide), top = t / wide % high * kTile, left = t % wide * kTile;
    const int64_t start = plane * rows * columns;
    __syncthreads();
    for (int i = threadIdx.y; i < kTile; i += kTileRows) {
      const int64_t row = top + i, column = left + threadIdx.x;
      if (row < rows && column < columns) tile[i * (kTile + 1) + threadIdx.x] = x[start + row * columns + column];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < kTile; i += kTileRows) {
      const int64_t column = left + i, row = top + threadIdx.x;
      if (row < rows && column < columns) y[start + column * rows + row] = tile[threadIdx.x * (kTile + 1) + i];
    }
  }
}

template <typename T>
void Turn(const Context& ctx, T* y, const T* x, int64_t outer, int64_t rows, int64_t columns) {
  const int64_t tiles = outer * ((rows + kTile - 1) / kTile) * ((columns + kTile - 1) / kTile);
  const cuda::Grid grid{dim3(static_cast<unsigned>(std::min<int64_t>(tiles, 1 << 20))), dim3(kTile, kTileRows)};
  cuda::Launch("fft", ctx, &TurnKernel<T>, grid, y, x, outer, rows, columns);
}

template <typename T>
__global__ void ScaleKernel(Complex<T>* y, const Complex<T>* x, int64_t numel, T scale, T imaginary) {
  for (int64_t i = cuda::FirstOfThread(); i < numel; i += cuda::StepOfThreads()) {
    const Complex<T> value = x[i];
    y[i] = {value.re * scale, value.im * imaginary};
  }
}

/// Half a spectrum (outer, half, inner) of an axis of n reals, scaled; the imaginary parts of the elements that are
/// their own mirror images have no meaning.
template <typename T>
__global__ void HalfKernel(Complex<T>* __restrict__ y, const Complex<T>* __restrict__ x, int64_t numel, int64_t half,
                           int64_t inner, bool even, T scale, T imaginary) {
  for (int64_t i = cuda::FirstOfThread(); i < numel; i += cuda::StepOfThreads()) {
    const int64_t k = i / inner % half;
    const Complex<T> value = x[i];
    const bool own = k == 0 || (even && k == half - 1);
    y[i] = {value.re * scale, own ? T(0) : value.im * imaginary};
  }
}

template <typename T>
constexpr Numbers NumbersOf() {
  if constexpr (std::is_same_v<T, float>) return Numbers::kFloat;
  if constexpr (std::is_same_v<T, double>) return Numbers::kDouble;
  return std::is_same_v<T, complex64> ? Numbers::kComplexFloat : Numbers::kComplexDouble;
}

/// Neighbouring axes [first, last] of arrays (outer, axes, inner), which differ in the size of the last if in any.
struct FftAxes {
  int64_t outer = 1, inner = 1, in = 1, out = 1;  ///< elements of the axes in x and in y
  FftLayout layout;

  FftAxes(const View& y, const View& x, int64_t first, int64_t last) {
    for (int64_t i = 0; i < first; ++i) outer *= x.shape[i];
    for (int64_t i = last + 1; i < x.ndim; ++i) inner *= x.shape[i];
    layout.rank = static_cast<int>(last - first + 1);
    for (int64_t i = first; i <= last; ++i) {
      layout.in[i - first] = x.shape[i], layout.out[i - first] = y.shape[i];
      layout.n[i - first] = std::max(x.shape[i], y.shape[i]);  // of a spectrum and its reals, these are more
      in *= x.shape[i], out *= y.shape[i];
    }
  }
};

template <typename Out, typename In>
void RunAxes(const Context& ctx, FftAxes axes, Out* y, In* x, bool forward) {
  FftLayout& layout = axes.layout;
  layout.from = NumbersOf<In>(), layout.to = NumbersOf<Out>(), layout.device = ctx.device.index;
  if (axes.inner == 1) {
    layout.in_distance = axes.in, layout.out_distance = axes.out, layout.batch = axes.outer;
    return FftPlans::Get().Run(ctx, layout, y, x, forward);
  }
  // cuFFT takes reals at addresses of complex numbers only, which each of several calls would have to begin at.
  const bool begins_anywhere =
      sizeof(In) != sizeof(Out) && axes.outer > 1 && (axes.in * axes.inner % 2 || axes.out * axes.inner % 2);
  if (axes.outer <= kFewCalls && !begins_anywhere) {
    layout.stride = axes.inner, layout.in_distance = layout.out_distance = 1, layout.batch = axes.inner;
    for (int64_t i = 0; i < axes.outer; ++i) {
      FftPlans::Get().Run(ctx, layout, y + i * axes.out * axes.inner, x + i * axes.in * axes.inner, forward);
    }
    return;
  }
  const Scratch from = ctx.Allocate<In>(axes.outer * axes.in * axes.inner);
  const Scratch to = ctx.Allocate<Out>(axes.outer * axes.out * axes.inner);
  Turn<In>(ctx, from.template as<In>(), x, axes.outer, axes.in, axes.inner);
  layout.in_distance = axes.in, layout.out_distance = axes.out, layout.batch = axes.outer * axes.inner;
  FftPlans::Get().Run(ctx, layout, to.template as<Out>(), from.data(), forward);
  Turn<Out>(ctx, y, to.template as<Out>(), axes.outer, axes.inner, axes.out);
}

/// y = x scaled, conjugated if asked for.
template <typename T>
void Scale(const Context& ctx, Complex<T>* y, const Complex<T>* x, int64_t numel, double scale, bool conjugate) {
  const T factor = static_cast<T>(scale);
  cuda::Launch("fft", ctx, &ScaleKernel<T>, cuda::GridFor(numel), y, x, numel, factor, conjugate ? -factor : factor);
}

}  // namespace

template <typename C>
void FftC2C(Context& ctx, View y, View x, const Dims& axes, bool forward, double scale) {
  if (y.numel == 0) return;
  Dims sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  C* const to = y.as<C>();
  C* from = x.as<C>();  // which is not written
  for (int last = sorted.size() - 1; last >= 0;) {
    int first = last;
    while (first > 0 && last - first < 2 && sorted[first - 1] == sorted[first] - 1) --first;
    RunAxes<C, C>(ctx, FftAxes(y, y, sorted[first], sorted[last]), to, from, forward);
    from = to, last = first - 1;
  }
  if (scale != 1 || from != to) Scale<RealOf<C>>(ctx, to, from, y.numel, scale, /*conjugate=*/false);
}
DRAGON_KERNEL(FftC2C, Complexes);

template <typename C>
void FftR2C(Context& ctx, View y, View x, int64_t axis, bool forward, double scale) {
  using T = RealOf<C>;
  if (y.numel == 0) return;
  // cuFFT reads pairs of reals.
  const bool aligned = reinterpret_cast<uintptr_t>(x.data) % sizeof(C) == 0;
  const Scratch copy = ctx.Allocate<T>(aligned ? 0 : x.numel);
  if (!aligned) {
    CheckCuda(cudaMemcpyAsync(copy.data(), x.data, x.numel * sizeof(T), cudaMemcpyDeviceToDevice, cuda::StreamOf(ctx)),
              "fft");
  }
  RunAxes<C, T>(ctx, FftAxes(y, x, axis, axis), y.as<C>(), aligned ? x.as<T>() : copy.template as<T>(),
                /*forward=*/true);
  if (scale != 1 || !forward) Scale<T>(ctx, y.as<C>(), y.as<C>(), y.numel, scale, /*conjugate=*/!forward);
}
DRAGON_KERNEL(FftR2C, Complexes);

template <typename C>
void FftC2R(Context& ctx, View y, View x, int64_t axis, bool forward, double scale) {
  using T = RealOf<C>;
  if (y.numel == 0) return;
  // A copy, as cuFFT may write into what it reads; so the scale costs nothing.
  const Scratch half = ctx.Allocate<C>(x.numel);
  const FftAxes axes(y, x, axis, axis);
  const T factor = static_cast<T>(scale);
  cuda::Launch("fft", ctx, &HalfKernel<T>, cuda::GridFor(x.numel), half.template as<C>(), x.as<const C>(), x.numel,
               x.shape[axis], axes.inner, y.shape[axis] % 2 == 0, factor, forward ? -factor : factor);
  RunAxes<T, C>(ctx, axes, y.as<T>(), half.template as<C>(), /*forward=*/false);
}
DRAGON_KERNEL(FftC2R, Complexes);

}  // namespace dragon::DRAGON_DEVICE
