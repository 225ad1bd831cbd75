// Convolution for every dtype: oneDNN where it is fast, else windows gathered into columns and multiplied.
#include "core/kernels/convolution.h"

#include <algorithm>
#include <utility>

#include "core/device/parallel.h"
#include "core/kernels/matmul/epilogue.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Columns gathered at a time: the block of windows stays in the second-level cache for usual layers.
constexpr int64_t kColumns = 1024;

/// A convolution with exactly three spatial axes; missing ones have size 1.
struct Windows {
  int64_t batch, groups, in_channels, out_channels;  // channels are per group
  int64_t in[3], out[3], window[3], stride[3], dilation[3], padding[3];
  int64_t in_steps[3];
  int64_t taps, positions;

  Windows(const View& y, const View& x, const View& w, const ConvGeometry& g) {
    batch = x.shape[0];
    groups = g.groups;
    in_channels = w.shape[1];
    out_channels = w.shape[0] / groups;
    taps = positions = 1;
    for (int i = 0; i < 3; ++i) {
      const int axis = i - (3 - g.spatial);  // the last axis stays last
      const bool real = axis >= 0;
      in[i] = real ? x.shape[2 + axis] : 1;
      out[i] = real ? y.shape[2 + axis] : 1;
      window[i] = real ? w.shape[2 + axis] : 1;
      stride[i] = real ? g.stride[axis] : 1;
      dilation[i] = real ? g.dilation[axis] : 1;
      padding[i] = real ? g.padding[axis] : 0;
      in_steps[i] = real ? x.strides[2 + axis] : 0;
      taps *= window[i];
      positions *= out[i];
    }
  }
  int64_t rows() const { return in_channels * taps; }

  /// Call f(row, column, offset) for each element of columns [begin, end) that lies inside the input.
  template <typename F>
  void ForEach(int64_t channel_step, int64_t begin, int64_t end, F&& f) const {
    for (int64_t c = 0; c < in_channels; ++c) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t at[3] = {tap / (window[1] * window[2]), tap / window[2] % window[1], tap % window[2]};
        for (int64_t l = begin; l < end;) {
          const int64_t first[3] = {l / (out[1] * out[2]), l / out[2] % out[1], l % out[2]};
          const int64_t count = std::min(out[2] - first[2], end - l);
          const int64_t d = first[0] * stride[0] - padding[0] + at[0] * dilation[0];
          const int64_t h = first[1] * stride[1] - padding[1] + at[1] * dilation[1];
          if (d >= 0 && d < in[0] && h >= 0 && h < in[1]) {
            const int64_t base = c * channel_step + d * in_steps[0] + h * in_steps[1];
            for (int64_t i = 0; i < count; ++i) {
              const int64_t at_w = (first[2] + i) * stride[2] - padding[2] + at[2] * dilation[2];
              if (at_w >= 0 && at_w < in[2]) f(c * taps + tap, l + i - begin, base + at_w * in_steps[2]);
            }
          }
          l += count;
        }
      }
    }
  }
};

/// A dense copy of `x` in row-major order, converted; or a dense View over nothing, to be filled.
template <typename T>
class Dense {
 public:
  Dense(const Context& ctx, const View& like)
      : scratch_(ctx.Allocate<T>(like.numel)),
        owned_(scratch_.data(), kDTypeOf<T>, Dims(like.shape, like.ndim), Strides(like)) {}

  const View& view() const { return owned_.view; }
  T* data() const { return scratch_.as<T>(); }

  /// Call f(dense element, strided element) for all of `x`.
  template <typename U, typename F>
  void Zip(const View& x, F&& f) {
    T* dense = data();
    const int64_t width = x.ndim ? x.shape[x.ndim - 1] : 1, step = x.ndim ? x.strides[x.ndim - 1] : 1;
    for (int64_t row = 0; row < x.numel / std::max<int64_t>(width, 1); ++row) {
      int64_t rest = row, offset = 0;
      for (int axis = x.ndim - 2; axis >= 0; --axis) {
        offset += rest % x.shape[axis] * x.strides[axis];
        rest /= x.shape[axis];
      }
      U* line = x.as<U>() + offset;
      for (int64_t i = 0; i < width; ++i) f(dense[row * width + i], line[i * step]);
    }
  }
  template <typename U>
  __attribute__((noinline)) void CopyFrom(const View& x) {
    Zip<U>(x, [](T& to, const U& from) { to = static_cast<T>(from); });
  }
  template <typename U>
  __attribute__((noinline)) void CopyTo(const View& x) {
    Zip<U>(x, [](const T& from, U& to) { to = static_cast<U>(from); });
  }

