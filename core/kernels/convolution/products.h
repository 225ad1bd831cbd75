// Convolutions that are matrix products, or become one when windows are gathered; and activations as matrices.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "core/device/parallel.h"
#include "core/kernels/array.h"
#include "core/kernels/convolution.h"

namespace dragon::DRAGON_DEVICE {

inline Dims ShapeOf(const View& view) { return Dims(view.shape, view.ndim); }
inline Dims StridesOf(const View& view) { return Dims(view.strides, view.ndim); }

/// Strides of (N, C, spatial...) when channels lie side by side.
inline Dims ChannelsLast(const Dims& shape) {
  Dims strides = shape;
  int64_t step = shape[1];
  strides[1] = 1;
  for (int axis = shape.size() - 1; axis >= 2; --axis) {
    strides[axis] = step;
    step *= shape[axis];
  }
  strides[0] = step;
  return strides;
}

/// An activation, to be had with channels side by side: as it lies, or as a copy. (Our copies are several times faster
/// than oneDNN's reorders between plain layouts.)
class Image {
 public:
  Image(Context& ctx, const View& given, bool is_output)
      : ctx_(ctx), given_(given), strides_(ChannelsLast(ShapeOf(given))), is_output_(is_output) {
    for (int axis = 0; axis < given.ndim; ++axis) {  // the strides of axes of one element mean nothing
      channels_last_ &= given.shape[axis] == 1 || given.strides[axis] == strides_[axis];
    }
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  const View& given() const { return given_; }
  int64_t batch() const { return given_.shape[0]; }
  int64_t channels() const { return given_.shape[1]; }
  int64_t positions() const { return given_.numel / (batch() * channels()); }
  bool channels_last() const { return channels_last_; }
  bool is_matrix() const { return channels_last_ || given_.is_contiguous(); }

  /// Memory with channels side by side.
  void* Settle() {
    if (channels_last_) return given_.data;
    copy_.emplace(ctx_.Allocate<char>(given_.numel * ItemSize(given_.dtype)));
    View copy = given_;
    copy.data = copy_->data();
    copy.strides = strides_.data();
    if (!is_output_) kernels::Copy(ctx_, given_.dtype, copy, given_);
    return copy.data;
  }
  /// Bring a result to where it was wanted.
  void Finish() {
    if (!copy_ || !is_output_) return;
    View copy = given_;
    copy.data = copy_->data();
    copy.strides = strides_.data();
    kernels::Copy(ctx_, given_.dtype, given_, copy);
  }

  /// Positions by channels (or turned), of one picture or of all of them in a row.
  OwnedView Matrix(int64_t first, int64_t count, bool turned) const {
    const int64_t rows = count * positions(), item = ItemSize(given_.dtype);
    const int64_t row_step = channels_last_ ? channels() : 1, column_step = channels_last_ ? 1 : positions();
    char* data = given_.as<char>() + first * positions() * channels() * item;
    if (turned) return OwnedView(data, given_.dtype, {channels(), rows}, {column_step, row_step});
    return OwnedView(data, given_.dtype, {rows, channels()}, {row_step, column_step});
  }

 private:
  Context& ctx_;
  View given_;
  Dims strides_;
  bool is_output_, channels_last_ = true;
  std::optional<Scratch> copy_;
};

/// A window of one element is a matrix product. That spares oneDNN's rearranging of the weights, which takes as long as
/// the product itself where they outweigh the activations; and turning activations whose channels lie apart.
inline bool IsProduct(const Image& y, const Image& x, const View& w, const ConvGeometry& geometry) {
  if (w.numel != x.channels() * y.channels() || geometry.groups != 1 || !w.is_contiguous()) return false;
  if (!x.is_matrix() || !y.is_matrix()) return false;
  for (int i = 0; i < geometry.spatial; ++i) {
    const bool slides = geometry.stride[i] != 1 || geometry.padding[i] != 0;
    if (slides || y.given().shape[2 + i] != x.given().shape[2 + i]) return false;
  }
  return !x.channels_last() || !y.channels_last() ||
         2 * w.numel > x.batch() * x.positions() * (x.channels() + y.channels());
}

inline void RunProduct(Context& ctx, ConvPass pass, const Image& y, const Image& x, const View& w, const View& bias,
                       Activation activation) {
  const int64_t out = y.channels(), in = x.channels();
  const OwnedView weights(w.data, w.dtype, {out, in}, {in, 1}), turned(w.data, w.dtype, {in, out}, {1, in});
  MatmulPost post;
  post.activation = activation;
  const int64_t step = x.channels_last() && y.channels_last() ? x.batch() : 1;
  for (int64_t n = 0; n < x.batch(); n += step) {
    const OwnedView of_x = x.Matrix(n, step, false), of_y = y.Matrix(n, step, pass == ConvPass::kBackwardWeights);
    if (pass == ConvPass::kForward) {
      kernels::Matmul(ctx, w.dtype, of_y.view, of_x.view, turned.view, bias, post);
    } else if (pass == ConvPass::kBackwardData) {
      kernels::Matmul(ctx, w.dtype, of_x.view, of_y.view, weights.view, bias, post);
    } else {
      kernels::Matmul(ctx, w.dtype, weights.view, of_y.view, of_x.view, View{}, post);
      post.beta = 1;
    }
  }
}

/// The elements that a window of one element stops at, when it steps over others: copied by themselves they make a
/// product. (The gradient by the input must also zero the others; oneDNN does that.)
inline std::optional<OwnedView> StopsOnly(ConvPass pass, const View& y, const View& x, const View& w,
                                          const ConvGeometry& geometry) {
  bool steps = false, stays = pass != ConvPass::kBackwardData && geometry.groups == 1;
  Dims shape = ShapeOf(x), strides = StridesOf(x);
  for (int i = 0; i < geometry.spatial; ++i) {
    stays &= w.shape[2 + i] == 1 && geometry.padding[i] == 0;
    steps |= geometry.stride[i] > 1;
    shape[2 + i] = y.shape[2 + i];
    strides[2 + i] *= geometry.stride[i];
  }
  const bool heavy = 2 * w.numel > y.numel / y.shape[1] * (x.shape[1] + y.shape[1]);
  if (!steps || !stays || (x.strides[1] == 1 && !heavy)) return std::nullopt;
  return std::optional<OwnedView>(std::in_place, x.data, x.dtype, std::move(shape), std::move(strides));
}

/// The gradient by the weights of windows that step: oneDNN takes twice as long for those as for others. The windows of
/// some pictures at a time are gathered into rows of (taps, channels), in long runs, and multiplied.
class SteppingWeights {
 public:
  SteppingWeights(const View& y, const View& x, const View& w, const ConvGeometry& g)
      : batch_(x.shape[0]), in_channels_(x.shape[1]), out_channels_(y.shape[1]) {
    const int missing = kMaxSpatial - g.spatial;
    for (int i = 0; i < g.spatial; ++i) {
      axes_[missing + i] = {x.shape[2 + i], y.shape[2 + i], w.shape[2 + i], g.stride[i], g.padding[i]};
    }
    bool steps = false;
    for (int i = 0; i < g.spatial; ++i) {
      steps |= g.stride[i] > 1;
      plain_ &= g.dilation[i] == 1;
    }
    plain_ &= steps && g.groups == 1 && taps() > 1 && in_channels_ >= 16 && w.is_contiguous();
  }
  bool usable() const { return plain_; }

