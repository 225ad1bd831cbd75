// Sliding windows as columns and back, and channels exchanged for pixels.
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/vision.h"

namespace dragon {
namespace {

/// Two numbers, each at least `least`.
std::array<int64_t, 2> PairOf(const CallReader& c, ArgumentName name, int64_t least) {
  const Dims& given = c.Ints(name);
  if (given.size() == 2 && given[0] >= least && given[1] >= least) return {given[0], given[1]};
  throw ValueError(c.name()).Got(name.text, " ", given).Expected("two numbers of at least ", least);
}
WindowSpec SpecOf(const CallReader& c) {
  WindowSpec spec;
  spec.size = PairOf(c, "kernel_size", 1);
  spec.dilation = PairOf(c, "dilation", 1);
  spec.padding = PairOf(c, "padding", 0);
  spec.stride = PairOf(c, "stride", 1);
  return spec;
}

/// How many windows lie along one axis; a window that does not fit is an error, and so is a size beyond 64 bits.
int64_t CountWindows(const CallReader& c, const WindowSpec& spec, int axis, int64_t size) {
  int64_t reach = 0, padded = 0, doubled = 0;
  const bool overflow = __builtin_mul_overflow(spec.dilation[axis], spec.size[axis] - 1, &reach) ||
                        __builtin_add_overflow(reach, 1, &reach) ||
                        __builtin_mul_overflow(spec.padding[axis], 2, &doubled) ||
                        __builtin_add_overflow(doubled, size, &padded);
  if (overflow || padded < reach) {
    throw ValueError(c.name())
        .Got("an image side of ", size, " with padding ", spec.padding[axis])
        .Expected("at least the window's ", spec.size[axis], " with dilation ", spec.dilation[axis]);
  }
  return (padded - reach) / spec.stride[axis] + 1;
}

/// a * b, where sizes whose product needs more than 64 bits are an error.
int64_t Times(const CallReader& c, const char* what, int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  throw ValueError(c.name()).Got(what, " of ", a, " by ", b).Expected("a product that fits 64 bits");
}

int64_t ElementsOf(const CallReader& c, const WindowSpec& spec) {
  return Times(c, "windows", spec.size[0], spec.size[1]);
}

void CheckFloat(const CallReader& c) {
  const DType dtype = c.x(0).dtype();
  if (!IsInexact(dtype)) throw TypeError(c.name()).Got("x of dtype ", dtype).Expected("a float or complex dtype");
}

[[maybe_unused]] const auto& im2col =
    DefineOp("im2col(Tensor x, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor")
        .Doc("The windows of images (N, C, H, W) as columns (N, C kh kw, windows). One image may come without N.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          if (x.ndim() == 4)
            return {
                Op<"im2col_batch">(x, c.attr("kernel_size"), c.attr("dilation"), c.attr("padding"), c.attr("stride"))};
          if (x.ndim() != 3) throw ValueError(c.name()).Got("shape ", x.shape()).Expected("(N, C, H, W) or (C, H, W)");
          const Tensor lone = Op<"unsqueeze">(x, 0);
          return {Op<"squeeze">(
              Op<"im2col_batch">(lone, c.attr("kernel_size"), c.attr("dilation"), c.attr("padding"), c.attr("stride")),
              Dims{0})};
        });

[[maybe_unused]] const auto& im2col_batch =
    DefineOp("im2col_batch(Tensor x, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor")
        .Doc("im2col of a batch.")
        .Batches(Batching::kSamples)
        .Infers([](Infer& i) {
          const Tensor& x = i.x(0);
          CheckFloat(i);
          const WindowSpec spec = SpecOf(i);
          const int64_t rows = CountWindows(i, spec, 0, x.size(2)), columns = CountWindows(i, spec, 1, x.size(3));
          const int64_t height = Times(i, "channels and windows", x.size(1), ElementsOf(i, spec));
          i.y(0, Dims{x.size(0), height, Times(i, "places", rows, columns)}, x.dtype());
        })
        .Runs([](Run& r) { kernels::Im2Col(r.ctx(), r.dtype(), r.out(), r.rows(0), SpecOf(r)); })
        .Gradient("", [](Grad& g) {
          const Dims& shape = g.x_shape(0);
          g.dx(0, Op<"col2im">(g.dy(), Dims{shape[2], shape[3]}, g.attr("kernel_size"), g.attr("dilation"),
                               g.attr("padding"), g.attr("stride")));
        });

[[maybe_unused]] const auto& col2im =
    DefineOp(
        "col2im(Tensor x, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] "
        "stride=1) -> Tensor")
        .Doc("Columns (N, C kh kw, windows) added back into images (N, C, H, W). One image may come without N.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          const auto run = [&](const Tensor& batch) {
            return Op<"col2im_batch">(batch, c.attr("output_size"), c.attr("kernel_size"), c.attr("dilation"),
                                      c.attr("padding"), c.attr("stride"));
          };
          if (x.ndim() == 3) return {run(x)};
          if (x.ndim() == 2) return {Op<"squeeze">(run(Op<"unsqueeze">(x, 0)), Dims{0})};
          throw ValueError(c.name()).Got("shape ", x.shape()).Expected("(N, C kh kw, windows), or without N");
        });

