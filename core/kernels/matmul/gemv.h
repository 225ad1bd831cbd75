// Matrix times vector, and dot products: bound by memory, so every element of the matrix is touched once, in order.
#pragma once

#include "core/kernels/matmul/gemm.h"

namespace dragon::DRAGON_DEVICE {

/// sum of a[i * a_step] * b[i * b_step], in enough independent sums to hide the latency of addition.
template <typename T>
typename Epilogue<T>::Sum DotProduct(int64_t n, const T* a, int64_t a_step, const T* b, int64_t b_step) {
  using Sum = typename Epilogue<T>::Sum;
  if constexpr (kIsComplex<T>) {
    RealOf<T> re = 0, im = 0;
#pragma omp simd reduction(+ : re, im)
    for (int64_t i = 0; i < n; ++i) {
      const T x = a[i * a_step], y = b[i * b_step];
      re += x.re * y.re - x.im * y.im;
      im += x.re * y.im + x.im * y.re;
    }
    return {re, im};
  } else {
    Sum sum = 0;
    int64_t i = 0;
    if (a_step == 1 && b_step == 1) {
      constexpr int kWidth = 4 * kVectorBytes / static_cast<int>(sizeof(Sum));
      if (n >= kWidth) {
        Sum acc[kWidth] = {};
        for (; i + kWidth <= n; i += kWidth) {
#pragma omp simd
          for (int lane = 0; lane < kWidth; ++lane) {
            acc[lane] += static_cast<Sum>(a[i + lane]) * static_cast<Sum>(b[i + lane]);
          }
        }
        for (int lane = 0; lane < kWidth; ++lane) sum += acc[lane];
      }
    }
    for (; i < n; ++i) sum += static_cast<Sum>(a[i * a_step]) * static_cast<Sum>(b[i * b_step]);
    return sum;
  }
}

/// y (m,) = epilogue(a (m, k) @ x (k,)). `along_rows`: the bias and y run along m as columns do in a product.
template <typename T>
void Gemv(int64_t m, int64_t k, Matrix<const T> a, const T* x, int64_t x_step, T* y, int64_t y_step,
          const Epilogue<T>& epilogue, bool bias_along_m) {
  using Sum = typename Epilogue<T>::Sum;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(k, 1));
  if (a.row != 1 || a.col == 1 || k == 1) {
    ParallelFor(m, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Sum sum = DotProduct(k, a.data + i * a.row, a.col, x, x_step);
        y[i * y_step] = epilogue(sum, y[i * y_step], bias_along_m ? i : 0);
      }
    });
    return;
  }
  ParallelFor(m, grain, [&](int64_t begin, int64_t end) {
    constexpr int64_t kChunk = 512;
    Sum acc[kChunk];
    for (int64_t start = begin; start < end; start += kChunk) {
      const int64_t count = std::min(kChunk, end - start);
      std::fill(acc, acc + count, Sum(0));
      for (int64_t p = 0; p < k; ++p) {
        const T* column = a.data + start + p * a.col;
        const Sum scale = static_cast<Sum>(x[p * x_step]);
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) acc[i] += scale * static_cast<Sum>(column[i]);
      }
      for (int64_t i = 0; i < count; ++i) {
        T& out = y[(start + i) * y_step];
        out = epilogue(acc[i], out, bias_along_m ? start + i : 0);
      }
    }
  });
}

}  // namespace dragon::DRAGON_DEVICE
