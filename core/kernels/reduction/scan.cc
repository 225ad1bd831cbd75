// Running sums, products and extremes along one axis.
#include "core/kernels/reduction/scan.h"

#include <algorithm>

#include "core/device/parallel.h"
#include "core/kernels/reduce_plan.h"
#include "core/kernels/reduction.h"

namespace dragon::DRAGON_DEVICE {

using kernels::RunningExtreme;
using kernels::RunningLogSum;
using kernels::RunningProd;
using kernels::RunningSum;

namespace {

template <typename R>
void ScanRow(const R& scan, const typename R::Element* x, int64_t x_stride, int64_t y, int64_t y_stride, int64_t n) {
  auto state = scan.First(x[0], 0);
  scan.Store(y, state);
  for (int64_t i = 1; i < n; ++i) {
    state = scan.Step(state, x[i * x_stride], i);
    scan.Store(y + i * y_stride, state);
  }
}

/// Scan `cols` neighbouring columns at once: every row of the input is read in a piece.
template <typename R>
void ScanColumns(const R& scan, const typename R::Element* x, int64_t x_stride, int64_t y, int64_t y_stride, int64_t n,
                 int64_t cols) {
  typename R::State state[256];
  for (int64_t j = 0; j < cols; ++j) state[j] = scan.First(x[j], 0), scan.Store(y + j, state[j]);
  for (int64_t i = 1; i < n; ++i) {
    const auto* row = x + i * x_stride;
    const int64_t at = y + i * y_stride;
    for (int64_t j = 0; j < cols; ++j) {
      state[j] = scan.Step(state[j], row[j], i);
      scan.Store(at + j, state[j]);
    }
  }
}

/// Scan along `axis`; every output has y's strides.
template <typename R>
void Scan(View y, View x, int axis, const R& scan) {
  if (x.numel == 0) return;
  const auto* data = x.as<const typename R::Element>();
  if (x.ndim == 0) return scan.Store(0, scan.First(data[0], 0));
  const int64_t n = x.shape[axis], x_stride = x.strides[axis], y_stride = y.strides[axis];
  ReducePlan plan;
  for (int i = 0; i < x.ndim; ++i) {
    if (i != axis && x.shape[i] != 1) plan.kept[plan.kept_count++] = {x.shape[i], x.strides[i], y.strides[i]};
  }
  reduce_detail::SortByStride(plan.kept, plan.kept_count);
  plan.kept_count = reduce_detail::Merge(plan.kept, plan.kept_count);
  const ReduceAxis* last = plan.kept_count ? &plan.kept[plan.kept_count - 1] : nullptr;
  if (last && last->x == 1 && last->y == 1 && x_stride != 1) {
    constexpr int64_t kTile = 256;
    const int64_t width = last->size, tiles = (width + kTile - 1) / kTile;
    ParallelFor(x.numel / n / width * tiles, std::max<int64_t>(1, kGrain / (n * kTile)),
                [&](int64_t begin, int64_t end) {
                  ReduceWalker at(plan.kept, plan.kept_count - 1, begin / tiles);
                  for (int64_t task = begin; task < end; ++task) {
                    const int64_t first = task % tiles * kTile, cols = std::min(kTile, width - first);
                    ScanColumns(scan, data + at.x + first, x_stride, at.y + first, y_stride, n, cols);
                    if (first + cols == width) at.Next();
                  }
                });
    return;
  }
  ParallelFor(x.numel / n, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    ReduceWalker at(plan.kept, plan.kept_count, begin);
    for (int64_t row = begin; row < end; ++row, at.Next()) ScanRow(scan, data + at.x, x_stride, at.y, y_stride, n);
  });
}

template <template <typename> class R, typename T>
void ScanNumbers(Context&, View y, View x, int axis) {
  Scan(y, x, axis, R<T>{{y.as<T>()}});
}
template <typename T, bool kMax>
void ScanExtremes(Context&, View y, View index, View x, int axis) {
  Scan(y, x, axis, RunningExtreme<T, kMax>{y.as<T>(), index.as<int64_t>()});
}

const bool entered[] = {
    kernels::Enter(kernels::CumSum, Numeric{}, []<typename T>(TypeTag<T>) { return &ScanNumbers<RunningSum, T>; }),
    kernels::Enter(kernels::CumProd, Numeric{}, []<typename T>(TypeTag<T>) { return &ScanNumbers<RunningProd, T>; }),
    kernels::Enter(kernels::LogCumSumExp, Floating{},
                   []<typename T>(TypeTag<T>) { return &ScanNumbers<RunningLogSum, T>; }),
    kernels::Enter(kernels::CumMax, RealAndBool{}, []<typename T>(TypeTag<T>) { return &ScanExtremes<T, true>; }),
    kernels::Enter(kernels::CumMin, RealAndBool{}, []<typename T>(TypeTag<T>) { return &ScanExtremes<T, false>; }),
};

}  // namespace

template <typename T>
void LinearScan(Context& ctx, View y, View a, View b, int axis) {
  using A = Accumulator<T>;
  if (y.numel == 0) return;
  int64_t outer = 1, n = 1, inner = 1;
  for (int i = 0; i < y.ndim; ++i) (i < axis ? outer : i == axis ? n : inner) *= y.shape[i];
  const T *factor = a.as<const T>(), *term = b.as<const T>();
  T* out = y.as<T>();
  ParallelFor(outer * inner, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t at = line / inner * n * inner + line % inner;
      A state = A(0);
      for (int64_t k = 0; k < n; ++k, at += inner) {
        state = static_cast<A>(term[at]) + static_cast<A>(factor[at]) * state;
        out[at] = static_cast<T>(state);
      }
    }
  });
}
DRAGON_KERNEL(LinearScan, Inexact);

}  // namespace dragon::DRAGON_DEVICE
