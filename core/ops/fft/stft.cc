// Short-time Fourier transforms: windows of a signal, transformed one by one, and put together again.
#include "core/ops/check.h"
#include "core/ops/fft/common.h"

namespace dragon {
namespace {

/// The window in the middle of n_fft numbers; without one, ones.
Tensor Window(const CallReader& c, const Tensor& window, int64_t n_fft, int64_t length, DType dtype) {
  if (length < 1 || length > n_fft) {
    throw ValueError(c.name()).Got("win_length ", length).Expected("1 to n_fft ", n_fft);
  }
  if (window.defined() && (window.ndim() != 1 || window.size(0) != length)) {
    throw ValueError(c.name()).Got("a window of shape ", window.shape()).Expected("(", length, ",)");
  }
  const Tensor full = window.defined() ? window : Op<"full">(Dims{length}, 1.0, dtype, c.x("x").device());
  const int64_t left = (n_fft - length) / 2;
  return length == n_fft ? full : Op<"pad">(full, Dims{left, n_fft - length - left});
}

struct Sizes {
  int64_t n_fft, hop, length;
  explicit Sizes(const CallReader& c)
      : n_fft(c.Int("n_fft")),
        hop(c.Given("hop_length") ? c.Int("hop_length") : c.Int("n_fft") / 4),
        length(c.Given("win_length") ? c.Int("win_length") : c.Int("n_fft")) {
    if (n_fft < 1 || hop < 1) {
      throw ValueError(c.name()).Got("n_fft ", n_fft, " and hop_length ", hop).Expected("at least 1 each");
    }
  }
};

Tensors Stft(const CallReader& c) {
  Tensor x = fft::AsFloat(c, c.x("x"));
  if (x.ndim() < 1 || x.ndim() > 2) {
    throw ValueError(c.name()).Got("a signal of shape ", x.shape()).Expected("one or two axes");
  }
  const Sizes sizes(c);
  const bool lone = x.ndim() == 1;
  if (lone) x = Op<"unsqueeze">(x, 0);
  const DType real = RealDType(x.dtype());
  const Tensor window = Window(c, c.x("window"), sizes.n_fft, sizes.length, real);
  if (c.Bool("center")) {
    const int64_t half = sizes.n_fft / 2;
    x = Op<"squeeze">(Op<"pad">(Op<"unsqueeze">(x, 0), Dims{half, half}, c.attr("pad_mode")), Dims{0});
  }
  if (x.size(-1) < sizes.n_fft) {
    throw ValueError(c.name()).Got("a signal of ", x.size(-1), " samples").Expected("at least n_fft ", sizes.n_fft);
  }
  const Tensor framed = Op<"unfold">(x, -1, sizes.n_fft, sizes.hop) * window;
  const bool complex = framed.is_complex(), onesided = c.Given("onesided") ? c.Bool("onesided") : !complex;
  if (complex && onesided)
    throw ValueError(c.name()).Got("onesided=True for complex numbers").Expected("onesided=False");
  const Value norm = c.Bool("normalized") ? Value("ortho") : Value("backward");
  const Tensor spectrum = onesided ? Op<"fft_rfft">(framed, None, -1, norm) : Op<"fft_fft">(framed, None, -1, norm);
  Tensor y = Op<"transpose">(spectrum, -2, -1);
  if (lone) y = Op<"squeeze">(y, Dims{0});
  return {c.Bool("return_complex") ? y : Op<"view_as_real">(Op<"contiguous">(y))};
}

[[maybe_unused]] const auto& stft =
    DefineOp(
        "stft(Tensor x, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, "
        "str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool return_complex=True) -> Tensor")
        .Doc("The Fourier transforms of overlapping windows of signals: (..., frequency, time).")
        .Autocast(Precision::kFloat32)
        .As(Stft);

/// Windows (batch, n, time) added at every `hop` samples: (batch, n + hop (time - 1)).
Tensor OverlapAdd(const Tensor& frames, int64_t n, int64_t hop) {
  const int64_t total = n + hop * (frames.size(-1) - 1);
  const Tensor image = Op<"col2im">(frames, Dims{1, total}, Dims{1, n}, Dims{1, 1}, Dims{0, 0}, Dims{1, hop});
  return Op<"reshape">(image, Dims{frames.size(0), total});
}

Tensors Istft(const CallReader& c) {
  Tensor x = c.x("x");
  if (!x.is_complex()) throw TypeError(c.name()).Got("x of dtype ", x.dtype()).Expected("complex numbers");
  if (x.ndim() < 2 || x.ndim() > 3) throw ValueError(c.name()).Got("shape ", x.shape()).Expected("two or three axes");
  const Sizes sizes(c);
  const int64_t n = sizes.n_fft, half = n / 2;
  const bool lone = x.ndim() == 2, returns_complex = c.Bool("return_complex");
  if (lone) x = Op<"unsqueeze">(x, 0);
  const bool onesided = c.Given("onesided") ? c.Bool("onesided") : x.size(1) != n;
  if (x.size(1) != (onesided ? half + 1 : n) || x.size(2) < 1) {
    throw ValueError(c.name())
        .Got(x.size(1), " frequencies and ", x.size(2), " windows")
        .Expected(onesided ? half + 1 : n, " frequencies and at least one window");
  }
  if (returns_complex && onesided) {
    throw ValueError(c.name()).Got("return_complex=True with onesided=True").Expected("onesided=False");
  }
  const DType real = RealDType(x.dtype());
  const Tensor window = Window(c, c.x("window"), n, sizes.length, real);
  const Value norm = c.Bool("normalized") ? Value("ortho") : Value("backward");
  const Tensor spectrum = Op<"transpose">(x, 1, 2);
  Tensor frames = onesided ? Op<"fft_irfft">(spectrum, n, -1, norm) : Op<"fft_ifft">(spectrum, None, -1, norm);
  if (!onesided && !returns_complex) frames = Op<"real">(frames);
  const int64_t count = x.size(2);
  Tensor y = OverlapAdd(Op<"transpose">(frames * window, 1, 2), n, sizes.hop);
  const Tensor square = Op<"broadcast_to">(Op<"unsqueeze">(window * window, -1), Dims{1, n, count});
  const Tensor envelope = OverlapAdd(square, n, sizes.hop);
  const int64_t total = y.size(-1), start = c.Bool("center") ? half : 0;
  const int64_t stop = c.Given("length") ? start + c.Int("length") : c.Bool("center") ? total - half : total;
  const auto part = [&](const Tensor& t) { return Op<"slice">(t, -1, start, std::min(stop, total), 1); };
  const Tensor weight = part(envelope);
  if (weight.numel() > 0 && !Holds(Op<"all">(Op<"ge">(Op<"abs">(weight), Number(1e-11))))) {
    throw RuntimeError(c.name()).Says("the windows leave samples uncovered, which cannot be found again");
  }
  y = part(y) / weight;
  if (stop > total) y = Op<"pad">(y, Dims{0, stop - total});
  return {lone ? Op<"squeeze">(y, Dims{0}) : y};
}

[[maybe_unused]] const auto& istft =
    DefineOp(
        "istft(Tensor x, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, "
        "bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor")
        .Doc("The signals of which stft gave the transforms, by least squares.")
        .As(Istft);

}  // namespace
}  // namespace dragon
