// Running sums, products and extremes on CUDA. Neighbouring columns are scanned by a thread each; rows by a warp or a
// block each, whose warps scan stretches that then meet; and few long rows in parts, whose totals are found before. Who
// meets whom depends on the sizes alone: results are the same in every run, which they are not where a block waits for
// what its predecessors have ready.
#include <algorithm>

#include "core/device/cuda/block.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/reduce_plan.h"
#include "core/kernels/reduction.h"
#include "core/kernels/reduction/scan.h"
#include "core/kernels/reduction/scan_cuda.h"

namespace dragon::DRAGON_DEVICE {

using kernels::RunningExtreme;
using kernels::RunningLogSum;
using kernels::RunningProd;
using kernels::RunningSum;

namespace {

/// A warp's lanes take kItems elements each in a round, 32 side by side.
constexpr int kItems = 4;
constexpr int64_t kRound = kRowThreads * kItems;
/// A row is cut until there are so many blocks, into parts of no fewer rounds than this.
constexpr int64_t kWantedBlocks = 264, kWantedWideBlocks = 1056, kLeastRounds = 4;

/// Lines of n elements, and where each begins.
struct Lines {
  ReduceAxis kept[kMaxDims];
  int count = 0;
  int64_t lines = 1, n, x_stride, y_stride, part;
  int parts = 1;

