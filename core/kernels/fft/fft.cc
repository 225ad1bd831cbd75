// Transforms of whole arrays: lines are gathered side by side, transformed together, and put back.
#include "core/kernels/fft.h"

#include <algorithm>
#include <cmath>

#include "core/device/parallel.h"
#include "core/kernels/fft/plan.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Lines transformed together, so that vectors are full even when the length is odd or short.
template <typename T>
constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(T));
/// An array seen as lines along one axis: element j of line l is at (l / inner) size inner + l % inner + j inner.
struct Lines {
  int64_t size, inner = 1, count = 1;

  Lines(const View& view, int64_t axis) : size(view.shape[axis]) {
    for (int64_t i = 0; i < view.ndim; ++i) {
      if (i != axis) count *= view.shape[i];
      if (i > axis) inner *= view.shape[i];
    }
  }
  int64_t Start(int64_t line) const { return line / inner * size * inner + line % inner; }
};

/// Visit (element j, lane, address) of a group of lines in the order that memory likes.
template <typename Element, typename F>
void Visit(Element* data, const Lines& lines, int64_t first, int64_t lanes, F&& f) {
  if (lines.inner == 1) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Element* line = data + lines.Start(first + lane);
      for (int64_t j = 0; j < lines.size; ++j) f(j, lane, line[j]);
    }
    return;
  }
  for (int64_t j = 0; j < lines.size; ++j) {
    for (int64_t lane = 0; lane < lanes; ++lane) f(j, lane, data[lines.Start(first + lane) + j * lines.inner]);
  }
}

/// Call body(first line, lanes, x, scratch) for groups of lines, with room for `size` elements per line at x.
template <typename T, typename Body>
void ForGroups(Context& ctx, const Lines& lines, int64_t size, const FftPlan<T>& plan, Body body) {
  const bool together = lines.count > 1 && (lines.inner > 1 || plan.likes_lanes());
  const int64_t lanes = together ? std::min(kLanes<T>, lines.count) : 1;
  const int64_t groups = (lines.count + lanes - 1) / lanes;
  const double cost = static_cast<double>(lanes) * size * (2 + std::log2(static_cast<double>(size) + 1));
  const auto grain = std::max<int64_t>(1, static_cast<int64_t>(kGrain / cost));
  ParallelFor(groups, grain, [&](int64_t begin, int64_t end) {
    auto memory = ctx.Allocate<T>(2 * size * lanes + plan.ScratchSize(lanes));
    T* x = memory.template as<T>();
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = group * lanes, now = std::min(lanes, lines.count - first);
      body(first, now, Split<T>{x, x + size * now}, x + 2 * size * now);
    }
  });
}

/// Visit (pair k, lane, elements 2 k and 2 k + 1) of a group of lines of even size.
template <typename Element, typename F>
void VisitPairs(Element* data, const Lines& lines, int64_t first, int64_t lanes, F&& f) {
  if (lines.inner == 1) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Element* line = data + lines.Start(first + lane);
      for (int64_t k = 0; k < lines.size / 2; ++k) f(k, lane, line[2 * k], line[2 * k + 1]);
    }
    return;
  }
  for (int64_t k = 0; k < lines.size / 2; ++k) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Element* at = data + lines.Start(first + lane) + 2 * k * lines.inner;
      f(k, lane, at[0], at[lines.inner]);
    }
  }
}

template <typename T>
Split<T> Run(const FftPlan<T>& plan, Split<T> x, T* scratch, int64_t lanes, bool forward) {
  if (forward) return plan.Run(x, scratch, lanes);
  const Split<T> swapped = plan.Run({x.im, x.re}, scratch, lanes);
  return {swapped.im, swapped.re};
}

template <typename T>
void TransformAxis(Context& ctx, Complex<T>* y, const Complex<T>* x, const Lines& lines, bool forward, T scale) {
  const auto plan = FftPlan<T>::Of(lines.size);
  ForGroups<T>(ctx, lines, lines.size, *plan, [&](int64_t first, int64_t lanes, Split<T> z, T* scratch) {
    Visit(x, lines, first, lanes, [&](int64_t j, int64_t lane, const Complex<T>& value) {
      z.re[j * lanes + lane] = value.re;
      z.im[j * lanes + lane] = value.im;
    });
    const Split<T> w = Run(*plan, z, scratch, lanes, forward);
    Visit(y, lines, first, lanes, [&](int64_t j, int64_t lane, Complex<T>& value) {
      value = {w.re[j * lanes + lane] * scale, w.im[j * lanes + lane] * scale};
    });
  });
}

}  // namespace

template <typename C>
void FftC2C(Context& ctx, View y, View x, const Dims& axes, bool forward, double scale) {
  using T = RealOf<C>;
  if (y.numel == 0) return;
  auto* to = y.as<C>();
  const C* from = x.as<C>();
  for (int i = 0; i < axes.size(); ++i) {
    const bool last = i + 1 == axes.size();
    TransformAxis<T>(ctx, to, from, Lines(y, axes[i]), forward, last ? static_cast<T>(scale) : T(1));
    from = to;
  }
  if (from != to) {
    for (int64_t i = 0; i < y.numel; ++i) to[i] = from[i] * C(static_cast<T>(scale));
  }
}
DRAGON_KERNEL(FftC2C, Complexes);

