// Batch norm's three parts on CUDA. Sums over a channel are taken in two launches: blocks sum parts of it, and the
// parts meet in their order. Planes are read along their elements, rows of channels by threads side by side along
// channels.
#include "core/device/cuda/block.h"
#include "core/kernels/channels_cuda.h"
#include "core/kernels/normalization.h"
#include "core/kernels/reduction/moments.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kSumThreads = 256, kSumLanes = 32, kSumRows = kSumThreads / kSumLanes;
/// Elements of a channel that a thread holds at once: so many loads are on their way together.
constexpr int kHeld = 8;
/// Parts are made until there are so many blocks, of at least so many rounds of a block.
constexpr int64_t kEnoughBlocks = 2048, kLeastRounds = 2;

template <typename T>
const T* DataOrNull(const View& view) {
  return view ? view.as<const T>() : nullptr;
}

/// Whether channels are innermost and the rest lies row by row.
bool IsRowsOfChannels(const View& x) {
  bool dense = x.shape[1] == 1 || x.strides[1] == 1;
  int64_t expected = x.shape[1];
  for (int axis = x.ndim - 1; axis >= 2; --axis) {
    dense = dense && (x.shape[axis] == 1 || x.strides[axis] == expected);
    expected *= x.shape[axis];
  }
  return dense && (x.shape[0] == 1 || x.strides[0] == expected);
}

/// Mean and squared distance of a channel: each thread finds those of what it holds, which are then joined.
template <typename T>
struct MomentsOf {
  using A = Accumulator<T>;
  using State = Moments<A>;
  using Element = A;
  const T* x;

  __device__ State Identity() const { return {A(0), A(0), A(0)}; }
  __device__ Element Load(int64_t i, int64_t) const { return static_cast<A>(x[i]); }
  __device__ State Absorb(State state, const Element* held, int count) const {
    A sum(0), squares(0);
#pragma unroll
    for (int i = 0; i < kHeld; ++i) sum += i < count ? held[i] : A(0);
    const A mean = sum / static_cast<A>(count);
#pragma unroll
    for (int i = 0; i < kHeld; ++i) squares += i < count ? (held[i] - mean) * (held[i] - mean) : A(0);
    return Join(state, {mean, squares, static_cast<A>(count)});
  }
  __device__ State Join(const State& a, const State& b) const { return VarOf<T>{}.Combine(a, b); }
};

/// Sums of dy and of dy * (x - mean).
template <typename T>
struct SlopesOf {
  using A = Accumulator<T>;
  struct State {
    double slope, product;
  };
  struct Element {
    A dy, product;
  };
  const T *dy, *x;
  const A* mean;

  __device__ State Identity() const { return {0, 0}; }
  __device__ Element Load(int64_t i, int64_t channel) const {
    const A slope = static_cast<A>(dy[i]);
    return {slope, slope * (static_cast<A>(x[i]) - mean[channel])};
  }
  /// What is held is summed in A, what comes together in double.
  __device__ State Absorb(const State& state, const Element* held, int count) const {
    A slope(0), product(0);
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      slope += i < count ? held[i].dy : A(0);
      product += i < count ? held[i].product : A(0);
    }
    return {state.slope + static_cast<double>(slope), state.product + static_cast<double>(product)};
  }
  __device__ State Join(const State& a, const State& b) const { return {a.slope + b.slope, a.product + b.product}; }
};

/// Elements first, first + step, ... below `end` of one channel, whose i-th lies at `offset(i)`.
template <typename R, typename Offset>
__device__ __forceinline__ typename R::State Strand(const R& reducer, int64_t channel, int64_t first, int64_t end,
                                                    int64_t step, Offset offset) {
  typename R::State state = reducer.Identity();
  int64_t i = first;
  for (; i + step * (kHeld - 1) < end; i += step * kHeld) {
    typename R::Element held[kHeld];
#pragma unroll
    for (int k = 0; k < kHeld; ++k) held[k] = reducer.Load(offset(i + step * k), channel);
    state = reducer.Absorb(state, held, kHeld);
  }
  if (i >= end) return state;
  typename R::Element held[kHeld] = {};
  int count = 0;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    if (i + step * k < end) held[k] = reducer.Load(offset(i + step * k), channel), ++count;
  }
  return reducer.Absorb(state, held, count);
}

/// Parts of channels as parts[part * channels + channel]. The rows of a part are [part * length, (part + 1) * length).
struct Share {
  int64_t rows, channels, size, length;
  cuda::Divider<uint32_t> by_size;
};

/// Blocks (part, channel) over planes.
template <typename R>
__global__ void PlaneSums(const R reducer, const __grid_constant__ Share share, typename R::State* parts) {
  const int64_t low = share.length * blockIdx.y, high = min(share.rows, low + share.length);
  for (int64_t c = blockIdx.x; c < share.channels; c += gridDim.x) {
    const bool small = share.rows <= INT32_MAX;
    const auto offset = [&](int64_t i) {
      const int64_t n = small ? share.by_size.Divide(static_cast<uint32_t>(i)) : i / share.size;
      return (n * share.channels + c) * share.size + (i - n * share.size);
    };
    auto state = Strand(reducer, c, low + threadIdx.x, high, kSumThreads, offset);
    state = cuda::BlockReduce(state, [&](const auto& a, const auto& b) { return reducer.Join(a, b); });
    if (threadIdx.x == 0) parts[blockIdx.y * share.channels + c] = state;
  }
}

