// Resizing, axis after axis within one plane, so that what one axis leaves is in the cache for the next.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/device/parallel.h"
#include "core/kernels/vision/taps.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// 8-bit images are resampled in float and rounded.
template <typename T>
using Working = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// What lies between two passes: 8-bit images are rounded and clamped there too, as the reference implementations do.
template <typename T>
using Between = std::conditional_t<std::is_same_v<T, uint8_t>, uint8_t, Working<T>>;

template <typename T>
T FromWorking(Working<T> value) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return static_cast<T>(std::clamp(std::nearbyint(value), 0.0f, 255.0f));
  } else {
    return static_cast<T>(value);
  }
}

/// One axis of a plane seen as (outer, size, inner).
template <typename W>
struct AxisPass {
  Taps<W> taps;
  int64_t outer, size, inner;
  bool copies = false;  ///< every result is one input: nothing is weighed

  int64_t out_numel() const { return outer * taps.rows() * inner; }
  template <typename In, typename Out>
  void Run(const In* x, Out* y) const {
    for (int64_t o = 0; o < outer; ++o, x += size * inner, y += taps.rows() * inner) {
      if (copies) {
        Copy(x, y);
      } else {
        inner == 1 ? Short(x, y) : Long(x, y);
      }
    }
  }

 private:
  template <typename In, typename Out>
  void Copy(const In* x, Out* y) const {
    const int64_t* index = taps.index.data();
    if (inner == 1) {
      for (int64_t i = 0; i < taps.rows(); ++i) y[i] = FromWorking<Out>(static_cast<W>(x[index[i]]));
      return;
    }
    for (int64_t i = 0; i < taps.rows(); ++i, y += inner) {
      const In* from = x + index[i] * inner;
      for (int64_t j = 0; j < inner; ++j) y[j] = FromWorking<Out>(static_cast<W>(from[j]));
    }
  }
  template <typename In, typename Out>
  void Short(const In* x, Out* y) const {
    const int64_t *begin = taps.begin.data(), *index = taps.index.data();
    const W* weight = taps.weight.data();
    for (int64_t i = 0; i < taps.rows(); ++i) {
      W sum = 0;
      for (int64_t k = begin[i]; k < begin[i + 1]; ++k) sum += weight[k] * static_cast<W>(x[index[k]]);
      y[i] = FromWorking<Out>(sum);
    }
  }
  /// Rows of `inner` elements: pieces of a row are summed in a small buffer, so that halves round once.
  template <typename In, typename Out>
  void Long(const In* x, Out* y) const {
    constexpr int64_t kPiece = 256;
    W sum[kPiece];
    for (int64_t i = 0; i < taps.rows(); ++i) {
      for (int64_t at = 0; at < inner; at += kPiece) {
        const int64_t length = std::min(kPiece, inner - at);
        std::fill_n(sum, length, W(0));
        for (int64_t k = taps.begin[i]; k < taps.begin[i + 1]; ++k) {
          const In* from = x + taps.index[k] * inner + at;
          const W weight = taps.weight[k];
#pragma omp simd
          for (int64_t j = 0; j < length; ++j) sum[j] += weight * static_cast<W>(from[j]);
        }
        for (int64_t j = 0; j < length; ++j) y[i * inner + at + j] = FromWorking<Out>(sum[j]);
      }
    }
  }
};

/// The passes from x's plane to y's. The axis that shrinks most goes first: the others then have less to do.
template <typename W>
std::vector<AxisPass<W>> MakePasses(const View& y, const View& x, const ResampleSpec& spec, bool backward,
                                    bool last_first) {
  const int axes = x.ndim - 2;
  std::vector<int> order(axes);
  for (int i = 0; i < axes; ++i) order[i] = i;
  const auto growth = [&](int i) { return static_cast<double>(y.shape[i + 2]) / static_cast<double>(x.shape[i + 2]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return last_first ? a > b : growth(a) < growth(b); });
  int64_t sizes[3] = {1, 1, 1};
  for (int i = 0; i < axes; ++i) sizes[i] = x.shape[i + 2];
  std::vector<AxisPass<W>> passes;
  for (int axis : order) {
    const int64_t in = x.shape[axis + 2], out = y.shape[axis + 2];
    auto taps = backward ? MakeTaps<W>(spec.mode, spec.align_corners, spec.scales[axis], out, in).Transposed(out)
                         : MakeTaps<W>(spec.mode, spec.align_corners, spec.scales[axis], in, out);
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < axis; ++i) outer *= sizes[i];
    for (int i = axis + 1; i < axes; ++i) inner *= sizes[i];
    sizes[axis] = out;
    const bool nearest = spec.mode == ResampleMode::kNearest || spec.mode == ResampleMode::kNearestExact;
    passes.push_back({std::move(taps), outer, in, inner, nearest && !backward});
  }
  return passes;
}

template <typename T>
void Resample(Context& ctx, View y, View x, const ResampleSpec& spec, bool backward) {
  using W = Working<T>;
  if (y.numel == 0) return;
  if (x.numel == 0) return std::fill_n(y.as<T>(), y.numel, T(0)), void();
  const auto passes = MakePasses<W>(y, x, spec, backward, /*last_first=*/std::is_same_v<T, uint8_t>);
  const int64_t planes = y.shape[0] * y.shape[1], in_size = x.numel / planes, out_size = y.numel / planes;
  int64_t widest = 1;
  for (const auto& pass : passes) widest = std::max(widest, pass.out_numel());
  const int64_t cost = 2 * static_cast<int64_t>(passes.size()) * std::max(in_size, out_size);
  ParallelFor(planes, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    using Middle = Between<T>;
    auto first = ctx.Allocate<Middle>(passes.size() > 1 ? widest : 1);
    auto second = ctx.Allocate<Middle>(passes.size() > 2 ? widest : 1);
    Middle *middle = first.template as<Middle>(), *other = second.template as<Middle>();
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* from = x.as<T>() + plane * in_size;
      T* to = y.as<T>() + plane * out_size;
      if (passes.size() == 1) {
        passes[0].Run(from, to);
      } else {
        passes[0].Run(from, middle);
        if (passes.size() == 3) passes[1].Run(middle, other);
        passes.back().Run(passes.size() == 3 ? other : middle, to);
      }
    }
  });
}

}  // namespace

template <typename T>
void Interpolate(Context& ctx, View y, View x, const ResampleSpec& spec) {
  Resample<T>(ctx, y, x, spec, /*backward=*/false);
}
using ResampleTypes = TypeList<uint8_t, float16, bfloat16, float, double>;
DRAGON_KERNEL(Interpolate, DRAGON_DEVICE::ResampleTypes);

template <typename T>
void InterpolateBackward(Context& ctx, View dx, View dy, const ResampleSpec& spec) {
  Resample<T>(ctx, dx, dy, spec, /*backward=*/true);
}
DRAGON_KERNEL(InterpolateBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