 private:
  static Dims Strides(const View& like) {
    Dims strides = Dims::Filled(like.ndim, 1);
    for (int axis = like.ndim - 2; axis >= 0; --axis) strides[axis] = strides[axis + 1] * like.shape[axis + 1];
    return strides;
  }
  Scratch scratch_;
  OwnedView owned_;
};

/// Elements from one position of a dense activation to the next. Axes of one element have free strides.
int64_t PositionStep(const View& y) {
  for (int axis = y.ndim - 1; axis >= 2; --axis) {
    if (y.shape[axis] > 1) return y.strides[axis];
  }
  return 1;
}

/// Whether all positions are that one step apart.
bool OneStepPositions(const View& y) {
  int64_t expected = PositionStep(y);
  for (int axis = y.ndim - 1; axis >= 2; --axis) {
    if (y.shape[axis] == 1) continue;
    if (y.strides[axis] != expected) return false;
    expected *= y.shape[axis];
  }
  return true;
}

/// The matrix (channels of one group, positions [begin, end)) of a dense activation.
template <typename T>
OwnedView Positions(const View& y, const Windows& win, int64_t n, int64_t group, int64_t begin, int64_t end) {
  const int64_t step = PositionStep(y);
  T* data = y.as<T>() + n * y.strides[0] + group * win.out_channels * y.strides[1] + begin * step;
  return OwnedView(data, y.dtype, {win.out_channels, end - begin}, {y.strides[1], step});
}

template <typename T>
__attribute__((noinline)) void Gather(const Windows& win, const T* x, int64_t channel_step, int64_t begin, int64_t end,
                                      T* columns) {
  std::fill(columns, columns + win.rows() * (end - begin), T(0));
  win.ForEach(channel_step, begin, end,
              [&](int64_t row, int64_t column, int64_t offset) { columns[row * (end - begin) + column] = x[offset]; });
}

/// Weights of one group as a matrix (O / groups, C / groups * taps).
template <typename T>
OwnedView Weights(const View& w, const Windows& win, int64_t group) {
  return OwnedView(w.as<T>() + group * win.out_channels * win.rows(), w.dtype, {win.out_channels, win.rows()},
                   {win.rows(), 1});
}

template <typename T>
void ForwardByColumns(Context& ctx, const View& y, const View& x, const View& w, const ConvGeometry& geometry) {
  const Windows win(y, x, w, geometry);
  ParallelFor(win.batch * win.groups, 1, [&](int64_t first, int64_t last) {
    const Scratch columns = ctx.Allocate<T>(win.rows() * std::min(kColumns, win.positions));
    for (int64_t i = first; i < last; ++i) {
      const int64_t n = i / win.groups, group = i % win.groups;
      const T* image = x.as<T>() + n * x.strides[0] + group * win.in_channels * x.strides[1];
      for (int64_t begin = 0; begin < win.positions; begin += kColumns) {
        const int64_t end = std::min(begin + kColumns, win.positions);
        Gather<T>(win, image, x.strides[1], begin, end, columns.as<T>());
        const OwnedView gathered(columns.data(), y.dtype, {win.rows(), end - begin}, {end - begin, 1});
        kernels::Matmul(ctx, y.dtype, Positions<T>(y, win, n, group, begin, end).view, Weights<T>(w, win, group).view,
                        gathered.view, View{}, MatmulPost{});
      }
    }
  });
}

template <typename T>
void BackwardDataByColumns(Context& ctx, const View& dx, const View& dy, const View& w, const ConvGeometry& geometry) {
  const Windows win(dy, dx, w, geometry);
  ParallelFor(win.batch * win.groups, 1, [&](int64_t first, int64_t last) {
    const Scratch columns = ctx.Allocate<T>(win.rows() * std::min(kColumns, win.positions));
    for (int64_t i = first; i < last; ++i) {
      const int64_t n = i / win.groups, group = i % win.groups;
      T* image = dx.as<T>() + n * dx.strides[0] + group * win.in_channels * dx.strides[1];
      for (int64_t begin = 0; begin < win.positions; begin += kColumns) {
        const int64_t end = std::min(begin + kColumns, win.positions), width = end - begin;
        const OwnedView gathered(columns.data(), dx.dtype, {win.rows(), width}, {width, 1});
        const OwnedView weights(Weights<T>(w, win, group).view.data, w.dtype, {win.rows(), win.out_channels},
                                {1, win.rows()});
        kernels::Matmul(ctx, dx.dtype, gathered.view, weights.view, Positions<T>(dy, win, n, group, begin, end).view,
                        View{}, MatmulPost{});
        const T* sums = columns.as<T>();
        win.ForEach(dx.strides[1], begin, end, [&](int64_t row, int64_t column, int64_t offset) {
          image[offset] = static_cast<T>(image[offset] + sums[row * width + column]);
        });
      }
    }
  });
}

