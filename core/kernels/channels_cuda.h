// Pointwise work on CUDA in which every channel has numbers of its own: biases, normalization by channel.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "core/device/cuda/divide.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/view.h"

namespace dragon::DRAGON_DEVICE {

/// A dense tensor as (batch, channels, size) planes, or as rows of channels where those are neighbours in memory.
struct ChannelPlanes {
  int64_t batch, channels, size = 1;
  bool channels_last;

  explicit ChannelPlanes(const View& x) : batch(x.shape[0]), channels(x.shape[1]) {
    for (int i = 2; i < x.ndim; ++i) size *= x.shape[i];
    channels_last = size == 1 || (channels > 1 && x.strides[1] == 1);
  }
  int64_t rows() const { return batch * size; }
  int64_t numel() const { return rows() * channels; }
};

namespace channels_cuda {

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T at[kWidth];
};

/// A thread keeps its channels, and with them their numbers, while the rows go by: `step` is a multiple of a row.
template <typename T, int kWidth, typename F>
__global__ void RowsKernel(const F f, T* y, int64_t packs, int64_t packs_in_row, int64_t step) {
  using P = Pack<T, kWidth>;
  const int64_t first = cuda::FirstOfThread();
  if (first >= step || first >= packs) return;
  const int64_t channel = first % packs_in_row * kWidth;
  typename F::Terms terms[kWidth];
#pragma unroll
  for (int k = 0; k < kWidth; ++k) terms[k] = f.Of(channel + k);
  for (int64_t i = first; i < packs; i += step) {
    const P a = reinterpret_cast<const P*>(f.first)[i];
    P b = a;
    if constexpr (F::kTwo) b = reinterpret_cast<const P*>(f.second)[i];
    P result;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) result.at[k] = f(terms[k], a.at[k], b.at[k]);
    reinterpret_cast<P*>(y)[i] = result;
  }
}

/// Planes: all elements of a pack are of one channel.
template <typename T, int kWidth, typename F, typename Index>
__global__ void PlanesKernel(const F f, T* y, int64_t packs, const cuda::Divider<Index> packs_in_plane,
                             const cuda::Divider<Index> channels) {
  using P = Pack<T, kWidth>;
  for (int64_t i = cuda::FirstOfThread(); i < packs; i += cuda::StepOfThreads()) {
    const Index plane = packs_in_plane.Divide(static_cast<Index>(i));
    const Index channel = plane - channels.Divide(plane) * channels.divisor;
    const P a = reinterpret_cast<const P*>(f.first)[i];
    P b = a;
    if constexpr (F::kTwo) b = reinterpret_cast<const P*>(f.second)[i];
    const typename F::Terms terms = f.Of(channel);
    P result;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) result.at[k] = f(terms, a.at[k], b.at[k]);
    reinterpret_cast<P*>(y)[i] = result;
  }
}

template <int kWidth, typename T, typename F>
void Run(const char* who, const Context& ctx, const ChannelPlanes& p, const F& f, T* y) {
  const int64_t packs = p.numel() / kWidth;
  if (p.channels_last) {
    const int64_t row = p.channels / kWidth;
    const int64_t blocks = std::max<int64_t>(cuda::GridFor(packs, cuda::kThreads, 2048).blocks.x,
                                             (row + cuda::kThreads - 1) / cuda::kThreads);
    const int64_t step = blocks * cuda::kThreads / row * row;
    cuda::Launch(who, ctx, &RowsKernel<T, kWidth, F>, {dim3(static_cast<unsigned>(blocks)), dim3(cuda::kThreads)}, f, y,
                 packs, row, step);
  } else if (packs <= INT32_MAX) {
    cuda::Launch(who, ctx, &PlanesKernel<T, kWidth, F, uint32_t>, cuda::GridFor(packs), f, y, packs,
                 cuda::Divider<uint32_t>(p.size / kWidth), cuda::Divider<uint32_t>(p.channels));
  } else {
    cuda::Launch(who, ctx, &PlanesKernel<T, kWidth, F, int64_t>, cuda::GridFor(packs), f, y, packs,
                 cuda::Divider<int64_t>(p.size / kWidth), cuda::Divider<int64_t>(p.channels));
  }
}

}  // namespace channels_cuda

/// y[i] = f(f.Of(channel of i), f.first[i], f.second[i]) for dense tensors of one layout; `F::kTwo` says whether there
/// is a second. y may be one of them.
template <typename T, typename F>
void ForChannels(const char* who, const Context& ctx, const ChannelPlanes& p, const F& f, T* y) {
  if (p.numel() == 0) return;
  constexpr int kWidth = static_cast<int>(16 / sizeof(T));
  const auto is_aligned = [](const void* data) { return reinterpret_cast<uintptr_t>(data) % 16 == 0; };
  bool wide = (p.channels_last ? p.channels : p.size) % kWidth == 0 && is_aligned(y) && is_aligned(f.first);
  if constexpr (F::kTwo) wide = wide && is_aligned(f.second);
  wide ? channels_cuda::Run<kWidth>(who, ctx, p, f, y) : channels_cuda::Run<1>(who, ctx, p, f, y);
}

}  // namespace dragon::DRAGON_DEVICE
