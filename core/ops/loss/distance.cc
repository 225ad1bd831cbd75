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
          const Dims axis{c.Int(0)};
          const auto unit = [&](const Tensor& x) {
            const Tensor length = Op<"linalg_vector_norm">(x, 2, axis, /*keepdims=*/true);
            return x / Op<"clamp">(length, Number(c.Real(1)));
          };
          return {Op<"sum">(unit(c.x(0)) * unit(c.x(1)), axis)};
        });

[[maybe_unused]] const auto& cosine_embedding_loss =
    DefineOp(
        "cosine_embedding_loss(Tensor x1, Tensor x2, Tensor y, float margin=0.0, str reduction=\"mean\") -> Tensor")
        .Doc("1 - cos(x1, x2) where y is 1, max(0, cos(x1, x2) - margin) where y is -1.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          constexpr double kTiny = 1e-12;
          const Tensor &x1 = c.x(0), &x2 = c.x(1), &y = c.x(2);
          if (x1.ndim() < 1 || x1.ndim() > 2 || x2.ndim() != x1.ndim() || y.ndim() + 1 != x1.ndim()) {
            throw ValueError(c.name())
                .Got(x1.shape(), ", ", x2.shape(), " and ", y.shape())
                .Expected("(batch, size) twice and (batch,), or (size,) twice and ()");
          }
          const Dims axis{-1};
          const Tensor lengths = (Op<"sum">(x1 * x1, axis) + kTiny) * (Op<"sum">(x2 * x2, axis) + kTiny);
          const Tensor cosine = Op<"sum">(x1 * x2, axis) / Op<"sqrt">(lengths);
          const Tensor alike = Op<"where">(Op<"eq">(y, Number(1)), 1.0 - cosine, Number(0.0));
          const Tensor apart = Op<"where">(Op<"eq">(y, Number(-1)), Positive(cosine - c.Real(0)), Number(0.0));
          return {ReduceLoss(c.name(), alike + apart, c.String(1))};
        });

[[maybe_unused]] const auto& pairwise_distance =
    DefineOp("pairwise_distance(Tensor x1, Tensor x2, Scalar p=2.0, float eps=1e-6, bool keepdims=False) -> Tensor")
        .Doc("The norm of order p of x1 - x2 + eps along the last axis.")
        .As([](const CallReader& c) -> Tensors {
          return {Op<"linalg_vector_norm">(c.x(0) - c.x(1) + c.Real(1), c.attr(0), Dims{-1}, c.Bool(2))};
        });

[[maybe_unused]] const auto& triplet_margin_loss =
    DefineOp(
        "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float "
        "eps=1e-6, bool swap=False, str reduction=\"mean\") -> Tensor")
        .Doc("max(0, margin + distance to the positive - distance to the negative).")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const auto distance = [&](const Tensor& a, const Tensor& b) {
            return Op<"pairwise_distance">(a, b, c.Real(1), c.Real(2));
          };
          const Tensor near = distance(c.x(0), c.x(1));
          Tensor far = distance(c.x(0), c.x(2));
          if (c.Bool(3)) far = Op<"minimum">(far, distance(c.x(1), c.x(2)));
          return {ReduceLoss(c.name(), Positive(near - far + c.Real(0)), c.String(4))};
        });

// --- all pairs. Attribute: 0 p.

/// Batches are broadcast and flattened before the kernel sees them.
[[maybe_unused]] const auto& cdist =
    DefineOp("cdist(Tensor x1, Tensor x2, Scalar p=2.0) -> Tensor")
        .Doc("The distances of order p between all rows of x1 and all rows of x2.")
        .Autocast(Precision::kFloat32)
        .Promotes(Promotion::kCommon)
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x1 = c.x(0), &x2 = c.x(1);
          if (x1.ndim() < 2 || x2.ndim() < 2 || x1.size(-1) != x2.size(-1)) {
            throw ValueError(c.name())
                .Got("shapes ", x1.shape(), " and ", x2.shape())
                .Expected("at least two axes, and last axes of one size");
          }
          if (!(c.Real(0) >= 0)) throw ValueError(c.name()).Got("p ", c.Real(0)).Expected("at least 0");
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
          const Tensor y = Op<"cdist_rows">(flat(x1), flat(x2), c.attr(0));
          front.push_back(x1.size(-2));
          front.push_back(x2.size(-2));
          return {Op<"reshape">(y, front)};
        });