template <typename T>
void BackwardWeightsByColumns(Context& ctx, const View& dw, const View& dy, const View& x,
                              const ConvGeometry& geometry) {
  const Windows win(dy, x, dw, geometry);
  ParallelFor(win.groups, 1, [&](int64_t first, int64_t last) {
    const Scratch columns = ctx.Allocate<T>(win.rows() * std::min(kColumns, win.positions));
    for (int64_t group = first; group < last; ++group) {
      MatmulPost post;  // the first product overwrites dw, the others add to it
      for (int64_t n = 0; n < win.batch; ++n) {
        const T* image = x.as<T>() + n * x.strides[0] + group * win.in_channels * x.strides[1];
        for (int64_t begin = 0; begin < win.positions; begin += kColumns) {
          const int64_t end = std::min(begin + kColumns, win.positions);
          Gather<T>(win, image, x.strides[1], begin, end, columns.as<T>());
          const OwnedView gathered(columns.data(), x.dtype, {end - begin, win.rows()}, {1, end - begin});
          kernels::Matmul(ctx, dw.dtype, Weights<T>(dw, win, group).view,
                          Positions<T>(dy, win, n, group, begin, end).view, gathered.view, View{}, post);
          post.beta = 1;
        }
      }
    }
  });
}

template <typename T>
void Fill(const View& dense, T value) {
  std::fill(dense.as<T>(), dense.as<T>() + dense.numel, value);
}

/// y[n, c, ...] = activation(y + bias[c])
template <typename T>
__attribute__((noinline)) void AddBias(const View& y, const View& bias, Activation activation) {
  MatmulPost post;
  post.activation = activation;
  const Epilogue<T> epilogue(bias, post);
  if (epilogue.plain) return;
  const int64_t channels = y.shape[1], positions = y.numel / (y.shape[0] * channels);
  const int64_t step = PositionStep(y);
  ParallelFor(y.shape[0] * channels, std::max<int64_t>(1, kGrain / positions), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* line = y.as<T>() + i / channels * y.strides[0] + i % channels * y.strides[1];
      for (int64_t l = 0; l < positions; ++l) {
        line[l * step] = epilogue(static_cast<typename Epilogue<T>::Sum>(line[l * step]), line[l * step], i % channels);
      }
    }
  });
}

}  // namespace

template <typename T>
void Conv(Context& ctx, View y, View x, View w, View bias, const ConvGeometry& geometry, Activation activation) {
  if (y.numel == 0) return;
  if constexpr (kHasOneDnn && (std::is_same_v<T, float> || std::is_same_v<T, bfloat16>)) {
    bool done = x.numel == 0 || w.numel == 0;
    if (!done) kernels::ConvOneDnn(ctx, kDTypeOf<T>, ConvPass::kForward, y, x, w, bias, geometry, activation, &done);
    if (done && x.numel != 0 && w.numel != 0) return;
  }
  if constexpr (kIsHalf<T>) {
    Dense<float> wide_y(ctx, y), wide_x(ctx, x), wide_w(ctx, w),
        wide_bias(ctx, bias ? bias : View{nullptr, y.shape, y.strides, 0, 0});
    wide_x.template CopyFrom<T>(x);
    wide_w.template CopyFrom<T>(w);
    if (bias) wide_bias.template CopyFrom<T>(bias);
    kernels::Conv(ctx, DType::kFloat32, wide_y.view(), wide_x.view(), wide_w.view(), bias ? wide_bias.view() : View{},
                  geometry, activation);
    wide_y.template CopyTo<T>(y);
  } else {
    Dense<T> dense_w(ctx, w);
    dense_w.template CopyFrom<T>(w);
    ForwardByColumns<T>(ctx, y, x, dense_w.view(), geometry);
    AddBias<T>(y, bias, activation);
  }
}