  /// Cut rows for blocks that take `round` elements at a time.
  void Cut(int64_t blocks, int64_t round) {
    const int64_t most = std::max<int64_t>(1, std::min(blocks / lines, n / (kLeastRounds * round)));
    part = ((n + most - 1) / most + round - 1) / round * round;
    parts = static_cast<int>((n + part - 1) / part);  // no part is empty
  }
  __device__ void At(int64_t line, int64_t* x, int64_t* y) const {
    *x = 0, *y = 0;
    for (int i = count - 1; i >= 0; --i) {
      const int64_t outer = i > 0 ? line / kept[i].size : 0, place = line - outer * kept[i].size;
      *x += place * kept[i].x;
      *y += place * kept[i].y;
      line = outer;
    }
  }
};

/// A thread for each line, with several loads on their way.
template <typename R>
__global__ void LineKernel(const __grid_constant__ Lines lines, const R scan, const typename R::Element* x) {
  for (int64_t line = cuda::FirstOfThread(); line < lines.lines; line += cuda::StepOfThreads()) {
    int64_t from, to;
    lines.At(line, &from, &to);
    const typename R::Element* at = x + from;
    typename R::State state = scan.First(at[0], 0);
    scan.Store(to, state);
    int64_t i = 1;
    for (; i + kItems <= lines.n; i += kItems) {
      typename R::Element elements[kItems];
#pragma unroll
      for (int k = 0; k < kItems; ++k) elements[k] = at[(i + k) * lines.x_stride];
#pragma unroll
      for (int k = 0; k < kItems; ++k) {
        state = scan.Step(state, elements[k], i + k);
        scan.Store(to + (i + k) * lines.y_stride, state);
      }
    }
    for (; i < lines.n; ++i) {
      state = scan.Step(state, at[i * lines.x_stride], i);
      scan.Store(to + i * lines.y_stride, state);
    }
  }
}

/// A scan of what may not be there: lanes beyond the end of a row hold nothing.
template <typename S>
struct Maybe {
  S state;
  int32_t is_there;
};

template <typename R, typename S>
__device__ __forceinline__ Maybe<S> Join(const R& scan, const Maybe<S>& early, const Maybe<S>& late) {
  if (!early.is_there) return late;
  return late.is_there ? Maybe<S>{scan.Join(early.state, late.state), 1} : early;
}

template <typename R, typename S>
__device__ __forceinline__ Maybe<S> WarpScan(const R& scan, Maybe<S> mine, int lane) {
#pragma unroll
  for (int distance = 1; distance < cuda::kWarpThreads; distance *= 2) {
    const Maybe<S> early = cuda::FromLaneAbove(mine, distance);
    if (lane >= distance) mine = Join(scan, early, mine);
  }
  return mine;
}

/// A block for each part of a row. `totals` has one state for each part: with kTotals they are written and nothing
/// else, otherwise (if given) each part goes on from those before.
template <typename R, bool kTotals>
__global__ void __launch_bounds__(kRowThreads) RowScanKernel(const __grid_constant__ Lines lines, const R scan,
                                                             const typename R::Element* x, typename R::State* totals) {
  using State = typename R::State;
  alignas(16) __shared__ unsigned char memory[kRowWarps * sizeof(Maybe<State>)];
  cuda::FillShared(memory);
  auto* warps = reinterpret_cast<Maybe<State>*>(memory);
  const int lane = threadIdx.x % cuda::kWarpThreads, warp = threadIdx.x / cuda::kWarpThreads;
  for (int64_t task = blockIdx.x; task < lines.lines * lines.parts; task += gridDim.x) {
    int64_t from, to;
    lines.At(task / lines.parts, &from, &to);
    const int part = static_cast<int>(task % lines.parts);
    const int64_t begin = part * lines.part, end = min(lines.n, begin + lines.part);
    Maybe<State> before{};
    if (!kTotals && part > 0) before = {JoinParts(scan, totals + task - part, part), 1};
    for (int64_t round = begin; round < end; round += kRound) {
      const int64_t first = round + warp * cuda::kWarpThreads * kItems + lane;
      typename R::Element elements[kItems];
#pragma unroll
      for (int k = 0; k < kItems; ++k) {
        const int64_t i = first + k * cuda::kWarpThreads;
        if (i < end) elements[k] = x[from + i * lines.x_stride];
      }
      Maybe<State> found[kItems], stretch{};
#pragma unroll
      for (int k = 0; k < kItems; ++k) {
        const int64_t i = first + k * cuda::kWarpThreads;
        Maybe<State> mine{};
        if (i < end) mine = {scan.First(elements[k], i), 1};
        found[k] = Join(scan, stretch, WarpScan(scan, mine, lane));
        stretch = cuda::FromLane(found[k], cuda::kWarpThreads - 1);
      }
      __syncthreads();  // the last round's totals have been read
      if (lane == 0) warps[warp] = stretch;
      __syncthreads();
      Maybe<State> early = before;
      for (int w = 0; w < kRowWarps; ++w) {
        if (w == warp) early = before;
        before = Join(scan, before, warps[w]);
      }
      if constexpr (!kTotals) {
#pragma unroll
        for (int k = 0; k < kItems; ++k) {
          const int64_t i = first + k * cuda::kWarpThreads;
          if (i < end) scan.Store(to + i * lines.y_stride, Join(scan, early, found[k]).state);
        }
      }
    }
    if (kTotals && threadIdx.x == 0) totals[task] = before.state;
  }
}

/// The same for rows that are read sixteen bytes at a time, by teams of kTeam warps: one, or all of the block, without
/// which there are no parts.
template <typename R, int kTeam>
__global__ void __launch_bounds__(kRowThreads)
    WideScanKernel(const __grid_constant__ Lines lines, const R scan, const typename R::Element* x,
                   typename R::State* totals, bool totals_only) {
  constexpr int kTeams = kRowWarps / kTeam;
  const int team = static_cast<int>(threadIdx.x) / (kTeam * cuda::kWarpThreads);
  const int64_t step = static_cast<int64_t>(gridDim.x) * kTeams;
  int buffer = 0;
  for (int64_t task = static_cast<int64_t>(blockIdx.x) * kTeams + team; task < lines.lines * lines.parts;
       task += step) {
    const int part = static_cast<int>(task % lines.parts);
    if (totals_only && part == lines.parts - 1) continue;  // nobody goes on from the last one
    int64_t from, to;
    lines.At(task / lines.parts, &from, &to);
    const int64_t begin = part * lines.part, end = min(lines.n, begin + lines.part);
    Before<typename R::State> before;
    if constexpr (kTeam > 1) {
      if (!totals_only && part > 0) before = {JoinParts(scan, totals + task - part, part), true};
    }
    ScanStretch<R, kTeam>(scan, x + from, to, begin, end, totals_only, &buffer, &before);
    if (totals_only && threadIdx.x == 0) totals[task] = before.state;
  }
}

/// Whether every row of x and y begins at a multiple of sixteen bytes, and has no gaps.
template <typename R>
bool TakesWide(const Lines& lines, const R& scan, const typename R::Element* x) {
  constexpr int64_t kSize = sizeof(typename R::Element);
  const auto is_whole = [](const void* address) { return reinterpret_cast<uintptr_t>(address) % 16 == 0; };
  if (lines.x_stride != 1 || lines.y_stride != 1 || !is_whole(x) || !is_whole(scan.y)) return false;
  if constexpr (requires { scan.place; }) {
    if (!is_whole(scan.place)) return false;
  }
  return std::all_of(lines.kept, lines.kept + lines.count,
                     [](const ReduceAxis& axis) { return axis.x * kSize % 16 == 0 && axis.y * kSize % 16 == 0; });
}

template <typename R>
void LaunchWideScan(const Context& ctx, Lines& lines, const R& scan, const typename R::Element* x) {
  using State = typename R::State;
  constexpr int64_t kWideRound = kRowThreads * kHeld<typename R::Element>, kMostBlocks = int64_t{1} << 20;
  if (lines.n <= kWideRound / 2 && lines.lines >= kWantedBlocks) {
    lines.part = lines.n;
    const cuda::Grid grid{cuda::GridFor(lines.lines, kRowWarps, kMostBlocks).blocks, dim3(kRowThreads)};
    return cuda::Launch("scan", ctx, &WideScanKernel<R, 1>, grid, lines, scan, x, static_cast<State*>(nullptr), false);
  }
  lines.Cut(kWantedWideBlocks, kWideRound);
  const int64_t tasks = lines.lines * lines.parts;
  const cuda::Grid grid{cuda::GridFor(tasks, 1, kMostBlocks).blocks, dim3(kRowThreads)};
  const Scratch room = ctx.Allocate<State>(lines.parts > 1 ? tasks : 0);
  auto* const totals = room.template as<State>();
  auto* const kernel = &WideScanKernel<R, kRowWarps>;
  if (lines.parts > 1) cuda::Launch("scan", ctx, kernel, grid, lines, scan, x, totals, true);
  cuda::Launch("scan", ctx, kernel, grid, lines, scan, x, totals, false);
}

template <typename R>
void LaunchScan(const Context& ctx, Lines& lines, const R& scan, const typename R::Element* x) {
  using State = typename R::State;
  const ReduceAxis* last = lines.count ? &lines.kept[lines.count - 1] : nullptr;
  const bool columns = last && last->x == 1 && lines.x_stride != 1 && last->size >= cuda::kWarpThreads / 2;
  if (lines.n < 2 * cuda::kWarpThreads || (columns && (lines.lines >= 8192 || lines.n < kRound))) {
    cuda::Launch("scan", ctx, &LineKernel<R>, cuda::GridFor(lines.lines, 64), lines, scan, x);
    return;
  }
  if (TakesWide(lines, scan, x)) return LaunchWideScan(ctx, lines, scan, x);
  lines.Cut(kWantedBlocks, kRound);
  const int64_t tasks = lines.lines * lines.parts;
  const cuda::Grid grid{cuda::GridFor(tasks, 1, int64_t{1} << 20).blocks, dim3(kRowThreads)};
  const Scratch room = ctx.Allocate<State>(lines.parts > 1 ? tasks : 0);
  auto* const totals = room.template as<State>();
  if (lines.parts > 1) cuda::Launch("scan", ctx, &RowScanKernel<R, true>, grid, lines, scan, x, totals);
  cuda::Launch("scan", ctx, &RowScanKernel<R, false>, grid, lines, scan, x, totals);
}

/// Scan along `axis`; every output has y's strides.
template <typename R>
void Scan(const Context& ctx, View y, View x, int axis, const R& scan) {
  if (x.numel == 0) return;
  Lines lines;
  lines.n = x.ndim ? x.shape[axis] : 1;
  lines.x_stride = x.ndim ? x.strides[axis] : 1, lines.y_stride = x.ndim ? y.strides[axis] : 1;
  lines.lines = x.numel / lines.n, lines.part = lines.n;
  for (int i = 0; i < x.ndim; ++i) {
    if (i != axis && x.shape[i] != 1) lines.kept[lines.count++] = {x.shape[i], x.strides[i], y.strides[i]};
  }
  reduce_detail::SortByStride(lines.kept, lines.count);
  lines.count = reduce_detail::Merge(lines.kept, lines.count);
  LaunchScan(ctx, lines, scan, x.as<const typename R::Element>());
}

template <template <typename> class R, typename T>
void ScanNumbers(Context& ctx, View y, View x, int axis) {
  Scan(ctx, y, x, axis, R<T>{{y.as<T>()}});
}
template <typename T, bool kMax>
void ScanExtremes(Context& ctx, View y, View index, View x, int axis) {
  Scan(ctx, y, x, axis, RunningExtreme<T, kMax>{y.as<T>(), index.as<int64_t>()});
}

const bool entered[] = {
    kernels::Enter(kernels::CumSum, Numeric{}, []<typename T>(TypeTag<T>) { return &ScanNumbers<RunningSum, T>; }),
    kernels::Enter(kernels::CumProd, Numeric{}, []<typename T>(TypeTag<T>) { return &ScanNumbers<RunningProd, T>; }),
    kernels::Enter(kernels::LogCumSumExp, Floating{},
                   []<typename T>(TypeTag<T>) { return &ScanNumbers<RunningLogSum, T>; }),
    kernels::Enter(kernels::CumMax, RealAndBool{}, []<typename T>(TypeTag<T>) { return &ScanExtremes<T, true>; }),
    kernels::Enter(kernels::CumMin, RealAndBool{}, []<typename T>(TypeTag<T>) { return &ScanExtremes<T, false>; }),
};

/// y[k] = b[k] + a[k] y[k - 1], whose state is the map y -> term + factor * y that a stretch makes.
template <typename T>
struct RunningMap {
  struct Element {
    T factor, term;
  };
  struct State {
    Accumulator<T> factor, term;
  };
  T* y;
  __device__ State First(Element x, int64_t) const {
    return {static_cast<Accumulator<T>>(x.factor), static_cast<Accumulator<T>>(x.term)};
  }
  __device__ State Join(State s, State later) const {
    return {s.factor * later.factor, later.term + later.factor * s.term};
  }
};

/// A thread for each line: lines are the channels and states of a model, of which there are many.
template <typename T>
struct LinearLine {
  T* y;
  const T *a, *b;
  int64_t n, inner;
  __device__ void operator()(int64_t line) const {
    using A = Accumulator<T>;
    int64_t at = line / inner * n * inner + line % inner, k = 0;
    A state = A(0);
    for (; k + kItems <= n; k += kItems, at += kItems * inner) {
      T factor[kItems], term[kItems];
#pragma unroll
      for (int i = 0; i < kItems; ++i) factor[i] = a[at + i * inner], term[i] = b[at + i * inner];
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        state = static_cast<A>(term[i]) + static_cast<A>(factor[i]) * state;
        y[at + i * inner] = static_cast<T>(state);
      }
    }
    for (; k < n; ++k, at += inner) {
      state = static_cast<A>(b[at]) + static_cast<A>(a[at]) * state;
      y[at] = static_cast<T>(state);
    }
  }
};

/// A warp for each line that runs through memory without gaps.
template <typename T>
__global__ void LinearRowKernel(const RunningMap<T> scan, const T* a, const T* b, int64_t rows, int64_t n) {
  using State = typename RunningMap<T>::State;
  const int lane = threadIdx.x % cuda::kWarpThreads, warp = threadIdx.x / cuda::kWarpThreads;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kRowWarps;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * kRowWarps + warp; row < rows; row += step) {
    Accumulator<T> before(0);
    for (int64_t k = lane; k - lane < n; k += cuda::kWarpThreads) {
      const int64_t at = row * n + k;
      State mine{Accumulator<T>(1), Accumulator<T>(0)};
      if (k < n) mine = scan.First({a[at], b[at]}, k);
#pragma unroll
      for (int distance = 1; distance < cuda::kWarpThreads; distance *= 2) {
        const State early = cuda::FromLaneAbove(mine, distance);
        if (lane >= distance) mine = scan.Join(early, mine);
      }
      // The first place of a line does not ask what a factor makes of 0: it may be infinite.
      const Accumulator<T> value = k - lane == 0 ? mine.term : mine.term + mine.factor * before;
      if (k < n) scan.y[at] = static_cast<T>(value);
      before = cuda::FromLane(value, cuda::kWarpThreads - 1);
    }
  }
}

