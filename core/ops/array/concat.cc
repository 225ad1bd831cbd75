// Joining tensors: cat, stack and the h, v, d, column variants NumPy knows.
#include <algorithm>

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/arrange.h"

namespace dragon {
namespace {

/// PyTorch lets a vector of no elements join anything.
bool IsNothing(const Tensor& x) { return x.ndim() == 1 && x.numel() == 0; }

/// The first operand with a shape to agree with; the first of all if there is none.
const Tensor& Sample(std::span<const Tensor> xs) {
  for (const Tensor& x : xs) {
    if (!IsNothing(x)) return x;
  }
  return xs[0];
}

/// Images whose channels lie side by side, in all of xs, join to such images.
bool AreChannelsLast(std::span<const Tensor> xs) {
  return std::all_of(xs.begin(), xs.end(), [](const Tensor& x) {
    return x.ndim() >= 3 && x.numel() > 0 && x.size(1) > 1 && x.strides()[1] == 1 && !x.is_contiguous() &&
           x.strides() == StridesInOrder(x.shape(), x.strides());
  });
}

void InferCat(Infer& i) {
  const auto xs = i.list("xs");
  if (xs.empty()) throw ValueError("cat").Got("no tensors").Expected("at least one");
  const Tensor& sample = Sample(xs);
  if (sample.ndim() == 0)
    throw ValueError("cat")
        .Got("a 0-d tensor")
        .Expected("tensors with at least one axis")
        .Hint("stack joins 0-d tensors");
  const int64_t axis = NormalizeAxis("cat", i.Int("axis"), sample.ndim());
  Dims shape = sample.shape();
  shape[axis] = 0;
  for (const Tensor& x : xs) {
    if (IsNothing(x) && !IsNothing(sample)) continue;
    bool fits = x.ndim() == sample.ndim();
    for (int n = 0; fits && n < x.ndim(); ++n) fits = n == axis || x.size(n) == shape[n];
    if (!fits) {
      throw ValueError("cat").Got(sample.shape(), " and ", x.shape()).Expected("equal sizes outside axis ", axis);
    }
    if (__builtin_add_overflow(shape[axis], x.size(axis), &shape[axis])) {
      throw ValueError("cat").Got("sizes whose sum overflows").Expected("a size that an int64 can count");
    }
  }
  i.y(0, shape, sample.dtype());
  if (!AreChannelsLast(xs)) return;
  i.outputs[0].strides = StridesInOrder(shape, sample.strides());
  i.outputs[0].free_layout = std::all_of(
      xs.begin(), xs.end(), [](const Tensor& x) { return x.impl()->free_layout.load(std::memory_order_relaxed); });
}

void RunCat(Run& r) {
  const auto xs = r.list("xs");
  InlineVector<View, 8> views;
  for (const Tensor& x : xs) views.push_back(x.view());
  const int64_t axis = NormalizeAxis("cat", r.Int("axis"), r.y().ndim());
  kernels::Concat(r.ctx(), r.y().dtype(), r.out(), views.data(), static_cast<int>(views.size()),
                  static_cast<int>(axis));
}

[[maybe_unused]] const auto& cat = DefineOp("cat(Tensor[] xs, int axis=0) -> Tensor")
                                       .Doc("Join tensors along an axis they have.")
                                       .Batches(Batching::kRows, "axis")
                                       .Promotes(Promotion::kCommon)
                                       .Infers(InferCat)
                                       .Runs(RunCat)
                                       .Gradient("", [](Grad& g) {
                                         const int64_t axis = NormalizeAxis("cat", g.Int("axis"), g.dy().ndim());
                                         int64_t start = 0;
                                         for (int i = 0; i < g.x_count(); ++i) {
                                           const Dims& shape = g.x_shape(i);
                                           const bool nothing = shape.size() == 1 && shape[0] == 0;
                                           const int64_t stop = start + (nothing ? 0 : shape[axis]);
                                           if (g.needs(i)) {
                                             const Tensor part = Op<"slice">(g.dy(), axis, start, stop, 1);
                                             g.dx(i, part.ndim() == shape.size() ? part : Op<"reshape">(part, shape));
                                           }
                                           start = stop;
                                         }
                                       });

[[maybe_unused]] const auto& stack =
    DefineOp("stack(Tensor[] xs, int axis=0) -> Tensor")
        .Doc("Join along a new axis.")
        .As([](const CallReader& c) -> Tensors {
          const auto xs = c.list("xs");
          if (xs.empty()) throw ValueError("stack").Got("no tensors").Expected("at least one");
          const int64_t axis = NormalizeAxis("stack", c.Int("axis"), xs[0].ndim() + 1);
          std::vector<Tensor> rows;
          for (const Tensor& x : xs) {
            if (x.shape() != xs[0].shape()) {
              throw ValueError("stack").Got(xs[0].shape(), " and ", x.shape()).Expected("tensors of one shape");
            }
            rows.push_back(Op<"unsqueeze">(x, axis));
          }
          return {Op<"cat">(rows, axis)};
        });

/// Every tensor with at least `ndim` axes, then joined along `axis`.
template <typename Widen>
Tensor JoinWidened(const CallReader& c, int64_t axis, Widen widen) {
  std::vector<Tensor> xs;
  for (const Tensor& x : c.list("xs")) xs.push_back(widen(x));
  return Op<"cat">(xs, axis);
}

[[maybe_unused]] const auto& hstack =
    DefineOp("hstack(Tensor[] xs) -> Tensor")
        .Doc("Join along the second axis (the first for vectors).")
        .As([](const CallReader& c) -> Tensors {
          if (c.list("xs").empty()) throw ValueError("hstack").Got("no tensors").Expected("at least one");
          const int64_t axis = c.list("xs")[0].ndim() > 1 ? 1 : 0;
          return {JoinWidened(c, axis, [](const Tensor& x) { return Op<"atleast_1d">(x); })};
        });
[[maybe_unused]] const auto& vstack =
    DefineOp("vstack(Tensor[] xs) -> Tensor")
        .Doc("Join along the first axis; vectors become rows.")
        .As([](const CallReader& c) -> Tensors {
          return {JoinWidened(c, 0, [](const Tensor& x) { return Op<"atleast_2d">(x); })};
        });
[[maybe_unused]] const auto& dstack =
    DefineOp("dstack(Tensor[] xs) -> Tensor").Doc("Join along the third axis.").As([](const CallReader& c) -> Tensors {
      return {JoinWidened(c, 2, [](const Tensor& x) { return Op<"atleast_3d">(x); })};
    });
[[maybe_unused]] const auto& column_stack = DefineOp("column_stack(Tensor[] xs) -> Tensor")
                                                .Doc("Join along the second axis; vectors become columns.")
                                                .As([](const CallReader& c) -> Tensors {
                                                  return {JoinWidened(c, 1, [](const Tensor& x) {
                                                    return x.ndim() < 2 ? Op<"reshape">(x, Dims{x.numel(), 1}) : x;
                                                  })};
                                                });

[[maybe_unused]] const auto& block_diag =
    DefineOp("block_diag(Tensor[] xs) -> Tensor")
        .Doc("A matrix with the given matrices along its diagonal and zeros elsewhere.")
        .As([](const CallReader& c) -> Tensors {
          std::vector<Tensor> rows;
          int64_t width = 0, before = 0;
          for (const Tensor& x : c.list("xs")) {
            if (x.ndim() > 2)
              throw ValueError("block_diag").Got("a tensor of shape ", x.shape()).Expected("at most two axes");
            width += x.ndim() == 0 ? 1 : x.size(-1);
          }
          for (const Tensor& x : c.list("xs")) {
            const Tensor block = Op<"atleast_2d">(x);
            rows.push_back(Op<"pad">(block, Dims{before, width - before - block.size(1)}, "constant", 0.0));
            before += block.size(1);
          }
          if (rows.empty()) throw ValueError("block_diag").Got("no tensors").Expected("at least one");
          return {Op<"cat">(rows, 0)};
        });

}  // namespace
}  // namespace dragon