template <typename T>
void ConvBackwardData(Context& ctx, View dx, View dy, View w, View bias, const ConvGeometry& geometry) {
  if (dx.numel == 0) return;
  bool done = false;
  if constexpr (kHasOneDnn && (std::is_same_v<T, float> || std::is_same_v<T, bfloat16>)) {
    if (dy.numel != 0 && w.numel != 0) {
      kernels::ConvOneDnn(ctx, kDTypeOf<T>, ConvPass::kBackwardData, dy, dx, w, View{}, geometry, Activation::kNone,
                          &done);
    }
  }
  if (!done) {
    if constexpr (kIsHalf<T>) {
      Dense<float> wide_dx(ctx, dx), wide_dy(ctx, dy), wide_w(ctx, w);
      wide_dy.template CopyFrom<T>(dy);
      wide_w.template CopyFrom<T>(w);
      kernels::ConvBackwardData(ctx, DType::kFloat32, wide_dx.view(), wide_dy.view(), wide_w.view(), View{}, geometry);
      wide_dx.template CopyTo<T>(dx);
    } else {
      Dense<T> dense_w(ctx, w), dense_dy(ctx, dy);
      dense_w.template CopyFrom<T>(w);
      if (!OneStepPositions(dy)) dense_dy.template CopyFrom<T>(dy);
      Fill<T>(dx, T(0));
      BackwardDataByColumns<T>(ctx, dx, OneStepPositions(dy) ? dy : dense_dy.view(), dense_w.view(), geometry);
    }
  }
  AddBias<T>(dx, bias, Activation::kNone);
}

/// dbias[c] = sum of dy (of type U) over everything but channels.
template <typename T, typename U = T>
__attribute__((noinline)) void SumOverPositions(const View& dbias, const View& dy) {
  const int64_t channels = dy.shape[1], positions = channels && dy.shape[0] ? dy.numel / (dy.shape[0] * channels) : 0;
  const int64_t step = PositionStep(dy);
  ParallelFor(channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(dy.shape[0] * positions, 1)),
              [&](int64_t begin, int64_t end) {
                for (int64_t c = begin; c < end; ++c) {
                  auto sum = Accumulator<U>(0);
                  for (int64_t n = 0; n < dy.shape[0]; ++n) {
                    const U* line = dy.as<U>() + n * dy.strides[0] + c * dy.strides[1];
                    for (int64_t l = 0; l < positions; ++l) sum += static_cast<Accumulator<U>>(line[l * step]);
                  }
                  dbias.as<T>()[c * dbias.strides[0]] = static_cast<T>(sum);
                }
              });
}

template <typename T>
void ConvBackwardWeights(Context& ctx, View dw, View dbias, View dy, View x, const ConvGeometry& geometry) {
  if (dy.numel == 0 || x.numel == 0 || dw.numel == 0) {
    Fill<T>(dw, T(0));
    if (dbias) SumOverPositions<T>(dbias, dy);
    return;
  }
  if constexpr (kHasOneDnn && (std::is_same_v<T, float> || std::is_same_v<T, bfloat16>)) {
    bool done = false;
    kernels::ConvOneDnn(ctx, kDTypeOf<T>, ConvPass::kBackwardWeights, dy, x, dw, dbias, geometry, Activation::kNone,
                        &done);
    if (done) return;
  }
  if constexpr (kIsHalf<T>) {
    Dense<float> wide_dw(ctx, dw), wide_dy(ctx, dy), wide_x(ctx, x);
    wide_dy.template CopyFrom<T>(dy);
    wide_x.template CopyFrom<T>(x);
    kernels::ConvBackwardWeights(ctx, DType::kFloat32, wide_dw.view(), View{}, wide_dy.view(), wide_x.view(), geometry);
    wide_dw.template CopyTo<T>(dw);
    if (dbias) SumOverPositions<T, float>(dbias, wide_dy.view());
  } else {
    Dense<T> dense_dy(ctx, dy);
    if (!OneStepPositions(dy)) dense_dy.template CopyFrom<T>(dy);
    const View& even_dy = OneStepPositions(dy) ? dy : dense_dy.view();
    BackwardWeightsByColumns<T>(ctx, dw, even_dy, x, geometry);
    if (dbias) SumOverPositions<T>(dbias, even_dy);
  }
}

DRAGON_KERNEL(Conv, Numeric);
DRAGON_KERNEL(ConvBackwardData, Numeric);
DRAGON_KERNEL(ConvBackwardWeights, Numeric);

}  // namespace dragon::DRAGON_DEVICE