template <typename F>
__global__ void LinearKernel(const F f, int64_t n) {
  for (int64_t i = cuda::FirstOfThread(); i < n; i += cuda::StepOfThreads()) f(i);
}

}  // namespace

template <typename T>
void LinearScan(Context& ctx, View y, View a, View b, int axis) {
  if (y.numel == 0) return;
  int64_t outer = 1, n = 1, inner = 1;
  for (int i = 0; i < y.ndim; ++i) (i < axis ? outer : i == axis ? n : inner) *= y.shape[i];
  const T *factor = a.as<const T>(), *term = b.as<const T>();
  if (inner == 1 && n >= cuda::kWarpThreads) {
    const cuda::Grid grid{cuda::GridFor(outer, kRowWarps).blocks, dim3(kRowThreads)};
    cuda::Launch("linear_scan", ctx, &LinearRowKernel<T>, grid, RunningMap<T>{y.as<T>()}, factor, term, outer, n);
    return;
  }
  cuda::Launch("linear_scan", ctx, &LinearKernel<LinearLine<T>>, cuda::GridFor(outer * inner, 64),
               LinearLine<T>{y.as<T>(), factor, term, n, inner}, outer * inner);
}
DRAGON_KERNEL(LinearScan, Inexact);

}  // namespace dragon::DRAGON_DEVICE
