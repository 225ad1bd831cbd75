// Where windows lie, and the two ways to walk them: lanes along channels, or lanes along a row of results.
#pragma once

#include <algorithm>
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/pooling.h"

namespace dragon::DRAGON_DEVICE {

/// One spatial axis: window i covers start[i], start[i] + step, ... before stop[i], all inside the input.
struct WindowAxis {
  int64_t in = 1, out = 1, step = 1;
  int64_t x_stride = 0, y_stride = 0;
  std::vector<int64_t> start, stop, padded;  // padded: the window's size when padding counts
  std::vector<int64_t> counts;               // of the elements that a window sees

  WindowAxis() : start{0}, stop{1}, padded{1}, counts{1} {}
  WindowAxis(const View& y, const View& x, const PoolGeometry& g, int i)
      : in(x.shape[2 + i]),
        out(y.shape[2 + i]),
        step(g.adaptive ? 1 : g.dilation[i]),
        x_stride(x.strides[2 + i]),
        y_stride(y.strides[2 + i]),
        start(out),
        stop(out),
        padded(out),
        counts(out) {
    for (int64_t o = 0; o < out; ++o) {
      if (g.adaptive) {
        start[o] = o * in / out;
        stop[o] = ((o + 1) * in + out - 1) / out;
        padded[o] = counts[o] = stop[o] - start[o];
        continue;
      }
      const int64_t first = o * g.stride[i] - g.padding[i], last = first + (g.window[i] - 1) * step + 1;
      start[o] = first >= 0 ? first : (-first + step - 1) / step * step + first;
      stop[o] = std::min(last, in);
      // The last windows of ceil_mode may hang over the padding; what hangs over is not counted.
      padded[o] = std::min(last, in + g.padding[i]) - first;
      counts[o] = std::max<int64_t>(0, (stop[o] - start[o] + step - 1) / step);
    }
  }
  int64_t seen(int64_t o) const { return counts[o]; }
};

/// All windows, with exactly three spatial axes; missing ones have size 1.
struct WindowPlan {
  int64_t batch, channels;
  int64_t x_batch, x_channel, y_batch, y_channel;
  WindowAxis axes[3];
  bool count_padding;
  int64_t divisor;