  /// x and y with channels side by side.
  void Run(Context& ctx, float* dw, const float* y, const float* x) const {
    const int64_t row = taps() * in_channels_, count = positions();
    const int64_t pictures = std::clamp<int64_t>(kColumnBytes / (count * row * 4), 1, batch_);
    const Scratch columns = ctx.Allocate<float>(pictures * count * row), sum = ctx.Allocate<float>(out_channels_ * row);
    const OwnedView total(sum.data(), DType::kFloat32, {out_channels_, row}, {row, 1});
    MatmulPost post;
    for (int64_t n = 0; n < batch_; n += pictures) {
      const int64_t rows = std::min(pictures, batch_ - n) * count;
      Gather(columns.as<float>(), x + n * in_size(), rows / count);
      const OwnedView left(const_cast<float*>(y) + n * count * out_channels_, DType::kFloat32, {out_channels_, rows},
                           {1, out_channels_});
      const OwnedView right(columns.data(), DType::kFloat32, {rows, row}, {row, 1});
      kernels::Matmul(ctx, DType::kFloat32, total.view, left.view, right.view, View{}, post);
      post.beta = 1;
    }
    const OwnedView from(sum.data(), DType::kFloat32, {out_channels_, in_channels_, taps()}, {row, 1, in_channels_});
    const OwnedView to(dw, DType::kFloat32, {out_channels_, in_channels_, taps()}, {row, taps(), 1});
    kernels::Copy(ctx, DType::kFloat32, to.view, from.view);
  }

 private:
  static constexpr int64_t kColumnBytes = 4 << 20;
  struct Axis {
    int64_t in = 1, out = 1, window = 1, stride = 1, padding = 0;
  };
  int64_t taps() const { return axes_[0].window * axes_[1].window * axes_[2].window; }
  int64_t positions() const { return axes_[0].out * axes_[1].out * axes_[2].out; }
  int64_t in_size() const { return axes_[0].in * axes_[1].in * axes_[2].in * in_channels_; }

  void Gather(float* columns, const float* x, int64_t pictures) const {
    const Axis &a = axes_[0], &b = axes_[1], &c = axes_[2];
    const int64_t row = taps() * in_channels_;
    ParallelFor(pictures * a.out * b.out, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t n = i / (a.out * b.out), d = i / b.out % a.out, h = i % b.out;
        float* to = columns + i * c.out * row;
        for (int64_t w = 0; w < c.out; ++w, to += row) GatherOne(to, x + n * in_size(), d, h, w);
      }
    });
  }
  void GatherOne(float* to, const float* x, int64_t d, int64_t h, int64_t w) const {
    const Axis &a = axes_[0], &b = axes_[1], &c = axes_[2];
    const int64_t left = w * c.stride - c.padding, run = c.window * in_channels_;
    const int64_t first = std::clamp<int64_t>(-left, 0, c.window), last = std::clamp<int64_t>(c.in - left, 0, c.window);
    for (int64_t i = 0; i < a.window; ++i) {
      const int64_t z = d * a.stride - a.padding + i;
      for (int64_t j = 0; j < b.window; ++j, to += run) {
        const int64_t y = h * b.stride - b.padding + j;
        if (z < 0 || z >= a.in || y < 0 || y >= b.in || first >= last) {
          std::fill_n(to, run, 0.0f);
          continue;
        }
        const float* from = x + ((z * b.in + y) * c.in + left) * in_channels_;
        std::fill(to, to + first * in_channels_, 0.0f);
        std::copy(from + first * in_channels_, from + last * in_channels_, to + first * in_channels_);
        std::fill(to + last * in_channels_, to + run, 0.0f);
      }
    }
  }

  int64_t batch_, in_channels_, out_channels_;
  Axis axes_[kMaxSpatial];
  bool plain_ = true;
};

}  // namespace dragon::DRAGON_DEVICE
