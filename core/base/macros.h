// The few macros every floor needs: what crosses the library wall, and what a GPU can call.
#pragma once

#define DRAGON_API __attribute__((visibility("default")))

// Set where a source is compiled for a GPU: by nvcc, or for the machine of tests/cuda that stands for one.
#if defined(__CUDACC__) || defined(DRAGON_SIMT)
#define DRAGON_GPU 1
#endif

#if defined(__CUDACC__)
#define DRAGON_FN __host__ __device__ inline
#define DRAGON_RESTRICT __restrict__
#else
#define DRAGON_FN inline __attribute__((always_inline))
#define DRAGON_RESTRICT __restrict
#endif

#define DRAGON_LIKELY(x) __builtin_expect(!!(x), 1)
#define DRAGON_UNLIKELY(x) __builtin_expect(!!(x), 0)
