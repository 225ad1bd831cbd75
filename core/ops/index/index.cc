// Advanced indexing: reading and writing at any mix of integer tensors and masks, and its flat forms take and put.
#include "core/kernels/index.h"

#include "core/framework/batching.h"
#include "core/framework/number.h"
#include "core/ops/index/indices.h"

namespace dragon {
namespace {

using kernels::Combine;

int KernelAxis(int64_t axis) { return static_cast<int>(axis); }

bool NothingIndexed(const std::vector<Tensor>& indices) {
  return std::none_of(indices.begin(), indices.end(), [](const Tensor& index) { return index.defined(); });
}

void RunIndexRead(Run& r) {
  const IndexShape shape = ShapeOfIndexed("index", r.x("x"), r.list("indices"));
  const IndexViews indices(r, r.x("x"), shape.broadcast);
  kernels::IndexRead(r.ctx(), r.dtype(), r.out(), r.in("x"), indices.views(), shape.at, {"index", r.Bool("from_end")});
}

/// Places that differ between slices are looked up together with the slices' own places. NumPy puts the axes of places
/// in front where they are apart: of those, and of places after a whole axis, nothing is said here.
Tensors ReadSlices(const Slices& s) {
  const auto count = static_cast<int>(s.list("indices").size());
  int first = 0, last = count;
  while (first < count && !s.x(first + 1).defined()) ++first;
  while (last > first && !s.x(last).defined()) --last;
  bool varies = false;
  int rank = 0;
  for (int i = first + 1; i <= last; ++i) {
    if (!s.x(i).defined()) return {};
    varies |= s.Varies(i);
    rank = std::max(rank, s.x(i).ndim());
  }
  if (varies && first > 0) return {};
  std::vector<Tensor> indices;
  if (s.Varies(0) && varies) {
    Dims shape = Dims::Filled(rank + 1, 1);
    shape[0] = s.size();
    indices.push_back(Op<"reshape">(
        Op<"arange">(int64_t{0}, s.size(), int64_t{1}, DType::kInt64, DeviceOfNumbers(s.batch(0))), shape));
  } else if (s.Varies(0)) {
    indices.emplace_back();
  }
  for (int i = 1; i <= count; ++i) indices.push_back(s.x(i).defined() ? s.Raised(i, rank) : Tensor());
  return {Op<"index_read">(s.batch(0), indices, s.Bool("from_end"))};
}

[[maybe_unused]] const auto& index_read =
    DefineOp("index_read(Tensor x, Tensor?[] indices, *, bool from_end=True) -> Tensor")
        .Doc(
            "x at integer tensors, one per axis; an axis whose index is None is kept. Without from_end, no index may "
            "be negative.")
        .Batches(ReadSlices)
        .Infers([](Infer& i) { i.y(0, ShapeOfIndexed("index", i.x("x"), i.list("indices")).shape, i.x("x").dtype()); })
        .Runs(RunIndexRead)
        .Gradient("indices", [](Grad& g) {
          const auto indices = g.list("indices");
          g.dx("x", Op<"index_write">(Zeros(g.x_shape("x"), g.dy()), indices, g.dy(), true, g.Bool("from_end")));
        });

void RunIndexWrite(Run& r) {
  const Tensor& y = r.y();
  CopyUnlessSame(r, y, r.x("x"));
  const IndexShape shape = ShapeOfIndexed("index_put", y, r.list("indices"));
  const IndexViews indices(r, y, shape.broadcast);
  const Tensor value = r.Here(r.x(r.x_count() - 1));
  const Dims strides = ExpandedStrides(value, shape.shape);
  int64_t numel = 1;
  for (int64_t size : shape.shape) numel *= size;
  const View spread{r.ViewHere(value).data, shape.shape.data(), strides.data(), numel,
                    shape.shape.size(),     value.dtype()};
  kernels::IndexWrite(r.ctx(), r.dtype(), r.out(), spread, indices.views(), shape.at,
                      r.Bool("accumulate") ? Combine::kAdd : Combine::kAssign, {"index_put", r.Bool("from_end")});
}

[[maybe_unused]] const auto& index_write =
    DefineOp(
        "index_write(Tensor x, Tensor?[] indices, Tensor values, bool accumulate=False, *, bool from_end=True) -> "
        "Tensor")
        .Doc("x with values written, or added, at integer tensors. The last of equal places wins.")
        .Edits()
        .Infers([](Infer& i) {
          const IndexShape shape = ShapeOfIndexed("index_put", i.x("x"), i.list("indices"));
          const Tensor& values = i.x(i.x_count() - 1);
          if (values.dtype() != i.x("x").dtype()) {
            throw TypeError("index_put")
                .Got("values of ", values.dtype())
                .Expected("the dtype of x, ", i.x("x").dtype());
          }
          if (values.ndim() > shape.shape.size() ||
              BroadcastShapes("index_put", shape.shape, values.shape()) != shape.shape) {
            throw ValueError("index_put")
                .Got("values of shape ", values.shape())
                .Expected("a shape that broadcasts to ", shape.shape);
          }
          i.y(0, i.x("x").shape(), i.x("x").dtype());
        })
        .Runs(RunIndexWrite)
        .Gradient("indices", [](Grad& g) {
          const auto indices = g.list("indices");
          const int values = g.x_count() - 1;
          if (g.needs("x")) {
            g.dx("x", g.Bool("accumulate")
                          ? g.dy()
                          : Op<"index_write">(g.dy(), indices, Zeros({}, g.dy()), false, g.Bool("from_end")));
          }
          if (g.needs(values)) g.dx(values, Op<"index_read">(g.dy(), indices, g.Bool("from_end")));
        });

[[maybe_unused]] const auto& index = DefineOp("index(Tensor x, Tensor?[] indices, *, bool from_end=True) -> Tensor")
                                         .Doc("x at integer tensors and masks.")
                                         .As([](const CallReader& c) -> Tensors {
                                           Tensor x = c.x("x");
                                           const std::vector<Tensor> indices =
                                               WithoutMasks("index", &x, c.list("indices"));
                                           if (NothingIndexed(indices)) return {Op<"view">(x, x.shape())};
                                           return {Op<"index_read">(x, indices, c.Bool("from_end"))};
                                         });

[[maybe_unused]] const auto& index_put =
    DefineOp(
        "index_put(Tensor x, Tensor?[] indices, Tensor values, bool accumulate=False, *, bool from_end=True) -> Tensor")
        .Doc("x with values written, or added, at integer tensors and masks.")
        .As([](const CallReader& c) -> Tensors {
          Tensor x = c.x("x");
          const std::vector<Tensor> indices = WithoutMasks("index_put", &x, c.list("indices"));
          Tensor values = c.x(c.x_count() - 1);
          if (values.impl()->weak) values = CastOrRefuse("index_put", values, x.dtype());
          if (NothingIndexed(indices)) {
            const Tensor spread = Op<"expand">(values, x.shape());
            return {c.Bool("accumulate") ? x + spread : Op<"clone">(spread)};
          }
          return {Op<"reshape">(Op<"index_write">(x, indices, values, c.Bool("accumulate"), c.Bool("from_end")),
                                c.x("x").shape())};
        });

Tensor Flat(const Tensor& x) { return Op<"reshape">(x, Dims{x.numel()}); }

[[maybe_unused]] const auto& take = DefineOp("take(Tensor x, Tensor index) -> Tensor")
                                        .Doc("The elements of x, seen as a vector, at integer places.")
                                        .As([](const CallReader& c) -> Tensors {
                                          return {Op<"index_read">(Flat(c.x("x")), std::vector<Tensor>{c.x("index")})};
                                        });

[[maybe_unused]] const auto& put =
    DefineOp("put(Tensor x, Tensor index, Tensor source, bool accumulate=False) -> Tensor")
        .Doc("x, seen as a vector, with the source's elements written, or added, at integer places.")
        .As([](const CallReader& c) -> Tensors {
          if (c.x("index").numel() != c.x("source").numel()) {
            throw ValueError("put")
                .Got(c.x("index").numel(), " places and ", c.x("source").numel(), " elements")
                .Expected("as many of each");
          }
          const std::vector<Tensor> places{Flat(c.x("index"))};
          return {Op<"reshape">(Op<"index_write">(Flat(c.x("x")), places, Flat(c.x("source")), c.Bool("accumulate")),
                                c.x("x").shape())};
        });

// --- along one axis

void RunGather(Run& r) {
  if (r.y().numel() == 0) return;
  const Tensor index = AsInt64(r.Here(r.x("index")));
  const int64_t axis = NormalizeAxis("gather", r.Int("axis"), r.x("x").ndim());
  const bool number = r.x("x").ndim() == 0 && index.ndim() == 1;  // a number is a vector of one
  const Tensor given = r.Here(r.x("x")), x = number ? Op<"unsqueeze">(given, 0) : given;
  kernels::Gather(r.ctx(), r.dtype(), r.out(), x.view(), index.view(), KernelAxis(axis),
                  {"gather", r.Bool("from_end")});
}

[[maybe_unused]] const auto& gather =
    DefineOp("gather(Tensor x, int axis, Tensor index, *, bool from_end=False) -> Tensor")
        .Doc("y[i][j] = x[index[i][j]][j] along an axis; with from_end, negative indices count from its end.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          const Tensor &x = i.x("x"), &index = i.x("index");
          CheckIndexDType("gather", index);
          const int64_t axis = NormalizeAxis("gather", i.Int("axis"), x.ndim());
          if (index.numel() == 0) return i.y(0, index.shape(), x.dtype());  // no place is named: any shape will do
          bool fits = index.ndim() == x.ndim() || (x.ndim() == 0 && index.ndim() == 1);
          for (int n = 0; fits && n < x.ndim(); ++n) fits = n == axis || index.size(n) <= x.size(n);
          if (!fits) {
            throw ValueError("gather")
                .Got("an index of shape ", index.shape(), " for shape ", x.shape())
                .Expected("as many axes, and no larger size outside axis ", axis);
          }
          i.y(0, index.shape(), x.dtype());
        })
        .Runs(RunGather)
        .Gradient("index", [](Grad& g) {
          if (g.x("index").numel() == 0) return g.dx("x", Zeros(g.x_shape("x"), g.dy()));
          const bool number = g.x_shape("x").empty() && g.x("index").ndim() == 1;
          const Tensor zeros = Zeros(number ? Dims{1} : g.x_shape("x"), g.dy());
          const Tensor dx = Op<"scatter_into">(zeros, g.Int("axis"), g.x("index"), g.dy(), "add", g.Bool("from_end"));
          g.dx("x", number ? Op<"squeeze">(dx, Dims{0}) : dx);
        });

[[maybe_unused]] const auto& take_along_axis =
    DefineOp("take_along_axis(Tensor x, Tensor index, int? axis=None) -> Tensor")
        .Doc("gather whose operands broadcast outside the axis; without an axis, both are seen as vectors.")
        .As([](const CallReader& c) -> Tensors {
          if (!c.Given("axis")) return {Op<"gather">(Flat(c.x("x")), 0, Flat(c.x("index")))};
          const int64_t axis = NormalizeAxis("take_along_axis", c.Int("axis"), c.x("x").ndim());
          Dims x_shape = c.x("x").shape(), index_shape = c.x("index").shape();
          if (x_shape.size() != index_shape.size() || x_shape.empty()) {
            throw ValueError("take_along_axis")
                .Got(x_shape, " and ", index_shape)
                .Expected("as many axes, at least one");
          }
          const int64_t x_size = std::exchange(x_shape[axis], 1), index_size = std::exchange(index_shape[axis], 1);
          Dims common = BroadcastShapes("take_along_axis", x_shape, index_shape);
          common[axis] = x_size;
          const Tensor x = Op<"expand">(c.x("x"), common);
          common[axis] = index_size;
          return {Op<"gather">(x, axis, Op<"expand">(c.x("index"), common), /*from_end=*/true)};
        });

void RunIndexSelect(Run& r) {
  const Tensor index = AsInt64(r.Here(r.x("index")));
  const Tensor& y = r.y();
  const int64_t axis = NormalizeAxis("index_select", r.Int("axis"), r.x("x").ndim());
  Dims strides = Dims::Filled(y.ndim(), 0);
  if (y.ndim() > 0 && index.ndim() > 0) strides[axis] = index.strides()[0];
  View spread = y.view();
  spread.data = const_cast<void*>(index.data());
  spread.strides = strides.data();
  kernels::Gather(r.ctx(), r.dtype(), r.out(), r.in("x"), spread, KernelAxis(axis), {"index_select"});
}

[[maybe_unused]] const auto& index_select =
    DefineOp("index_select(Tensor x, int axis, Tensor index) -> Tensor")
        .Doc("The places of an axis that a vector of integers lists.")
        .Batches(Batching::kRows, "axis", "index")
        .Infers([](Infer& i) {
          const Tensor &x = i.x("x"), &index = i.x("index");
          CheckIndexDType("index_select", index);
          const int64_t axis = NormalizeAxis("index_select", i.Int("axis"), x.ndim());
          if (index.ndim() > 1 || (x.ndim() == 0 && index.numel() != 1)) {
            throw ValueError("index_select")
                .Got("an index of shape ", index.shape())
                .Expected(x.ndim() ? "a vector" : "one number");
          }
          Dims shape = x.shape();
          if (!shape.empty()) shape[axis] = index.numel();
          CheckedNumel("index_select", shape, x.item_size());
          i.y(0, std::move(shape), x.dtype());
        })
        .Runs(RunIndexSelect)
        .Gradient("index", [](Grad& g) {
          g.dx("x", Op<"index_add">(Zeros(g.x_shape("x"), g.dy()), g.Int("axis"), g.x("index"), g.dy()));
        });

}  // namespace
}  // namespace dragon