  WindowPlan(const View& y, const View& x, const PoolGeometry& g)
      : batch(x.shape[0]),
        channels(x.shape[1]),
        x_batch(x.strides[0]),
        x_channel(x.strides[1]),
        y_batch(y.strides[0]),
        y_channel(y.strides[1]),
        count_padding(g.count_padding),
        divisor(g.divisor) {
    for (int i = 0; i < g.spatial; ++i) axes[3 - g.spatial + i] = WindowAxis(y, x, g, i);
  }
  int64_t positions() const { return axes[0].out * axes[1].out * axes[2].out; }
  int64_t Divisor(int64_t d, int64_t h, int64_t w) const {
    if (divisor) return divisor;
    if (!count_padding) return axes[0].seen(d) * axes[1].seen(h) * axes[2].seen(w);
    int64_t size;  // that of three huge windows fits no number: the mean is 0 whatever stands for it
    const bool fits = !__builtin_mul_overflow(axes[0].padded[d], axes[1].padded[h], &size) &&
                      !__builtin_mul_overflow(size, axes[2].padded[w], &size);
    return fits ? size : INT64_MAX;
  }
  /// Enough channels lie side by side to fill vector registers.
  bool LanesAreChannels() const { return x_channel == 1 && channels >= 16; }
};

/// A run of elements of x that belong to consecutive lanes.
struct Lanes {
  int64_t first, count;       ///< lanes
  int64_t offset, step;       ///< of x, from the image's first element
  int64_t index, index_step;  ///< the flat place in the plane
};

/// Call f(Lanes) for each tap of one window, lanes being channels [c, c_end).
template <typename F>
void ForTaps(const WindowPlan& plan, int64_t d, int64_t h, int64_t w, int64_t c, int64_t c_end, F&& f) {
  const WindowAxis &ad = plan.axes[0], &ah = plan.axes[1], &aw = plan.axes[2];
  for (int64_t z = ad.start[d]; z < ad.stop[d]; z += ad.step) {
    for (int64_t y = ah.start[h]; y < ah.stop[h]; y += ah.step) {
      for (int64_t x = aw.start[w]; x < aw.stop[w]; x += aw.step) {
        const int64_t offset = z * ad.x_stride + y * ah.x_stride + x * aw.x_stride + c * plan.x_channel;
        f(Lanes{0, c_end - c, offset, plan.x_channel, (z * ah.in + y) * aw.in + x, 0});
      }
    }
  }
}

/// Call f(Lanes) for the taps of a row of windows, lanes being places along the last axis.
template <typename F>
void ForRowTaps(const WindowPlan& plan, const PoolGeometry& g, int64_t d, int64_t h, F&& f) {
  const WindowAxis &ad = plan.axes[0], &ah = plan.axes[1], &aw = plan.axes[2];
  const int last = g.spatial - 1;
  const int64_t stride = g.stride[last], padding = g.padding[last];
  for (int64_t z = ad.start[d]; z < ad.stop[d]; z += ad.step) {
    for (int64_t y = ah.start[h]; y < ah.stop[h]; y += ah.step) {
      const int64_t line = z * ad.x_stride + y * ah.x_stride, index = (z * ah.in + y) * aw.in;
      for (int64_t tap = 0; tap < g.window[last]; ++tap) {
        // Places o with 0 <= o * stride + shift < in.
        const int64_t shift = tap * aw.step - padding;
        const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
        const int64_t stop = std::min(aw.out, shift >= aw.in ? 0 : (aw.in - shift + stride - 1) / stride);
        if (first >= stop) continue;
        const int64_t at = first * stride + shift;
        f(Lanes{first, stop - first, line + at * aw.x_stride, stride * aw.x_stride, index + at, stride});
      }
    }
  }
}

/// Channels a thread takes at a time when channels are lanes.
inline constexpr int64_t kChannelBlock = 256;

/// Walk all windows. `taps(n, c, for_each_tap)` is given a walker of Lanes for one set of lanes; then
/// `finish(lane_count, y_offset, y_step, divisor_of_lane)` is called. Pieces that share no x run in parallel.
template <typename MakeWorker>
void WalkWindows(const WindowPlan& plan, const PoolGeometry& g, MakeWorker&& make_worker) {
  const WindowAxis &ad = plan.axes[0], &ah = plan.axes[1], &aw = plan.axes[2];
  // A window wider than the picture has more taps than places that they could meet: it goes place by place.
  const bool by_channel = g.adaptive || plan.LanesAreChannels() || g.window[g.spatial - 1] > aw.in;
  const int64_t block = by_channel ? std::min(kChannelBlock, plan.channels) : 1;
  const int64_t blocks = (plan.channels + block - 1) / block;
  const int64_t work = std::max<int64_t>(1, plan.positions() * block);
  ParallelFor(plan.batch * blocks, std::max<int64_t>(1, kGrain / 8 / work), [&](int64_t begin, int64_t end) {
    auto worker = make_worker(by_channel ? block : aw.out);
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t n = piece / blocks, c = piece % blocks * block, c_end = std::min(c + block, plan.channels);
      const int64_t x_base = n * plan.x_batch, y_base = n * plan.y_batch + c * plan.y_channel;
      for (int64_t row = 0; row < ad.out * ah.out; ++row) {
        const int64_t d = row / ah.out, h = row % ah.out;
        const int64_t y_row = y_base + d * ad.y_stride + h * ah.y_stride;
        if (!by_channel) {
          worker(
              aw.out, y_row, aw.y_stride, x_base + c * plan.x_channel, [&](auto&& f) { ForRowTaps(plan, g, d, h, f); },
              [&](int64_t lane) { return plan.Divisor(d, h, lane); });
          continue;
        }
        for (int64_t w = 0; w < aw.out; ++w) {
          const int64_t divisor = plan.Divisor(d, h, w);  // the same for all lanes: none of them divides integers
          worker(
              c_end - c, y_row + w * aw.y_stride, plan.y_channel, x_base,
              [&](auto&& f) { ForTaps(plan, d, h, w, c, c_end, f); }, [divisor](int64_t) { return divisor; });
        }
      }
    }
  });
}

}  // namespace dragon::DRAGON_DEVICE
