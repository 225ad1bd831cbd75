// Views that see the axes in another order: permute, transpose, movedim and the transposes of matrices.
#include "core/framework/batching.h"
#include "core/framework/infer.h"
#include "core/ops/array/geometry.h"

namespace dragon {
namespace {

/// Every axis once, normalised, in the order given.
Dims Permutation(const char* who, const Dims& axes, int ndim) {
  if (axes.size() != ndim) throw ValueError(who).Got("axes ", axes).Expected("each of the ", ndim, " axes once");
  Dims order;
  for (int64_t axis : axes) {
    const int64_t normal = NormalizeAxis(who, axis, ndim);
    if (std::find(order.begin(), order.end(), normal) != order.end()) {
      throw ValueError(who).Got("axes ", axes).Expected("each of the ", ndim, " axes once");
    }
    order.push_back(normal);
  }
  return order;
}

Dims Inverse(const Dims& order) {
  Dims inverse = Dims::Filled(order.size(), 0);
  for (int i = 0; i < order.size(); ++i) inverse[order[i]] = i;
  return inverse;
}

/// The permutation that moves axes `source` to the places `destination`.
Dims Moved(const char* who, const Dims& source, const Dims& destination, int ndim) {
  if (source.size() != destination.size()) {
    throw ValueError(who).Got("source ", source, " and destination ", destination).Expected("as many of each");
  }
  Dims order = Dims::Filled(ndim, -1), taken = Dims::Filled(ndim, 0);
  for (int i = 0; i < source.size(); ++i) {
    const int64_t from = NormalizeAxis(who, source[i], ndim), to = NormalizeAxis(who, destination[i], ndim);
    if (ndim == 0) continue;
    if (taken[from] || order[to] != -1) {
      throw ValueError(who).Got("source ", source, " and destination ", destination).Expected("no axis twice");
    }
    order[to] = from;
    taken[from] = 1;
  }
  int next = 0;
  for (int i = 0; i < ndim; ++i) {
    if (order[i] != -1) continue;
    while (taken[next]) ++next;
    order[i] = next++;
  }
  return order;
}

[[maybe_unused]] const auto& permute =
    DefineOp("permute(Tensor x, int[] axes) -> Tensor")
        .Doc("A view with the axes in another order.")
        .Batches([](const Slices& s) -> Tensors {
          Dims axes{0};
          for (int64_t axis : s.Ints("axes")) axes.push_back(axis < 0 ? axis : axis + 1);
          return {Op<"permute">(s.batch(0), axes)};
        })
        .Views([](ViewOf& v) {
          const Tensor& x = v.x(0);
          Geometry to{{}, {}, x.offset()};
          for (int64_t axis : Permutation(v.name(), v.Ints("axes"), x.ndim())) {
            to.shape.push_back(x.size(axis));
            to.strides.push_back(x.strides()[axis]);
          }
          Set(v, std::move(to));
        })
        .Gradient("", [](Grad& g) {
          g.dx(0, Op<"permute">(g.dy(), Inverse(Permutation(g.name(), g.Ints("axes"), g.x_shape(0).size()))));
        });

/// A view of a tensor that the engine laid out would first move it to row-major order, as users of strides expect. Who
/// hands out values alone need not pay for that: the result lies where x lies.
[[maybe_unused]] const auto& permuted_memory =
    DefineOp("permuted_memory(Tensor x, int[] axes) -> Tensor")
        .Doc("The axes in another order over the memory of x as it is, where an eager `permuted` has no trace to tell.")
        .Dynamic()
        .Runs([](Run& r) {
          const Tensor& x = r.x(0);
          Dims shape, strides;
          for (int64_t axis : Permutation(r.name(), r.Ints("axes"), x.ndim())) {
            shape.push_back(x.size(axis));
            strides.push_back(x.strides()[axis]);
          }
          r.set_y(0, x.Alias(std::move(shape), std::move(strides), x.offset()));
        })
        .Gradient("", [](Grad& g) {
          g.dx(0, Op<"permuted">(g.dy(), Inverse(Permutation(g.name(), g.Ints("axes"), g.x_shape(0).size()))));
        });

[[maybe_unused]] const auto& permuted =
    DefineOp("permuted(Tensor x, int[] axes) -> Tensor")
        .Doc("The axes in another order. Whether the result shares memory with x is the engine's choice.")
        .As([](const CallReader& c) -> Tensors {
          const bool free = !Door().tracer && !Door().phantom && c.x(0).impl()->storage;
          return {free ? Op<"permuted_memory">(c.x(0), c.attr("axes")) : Op<"permute">(c.x(0), c.attr("axes"))};
        });

[[maybe_unused]] const auto& transpose =
    DefineOp("transpose(Tensor x, int axis0, int axis1) -> Tensor")
        .Doc("A view with two axes exchanged.")
        .Batches(Batching::kRows, "axis0, axis1")
        .Views([](ViewOf& v) {
          Geometry to = GeometryOf(v.x(0));
          const int ndim = to.shape.size();
          const int64_t a = NormalizeAxis(v.name(), v.Int("axis0"), ndim),
                        b = NormalizeAxis(v.name(), v.Int("axis1"), ndim);
          if (ndim > 0) {
            std::swap(to.shape[a], to.shape[b]);
            std::swap(to.strides[a], to.strides[b]);
          }
          Set(v, std::move(to));
        })
        .Gradient("", [](Grad& g) { g.dx(0, Op<"transpose">(g.dy(), g.Int("axis0"), g.Int("axis1"))); });

Tensors MoveAxes(const CallReader& c) {
  return {Op<"permute">(c.x(0), Moved(c.name(), c.Ints("source"), c.Ints("destination"), c.x(0).ndim()))};
}
[[maybe_unused]] const auto& movedim = DefineOp("movedim(Tensor x, int[1] source, int[1] destination) -> Tensor")
                                           .Doc("View with axes at other places.")
                                           .As(MoveAxes);
[[maybe_unused]] const auto& moveaxis = DefineOp("moveaxis(Tensor x, int[1] source, int[1] destination) -> Tensor")
                                            .Doc("View with axes at other places.")
                                            .As(MoveAxes);

Tensors SwapAxes(const CallReader& c) { return {Op<"transpose">(c.x(0), c.Int("axis0"), c.Int("axis1"))}; }
[[maybe_unused]] const auto& swapaxes =
    DefineOp("swapaxes(Tensor x, int axis0, int axis1) -> Tensor").Doc("View with two axes swapped.").As(SwapAxes);
[[maybe_unused]] const auto& swapdims =
    DefineOp("swapdims(Tensor x, int axis0, int axis1) -> Tensor").Doc("View with two axes swapped.").As(SwapAxes);

[[maybe_unused]] const auto& t =
    DefineOp("t(Tensor x) -> Tensor")
        .Doc("View of a matrix with its axes swapped.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          if (x.ndim() > 2) throw ValueError("t").Got("a tensor of shape ", x.shape()).Expected("at most two axes");
          return {x.ndim() == 2 ? Op<"transpose">(x, 0, 1) : Op<"view">(x, x.shape())};
        });

/// PyTorch's `.T`: all axes in reverse.
[[maybe_unused]] const auto& numpy_t =
    DefineOp("numpy_t(Tensor x) -> Tensor").Doc("View with all axes reversed.").As([](const CallReader& c) -> Tensors {
      Dims axes;
      for (int axis = c.x(0).ndim() - 1; axis >= 0; --axis) axes.push_back(axis);
      return {Op<"permute">(c.x(0), axes)};
    });

Tensor MatrixTranspose(const CallReader& c) {
  const Tensor& x = c.x(0);
  if (x.ndim() < 2) throw ValueError(c.name()).Got("a tensor of shape ", x.shape()).Expected("at least two axes");
  return Op<"transpose">(x, -2, -1);
}
Tensors MatrixAdjoint(const CallReader& c) {
  const Tensor y = MatrixTranspose(c);
  return {y.is_complex() ? Op<"conj">(y) : y};
}
[[maybe_unused]] const auto& matrix_t =
    DefineOp("matrix_transpose(Tensor x) -> Tensor").Doc("Swap the last two axes.").As([](const CallReader& c) {
      return Tensors{MatrixTranspose(c)};
    });
[[maybe_unused]] const auto& adjoint =
    DefineOp("adjoint(Tensor x) -> Tensor").Doc("Swap the last two axes and conjugate.").As(MatrixAdjoint);

}  // namespace
}  // namespace dragon
