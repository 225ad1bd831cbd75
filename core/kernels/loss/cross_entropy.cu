// Cross entropy and negative log-likelihood on CUDA. The logits are read once; no softmax is ever stored.
//
// Nobody can throw on a device, and asking it for errors would stall every step: a target out of range makes the loss
// at its place NaN, and the gradients of that place too.
#include "core/device/cuda/divide.h"
#include "core/kernels/loss.h"
#include "core/kernels/rows_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using rows::Exp;

template <typename A>
__device__ __forceinline__ A Nan() {
  return std::numeric_limits<A>::quiet_NaN();
}

/// What one call is about: geometry, targets and weights.
template <typename T>
struct Problem {
  using A = Accumulator<T>;
  int64_t outer, classes, inner;
  const int64_t* target;
  const T* weight;
  int64_t ignore;
  A own, share;  // factors of the target's term and of every class' term

  Problem(View x, View the_target, View the_weight, int64_t the_ignore, double smoothing)
      : outer(x.shape[0]),
        classes(x.shape[1]),
        inner(x.shape[2]),
        target(the_target.as<const int64_t>()),
        weight(the_weight ? the_weight.as<const T>() : nullptr),
        ignore(the_ignore),
        own(static_cast<A>(1 - smoothing)),
        share(static_cast<A>(smoothing / static_cast<double>(std::max<int64_t>(classes, 1)))) {}
  __device__ __forceinline__ A Weight(int64_t c) const { return weight ? static_cast<A>(weight[c]) : A(1); }
  __device__ __forceinline__ bool Has(int64_t t) const { return t >= 0 && t < classes; }
  /// The loss at a place whose class 0 is at x, given the smoothing's sum over all classes.
  __device__ __forceinline__ A Loss(const T* x, int64_t t, A lse, A smooth) const {
    if (t == ignore) return A(0);
    if (!Has(t)) return Nan<A>();
    const A loss = own * Weight(t) * (lse - static_cast<A>(x[t * inner]));
    return share == A(0) ? loss : loss + share * smooth;
  }
};

template <typename T, int kWidth, bool kByBlock>
__global__ void __launch_bounds__(kByBlock ? rows::kLongBlock : rows::kWarpBlock)
    CrossEntropyRows(T* loss, Accumulator<T>* sums, const T* x, const Problem<T> p) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<kByBlock>();
  for (int64_t row = place.row; row < p.outer; row += place.step) {
    const T* line = x + row * p.classes;
    const A lse =
        rows::Share<kByBlock>(rows::RunningOfRow<T, kWidth>(line, p.classes, place), rows::MeetRunning{}).LogSum();
    A smooth = A(0);
    if (p.share != A(0)) {
      smooth = rows::SumOfRow<A, T, kWidth>(line, p.classes, place,
                                            [&](A value, int64_t c) { return p.Weight(c) * (lse - value); });
      smooth = rows::Share<kByBlock>(smooth, rows::SumOf{});
    }
    if (place.thread > 0) continue;
    sums[row] = lse;
    loss[row] = static_cast<T>(p.Loss(line, p.target[row], lse, smooth));
  }
}

template <typename T>
__global__ void CrossEntropyColumns(T* loss, Accumulator<T>* sums, const T* x, const Problem<T> p) {
  using A = Accumulator<T>;
  const int64_t lines = p.outer * p.inner;
  for (int64_t block = blockIdx.x; block * blockDim.x < lines; block += gridDim.x) {
    const rows::Column column = rows::ColumnOf(block, lines, p.classes, p.inner);
    const T* line = x + column.base;
    rows::Running<A> running;
    if (column.inside) running = rows::RunningOfColumn(line, p.classes, p.inner);
    const A lse = rows::ShareColumn(running, rows::MeetRunning{}).LogSum();
    A smooth = A(0);
    if (p.share != A(0)) {
      for (int64_t c = threadIdx.y; column.inside && c < p.classes; c += blockDim.y) {
        smooth += p.Weight(c) * (lse - static_cast<A>(line[c * p.inner]));
      }
      smooth = rows::ShareColumn(smooth, rows::SumOf{});
    }
    if (!column.inside || threadIdx.y > 0) continue;
    sums[column.line] = lse;
    loss[column.line] = static_cast<T>(p.Loss(line, p.target[column.line], lse, smooth));
  }
}

/// The sum of all weights, by one block.
template <typename T>
__global__ void WeightSum(Accumulator<T>* sum, const T* weight, int64_t classes) {
  using A = Accumulator<T>;
  A mine = A(0);
  for (int64_t c = threadIdx.x; c < classes; c += blockDim.x) mine += static_cast<A>(weight[c]);
  mine = cuda::BlockReduce(mine, rows::SumOf{});
  if (threadIdx.x == 0) *sum = mine;
}

