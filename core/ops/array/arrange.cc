// Operators that are one list of pieces per axis: flip, roll, and padding in every mode.
#include "core/kernels/arrange.h"

#include "core/framework/infer.h"
#include "core/framework/number.h"
#include "core/framework/op.h"

namespace dragon {
namespace {

using kernels::Piece;
using kernels::Pieces;

/// The pieces of every axis, and the shape they make.
struct Plan {
  std::vector<Pieces> axes;
  Dims shape;
};

/// Each axis as it is.
Plan Unchanged(const Dims& shape) {
  Plan plan{{}, shape};
  for (int64_t size : shape) plan.axes.push_back({Piece{0, size, 0, 1}});
  return plan;
}

void RunPlan(Run& r, const Plan& plan, View fill = {}) {
  kernels::Assemble(r.ctx(), r.y().dtype(), r.out(), r.in(0), plan.axes.data(), fill);
}

Plan FlipPlan(const char* who, const Dims& shape, const Dims& axes) {
  Plan plan = Unchanged(shape);
  for (int64_t axis : NormalizeAxes(who, axes, shape.size(), /*empty_is_all=*/false)) {
    if (shape.empty()) continue;
    plan.axes[axis] = {Piece{0, shape[axis], std::max<int64_t>(shape[axis] - 1, 0), -1}};
  }
  return plan;
}

[[maybe_unused]] const auto& flip =
    DefineOp("flip(Tensor x, int[1] axis) -> Tensor")
        .Doc("The elements of some axes in reverse order.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          FlipPlan(i.name(), i.x(0).shape(), i.Ints("axis"));
          i.y(0, i.x(0).shape(), i.x(0).dtype());
        })
        .Runs([](Run& r) { RunPlan(r, FlipPlan(r.name(), r.x(0).shape(), r.Ints("axis"))); })
        .Gradient("", [](Grad& g) { g.dx(0, Op<"flip">(g.dy(), g.attr("axis"))); });

[[maybe_unused]] const auto& fliplr =
    DefineOp("fliplr(Tensor x) -> Tensor").Doc("Reverse the second axis.").As([](const CallReader& c) -> Tensors {
      if (c.x(0).ndim() < 2)
        throw ValueError("fliplr").Got("a tensor of shape ", c.x(0).shape()).Expected("at least two axes");
      return {Op<"flip">(c.x(0), Dims{1})};
    });
[[maybe_unused]] const auto& flipud =
    DefineOp("flipud(Tensor x) -> Tensor").Doc("Reverse the first axis.").As([](const CallReader& c) -> Tensors {
      if (c.x(0).ndim() < 1) throw ValueError("flipud").Got("a 0-d tensor").Expected("at least one axis");
      return {Op<"flip">(c.x(0), Dims{0})};
    });

Plan RollPlan(const char* who, const Dims& shape, const Dims& shifts, const Dims& axes) {
  if (shifts.size() != axes.size()) {
    throw ValueError(who).Got("shifts ", shifts, " and axes ", axes).Expected("as many of each");
  }
  if (shape.empty() && !axes.empty()) {
    throw IndexError(who).Got("axis ", axes[0], " of a 0-d tensor").Expected("no axis");
  }
  Dims total = Dims::Filled(shape.size(), 0);
  for (int n = 0; n < axes.size(); ++n) {
    const int64_t axis = NormalizeAxis(who, axes[n], shape.size());
    if (shape[axis] == 0) continue;
    const int64_t size = shape[axis];
    total[axis] = (total[axis] + shifts[n] % size + size) % size;
  }
  Plan plan = Unchanged(shape);
  for (int axis = 0; axis < shape.size(); ++axis) {
    const int64_t size = shape[axis], shift = total[axis];
    if (shift) plan.axes[axis] = {Piece{0, shift, size - shift, 1}, Piece{shift, size - shift, 0, 1}};
  }
  return plan;
}

/// Without axes, the elements roll through all of them in row-major order.
[[maybe_unused]] const auto& roll =
    DefineOp("roll(Tensor x, int[1] shifts, int[1]? axis=None) -> Tensor")
        .Doc("The elements moved along axes, those that fall off the end coming back at the start.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          if (c.Given("axis") && !c.Ints("axis").empty()) return {Op<"roll_axes">(x, c.attr("shifts"), c.attr("axis"))};
          if (c.Ints("shifts").size() != 1)
            throw ValueError("roll").Got("shifts ", c.Ints("shifts")).Expected("one shift when no axis is given");
          const Tensor flat = Op<"reshape">(x, Dims{x.numel()});
          return {Op<"reshape">(Op<"roll_axes">(flat, c.attr("shifts"), Dims{0}), x.shape())};
        });

[[maybe_unused]] const auto& roll_axes =
    DefineOp("roll_axes(Tensor x, int[] shifts, int[] axis) -> Tensor")
        .Doc("Shift the elements along axes; those pushed out come in at the other end.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          RollPlan("roll", i.x(0).shape(), i.Ints("shifts"), i.Ints("axis"));
          i.y(0, i.x(0).shape(), i.x(0).dtype());
        })
        .Runs([](Run& r) { RunPlan(r, RollPlan("roll", r.x(0).shape(), r.Ints("shifts"), r.Ints("axis"))); })
        .Gradient("", [](Grad& g) {
          Dims back = g.Ints("shifts");
          for (int n = 0; n < back.size(); ++n) {  // reduced first: the least int64 has no negative
            const Dims& shape = g.x_shape(0);
            const int64_t size = shape.empty() ? 1 : shape[NormalizeAxis("roll", g.Ints("axis")[n], shape.size())];
            back[n] = size > 0 ? -(back[n] % size) : 0;
          }
          g.dx(0, Op<"roll_axes">(g.dy(), back, g.attr("axis")));
        });