/// Blocks (part, 32 channels side by side) over rows of channels.
template <typename R>
__global__ void RowSums(const R reducer, const __grid_constant__ Share share, typename R::State* parts) {
  using State = typename R::State;
  alignas(16) __shared__ unsigned char memory[kSumThreads * sizeof(State)];
  cuda::FillShared(memory);
  State* shared = reinterpret_cast<State*>(memory);
  const int64_t low = share.length * blockIdx.y, high = min(share.rows, low + share.length);
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * kSumLanes; base < share.channels;
       base += static_cast<int64_t>(gridDim.x) * kSumLanes) {
    const int64_t c = base + threadIdx.x;
    State state = reducer.Identity();
    if (c < share.channels) {
      state = Strand(reducer, c, low + threadIdx.y, high, kSumRows, [&](int64_t i) { return i * share.channels + c; });
    }
    shared[threadIdx.y * kSumLanes + threadIdx.x] = state;
    __syncthreads();
    if (threadIdx.y == 0 && c < share.channels) {
      for (int i = 1; i < kSumRows; ++i) state = reducer.Join(state, shared[i * kSumLanes + threadIdx.x]);
      parts[blockIdx.y * share.channels + c] = state;
    }
    __syncthreads();
  }
}

/// Sums of all channels in parts, of which there are `*count`.
template <typename R>
Scratch SumChannels(const Context& ctx, const char* who, const ChannelPlanes& p, const R& reducer, int64_t* count) {
  const int64_t wide = p.channels_last ? (p.channels + kSumLanes - 1) / kSumLanes : p.channels;
  const int64_t round = (p.channels_last ? kSumRows : kSumThreads) * kHeld * kLeastRounds;
  const int64_t blocks = std::min<int64_t>(wide, INT32_MAX);
  *count = std::clamp<int64_t>(std::min(kEnoughBlocks / blocks, p.rows() / round), 1, 1024);
  const Share share{p.rows(), p.channels, p.size, (p.rows() + *count - 1) / *count,
                    cuda::Divider<uint32_t>(std::min<int64_t>(std::max<int64_t>(p.size, 1), INT32_MAX))};
  Scratch parts = ctx.Allocate<typename R::State>(*count * p.channels);
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(*count));
  auto* to = parts.template as<typename R::State>();
  if (p.channels_last) {
    cuda::Launch(who, ctx, &RowSums<R>, {grid, dim3(kSumLanes, kSumRows)}, reducer, share, to);
  } else {
    cuda::Launch(who, ctx, &PlaneSums<R>, {grid, dim3(kSumThreads)}, reducer, share, to);
  }
  return parts;
}

template <typename R>
__device__ typename R::State Meet(const R& reducer, const typename R::State* parts, int64_t count, int64_t channels,
                                  int64_t c) {
  typename R::State state = parts[c];
  for (int64_t i = 1; i < count; ++i) state = reducer.Join(state, parts[i * channels + c]);
  return state;
}

template <typename T>
__global__ void StoreMoments(const MomentsOf<T> reducer, const Moments<Accumulator<T>>* parts, int64_t count,
                             int64_t channels, int64_t rows, Accumulator<T>* mean, Accumulator<T>* var) {
  const VarOf<T, Accumulator<T>> store{var, mean, 0.0, false};
  for (int64_t c = cuda::FirstOfThread(); c < channels; c += cuda::StepOfThreads()) {
    store.Store(c, Meet(reducer, parts, count, channels, c), rows);
  }
}

/// y = (x - mean) * scale + shift.
template <typename T>
struct AffineOf {
  using A = Accumulator<T>;
  static constexpr bool kTwo = false;
  struct Terms {
    A mean, scale, shift;
  };
  const T* first;
  const A *mean, *rstd;
  const T *weight, *bias;

  __device__ Terms Of(int64_t c) const {
    return {mean[c], weight ? rstd[c] * static_cast<A>(weight[c]) : rstd[c], bias ? static_cast<A>(bias[c]) : A(0)};
  }
  __device__ T operator()(const Terms& t, const T& x, const T&) const {
    return static_cast<T>((static_cast<A>(x) - t.mean) * t.scale + t.shift);
  }
};

/// dx = dy * factor + x * slope + shift: what remains of the gradient once the sums are known.
template <typename T>
struct GradientOf {
  using A = Accumulator<T>;
  static constexpr bool kTwo = true;
  struct Terms {
    A factor, slope, shift;
  };
  const T *first, *second;
  const Terms* terms;

  __device__ Terms Of(int64_t c) const { return terms[c]; }
  __device__ T operator()(const Terms& t, const T& dy, const T& x) const {
    return static_cast<T>(static_cast<A>(dy) * t.factor + static_cast<A>(x) * t.slope + t.shift);
  }
};