void CdistGradient(Grad& g) {
  const Tensor &x1 = g.x(0), &x2 = g.x(1), &y = g.y();
  const double p = g.Real(0);
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
    if (g.needs(0)) g.dx(0, Op<"sum">(part, Dims{2}));
    if (g.needs(1)) g.dx(1, -Op<"sum">(part, Dims{1}));
    return;
  }
  const auto transposed = [](const Tensor& t) { return Op<"transpose">(t, 1, 2); };
  if (g.needs(0)) g.dx(0, Op<"cdist_backward">(g.dy(), x1, x2, y, p));
  if (g.needs(1)) g.dx(1, Op<"cdist_backward">(transposed(g.dy()), x2, x1, transposed(y), p));
}

/// (batch, n, size) and (batch, m, size) of one dtype, in slots `first` and the next.
void CheckRows(const CallReader& c, int first) {
  RequireRank(c, first, 3);
  RequireRank(c, first + 1, 3);
  const Dims& shape = c.x(first).shape();
  RequireTensor(c, first + 1, Dims{shape[0], c.x(first + 1).size(1), shape[2]}, c.x(first).dtype());
}

[[maybe_unused]] const auto& cdist_rows =
    DefineOp("cdist_rows(Tensor x1, Tensor x2, float p) -> Tensor")
        .Doc("cdist of (batch, rows, size) tensors.")
        .Batches(Batching::kSamples)
        .Infers([](Infer& i) {
          CheckRows(i, 0);
          i.y(0, Dims{i.x(0).size(0), i.x(0).size(1), i.x(1).size(1)}, i.x(0).dtype());
        })
        .Runs([](Run& r) {
          const Tensor x1 = r.Contiguous(0), x2 = r.Contiguous(1);
          kernels::Cdist(r.ctx(), r.dtype(), r.out(), x1.view(), x2.view(), r.Real(0));
        })
        .Gradient("x1, x2, out", CdistGradient);

[[maybe_unused]] const auto& cdist_backward =
    DefineOp("cdist_backward(Tensor dy, Tensor x1, Tensor x2, Tensor y, float p) -> Tensor")
        .Doc("The gradient of distances between rows by the first set of rows.")
        .Infers([](Infer& i) {
          CheckRows(i, 1);
          const Dims pairs{i.x(1).size(0), i.x(1).size(1), i.x(2).size(1)};
          RequireTensor(i, 0, pairs, i.x(1).dtype());
          RequireTensor(i, 3, pairs, i.x(1).dtype());
          i.y(0, i.x(1).shape(), i.x(1).dtype());
        })
        .Runs([](Run& r) {
          const Tensor dy = r.Contiguous(0), x1 = r.Contiguous(1), x2 = r.Contiguous(2), y = r.Contiguous(3);
          kernels::CdistBackward(r.ctx(), x1.dtype(), r.out(), dy.view(), x1.view(), x2.view(), y.view(), r.Real(0));
        });

/// Where the pairs (i, j), i < j, stand in a square of all pairs.
[[maybe_unused]] const auto& pair_places =
    DefineOp("pair_places(int rows, device device) -> Tensor")
        .Doc("The positions of all pairs of different rows, in the order of a condensed distance matrix.")
        .Infers([](Infer& i) {
          const int64_t rows = i.Int(0);
          if (rows < 0 || rows > (int64_t{1} << 31))
            throw ValueError(i.name()).Got("rows ", rows).Expected("0 to 2^31");
          i.y(0, Dims{rows % 2 ? (rows - 1) / 2 * rows : rows / 2 * (rows - 1)}, DType::kInt64);
          i.device = i.attr(1).device();
        })
        .Runs([](Run& r) {
          const Tensor places = Tensor::Empty(r.y().shape(), DType::kInt64);
          auto* place = static_cast<int64_t*>(places.mutable_data());
          const int64_t rows = r.Int(0);
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
          const Tensor all = Op<"reshape">(Op<"cdist">(x, x, c.Real(0)), Dims{rows * rows});
          return {Op<"index_select">(all, 0, Op<"pair_places">(rows, x.device()))};
        });

}  // namespace
}  // namespace dragon
