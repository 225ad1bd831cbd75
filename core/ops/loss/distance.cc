// Similarities and distances between vectors, and the losses made of them.
#include <cmath>

#include "core/kernels/loss.h"
#include "core/ops/loss/loss.h"

namespace dragon {
namespace {

[[maybe_unused]] const auto& cosine_similarity =
    DefineOp("cosine_similarity(Tensor x1, Tensor x2, int axis=1, float eps=1e-8) -> Tensor")
        .Doc("The cosine of the angle between vectors along an axis; lengths count as at least eps.")
        .Promotes(Promotion::kFloat)
        .As([](const CallReader& c) -> Tensors {
          const Dims axis{c.Int("axis")};
          const auto unit = [&](const Tensor& x) {
            const Tensor length = Op<"linalg_vector_norm">(x, 2, axis, /*keepdims=*/true);
            return x / Op<"clamp">(length, Number(c.Real("eps")));
          };
          return {Op<"sum">(unit(c.x("x1")) * unit(c.x("x2")), axis)};
        });

[[maybe_unused]] const auto& cosine_embedding_loss =
    DefineOp(
        "cosine_embedding_loss(Tensor x1, Tensor x2, Tensor y, float margin=0.0, str reduction=\"mean\") -> Tensor")
        .Doc("1 - cos(x1, x2) where y is 1, max(0, cos(x1, x2) - margin) where y is -1.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          constexpr double kTiny = 1e-12;
          const Tensor &x1 = c.x("x1"), &x2 = c.x("x2"), &y = c.x("y");
          if (x1.ndim() < 1 || x1.ndim() > 2 || x2.ndim() != x1.ndim() || y.ndim() + 1 != x1.ndim()) {
            throw ValueError(c.name())
                .Got(x1.shape(), ", ", x2.shape(), " and ", y.shape())
                .Expected("(batch, size) twice and (batch,), or (size,) twice and ()");
          }
          const Dims axis{-1};
          const Tensor lengths = (Op<"sum">(x1 * x1, axis) + kTiny) * (Op<"sum">(x2 * x2, axis) + kTiny);
          const Tensor cosine = Op<"sum">(x1 * x2, axis) / Op<"sqrt">(lengths);
          const Tensor alike = Op<"where">(Op<"eq">(y, Number(1)), 1.0 - cosine, Number(0.0));
          const Tensor apart = Op<"where">(Op<"eq">(y, Number(-1)), Positive(cosine - c.Real("margin")), Number(0.0));
          return {ReduceLoss(c.name(), alike + apart, c.String("reduction"))};
        });

[[maybe_unused]] const auto& pairwise_distance =
    DefineOp("pairwise_distance(Tensor x1, Tensor x2, Scalar p=2.0, float eps=1e-6, bool keepdims=False) -> Tensor")
        .Doc("The norm of order p of x1 - x2 + eps along the last axis.")
        .As([](const CallReader& c) -> Tensors {
          return {Op<"linalg_vector_norm">(c.x("x1") - c.x("x2") + c.Real("eps"), c.attr("p"), Dims{-1},
                                           c.Bool("keepdims"))};
        });

[[maybe_unused]] const auto& triplet_margin_loss =
    DefineOp(
        "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float "
        "eps=1e-6, bool swap=False, str reduction=\"mean\") -> Tensor")
        .Doc("max(0, margin + distance to the positive - distance to the negative).")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const auto distance = [&](const Tensor& a, const Tensor& b) {
            return Op<"pairwise_distance">(a, b, c.Real("p"), c.Real("eps"));
          };
          const Tensor near = distance(c.x("anchor"), c.x("positive"));
          Tensor far = distance(c.x("anchor"), c.x("negative"));
          if (c.Bool("swap")) far = Op<"minimum">(far, distance(c.x("positive"), c.x("negative")));
          return {ReduceLoss(c.name(), Positive(near - far + c.Real("margin")), c.String("reduction"))};
        });

// --- all pairs. Attribute: 0 p.

/// Batches are broadcast and flattened before the kernel sees them.
[[maybe_unused]] const auto& cdist =
    DefineOp("cdist(Tensor x1, Tensor x2, Scalar p=2.0) -> Tensor")
        .Doc("The distances of order p between all rows of x1 and all rows of x2.")
        .Autocast(Precision::kFloat32)
        .Promotes(Promotion::kCommon)
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x1 = c.x("x1"), &x2 = c.x("x2");
          if (x1.ndim() < 2 || x2.ndim() < 2 || x1.size(-1) != x2.size(-1)) {
            throw ValueError(c.name())
                .Got("shapes ", x1.shape(), " and ", x2.shape())
                .Expected("at least two axes, and last axes of one size");
          }
          if (!(c.Real("p") >= 0)) throw ValueError(c.name()).Got("p ", c.Real("p")).Expected("at least 0");
          const Dims front1(x1.shape().data(), x1.ndim() - 2), front2(x2.shape().data(), x2.ndim() - 2);
          Dims front = BroadcastShapes(c.name(), front1, front2);
          int64_t batch = 1;
          for (int64_t size : front) batch *= size;
          const auto flat = [&](const Tensor& x) {
            Dims shape = front;
            shape.push_back(x.size(-2));
            shape.push_back(x.size(-1));
            return Op<"reshape">(Op<"expand">(x, shape), Dims{batch, x.size(-2), x.size(-1)});
          };
          const Tensor y = Op<"cdist_rows">(flat(x1), flat(x2), c.attr("p"));
          front.push_back(x1.size(-2));
          front.push_back(x2.size(-2));
          return {Op<"reshape">(y, front)};
        });