/// What the slopes of a place are made of: a exp(x - lse) - share w[c], less the target's own term.
template <typename T>
struct PlaceSlope {
  using A = Accumulator<T>;
  A a, own, share, lse;
  int64_t target;

  __device__ __forceinline__ PlaceSlope(const Problem<T>& p, const T* dy, const A* sums, A total_weight, int64_t place)
      : a(0), own(0), share(0), lse(sums[place]), target(p.target[place]) {
    if (target == p.ignore) return;
    const A slope = static_cast<A>(dy[place]);
    own = p.Has(target) ? slope * p.own * p.Weight(target) : Nan<A>();
    share = slope * p.share;
    a = p.share == A(0) ? own : own + share * total_weight;
  }
  __device__ __forceinline__ A At(const Problem<T>& p, A x, int64_t c) const {
    if (target == p.ignore) return A(0);
    A slope = a * Exp(x - lse);
    if (c == target) slope -= own;
    return p.share == A(0) ? slope : slope - share * p.Weight(c);
  }
};

/// `total` is the sum of all weights, if there are any.
template <typename T, int kWidth, typename Index>
__global__ void CrossEntropySlopes(T* dx, const T* dy, const Accumulator<T>* sums, const T* x, const Problem<T> p,
                                   const Accumulator<T>* total, Index count, const cuda::Divider<Index> by_inner,
                                   const cuda::Divider<Index> by_classes) {
  using A = Accumulator<T>;
  const A total_weight = total ? *total : static_cast<A>(p.classes);
  const bool rows_of_classes = by_inner.divisor == 1;
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    // A pack has neighbouring classes of one place, or one class of neighbouring places.
    const Index first = i * kWidth, line = by_inner.Divide(first), outer = by_classes.Divide(line);
    const int64_t c = line - outer * by_classes.divisor;
    const int64_t place = static_cast<int64_t>(outer) * p.inner + (first - line * by_inner.divisor);
    const auto logits = rows::LoadPack<T, kWidth>(x + first);
    PlaceSlope<T> of_place(p, dy, sums, total_weight, place);
    A slopes[kWidth];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      if (j > 0 && !rows_of_classes) of_place = PlaceSlope<T>(p, dy, sums, total_weight, place + j);
      slopes[j] = of_place.At(p, static_cast<A>(logits.at[j]), rows_of_classes ? c + j : c);
    }
    rows::StorePack<T, kWidth>(dx + first, slopes);
  }
}

template <typename T, int kWidth, typename Index>
void LaunchSlopes(Context& ctx, T* dx, const T* dy, const Accumulator<T>* sums, const T* x, const Problem<T>& p,
                  const Accumulator<T>* total, int64_t numel) {
  cuda::Launch("cross_entropy_backward", ctx, &CrossEntropySlopes<T, kWidth, Index>, cuda::GridFor(numel / kWidth), dx,
               dy, sums, x, p, total, static_cast<Index>(numel / kWidth), cuda::Divider<Index>(p.inner),
               cuda::Divider<Index>(p.classes));
}

}  // namespace

template <typename T>
void CrossEntropy(Context& ctx, View loss, View lse, View x, View target, View weight, int64_t ignore,
                  double smoothing) {
  using A = Accumulator<T>;
  if (loss.numel == 0) return;
  const Problem<T> p(x, target, weight, ignore, smoothing);
  const T* in = x.as<const T>();
  T* out = loss.as<T>();
  A* sums = lse.as<A>();
  if (p.inner > 1) {
    cuda::Launch("cross_entropy", ctx, &CrossEntropyColumns<T>, rows::ColumnGrid(loss.numel, p.classes), out, sums, in,
                 p);
    return;
  }
  const bool wide = rows::TakesWide<T>(p.classes, in);
  if (p.classes <= 1024) {
    const cuda::Grid grid{dim3(rows::BlocksFor(p.outer, rows::kWarpBlock / cuda::kWarpThreads)),
                          dim3(rows::kWarpBlock)};
    cuda::Launch("cross_entropy", ctx,
                 wide ? &CrossEntropyRows<T, rows::kWide<T>, false> : &CrossEntropyRows<T, 1, false>, grid, out, sums,
                 in, p);
    return;
  }
  const cuda::Grid grid{dim3(rows::BlocksFor(p.outer, 1)), dim3(rows::kLongBlock)};
  cuda::Launch("cross_entropy", ctx, wide ? &CrossEntropyRows<T, rows::kWide<T>, true> : &CrossEntropyRows<T, 1, true>,
               grid, out, sums, in, p);
}
DRAGON_KERNEL(CrossEntropy, Floating);

