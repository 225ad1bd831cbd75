// Tensors made by repeating: repeat, tile, meshgrid, and the products of elements they serve.
#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {
namespace {

/// Every axis repeated as a whole: an axis of size s seen as (1, s), spread to (r, s), and copied into one of r * s.
Tensor Repeated(const char* who, const Tensor& x, Dims repeats) {
  for (int64_t times : repeats) {
    if (times < 0) throw ValueError(who).Got("repeats ", repeats).Expected("none below 0");
  }
  const int added = repeats.size() - x.ndim();
  if (2 * repeats.size() > kMaxDims)
    throw ValueError(who).Got(repeats.size(), " repeats").Expected("at most ", kMaxDims / 2);
  Dims apart, spread, joined;
  for (int n = 0; n < repeats.size(); ++n) {
    const int64_t size = n < added ? 1 : x.size(n - added);
    int64_t whole;
    if (__builtin_mul_overflow(size, repeats[n], &whole)) {
      throw ValueError(who).Got("repeats ", repeats, " of shape ", x.shape()).Expected("sizes that an int64 can count");
    }
    apart.push_back(1), apart.push_back(size);
    spread.push_back(repeats[n]), spread.push_back(size);
    joined.push_back(whole);
  }
  CheckedNumel(who, joined, x.item_size());
  const Tensor y = Op<"expand">(Op<"reshape">(x, apart), spread);
  return Op<"view">(Op<"to_row_major">(y), joined);
}

[[maybe_unused]] const auto& repeat = DefineOp("repeat(Tensor x, int[1] repeats) -> Tensor")
                                          .Doc("x laid out several times along every axis; axes may be added in front.")
                                          .As([](const CallReader& c) -> Tensors {
                                            if (c.Ints("repeats").size() < c.x(0).ndim()) {
                                              throw ValueError("repeat")
                                                  .Got("repeats ", c.Ints("repeats"))
                                                  .Expected("one for each of the ", c.x(0).ndim(), " axes");
                                            }
                                            return {Repeated("repeat", c.x(0), c.Ints("repeats"))};
                                          });

[[maybe_unused]] const auto& tile = DefineOp("tile(Tensor x, int[1] repeats) -> Tensor")
                                        .Doc("repeat, where missing repeats in front are 1.")
                                        .As([](const CallReader& c) -> Tensors {
                                          Dims repeats = c.Ints("repeats");
                                          while (repeats.size() < c.x(0).ndim()) repeats.insert(0, 1);
                                          return {Repeated("tile", c.x(0), repeats)};
                                        });

/// Every vector spread over the grid of all; "xy" exchanges the first two axes, as NumPy's default does.
std::vector<Tensor> Grid(const char* who, std::span<const Tensor> xs, bool exchange) {
  Dims shape;
  for (const Tensor& x : xs) {
    if (x.ndim() > 1) throw ValueError(who).Got("a tensor of shape ", x.shape()).Expected("vectors");
    shape.push_back(x.numel());
  }
  if (shape.size() > kMaxDims) throw ValueError(who).Got(shape.size(), " vectors").Expected("at most ", kMaxDims);
  std::vector<Tensor> grids;
  for (int n = 0; n < shape.size(); ++n) {
    Dims lone = Dims::Filled(shape.size(), 1);
    lone[n] = shape[n];
    const Tensor grid = Op<"expand">(Op<"reshape">(xs[n], lone), shape);
    grids.push_back(exchange && shape.size() > 1 ? Op<"transpose">(grid, 0, 1) : grid);
  }
  return grids;
}

[[maybe_unused]] const auto& meshgrid =
    DefineOp("meshgrid(Tensor[] xs, str indexing=\"ij\") -> Tensor[]")
        .Doc("Every vector spread over the grid of all of them.")
        .As([](const CallReader& c) -> Tensors {
          if (c.String("indexing") != "ij" && c.String("indexing") != "xy") {
            throw ValueError("meshgrid").Got("indexing '", c.String("indexing"), "'").Expected("ij or xy");
          }
          Tensors grids;
          for (const Tensor& grid : Grid("meshgrid", c.list("xs"), c.String("indexing") == "xy")) grids.push_back(grid);
          return grids;
        });

Tensor Flat(const Tensor& x) { return Op<"reshape">(x, Dims{x.numel()}); }

[[maybe_unused]] const auto& cartesian_prod =
    DefineOp("cartesian_prod(Tensor[] xs) -> Tensor")
        .Doc("All tuples of one element of each vector, one row each.")
        .As([](const CallReader& c) -> Tensors {
          const auto xs = c.list("xs");
          if (xs.empty()) throw ValueError("cartesian_prod").Got("no vectors").Expected("at least one");
          for (const Tensor& x : xs) {
            if (x.ndim() != 1)
              throw ValueError("cartesian_prod").Got("a tensor of shape ", x.shape()).Expected("vectors");
          }
          if (xs.size() == 1) return {xs[0]};
          std::vector<Tensor> columns;
          for (const Tensor& grid : Grid("cartesian_prod", xs, false)) columns.push_back(Flat(grid));
          return {Op<"stack">(columns, 1)};
        });

[[maybe_unused]] const auto& combinations =
    DefineOp("combinations(Tensor x, int r=2, bool with_replacement=False) -> Tensor")
        .Doc("All ways to take r elements of a vector in order, one row each.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          const int64_t r = c.Int("r"), n = x.numel();
          if (x.ndim() != 1) throw ValueError("combinations").Got("a tensor of shape ", x.shape()).Expected("a vector");
          if (r < 0 || r > kMaxDims) throw ValueError("combinations").Got("r ", r).Expected("0 to ", kMaxDims);
          if (r == 0) return {Op<"slice">(x, 0, 0, 0)};
          const std::vector<Tensor> places(r, Op<"arange">(n, None, 1, DType::kInt64, x.device()));
          std::vector<Tensor> grids = Grid("combinations", places, false);
          Tensor kept = Op<"ones">(Dims::Filled(r, n), DType::kBool, x.device());
          for (int64_t i = 0; i + 1 < r; ++i) {
            const Tensor rises =
                c.Bool("with_replacement") ? Op<"le">(grids[i], grids[i + 1]) : Op<"lt">(grids[i], grids[i + 1]);
            kept = Op<"logical_and">(kept, rises);
          }
          std::vector<Tensor> columns;
          for (const Tensor& grid : grids) columns.push_back(Op<"index_select">(x, 0, Op<"masked_select">(grid, kept)));
          return {Op<"stack">(columns, 1)};
        });