template <typename C>
void FftR2C(Context& ctx, View y, View x, int64_t axis, bool forward, double scale) {
  using T = RealOf<C>;
  if (y.numel == 0) return;
  const Lines in(x, axis), out(y, axis);
  const int64_t n = in.size, half = n / 2;
  const bool even = n % 2 == 0;
  // An even length goes as n / 2 complex numbers; an odd one as n with no imaginary part.
  const auto plan = FftPlan<T>::Of(even ? half : n);
  const C* roots = even ? plan->Joining().data() : nullptr;
  const T re_scale = static_cast<T>(scale), im_scale = forward ? re_scale : -re_scale;
  // Elements that are their own mirror images have no imaginary part: not even what rounding leaves.
  const auto imaginary = [&](int64_t k, T value) { return k == 0 || (even && k == half) ? 0 * im_scale : value; };
  ForGroups<T>(ctx, in, plan->size(), *plan, [&](int64_t first, int64_t lanes, Split<T> z, T* scratch) {
    if (even) {
      VisitPairs(x.as<T>(), in, first, lanes, [&](int64_t k, int64_t lane, const T& re, const T& im) {
        z.re[k * lanes + lane] = re;
        z.im[k * lanes + lane] = im;
      });
    } else {
      std::fill_n(z.im, n * lanes, T(0));
      Visit(x.as<T>(), in, first, lanes,
            [&](int64_t j, int64_t lane, const T& value) { z.re[j * lanes + lane] = value; });
    }
    const Split<T> w = plan->Run(z, scratch, lanes);
    if (!even) {
      Visit(y.as<C>(), out, first, lanes, [&](int64_t k, int64_t lane, C& value) {
        value = {w.re[k * lanes + lane] * re_scale, imaginary(k, w.im[k * lanes + lane] * im_scale)};
      });
      return;
    }
    // Numbers k and n / 2 - k of the short transform give those of the even and of the odd elements.
    const T re_half = re_scale / 2, im_half = im_scale / 2;
    Visit(y.as<C>(), out, first, lanes, [&](int64_t k, int64_t lane, C& value) {
      const int64_t at = (k == half ? 0 : k) * lanes + lane, mirror = (k == 0 ? 0 : half - k) * lanes + lane;
      const T odd_re = w.im[at] + w.im[mirror], odd_im = w.re[mirror] - w.re[at];
      value = {(w.re[at] + w.re[mirror] + odd_re * roots[k].re - odd_im * roots[k].im) * re_half,
               imaginary(k, (w.im[at] - w.im[mirror] + odd_re * roots[k].im + odd_im * roots[k].re) * im_half)};
    });
  });
}
DRAGON_KERNEL(FftR2C, Complexes);

template <typename C>
void FftC2R(Context& ctx, View y, View x, int64_t axis, bool forward, double scale) {
  using T = RealOf<C>;
  if (y.numel == 0) return;
  const Lines in(x, axis), out(y, axis);
  const int64_t n = out.size, half = n / 2;
  const bool even = n % 2 == 0;
  const auto plan = FftPlan<T>::Of(even ? half : n);
  const C* roots = even ? plan->Joining().data() : nullptr;
  const T sign = forward ? T(-1) : T(1), factor = static_cast<T>(scale);
  const C* spectrum = x.as<C>();
  ForGroups<T>(ctx, out, plan->size(), *plan, [&](int64_t first, int64_t lanes, Split<T> z, T* scratch) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const C* line = spectrum + in.Start(first + lane);
      // The imaginary parts of the elements that are their own mirror images have no meaning, and are not read.
      const auto at = [&](int64_t k) {
        const C value = line[k * in.inner];
        return C{value.re, k == 0 || (even && k == half) ? T(0) : sign * value.im};
      };
      for (int64_t k = 0; k < plan->size(); ++k) {
        C value;
        if (even) {
          const C low = at(k), high = Conj(at(half - k)), odd_part = (low - high) * Conj(roots[k]);
          value = {low.re + high.re - odd_part.im, low.im + high.im + odd_part.re};
        } else {
          value = k <= half ? at(k) : Conj(at(n - k));
        }
        z.re[k * lanes + lane] = value.re;
        z.im[k * lanes + lane] = value.im;
      }
    }
    const Split<T> w = Run(*plan, z, scratch, lanes, /*forward=*/false);
    if (even) {
      VisitPairs(y.as<T>(), out, first, lanes, [&](int64_t k, int64_t lane, T& re, T& im) {
        re = w.re[k * lanes + lane] * factor;
        im = w.im[k * lanes + lane] * factor;
      });
    } else {
      Visit(y.as<T>(), out, first, lanes,
            [&](int64_t j, int64_t lane, T& value) { value = w.re[j * lanes + lane] * factor; });
    }
  });
}
DRAGON_KERNEL(FftC2R, Complexes);

}  // namespace dragon::DRAGON_DEVICE