template <typename T>
void CrossEntropyBackward(Context& ctx, View dx, View dy, View lse, View x, View target, View weight, int64_t ignore,
                          double smoothing) {
  using A = Accumulator<T>;
  if (dx.numel == 0) return;
  const Problem<T> p(x, target, weight, ignore, smoothing);
  const T *in = x.as<const T>(), *slope = dy.as<const T>();
  T* out = dx.as<T>();
  const A* sums = lse.as<const A>();
  const bool weighs_all = p.weight && p.share != A(0);
  const Scratch scratch = ctx.Allocate<A>(1);
  A* total = weighs_all ? scratch.as<A>() : nullptr;
  if (total)
    cuda::Launch("cross_entropy_backward", ctx, &WeightSum<T>, {dim3(1), dim3(1024)}, total, p.weight, p.classes);
  const bool wide = rows::TakesWide<T>(p.inner > 1 ? p.inner : p.classes, in, out);
  const bool small = dx.numel <= std::numeric_limits<int32_t>::max();
  const auto launch =
      wide ? (small ? &LaunchSlopes<T, rows::kWide<T>, uint32_t> : &LaunchSlopes<T, rows::kWide<T>, int64_t>)
           : (small ? &LaunchSlopes<T, 1, uint32_t> : &LaunchSlopes<T, 1, int64_t>);
  launch(ctx, out, slope, sums, in, p, total, dx.numel);
}
DRAGON_KERNEL(CrossEntropyBackward, Floating);

namespace {

template <typename T>
__global__ void NllForward(T* loss, const T* x, const Problem<T> p) {
  const int64_t places = p.outer * p.inner;
  for (int64_t i = cuda::FirstOfThread(); i < places; i += cuda::StepOfThreads()) {
    const int64_t t = p.target[i];
    Accumulator<T> value = t == p.ignore ? 0 : Nan<Accumulator<T>>();
    if (t != p.ignore && p.Has(t)) {
      value = -p.Weight(t) * static_cast<Accumulator<T>>(x[(i / p.inner * p.classes + t) * p.inner + i % p.inner]);
    }
    loss[i] = static_cast<T>(value);
  }
}

/// Writes at targets alone: everything else is zero already. A target out of range has no place to write to.
template <typename T>
__global__ void NllSlopes(T* dx, const T* dy, const Problem<T> p) {
  const int64_t places = p.outer * p.inner;
  for (int64_t i = cuda::FirstOfThread(); i < places; i += cuda::StepOfThreads()) {
    const int64_t t = p.target[i];
    if (t == p.ignore || !p.Has(t)) continue;
    const int64_t at = (i / p.inner * p.classes + t) * p.inner + i % p.inner;
    dx[at] = static_cast<T>(-p.Weight(t) * static_cast<Accumulator<T>>(dy[i]));
  }
}

template <typename T>
__global__ void WeightsOfTargets(T* y, const int64_t* target, const T* weight, int64_t classes, int64_t ignore,
                                 int64_t n) {
  using A = Accumulator<T>;
  for (int64_t i = cuda::FirstOfThread(); i < n; i += cuda::StepOfThreads()) {
    const int64_t t = target[i];
    A value = t == ignore ? A(0) : A(1);
    if (t != ignore && weight) value = t >= 0 && t < classes ? static_cast<A>(weight[t]) : Nan<A>();
    y[i] = static_cast<T>(value);
  }
}

}  // namespace

template <typename T>
void NllLoss(Context& ctx, View loss, View x, View target, View weight, int64_t ignore) {
  if (loss.numel == 0) return;
  const Problem<T> p(x, target, weight, ignore, 0);
  cuda::Launch("nll_loss", ctx, &NllForward<T>, cuda::GridFor(loss.numel), loss.as<T>(), x.as<const T>(), p);
}
DRAGON_KERNEL(NllLoss, Floating);

template <typename T>
void NllLossBackward(Context& ctx, View dx, View dy, View target, View weight, int64_t ignore) {
  if (dx.numel == 0) return;
  const Problem<T> p(dx, target, weight, ignore, 0);
  CheckCuda(cudaMemsetAsync(dx.data, 0, dx.numel * sizeof(T), cuda::StreamOf(ctx)), "nll_loss_backward");
  cuda::Launch("nll_loss_backward", ctx, &NllSlopes<T>, cuda::GridFor(dy.numel), dx.as<T>(), dy.as<const T>(), p);
}
DRAGON_KERNEL(NllLossBackward, Floating);

template <typename T>
void TargetWeights(Context& ctx, View y, View target, View weight, int64_t ignore) {
  if (y.numel == 0) return;
  cuda::Launch("target_weights", ctx, &WeightsOfTargets<T>, cuda::GridFor(y.numel), y.as<T>(),
               target.as<const int64_t>(), weight ? weight.as<const T>() : nullptr, weight ? weight.numel : 0, ignore,
               y.numel);
}
DRAGON_KERNEL(TargetWeights, Floating);

}  // namespace dragon::DRAGON_DEVICE