/// What the sums of a channel say: the gradients of its parameters, and the terms of dx.
template <typename T>
struct FinishSlopes {
  using A = Accumulator<T>;
  SlopesOf<T> reducer;
  const typename SlopesOf<T>::State* parts;
  int64_t count, channels, rows;
  const A* rstd;
  const T* weight;
  T *dweight, *dbias;
  typename GradientOf<T>::Terms* terms;
  bool training;
};

template <typename T>
__global__ void FinishKernel(const FinishSlopes<T> f) {
  using A = Accumulator<T>;
  for (int64_t c = cuda::FirstOfThread(); c < f.channels; c += cuda::StepOfThreads()) {
    const auto sums = Meet(f.reducer, f.parts, f.count, f.channels, c);
    const double scale = f.rstd[c];
    if (f.dweight) f.dweight[c] = static_cast<T>(static_cast<A>(sums.product * scale));
    if (f.dbias) f.dbias[c] = static_cast<T>(static_cast<A>(sums.slope));
    if (!f.terms) continue;
    const double gain = f.weight ? scale * static_cast<double>(f.weight[c]) : scale;
    // dx = gain (dy - mean(dy) - (x - mean) rstd^2 mean(dy (x - mean)))
    const double rows = static_cast<double>(f.rows);
    const double slope = f.training ? -gain * scale * scale * sums.product / rows : 0;
    const double shift = f.training ? -gain * sums.slope / rows - slope * f.reducer.mean[c] : 0;
    f.terms[c] = {static_cast<A>(gain), static_cast<A>(slope), static_cast<A>(shift)};
  }
}

}  // namespace

template <typename T>
void ChannelMoments(Context& ctx, View mean, View var, View x) {
  using A = Accumulator<T>;
  if (x.shape[1] == 0) return;
  const ChannelPlanes p(x);
  // Other layouts than the two are left to reductions of any strides.
  if (!(x.is_contiguous() || IsRowsOfChannels(x)) || p.rows() == 0) {
    Dims shape = Dims::Filled(x.ndim, 1), strides = Dims::Filled(x.ndim, 0);
    shape[1] = x.shape[1], strides[1] = 1;
    const View result{var.data, shape.data(), strides.data(), x.shape[1], x.ndim, kDTypeOf<A>};
    VarOf<T, A> reducer;
    reducer.y = var.as<A>();
    reducer.second = mean.as<A>();
    reducer.correction = 0;
    reducer.root = false;
    return Reduce(ctx, result, x, reducer);
  }
  const MomentsOf<T> reducer{x.as<const T>()};
  int64_t count;
  const Scratch parts = SumChannels(ctx, "channel_moments", p, reducer, &count);
  cuda::Launch("channel_moments", ctx, &StoreMoments<T>, cuda::GridFor(p.channels, 64), reducer,
               parts.as<const Moments<A>>(), count, p.channels, p.rows(), mean.as<A>(), var.as<A>());
}
DRAGON_KERNEL(ChannelMoments, Floating);

template <typename T>
void ChannelAffine(Context& ctx, View y, View x, View mean, View rstd, View weight, View bias) {
  using A = Accumulator<T>;
  const AffineOf<T> affine{x.as<const T>(), mean.as<const A>(), rstd.as<const A>(), DataOrNull<T>(weight),
                           DataOrNull<T>(bias)};
  ForChannels("channel_affine", ctx, ChannelPlanes(x), affine, y.as<T>());
}
DRAGON_KERNEL(ChannelAffine, Floating);

template <typename T>
void BatchNormBackward(Context& ctx, View dx, View dweight, View dbias, View dy, View x, View mean, View rstd,
                       View weight, bool training) {
  using A = Accumulator<T>;
  using Terms = typename GradientOf<T>::Terms;
  const ChannelPlanes p(x);
  if (p.channels == 0) return;
  const SlopesOf<T> reducer{dy.as<const T>(), x.as<const T>(), mean.as<const A>()};
  const bool with_x = dx && x.numel > 0;
  int64_t count = 1;
  const Scratch parts = SumChannels(ctx, "batch_norm_backward", p, reducer, &count);
  const Scratch terms = ctx.Allocate<Terms>(with_x ? p.channels : 0);
  FinishSlopes<T> finish{reducer,
                         parts.as<const typename SlopesOf<T>::State>(),
                         count,
                         p.channels,
                         p.rows(),
                         rstd.as<const A>(),
                         DataOrNull<T>(weight),
                         dweight ? dweight.as<T>() : nullptr,
                         dbias ? dbias.as<T>() : nullptr,
                         with_x ? terms.as<Terms>() : nullptr,
                         training};
  cuda::Launch("batch_norm_backward", ctx, &FinishKernel<T>, cuda::GridFor(p.channels, 64), finish);
  if (!with_x) return;
  const GradientOf<T> gradient{dy.as<const T>(), x.as<const T>(), terms.as<const Terms>()};
  ForChannels("batch_norm_backward", ctx, p, gradient, dx.as<T>());
}
DRAGON_KERNEL(BatchNormBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
