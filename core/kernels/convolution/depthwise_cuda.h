// What the kernels of depthwise convolutions share: strips of results, and the sources that these are made of.
//
// A thread makes a strip of a few rows and columns of one channel's results at a time. It reads each source of the
// strip once, straight from memory (neighbouring strips meet in the first-level cache), and holds all sums and weights
// in registers, so that the multiplications are what takes the time. All of its loops are unrolled.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <optional>
#include <type_traits>

#include "core/device/cuda/divide.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/array.h"
#include "core/kernels/convolution/depthwise.h"

namespace dragon::DRAGON_DEVICE {

inline constexpr int kDepthwiseThreads = 256;

/// Of these dtypes convolutions make row-major results, too; others run channels-last
/// (core/ops/convolution/geometry.h).
template <typename T>
inline constexpr bool kDepthwiseHasPlanes = std::is_same_v<T, float16>;

/// Along one axis, `kResults` neighbours of what a sliding window makes, and the `kSources` elements that they see:
/// result a sees source j through tap Tap(a, j), if that is a tap at all.
template <int kTapsOf, int kStride, int kResultsOf>
struct Gather {
  static constexpr int kTaps = kTapsOf, kResults = kResultsOf, kSources = (kResults - 1) * kStride + kTaps;
  static constexpr int kStep = kStride;
  __host__ __device__ static constexpr int Tap(int a, int j) { return j - a * kStride; }
  /// The first source of the results that begin at `place`.
  __device__ static int First(int place, int padding) { return place * kStride - padding; }
};

/// The same for the adjoint, without one sum that two threads would add to. Paddings differ from kPadding by multiples
/// of the stride, and strips begin at multiples of it: which tap leads where is then known at compile time.
template <int kTapsOf, int kStride, int kResultsOf>
struct Scatter {
  static_assert(kResultsOf % kStride == 0);
  static constexpr int kTaps = kTapsOf, kResults = kResultsOf, kPadding = kTaps / 2;
  static constexpr int kLow = -((kTaps - 1 - kPadding) / kStride), kHigh = (kResults - 1 + kPadding) / kStride;
  static constexpr int kSources = kHigh - kLow + 1;
  __host__ __device__ static constexpr int Tap(int a, int j) { return a + kPadding - (j + kLow) * kStride; }
  __device__ static int First(int place, int padding) {
    return place / kStride + (padding - kPadding) / kStride + kLow;
  }
};

/// Sizes and steps of one side's planes.
struct DepthwisePlanes {
  int64_t n, c;
  int height, width, row, column;

  explicit DepthwisePlanes(const View& x)
      : n(x.strides[0]),
        c(x.strides[1]),
        height(static_cast<int>(x.shape[2])),
        width(static_cast<int>(x.shape[3])),
        row(static_cast<int>(x.strides[2])),
        column(static_cast<int>(x.strides[3])) {}
};

/// What kernels are told. The channels are those of the weights; of the sources, `multiplier` of them share one.
struct Depthwise {
  DepthwisePlanes source, result;
  int64_t channels, multiplier;
  int64_t w_channel, w_row, w_column;
  int padding[2];
  uint32_t strips;  ///< of one channel, in all images
  cuda::Divider<uint32_t> strips_of_plane, strips_of_row;