/// Axes of size 1 in front, until there are `ndim`.
Tensor Widened(Tensor x, int ndim) {
  while (x.ndim() < ndim) x = Op<"unsqueeze">(x, 0);
  return x;
}

[[maybe_unused]] const auto& kron =
    DefineOp("kron(Tensor x, Tensor y) -> Tensor")
        .Doc("The Kronecker product: every element of x times the whole of y.")
        .Autocast(Precision::kPlain)
        .As([](const CallReader& c) -> Tensors {
          const int ndim = std::max(c.x("x").ndim(), c.x("y").ndim());
          const Tensor x = Widened(c.x("x"), ndim), y = Widened(c.x("y"), ndim);
          Dims x_shape, y_shape, shape;
          for (int axis = 0; axis < ndim; ++axis) {
            x_shape.push_back(x.size(axis)), x_shape.push_back(1);
            y_shape.push_back(1), y_shape.push_back(y.size(axis));
            shape.push_back(x.size(axis) * y.size(axis));
          }
          if (x_shape.size() > kMaxDims) throw ValueError("kron").Got(ndim, " axes").Expected("at most ", kMaxDims / 2);
          return {Op<"reshape">(Op<"reshape">(x, x_shape) * Op<"reshape">(y, y_shape), shape)};
        });

}  // namespace
}  // namespace dragon