/// One axis of size n with `before` and `after` places added (or cut off, where negative).
Pieces PadAxis(const std::string& mode, int64_t n, int64_t before, int64_t after) {
  const int64_t cut = std::max<int64_t>(-before, 0), kept = n - cut - std::max<int64_t>(-after, 0);
  before = std::max<int64_t>(before, 0), after = std::max<int64_t>(after, 0);
  const Piece inside{before, kept, cut, 1};
  const int64_t end = before + kept;
  if (mode == "constant") return {Piece{0, before, 0, 1, true}, inside, Piece{end, after, 0, 1, true}};
  const int64_t last = cut + kept - 1;
  if (mode == "replicate") return {Piece{0, before, cut, 0}, inside, Piece{end, after, last, 0}};
  if (mode == "reflect") return {Piece{0, before, cut + before, -1}, inside, Piece{end, after, last - 1, -1}};
  return {Piece{0, before, cut + kept - before, 1}, inside, Piece{end, after, cut, 1}};
}

/// `pad` lists (before, after) from the last axis backward, as in PyTorch.
Plan PadPlan(const char* who, const Dims& shape, const Dims& pad, const std::string& mode) {
  if (mode != "constant" && mode != "reflect" && mode != "replicate" && mode != "circular") {
    throw ValueError(who).Got("mode '", mode, "'").Expected("constant, reflect, replicate or circular");
  }
  if (pad.size() % 2 != 0 || pad.size() > 2 * shape.size()) {
    throw ValueError(who).Got("pad ", pad, " for shape ", shape).Expected("pairs for at most ", shape.size(), " axes");
  }
  Plan plan = Unchanged(shape);
  for (int n = 0; n < pad.size() / 2; ++n) {
    const int axis = shape.size() - 1 - n;
    const int64_t size = shape[axis], before = pad[2 * n], after = pad[2 * n + 1];
    int64_t padded;
    if (__builtin_add_overflow(size, before, &padded) || __builtin_add_overflow(padded, after, &padded) || padded < 0 ||
        before < -size || after < -size) {
      throw ValueError(who)
          .Got("pad (", before, ", ", after, ") for axis ", axis)
          .Expected("a size of at least 0 from ", size);
    }
    const int64_t kept = size - std::max<int64_t>(-before, 0) - std::max<int64_t>(-after, 0);
    const int64_t most = mode == "reflect" ? kept - 1 : kept, wide = std::max(before, after);
    const bool short_of_values =
        mode == "replicate" ? kept <= 0 && wide > 0 : mode != "constant" && wide > std::max<int64_t>(most, 0);
    if (kept < 0 || short_of_values) {
      throw ValueError(who)
          .Got("pad (", before, ", ", after, ") in mode ", mode, " for axis ", axis, " of shape ", shape)
          .Expected("padding that the axis has values for");
    }
    plan.shape[axis] = padded;
    plan.axes[axis] = PadAxis(mode, size, before, after);
  }
  return plan;
}

Tensor PadBack(const Tensor& dy, const Dims& shape, const Dims& pad, const std::string& mode) {
  if (mode != "constant") return Op<"pad_backward">(dy, shape, pad, mode);
  Dims back = pad;
  for (int64_t& amount : back) amount = -amount;
  return Op<"pad">(dy, back, "constant", 0.0);
}

[[maybe_unused]] const auto& pad =
    DefineOp("pad(Tensor x, int[] pad, str mode=\"constant\", Scalar? value=None) -> Tensor")
        .Doc("x with places added around it; negative amounts cut places off.")
        .Batches(Batching::kRows)
        .Infers([](Infer& i) {
          if (i.Given("value") && i.String("mode") != "constant" && i.attr("value").complex() != complex128(0)) {
            throw ValueError("pad").Got("a value in mode ", i.String("mode")).Expected("a value in mode constant only");
          }
          if (i.Given("value")) RequireNumber(i.name(), i.x(0).dtype(), i.attr("value"));
          i.y(0, PadPlan(i.name(), i.x(0).shape(), i.Ints("pad"), i.String("mode")).shape, i.x(0).dtype());
        })
        .Runs([](Run& r) {
          const Tensor fill = Tensor::Scalar(r.Given("value") ? r.attr("value") : Value(int64_t{0}), r.y().dtype());
          RunPlan(r, PadPlan(r.name(), r.x(0).shape(), r.Ints("pad"), r.String("mode")), fill.view());
        })
        .Gradient("", [](Grad& g) { g.dx(0, PadBack(g.dy(), g.x_shape(0), g.Ints("pad"), g.String("mode"))); });

[[maybe_unused]] const auto& pad_backward =
    DefineOp("pad_backward(Tensor dy, int[] shape, int[] pad, str mode) -> Tensor")
        .Doc("The gradient of padding: what each element was repeated to, summed.")
        .Infers([](Infer& i) {
          const Dims expected = PadPlan(i.name(), i.Ints("shape"), i.Ints("pad"), i.String("mode")).shape;
          if (expected != i.x(0).shape()) {
            throw ValueError(i.name()).Got("dy of shape ", i.x(0).shape()).Expected(expected);
          }
          i.y(0, i.Ints("shape"), i.x(0).dtype());
        })
        .Runs([](Run& r) {
          const Plan plan = PadPlan(r.name(), r.Ints("shape"), r.Ints("pad"), r.String("mode"));
          kernels::AssembleBackward(r.ctx(), r.y().dtype(), r.out(), r.in(0), plan.axes.data());
        })
        .Gradient("", [](Grad& g) { g.dx(0, Op<"pad">(g.dy(), g.attr("pad"), g.attr("mode"))); });

}  // namespace
}  // namespace dragon