void CdistGradient(Grad& g) {
  const Tensor &x1 = g.x("x1"), &x2 = g.x("x2"), &y = g.y();
  const double p = g.Real("p");
  if (Door().grad_enabled) {  // a composition, for derivatives of higher order
    const Tensor d = Op<"unsqueeze">(x1, 2) - Op<"unsqueeze">(x2, 1);
    const Tensor norm = Op<"linalg_vector_norm">(d, p, Dims{-1}, /*keepdims=*/true),
                 slope = Op<"unsqueeze">(g.dy(), -1);
    const Tensor zero = Number(0.0), size = Op<"abs">(d), flat = Op<"eq">(norm, zero);
    // Between equal rows a quotient by 1 stands in, which is masked, so that its own gradient stays a number.
    const auto over = [&](const Tensor& a) {
      return Op<"where">(flat, zero, a / Op<"where">(flat, Number(1.0), norm));
    };
    Tensor part;
    if (p == 0) {
      part = Op<"zeros_like">(d) * slope;
    } else if (p == 1) {
      part = Op<"sgn">(d) * slope;
    } else if (p == 2) {
      part = over(d) * slope;
    } else if (std::isinf(p)) {
      part = Op<"sgn">(d) * Op<"cast">(Op<"eq">(size, norm), d.dtype()) * slope;
    } else {
      part = Op<"sgn">(d) * Op<"where">(Op<"eq">(size, zero), zero, Op<"pow">(over(size), Number(p - 1))) * slope;
    }
    if (g.needs("x1")) g.dx("x1", Op<"sum">(part, Dims{2}));
    if (g.needs("x2")) g.dx("x2", -Op<"sum">(part, Dims{1}));
    return;
  }
  const auto transposed = [](const Tensor& t) { return Op<"transpose">(t, 1, 2); };
  if (g.needs("x1")) g.dx("x1", Op<"cdist_backward">(g.dy(), x1, x2, y, p));
  if (g.needs("x2")) g.dx("x2", Op<"cdist_backward">(transposed(g.dy()), x2, x1, transposed(y), p));
}

/// (batch, n, size) and (batch, m, size) of one dtype.
void CheckRows(const CallReader& c) {
  RequireRank(c, "x1", 3);
  RequireRank(c, "x2", 3);
  const Dims& shape = c.x("x1").shape();
  RequireTensor(c, "x2", Dims{shape[0], c.x("x2").size(1), shape[2]}, c.x("x1").dtype());
}

[[maybe_unused]] const auto& cdist_rows =
    DefineOp("cdist_rows(Tensor x1, Tensor x2, float p) -> Tensor")
        .Doc("cdist of (batch, rows, size) tensors.")
        .Batches(Batching::kSamples)
        .Infers([](Infer& i) {
          CheckRows(i);
          i.y(0, Dims{i.x("x1").size(0), i.x("x1").size(1), i.x("x2").size(1)}, i.x("x1").dtype());
        })
        .Runs([](Run& r) { kernels::Cdist(r.ctx(), r.dtype(), r.out(), r.rows("x1"), r.rows("x2"), r.Real("p")); })
        .Gradient("x1, x2, out", CdistGradient);

[[maybe_unused]] const auto& cdist_backward =
    DefineOp("cdist_backward(Tensor dy, Tensor x1, Tensor x2, Tensor y, float p) -> Tensor")
        .Doc("The gradient of distances between rows by the first set of rows.")
        .Infers([](Infer& i) {
          CheckRows(i);
          const Dims pairs{i.x("x1").size(0), i.x("x1").size(1), i.x("x2").size(1)};
          RequireTensor(i, "dy", pairs, i.x("x1").dtype());
          RequireTensor(i, "y", pairs, i.x("x1").dtype());
          i.y(0, i.x("x1").shape(), i.x("x1").dtype());
        })
        .Runs([](Run& r) {
          kernels::CdistBackward(r.ctx(), r.x("x1").dtype(), r.out(), r.rows("dy"), r.rows("x1"), r.rows("x2"),
                                 r.rows("y"), r.Real("p"));
        });

/// Where the pairs (i, j), i < j, stand in a square of all pairs.
[[maybe_unused]] const auto& pair_places =
    DefineOp("pair_places(int rows, device device) -> Tensor")
        .Doc("The positions of all pairs of different rows, in the order of a condensed distance matrix.")
        .Infers([](Infer& i) {
          const int64_t rows = i.Int("rows");
          if (rows < 0 || rows > (int64_t{1} << 31))
            throw ValueError(i.name()).Got("rows ", rows).Expected("0 to 2^31");
          i.y(0, Dims{rows % 2 ? (rows - 1) / 2 * rows : rows / 2 * (rows - 1)}, DType::kInt64);
          i.device = i.attr("device").device();
        })
        .Runs([](Run& r) {
          const Tensor places = Tensor::Empty(r.y().shape(), DType::kInt64);
          auto* place = static_cast<int64_t*>(places.mutable_data());
          const int64_t rows = r.Int("rows");
          for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = i + 1; j < rows; ++j) *place++ = i * rows + j;
          }
          OpInto<"copy">(r.y(), r.y().device().is_cpu() ? places : Op<"to_device">(places, r.y().device()));
        })
        .NotDifferentiable();

[[maybe_unused]] const auto& pdist =
    DefineOp("pdist(Tensor x, float p=2.0) -> Tensor")
        .Doc("The distances of order p between every two rows, in the order (0, 1), (0, 2), ..., (1, 2), ...")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          if (x.ndim() != 2) throw ValueError(c.name()).Got("shape ", x.shape()).Expected("(rows, size)");
          const int64_t rows = x.size(0);
          const Tensor all = Op<"reshape">(Op<"cdist">(x, x, c.Real("p")), Dims{rows * rows});
          return {Op<"index_select">(all, 0, Op<"pair_places">(rows, x.device()))};
        });

}  // namespace
}  // namespace dragon
