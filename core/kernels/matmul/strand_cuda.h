// Sums of products along two lines of memory: what dot products and matrices times vectors are made of.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

#include "core/kernels/matmul/epilogue.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
using SumOf = typename Epilogue<T>::Sum;

template <typename T>
__device__ __forceinline__ SumOf<T> WidenForSum(T x) {
  return static_cast<SumOf<T>>(x);
}

/// Two lines of elements. `packed`: both lie without gaps and begin at multiples of 16 bytes.
template <typename T>
struct Lines {
  const T *a, *b;
  int64_t a_step, b_step;
  bool packed, conjugate;
};

template <typename T>
__device__ __forceinline__ SumOf<T> ProductOf(T a, T b, bool conjugate) {
  if constexpr (kIsComplex<T>) {
    if (conjugate) a.im = -a.im;
    return a * b;
  } else {
    return WidenForSum(a) * WidenForSum(b);
  }
}

/// Add the products of 16 bytes of each line.
template <typename T>
__device__ __forceinline__ void AddPacket(SumOf<T>* sum, const uint4& left, const uint4& right, bool conjugate) {
  constexpr int kWidth = 16 / sizeof(T);
  T a[kWidth], b[kWidth];
  memcpy(a, &left, 16);
  memcpy(b, &right, 16);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) *sum = *sum + ProductOf(a[i], b[i], conjugate);
}

/// The share of thread `first` among `step` threads in the sum over n products, with several loads on their way at
/// once.
template <typename T>
__device__ SumOf<T> Strand(const Lines<T>& lines, int64_t n, int first, int step) {
  constexpr int kUnroll = 4, kWidth = 16 / sizeof(T);
  SumOf<T> sums[kUnroll];
#pragma unroll
  for (int j = 0; j < kUnroll; ++j) sums[j] = SumOf<T>(0);
  int64_t done = 0;
  if (lines.packed) {
    const auto* left = reinterpret_cast<const uint4*>(lines.a);
    const auto* right = reinterpret_cast<const uint4*>(lines.b);
    const int64_t packets = n / kWidth;
    int64_t i = first;
    for (; i + (kUnroll - 1) * step < packets; i += kUnroll * step) {
      uint4 a[kUnroll], b[kUnroll];
#pragma unroll
      for (int j = 0; j < kUnroll; ++j) a[j] = left[i + j * step], b[j] = right[i + j * step];
#pragma unroll
      for (int j = 0; j < kUnroll; ++j) AddPacket<T>(&sums[j], a[j], b[j], lines.conjugate);
    }
    for (; i < packets; i += step) AddPacket<T>(&sums[0], left[i], right[i], lines.conjugate);
    done = packets * kWidth;
  }
  int64_t i = done + first;
  for (; i + (kUnroll - 1) * step < n; i += kUnroll * step) {
    T a[kUnroll], b[kUnroll];
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) {
      a[j] = lines.a[(i + j * step) * lines.a_step], b[j] = lines.b[(i + j * step) * lines.b_step];
    }
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) sums[j] = sums[j] + ProductOf(a[j], b[j], lines.conjugate);
  }
  for (; i < n; i += step) {
    sums[0] = sums[0] + ProductOf(lines.a[i * lines.a_step], lines.b[i * lines.b_step], lines.conjugate);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Whether a line may be read sixteen bytes at a time.
template <typename T>
bool IsPacked(const void* data, int64_t step) {
  return step == 1 && reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

struct Plus {
  template <typename S>
  __device__ S operator()(S a, S b) const {
    return a + b;
  }
};

}  // namespace dragon::DRAGON_DEVICE
