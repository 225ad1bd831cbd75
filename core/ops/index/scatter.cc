// Writing along one axis: scatter with every reduction, and the index_* forms whose index is one vector for the axis.
#include <limits>

#include "core/framework/number.h"
#include "core/kernels/index.h"
#include "core/ops/index/indices.h"

namespace dragon {
namespace {

using kernels::Combine;

/// `how` as scatter_into takes it: "add", or "index_add:add" if index_add is to speak in errors.
struct How {
  std::string who = "scatter";
  Combine combine = Combine::kAssign;

  explicit How(const std::string& how) {
    const size_t colon = how.find(':');
    if (colon != std::string::npos) who = how.substr(0, colon);
    const std::string name = colon == std::string::npos ? how : how.substr(colon + 1);
    if (name == "add") {
      combine = Combine::kAdd;
    } else if (name == "multiply") {
      combine = Combine::kMultiply;
    } else if (name == "amax") {
      combine = Combine::kMax;
    } else if (name == "amin") {
      combine = Combine::kMin;
    } else if (name != "assign") {
      throw ValueError("scatter").Got("'", how, "'").Expected("assign, add, multiply, amax or amin");
    }
  }
};
std::string Speaking(const char* who, const char* how) { return std::string(who) + ":" + how; }

void InferScatter(Infer& i) {
  const Tensor &x = i.x("x"), &index = i.x("index"), &src = i.x("src");
  const How how(i.String("how"));
  const char* who = how.who.c_str();
  CheckIndexDType(who, index);
  const int64_t axis = NormalizeAxis(who, i.Int("axis"), x.ndim());
  if (src.dtype() != x.dtype()) {
    throw TypeError(who).Got("src of ", src.dtype()).Expected("the dtype of x, ", x.dtype());
  }
  bool fits = index.ndim() == x.ndim() && index.shape() == src.shape();
  for (int n = 0; fits && n < x.ndim(); ++n) fits = n == axis || index.size(n) <= x.size(n);
  if (!fits && index.numel() > 0) {
    throw ValueError(who)
        .Got("x ", x.shape(), ", index ", index.shape(), " and src ", src.shape())
        .Expected("as many axes, and an index no larger than x outside axis ", axis, " and than src");
  }
  i.y(0, x.shape(), x.dtype());
}

void RunScatter(Run& r) {
  CopyUnlessSame(r, r.y(), r.x("x"));
  if (r.x("index").numel() == 0) return;
  const Tensor index = AsInt64(r.Here(r.x("index")));
  const How how(r.String("how"));
  const int64_t axis = NormalizeAxis("scatter", r.Int("axis"), r.x("x").ndim());
  kernels::Scatter(r.ctx(), r.dtype(), r.out(), index.view(), r.in("src"), static_cast<int>(axis), how.combine,
                   {how.who.c_str(), r.Bool("from_end")});
}

Tensor Ones(const Tensor& like) { return Op<"ones">(like.shape(), like.dtype(), like.device()); }

/// A product's factor is divided out; where it is the only zero at its place, the product is taken without it.
void ProductGradient(Grad& g, int64_t axis, const Tensor& index) {
  const bool end = g.Bool("from_end");
  const Tensor &x = g.x("x"), &src = g.x("src"), &y = g.y(), &dy = g.dy();
  if (g.needs("x")) {
    const Tensor safe = Op<"masked_fill">(x, Op<"eq">(x, Number(0.0)), Number(1.0));
    g.dx("x", dy * Op<"scatter_into">(safe, axis, index, src, "multiply", end) / safe);
  }
  if (g.needs("src")) {
    const Tensor is_zero = Op<"eq">(src, Number(0.0));
    const Tensor zeros =
        Op<"scatter_into">(Zeros(x.shape(), x), axis, index, Op<"cast">(is_zero, x.dtype()), "add", end);
    const Tensor lone = Op<"logical_and">(is_zero, Op<"eq">(Op<"gather">(zeros, axis, index, end), Number(1.0)));
    const Tensor without =
        Op<"scatter_into">(x, axis, index, Op<"masked_fill">(src, lone, Number(1.0)), "multiply", end);
    const Tensor at_lone = Op<"gather">(dy * without, axis, index, end);
    const Tensor elsewhere = Op<"gather">(dy * y, axis, index, end) / Op<"masked_fill">(src, is_zero, Number(1.0));
    g.dx("src", Op<"where">(lone, at_lone, elsewhere));
  }
}

/// Those who reached the extreme share its gradient evenly.
void ExtremeGradient(Grad& g, int64_t axis, const Tensor& index) {
  const bool end = g.Bool("from_end");
  const Tensor x_won = Op<"cast">(Op<"eq">(g.x("x"), g.y()), g.x_dtype("x"));
  const Tensor src_won = Op<"cast">(Op<"eq">(g.x("src"), Op<"gather">(g.y(), axis, index, end)), g.x_dtype("x"));
  const Tensor share = g.dy() / Op<"scatter_into">(x_won, axis, index, src_won, "add", end);
  if (g.needs("x")) g.dx("x", x_won * share);
  if (g.needs("src")) g.dx("src", src_won * Op<"gather">(share, axis, index, end));
}

void ScatterGradient(Grad& g) {
  const Tensor& index = g.x("index");
  const int64_t axis = g.Int("axis");
  const Combine how = How(g.String("how")).combine;
  if (index.numel() == 0) return g.dx("x", g.dy());
  if (g.needs("x")) {
    const bool kept = how == Combine::kAdd;
    g.dx("x",
         kept ? g.dy()
              : Op<"scatter_into">(g.dy(), axis, index, Zeros(index.shape(), g.dy()), "assign", g.Bool("from_end")));
  }
  if (g.needs("src")) g.dx("src", Op<"gather">(g.dy(), axis, index, g.Bool("from_end")));
}

void CombineGradient(Grad& g) {
  const Tensor& index = g.x("index");
  const int64_t axis = g.Int("axis");
  if (index.numel() == 0) return g.dx("x", g.dy());
  if (How(g.String("how")).combine == Combine::kMultiply) return ProductGradient(g, axis, index);
  ExtremeGradient(g, axis, index);
}

Operator& Scatter(const char* name, const char* doc) {
  return DefineOp(std::string(name) +
                  "(Tensor x, int axis, Tensor index, Tensor src, str how, bool from_end=False) -> Tensor")
      .Doc(doc);
}

[[maybe_unused]] const bool writers = [] {
  // Two operators, since what assigns or adds need not keep x: it may be written in place as often as one likes.
  Scatter("scatter_write", "x with src assigned or added at index along an axis; index and src have one shape.")
      .Edits()
      .Batches(Batching::kRows, "axis")
      .Infers(InferScatter)
      .Runs(RunScatter)
      .Gradient("index", ScatterGradient);
  Scatter("scatter_combine", "x with src multiplied or compared at index along an axis; index and src have one shape.")
      .Edits()
      .Batches(Batching::kRows, "axis")
      .Infers(InferScatter)
      .Runs(RunScatter)
      .Gradient("x, index, src, out", CombineGradient);
  Scatter("scatter_into", "x with src assigned, added, multiplied or compared at index along an axis.")
      .As([](const CallReader& c) -> Tensors {
        const Combine how = How(c.String("how")).combine;
        if (how == Combine::kAssign || how == Combine::kAdd) {
          return {Op<"scatter_write">(c.x("x"), c.Int("axis"), c.x("index"), c.x("src"), c.attr("how"),
                                      c.Bool("from_end"))};
        }
        // What is kept for the gradient must outlive writing x in place.
        const bool keeps = Door().grad_enabled && (c.x("x").requires_grad() || c.x("src").requires_grad());
        const Tensor x = keeps ? Op<"clone">(c.x("x")) : c.x("x");
        return {Op<"scatter_combine">(x, c.Int("axis"), c.x("index"), c.x("src"), c.attr("how"), c.Bool("from_end"))};
      });
  return true;
}();

/// src cut down to the shape of index; a number becomes as large as index.
Tensor FitSource(const char* who, const Tensor& x, const Tensor& index, Tensor src) {
  if (src.impl()->weak && src.dtype() != x.dtype()) src = CastOrRefuse(who, src, x.dtype());
  if (src.ndim() == 0 && index.ndim() > 0) return Op<"expand">(Beside(src, x), index.shape());
  if (src.shape() == index.shape() || index.numel() == 0) return src;
  bool fits = src.ndim() == index.ndim();
  for (int axis = 0; fits && axis < index.ndim(); ++axis) fits = index.size(axis) <= src.size(axis);
  if (!fits) {
    throw ValueError(who)
        .Got("src ", src.shape(), " for index ", index.shape())
        .Expected("at least the size of index along every axis");
  }
  for (int axis = 0; axis < index.ndim(); ++axis) {
    if (src.size(axis) != index.size(axis)) src = Op<"slice">(src, axis, 0, index.size(axis), 1);
  }
  return src;
}

Tensor ScatterInto(const CallReader& c, const char* how) {
  return Op<"scatter_into">(c.x("x"), c.Int("axis"), c.x("index"),
                            FitSource(c.name(), c.x("x"), c.x("index"), c.x("src")), Speaking(c.name(), how));
}

/// The number that a reduction without the elements of x starts from.
Tensor Neutral(const Tensor& x, const std::string& reduce, const Dims& shape) {
  const auto number = [&](Value value) {
    return Op<"expand">(Op<"full">(Dims{}, value, x.dtype(), x.device()), shape);
  };
  const bool least = reduce == "amax";
  if (reduce == "sum" || reduce == "mean" || reduce == "prod") {
    return number(Value(int64_t{reduce == "prod"}));
  }
  if (IsInexact(x.dtype())) {
    const double infinity = std::numeric_limits<double>::infinity();
    return number(Value(least ? -infinity : infinity));
  }
  const int bits = x.dtype() == DType::kBool ? 1 : 8 * static_cast<int>(x.item_size());
  const bool is_signed = x.dtype() != DType::kBool && x.dtype() != DType::kUInt8;
  const int64_t most = is_signed ? static_cast<int64_t>(~uint64_t{0} >> (65 - bits)) : (int64_t{1} << bits) - 1;
  return number(Value(least ? (is_signed ? -most - 1 : 0) : most));
}

Tensor ScatterReduce(const char* who, const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src,
                     const std::string& reduce, bool include_self) {
  const char* how = reduce == "sum" || reduce == "mean"    ? "add"
                    : reduce == "prod"                     ? "multiply"
                    : reduce == "amax" || reduce == "amin" ? reduce.c_str()
                                                           : nullptr;
  if (!how) throw ValueError(who).Got("reduce '", reduce, "'").Expected("sum, prod, mean, amax or amin");
  if (index.numel() == 0) return Op<"clone">(x);
  const Tensor start =
      include_self ? x : Op<"scatter_into">(x, axis, index, Neutral(x, reduce, index.shape()), "assign");
  const Tensor y = Op<"scatter_into">(start, axis, index, src, Speaking(who, how));
  if (reduce != "mean") return y;
  Tensor count = Ones(x);
  if (!include_self) count = Op<"scatter_into">(count, axis, index, Zeros(index.shape(), x), "assign");
  count = Op<"scatter_into">(count, axis, index, Ones(src), "add");
  return IsInexact(x.dtype()) ? y / count : Op<"floor_divide">(y, count);
}

[[maybe_unused]] const auto& scatter =
    DefineOp("scatter(Tensor x, int axis, Tensor index, Tensor src, *, str? reduce=None) -> Tensor")
        .Doc("x with src written (or added, or multiplied) at index along an axis; the last of equal places wins.")
        .As([](const CallReader& c) -> Tensors {
          if (!c.Given("reduce")) return {ScatterInto(c, "assign")};
          if (c.String("reduce") != "add" && c.String("reduce") != "multiply") {
            throw ValueError("scatter").Got("reduce '", c.String("reduce"), "'").Expected("add, multiply or None");
          }
          return {ScatterInto(c, c.String("reduce").c_str())};
        });

[[maybe_unused]] const auto& scatter_add =
    DefineOp("scatter_add(Tensor x, int axis, Tensor index, Tensor src) -> Tensor")
        .Doc("Add the source to the places that an index names along an axis.")
        .As([](const CallReader& c) { return Tensors{ScatterInto(c, "add")}; });

[[maybe_unused]] const auto& scatter_reduce =
    DefineOp(
        "scatter_reduce(Tensor x, int axis, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor")
        .Doc("x combined with src at index along an axis; without include_self, places written to start afresh.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor src = FitSource(c.name(), c.x("x"), c.x("index"), c.x("src"));
          return {ScatterReduce(c.name(), c.x("x"), c.Int("axis"), c.x("index"), src, c.String("reduce"),
                                c.Bool("include_self"))};
        });

/// The index of an index_* operator, spread over the shape of what it writes; `width` is its length.
Tensor AxisIndexFor(const CallReader& c, const Dims& shape, int64_t axis) {
  const Tensor &x = c.x("x"), &index = c.x("index");
  CheckIndexDType(c.name(), index);
  if (index.ndim() > 1) throw ValueError(c.name()).Got("an index of shape ", index.shape()).Expected("a vector");
  Dims expected = x.shape();
  if (!expected.empty()) expected[axis] = index.numel();
  if (shape != expected || (x.ndim() == 0 && index.numel() != 1)) {
    throw ValueError(c.name())
        .Got("src of shape ", shape, " for ", index.numel(), " indices")
        .Expected("shape ", expected);
  }
  return SpreadIndex(index, axis, shape);
}

Tensor IndexInto(const CallReader& c, const Tensor& src, const char* how, bool from_end = false) {
  const int64_t axis = NormalizeAxis(c.name(), c.Int("axis"), c.x("x").ndim());
  return Op<"scatter_into">(c.x("x"), axis, AxisIndexFor(c, src.shape(), axis), src, Speaking(c.name(), how), from_end);
}

[[maybe_unused]] const auto& index_add =
    DefineOp("index_add(Tensor x, int axis, Tensor index, Tensor src, *, Scalar alpha=1) -> Tensor")
        .Doc("x with alpha * src added at the listed places of an axis.")
        .As([](const CallReader& c) -> Tensors {
          const Value one(int64_t{1});
          RequireNumber(c.name(), c.x("x").dtype(), c.attr("alpha"));
          const Tensor src = c.attr("alpha") == one ? c.x("src") : Op<"mul">(c.x("src"), Number(c.attr("alpha")));
          return {IndexInto(c, src, "add")};
        });

[[maybe_unused]] const auto& index_copy =
    DefineOp("index_copy(Tensor x, int axis, Tensor index, Tensor src) -> Tensor")
        .Doc("x with src written at the listed places of an axis.")
        .As([](const CallReader& c) -> Tensors { return {IndexInto(c, c.x("src"), "assign")}; });

[[maybe_unused]] const auto& index_fill =
    DefineOp("index_fill(Tensor x, int axis, Tensor index, Tensor value) -> Tensor")
        .Doc("x with one number at the listed places of an axis.")
        .As([](const CallReader& c) -> Tensors {
          if (c.x("value").ndim() != 0)
            throw ValueError("index_fill").Got("a value of shape ", c.x("value").shape()).Expected("one number");
          const int64_t axis = NormalizeAxis("index_fill", c.Int("axis"), c.x("x").ndim());
          Dims shape = c.x("x").shape();
          if (!shape.empty()) shape[axis] = c.x("index").numel();
          const Tensor value = Beside(CastOrRefuse("index_fill", c.x("value"), c.x("x").dtype()), c.x("x"));
          if (Door().grad_enabled && value.requires_grad()) {
            // A place named twice holds the number once, and so does its gradient.
            const Tensor none = Op<"zeros">(c.x("x").shape(), DType::kBool, value.device());
            const Tensor yes = Op<"ones">(shape, DType::kBool, value.device());
            const Tensor places = Op<"scatter_into">(none, axis, AxisIndexFor(c, shape, axis), yes,
                                                     Speaking(c.name(), "assign"), /*from_end=*/true);
            return {Op<"where">(places, value, c.x("x"))};
          }
          return {IndexInto(c, Op<"expand">(value, shape), "assign", /*from_end=*/true)};
        });

[[maybe_unused]] const auto& index_reduce =
    DefineOp(
        "index_reduce(Tensor x, int axis, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor")
        .Doc("x combined with src at the listed places of an axis.")
        .As([](const CallReader& c) -> Tensors {
          if (c.String("reduce") == "sum")
            throw ValueError("index_reduce")
                .Got("reduce 'sum'")
                .Expected("prod, mean, amax or amin")
                .Hint("index_add sums");
          const int64_t axis = NormalizeAxis("index_reduce", c.Int("axis"), c.x("x").ndim());
          const Tensor index = AxisIndexFor(c, c.x("src").shape(), axis);
          return {
              ScatterReduce(c.name(), c.x("x"), axis, index, c.x("src"), c.String("reduce"), c.Bool("include_self"))};
        });

}  // namespace
}  // namespace dragon