[[maybe_unused]] const auto& col2im_batch =
    DefineOp(
        "col2im_batch(Tensor x, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] "
        "stride) -> Tensor")
        .Doc("col2im of a batch.")
        .Batches(Batching::kSamples)
        .Infers([](Infer& i) {
          const Tensor& x = i.x(0);
          const Dims& size = i.Ints("output_size");
          CheckFloat(i);
          const WindowSpec spec = SpecOf(i);
          if (size[0] < 1 || size[1] < 1) throw ValueError("col2im").Got("output_size ", size).Expected("at least 1");
          const int64_t rows = CountWindows(i, spec, 0, size[0]), columns = CountWindows(i, spec, 1, size[1]);
          const int64_t windows = Times(i, "places", rows, columns), elements = ElementsOf(i, spec);
          if (x.size(1) % elements != 0 || x.size(2) != windows) {
            throw ValueError("col2im")
                .Got("columns ", x.shape())
                .Expected("a multiple of ", elements, " rows, and ", windows, " windows");
          }
          i.y(0, Dims{x.size(0), x.size(1) / elements, size[0], size[1]}, x.dtype());
        })
        .Runs([](Run& r) { kernels::Col2Im(r.ctx(), r.dtype(), r.out(), r.rows(0), SpecOf(r)); })
        .Gradient("", [](Grad& g) {
          g.dx(0, Op<"im2col">(g.dy(), g.attr("kernel_size"), g.attr("dilation"), g.attr("padding"), g.attr("stride")));
        });

/// The axes before the last three, then the given ones.
Dims Shaped(const Tensor& x, std::initializer_list<int64_t> last) {
  Dims shape(x.shape().data(), x.ndim() - 3);
  for (int64_t size : last) shape.push_back(size);
  return shape;
}

/// Reorder the axes from the third from the end on; `order` counts from there.
Tensor PermuteLast(const Tensor& x, int lead, std::initializer_list<int64_t> order) {
  Dims axes;
  for (int i = 0; i < lead; ++i) axes.push_back(i);
  for (int64_t axis : order) axes.push_back(lead + axis);
  return Op<"permute">(x, axes);
}

/// x in memory of its own, as PyTorch gives it even where no element moves.
Tensor Owned(const Tensor& x, const Tensor& source) {
  const bool shared = x.impl()->storage && x.impl()->storage == source.impl()->storage;
  return shared || Door().phantom ? Op<"clone">(x) : x;
}

void CheckFactor(const CallReader& c, int64_t factor) {
  if (c.x(0).ndim() < 3) throw ValueError(c.name()).Got("shape ", c.x(0).shape()).Expected("at least three axes");
  if (factor < 1) throw ValueError(c.name()).Got("a factor of ", factor).Expected("at least 1");
}

[[maybe_unused]] const auto& pixel_shuffle =
    DefineOp("pixel_shuffle(Tensor x, int upscale_factor) -> Tensor")
        .Doc("(..., C r r, H, W) as (..., C, H r, W r).")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          const int64_t r = c.Int("upscale_factor");
          CheckFactor(c, r);
          const int64_t channels = x.size(-3), h = x.size(-2), w = x.size(-1);
          if (r > 46340 || channels % (r * r) != 0) {
            throw ValueError(c.name()).Got(channels, " channels").Expected("a multiple of ", r, " squared");
          }
          const Tensor split = Op<"reshape">(x, Shaped(x, {channels / (r * r), r, r, h, w}));
          const Tensor made = Op<"reshape">(PermuteLast(split, x.ndim() - 3, {0, 3, 1, 4, 2}),
                                            Shaped(x, {channels / (r * r), h * r, w * r}));
          return {Owned(made, x)};
        });

[[maybe_unused]] const auto& pixel_unshuffle =
    DefineOp("pixel_unshuffle(Tensor x, int downscale_factor) -> Tensor")
        .Doc("(..., C, H r, W r) as (..., C r r, H, W).")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          const int64_t r = c.Int("downscale_factor");
          CheckFactor(c, r);
          const int64_t channels = x.size(-3), h = x.size(-2), w = x.size(-1);
          if (h % r != 0 || w % r != 0) {
            throw ValueError(c.name()).Got("images of ", h, " x ", w).Expected("sides that are multiples of ", r);
          }
          const Tensor split = Op<"reshape">(x, Shaped(x, {channels, h / r, r, w / r, r}));
          const Tensor made = Op<"reshape">(PermuteLast(split, x.ndim() - 3, {0, 2, 4, 1, 3}),
                                            Shaped(x, {channels * r * r, h / r, w / r}));
          return {Owned(made, x)};
        });

Tensors ChannelShuffle(const CallReader& c) {
  const Tensor& x = c.x(0);
  const int64_t groups = c.Int("groups");
  if (x.ndim() < 3) throw ValueError(c.name()).Got("shape ", x.shape()).Expected("at least three axes");
  if (groups < 1 || x.size(1) % groups != 0) {
    throw ValueError(c.name()).Got(groups, " groups").Expected("a divisor of the ", x.size(1), " channels");
  }
  Dims split{x.size(0), groups, x.size(1) / groups};
  for (int i = 2; i < x.ndim(); ++i) split.push_back(x.shape()[i]);
  return {Owned(Op<"reshape">(Op<"transpose">(Op<"reshape">(x, split), 1, 2), x.shape()), x)};
}
[[maybe_unused]] const auto& channel_shuffle = DefineOp("channel_shuffle(Tensor x, int groups) -> Tensor")
                                                   .Doc("Channels dealt out from `groups` piles in turn.")
                                                   .As(ChannelShuffle);

}  // namespace
}  // namespace dragon
