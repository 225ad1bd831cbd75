// Numbers from nothing: ramps, evenly spaced points, and the triangles of matrices.
#include "core/kernels/array.h"
#include "core/kernels/cast.h"
#include "core/kernels/each.h"
#include "core/kernels/libm.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
struct RampOf {
  T* y;
  kernels::RampPoint start, step;
  DRAGON_FN void operator()(int64_t i) const {
    if constexpr (std::is_integral_v<T>) {
      y[i] = static_cast<T>(static_cast<uint64_t>(start.integer) +
                            static_cast<uint64_t>(i) * static_cast<uint64_t>(step.integer));
    } else {
      y[i] = Cast<T>(start.real + static_cast<double>(i) * step.real);
    }
  }
};
template <typename T>
void Ramp(Context& ctx, View y, kernels::RampPoint start, kernels::RampPoint step) {
  ForEach(ctx, y.numel, 2, RampOf<T>{y.as<T>(), start, step});
}
DRAGON_KERNEL(Ramp, AllTypes);

/// Counted from the nearer end, so that both ends are exact.
template <typename T>
struct LinspaceOf {
  T* y;
  complex128 start, stop, step;
  int64_t last;
  DRAGON_FN void operator()(int64_t i) const {
    const bool from_start = i <= last / 2;
    const auto steps = static_cast<double>(from_start ? i : last - i);
    if constexpr (kIsComplex<T>) {
      const complex128 far = complex128(steps * step.re, steps * step.im);
      y[i] = Cast<T>(from_start ? start + far : stop - far);
    } else {
      y[i] = Cast<T>(from_start ? start.re + steps * step.re : stop.re - steps * step.re);
    }
  }
};
/// The same in the dtype itself, each number rounded once: PyTorch's to the bit.
template <typename T>
struct LinspaceFused {
  T* y;
  T start, stop, step;
  int64_t count;
  DRAGON_FN void operator()(int64_t i) const {
    y[i] =
        i < count / 2 ? std::fma(step, static_cast<T>(i), start) : std::fma(-step, static_cast<T>(count - 1 - i), stop);
  }
};
template <typename T>
void Linspace(Context& ctx, View y, complex128 start, complex128 stop) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    const T first = static_cast<T>(start.re), last = static_cast<T>(stop.re);
    const T step = y.numel > 1 ? (last - first) / static_cast<T>(y.numel - 1) : T(0);
    // A single number is the first.
    return ForEach(ctx, y.numel, 4, LinspaceFused<T>{y.as<T>(), first, y.numel > 1 ? last : first, step, y.numel});
  }
  const auto gaps = static_cast<double>(y.numel - 1);
  const complex128 step = y.numel > 1 ? complex128((stop.re - start.re) / gaps, (stop.im - start.im) / gaps) : 0;
  ForEach(ctx, y.numel, 4, LinspaceOf<T>{y.as<T>(), start, stop, step, y.numel - 1});
}
DRAGON_KERNEL(Linspace, AllTypes);

template <typename T>
struct LogspaceOf {
  T* y;
  double start, stop, step, base;
  int64_t last;
  DRAGON_FN void operator()(int64_t i) const {
    const double exponent =
        i <= last / 2 ? start + static_cast<double>(i) * step : stop - static_cast<double>(last - i) * step;
    y[i] = Cast<T>(libm::Pow(base, exponent));
  }
};
template <typename T>
void Logspace(Context& ctx, View y, double start, double stop, double base) {
  const double step = y.numel > 1 ? (stop - start) / static_cast<double>(y.numel - 1) : 0;
  ForEach(ctx, y.numel, 16, LogspaceOf<T>{y.as<T>(), start, stop, step, base, y.numel - 1});
}
DRAGON_KERNEL(Logspace, Numeric);

template <typename T>
struct KeepTriangleOf {
  T* y;
  int64_t rows, columns, diagonal;
  bool upper;
  /// Clear one row: from the diagonal's column to the end, or from the start to before it.
  DRAGON_FN void operator()(int64_t row) const {
    const int64_t first = row % rows + diagonal + (upper ? 0 : 1);
    const int64_t edge = first < 0 ? 0 : first > columns ? columns : first;
    T* line = y + row * columns;
    for (int64_t column = upper ? 0 : edge; column < (upper ? edge : columns); ++column) line[column] = T(0);
  }
};
template <typename T>
void KeepTriangle(Context& ctx, View y, int64_t diagonal, bool upper) {
  if (y.numel == 0) return;
  const int64_t rows = y.dim(-2), columns = y.dim(-1);
  // Beyond the matrix every diagonal is alike; near the ends of int64 the sum with a row would overflow.
  const int64_t clipped = std::max(-rows - 1, std::min(diagonal, columns + 1));
  ForEach(ctx, y.numel / columns, columns, KeepTriangleOf<T>{y.as<T>(), rows, columns, clipped, upper});
}
DRAGON_KERNEL(KeepTriangle, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