  /// `rows` and `columns` are those of a strip.
  Depthwise(const View& the_source, const View& the_result, const View& w, const ConvGeometry& g, int rows, int columns)
      : source(the_source),
        result(the_result),
        channels(w.shape[0]),
        multiplier(w.shape[0] / the_source.shape[1]),
        w_channel(w.strides[0]),
        w_row(w.strides[2]),
        w_column(w.strides[3]),
        padding{static_cast<int>(g.padding[0]), static_cast<int>(g.padding[1])} {
    const int64_t across = (the_result.shape[3] + columns - 1) / columns;
    const int64_t in_plane = (the_result.shape[2] + rows - 1) / rows * across;
    strips_of_row = cuda::Divider<uint32_t>(across);
    strips_of_plane = cuda::Divider<uint32_t>(in_plane);
    strips = static_cast<uint32_t>(in_plane * the_result.shape[0]);
  }
};

/// The first result of a strip.
struct StripPlace {
  uint32_t plane;
  int row, column;
};

template <typename Rows, typename Columns>
__device__ __forceinline__ StripPlace PlaceOfStrip(const Depthwise& d, uint32_t strip) {
  const uint32_t plane = d.strips_of_plane.Divide(strip);
  const uint32_t rest = strip - plane * d.strips_of_plane.divisor, line = d.strips_of_row.Divide(rest);
  return {plane, static_cast<int>(line) * Rows::kResults,
          static_cast<int>(rest - line * d.strips_of_row.divisor) * Columns::kResults};
}

/// at + step, as one addition to the address before: left to itself the compiler finds each of a strip's addresses
/// anew, which takes more instructions than what is done with the elements.
template <typename T>
__device__ __forceinline__ T* Further(T* at, int64_t step) {
  at += step;
#if defined(__CUDA_ARCH__)
  size_t global = __cvta_generic_to_global(at);
  asm("" : "+l"(global));
  at = static_cast<T*>(__cvta_global_to_generic(global));
#endif
  return at;
}

/// Which of `count` neighbours that begin at `first` lie within [0, size): a bit for each.
__device__ __forceinline__ uint32_t BitsInside(int first, int size, int count) {
  const int low = min(max(-first, 0), count), high = max(min(size - first, count), 0);
  return ((1u << high) - 1) & ~((1u << low) - 1);
}

/// Call f(i, line) for the i-th row of a strip's sources; what lies outside of the plane is zero.
template <typename Rows, typename Columns, typename T, typename F>
__device__ __forceinline__ void ForSources(const DepthwisePlanes& s, const T* __restrict__ plane, int first_row,
                                           int first_column, F&& f) {
  static_assert(Columns::kSources < 32);
  const uint32_t inside = BitsInside(first_column, s.width, Columns::kSources);
  const int64_t row_step = s.row, column_step = s.column;
  plane += first_row * row_step + first_column * column_step;
#pragma unroll
  for (int i = 0; i < Rows::kSources; ++i) {
    const uint32_t here = static_cast<unsigned>(first_row + i) < static_cast<unsigned>(s.height) ? inside : 0;
    const T* at = plane;
    float line[Columns::kSources];
#pragma unroll
    for (int j = 0; j < Columns::kSources; ++j) {
      line[j] = here >> j & 1u ? static_cast<float>(*at) : 0.0f;
      at = Further(at, column_step);
    }
    plane = Further(plane, row_step);
    f(i, line);
  }
}

/// An operand of which neighbouring channels (or columns) are neighbours in memory: as it lies, or a copy.
class DepthwiseOperand {
 public:
  DepthwiseOperand(Context& ctx, const View& x, bool channels_last) : view_(x) {
    const int axis = channels_last ? 1 : 3;
    if (x.shape[axis] == 1 || x.strides[axis] == 0 || x.strides[axis] == 1) return;
    const int64_t c = x.shape[1], h = x.shape[2], w = x.shape[3];
    memory_.emplace(ctx.Allocate<char>(x.numel * ItemSize(x.dtype)));
    copy_.emplace(memory_->data(), x.dtype, Dims(x.shape, x.ndim),
                  channels_last ? Dims{c * h * w, 1, w * c, c} : Dims{c * h * w, h * w, w, 1});
    kernels::Copy(ctx, x.dtype, copy_->view, x);
    view_ = copy_->view;
  }
  DepthwiseOperand(const DepthwiseOperand&) = delete;
  DepthwiseOperand& operator=(const DepthwiseOperand&) = delete;
  const View& view() const { return view_; }

 private:
  View view_;
  std::optional<Scratch> memory_;
  std::optional<OwnedView> copy_;
};

/// Call f<taps, stride>() for the window of w: false if it is none of those that are compiled, or if f says so.
template <typename F>
bool ForDepthwiseWindow(const View& w, const ConvGeometry& g, F&& f) {
  const int64_t taps = w.shape[2], stride = g.stride[0];
  if (stride == 1 && taps == 3) return f.template operator()<3, 1>();
  if (stride == 1 && taps == 5) return f.template operator()<5, 1>();
  if (stride == 1 && taps == 7) return f.template operator()<7, 1>();
  if (stride == 2 && taps == 3) return f.template operator()<3, 2>();
  if (stride == 2 && taps == 5) return f.template operator()<5, 2>();
  return false;
}

}  // namespace dragon::DRAGON_DEVICE
