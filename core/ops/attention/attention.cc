// Scaled dot product attention: tiles where only a result is wanted, ordinary operators where more is.
#include "core/kernels/attention.h"

#include <cmath>
#include <limits>

#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {
namespace {

DType SumDType(DType dtype) { return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

void CheckHeads(const CallReader& c) {
  const Tensor &q = c.x("q"), &k = c.x("k"), &v = c.x("v");
  for (const Tensor* x : {&k, &v}) {
    if (x->dtype() != q.dtype()) throw TypeError(c.name()).Got(q.dtype(), " and ", x->dtype()).Expected("equal dtypes");
  }
  if (!IsFloating(q.dtype()))
    throw TypeError(c.name()).Got(q.dtype()).Expected("floating-point queries, keys and values");
  const bool ranks = q.ndim() == 4 && k.ndim() == 4 && v.ndim() == 4;
  const bool fits = ranks && k.size(0) == q.size(0) && v.size(0) == q.size(0) && k.size(1) == v.size(1) &&
                    k.size(2) == v.size(2) && k.size(3) == q.size(3) &&
                    (k.size(1) == q.size(1) || (k.size(1) > 0 && q.size(1) % k.size(1) == 0));
  if (!fits) {
    throw ValueError(c.name())
        .Got("queries ", q.shape(), ", keys ", k.shape(), " and values ", v.shape())
        .Expected("(B, H, L, E), (B, Hk, S, E) and (B, Hk, S, Ev) with Hk dividing H");
  }
}

void CheckMask(const CallReader& c, ArgumentName name) {
  if (!c.has(name)) return;
  const Tensor &q = c.x("q"), &k = c.x("k"), &mask = c.x(name);
  const Dims scores{q.size(0), q.size(1), q.size(2), k.size(2)};
  if (mask.shape() != scores) throw ValueError(c.name()).Got("mask ", mask.shape()).Expected("shape ", scores);
  if (mask.dtype() != DType::kBool && mask.dtype() != q.dtype()) {
    throw TypeError(c.name()).Got("mask of ", mask.dtype()).Expected("bool or ", q.dtype());
  }
}

AttentionOptions OptionsOf(const CallReader& c) { return {c.Real("scale"), c.Bool("causal"), c.Bool("nan_if_unseen")}; }

// --- the same in ordinary operators, for gradients of gradients and for dropout

/// Key heads repeated for the query heads that share them.
Tensor Shared(const Tensor& x, int64_t heads) {
  if (x.size(1) == heads) return x;
  if (x.size(1) == 0 || heads % x.size(1) != 0) {
    throw ValueError("scaled_dot_product_attention")
        .Got(heads, " query and ", x.size(1), " key heads")
        .Expected("key heads that divide the query heads");
  }
  const Dims wide{x.size(0), x.size(1), heads / x.size(1), x.size(2), x.size(3)};
  return Op<"reshape">(Op<"expand">(Op<"unsqueeze">(x, 2), wide), Dims{x.size(0), heads, x.size(2), x.size(3)});
}

/// The gradients of query heads summed for the key head that they share.
Tensor Unshared(const Tensor& dx, int64_t heads) {
  if (dx.size(1) == heads) return dx;
  const Dims grouped{dx.size(0), heads, dx.size(1) / heads, dx.size(2), dx.size(3)};
  return Op<"sum">(Op<"reshape">(dx, grouped), Dims{2});
}

/// Which keys each query sees; undefined if all.
Tensor SeenBy(const Tensor& q, const Tensor& k, const Tensor& mask, bool causal) {
  Tensor seen = mask.defined() && mask.dtype() == DType::kBool ? mask : Tensor();
  if (!causal) return seen;
  const Tensor rows = Op<"reshape">(Op<"arange">(0, q.size(2), 1, DType::kInt64, q.device()), Dims{-1, 1});
  const Tensor past = Op<"le">(Op<"arange">(0, k.size(2), 1, DType::kInt64, q.device()), rows);
  return seen.defined() ? Op<"logical_and">(seen, past) : past;
}

/// softmax(q @ k^T * scale + mask), with zeros for a query that sees nothing.
Tensor Weights(const Tensor& q, const Tensor& k, const Tensor& mask, const AttentionOptions& options) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  Tensor scores = Op<"matmul">(q * options.scale, Op<"transpose">(k, -1, -2));
  const bool biased = mask.defined() && mask.dtype() != DType::kBool;
  if (biased) scores = scores + mask;
  const Tensor seen = SeenBy(q, k, mask, options.causal);
  if (seen.defined()) scores = Op<"where">(seen, scores, Number(kNever));
  if (options.nan_if_unseen || (!seen.defined() && !biased) || k.size(2) == 0) return Op<"softmax">(scores, -1);
  // Scores of such a query give way to zeros before the softmax: minus infinity would make its gradients NaN.
  const Tensor blind = Op<"eq">(Op<"amax">(scores, Dims{-1}, true), Number(kNever));
  const Tensor weights = Op<"softmax">(Op<"where">(blind, Number(0.0), scores), -1);
  return Op<"where">(blind, Number(0.0), weights);
}

/// x in the dtype that sums are kept in: 16 bits would leave nothing of a score beside a large bias.
Tensor Wide(const Tensor& x) {
  if (!x.defined() || x.dtype() == DType::kBool || x.dtype() == SumDType(x.dtype())) return x;
  return Op<"cast">(x, SumDType(x.dtype()));
}

struct Gradients {
  Tensor dq, dk, dv;
};

Gradients BackwardByOperators(const Tensor& dy, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                              const AttentionOptions& options) {
  if (q.dtype() != SumDType(q.dtype())) {
    const Gradients d = BackwardByOperators(Wide(dy), Wide(q), Wide(k), Wide(v), Wide(mask), options);
    return {Op<"cast">(d.dq, q.dtype()), Op<"cast">(d.dk, q.dtype()), Op<"cast">(d.dv, q.dtype())};
  }
  const Tensor keys = Shared(k, q.size(1)), values = Shared(v, q.size(1));
  const Tensor weights = Weights(q, keys, mask, options);
  const Tensor dweights = Op<"matmul">(dy, Op<"transpose">(values, -1, -2));
  const Tensor meeting = Op<"sum">(dweights * weights, Dims{-1}, true);
  const Tensor dscores = weights * (dweights - meeting) * options.scale;
  return {Op<"matmul">(dscores, keys), Unshared(Op<"matmul">(Op<"transpose">(dscores, -1, -2), q), k.size(1)),
          Unshared(Op<"matmul">(Op<"transpose">(weights, -1, -2), dy), k.size(1))};
}

// --- the operators

[[maybe_unused]] const auto& attention =
    DefineOp(
        "attention(Tensor q, Tensor k, Tensor v, Tensor? mask, float scale, bool causal, bool nan_if_unseen=False) -> "
        "(Tensor out, Tensor most, Tensor log_sum)")
        .Doc(
            "Attention of (B, H, L, E) queries by tiles; each query's largest score, and the log-sum of exponentials "
            "of "
            "its scores relative to that. A query that sees nothing gives zeros, or NaN as the formula does.")
        .Batches(Batching::kSamples)
        .NoGradientFor(0b110)
        .Infers([](Infer& i) {
          CheckHeads(i);
          CheckMask(i, "mask");
          const Tensor& q = i.x("q");
          i.y(0, {q.size(0), q.size(1), q.size(2), i.x("v").size(3)}, q.dtype());
          for (int n : {1, 2}) i.y(n, {q.size(0), q.size(1), q.size(2)}, SumDType(q.dtype()));
        })
        .Runs([](Run& r) {
          kernels::Attention(r.ctx(), r.dtype(), r.out(0), r.out(1), r.out(2), r.in("q"), r.in("k"), r.in("v"),
                             r.in("mask"), OptionsOf(r));
        })
        .Gradient("q, k, v, mask, out, most, log_sum", [](Grad& g) {
          if (Door().grad_enabled) {
            const Gradients d = BackwardByOperators(g.dy(0), g.x("q"), g.x("k"), g.x("v"), g.x("mask"), OptionsOf(g));
            g.dx("q", d.dq), g.dx("k", d.dk), g.dx("v", d.dv);
            return;
          }
          const Tensors d =
              OpN<"attention_backward">(g.dy(0), g.y(0), g.y(1), g.y(2), g.x("q"), g.x("k"), g.x("v"), g.x("mask"),
                                        g.Real("scale"), g.Bool("causal"), g.Bool("nan_if_unseen"));
          for (int i = 0; i < 3; ++i) g.dx(i, d[i]);
        });

[[maybe_unused]] const auto& attention_backward =
    DefineOp(
        "attention_backward(Tensor dy, Tensor y, Tensor most, Tensor log_sum, Tensor q, Tensor k, Tensor v, Tensor? "
        "mask, float scale, bool causal, bool nan_if_unseen=False) -> (Tensor dq, Tensor dk, Tensor dv)")
        .Doc("The gradients of attention in queries, keys and values.")
        .Infers([](Infer& i) {
          const Tensor &dy = i.x("dy"), &y = i.x("y"), &most = i.x("most"), &log_sum = i.x("log_sum"), &q = i.x("q"),
                       &k = i.x("k"), &v = i.x("v");
          const bool ranks = q.ndim() == 4 && k.ndim() == 4 && v.ndim() == 4;
          const bool keys = ranks && k.size(0) == q.size(0) && v.size(0) == q.size(0) && k.size(1) == v.size(1) &&
                            k.size(2) == v.size(2) && k.size(3) == q.size(3) && k.size(1) > 0 &&
                            q.size(1) % k.size(1) == 0;
          if (!keys || y.shape() != Dims{q.size(0), q.size(1), q.size(2), v.size(3)} || dy.shape() != y.shape() ||
              most.shape() != Dims{q.size(0), q.size(1), q.size(2)} || log_sum.shape() != most.shape()) {
            throw ValueError(i.name())
                .Got("dy ", dy.shape(), ", y ", y.shape(), ", most ", most.shape(), ", log_sum ", log_sum.shape(),
                     ", q ", q.shape(), ", k ", k.shape(), " and v ", v.shape())
                .Expected("the shapes of one call of attention");
          }
          for (const Tensor* x : {&dy, &y, &k, &v}) {
            if (x->dtype() == q.dtype()) continue;
            throw TypeError(i.name()).Got(q.dtype(), " and ", x->dtype()).Expected("equal dtypes");
          }
          for (const Tensor* sum : {&most, &log_sum}) {
            if (sum->dtype() == SumDType(q.dtype())) continue;
            throw TypeError(i.name()).Got("sums of ", sum->dtype()).Expected(SumDType(q.dtype()));
          }
          if (i.has("mask") && i.x("mask").shape() != Dims{q.size(0), q.size(1), q.size(2), k.size(2)}) {
            throw ValueError(i.name()).Got("mask ", i.x("mask").shape()).Expected("a number for each score");
          }
          if (i.has("mask") && i.x("mask").dtype() != DType::kBool && i.x("mask").dtype() != q.dtype()) {
            throw TypeError(i.name()).Got("mask of ", i.x("mask").dtype()).Expected("bool or ", q.dtype());
          }
          i.y(0, q.shape(), q.dtype());
          i.y(1, k.shape(), q.dtype());
          i.y(2, v.shape(), q.dtype());
        })
        .Runs([](Run& r) {
          kernels::AttentionBackward(r.ctx(), r.dtype(), r.out(0), r.out(1), r.out(2), r.in("dy"), r.in("y"),
                                     r.rows("most"), r.rows("log_sum"), r.in("q"), r.in("k"), r.in("v"), r.in("mask"),
                                     OptionsOf(r));
        })
        .NotDifferentiable();

/// Bring (..., L, E) to (B, H, L, E): missing axes in front become 1, surplus ones are folded into the first.
Tensor FourAxes(const Tensor& x) {
  Tensor y = x;
  while (y.ndim() < 4) y = Op<"unsqueeze">(y, 0);
  return y.ndim() == 4 ? y : Op<"flatten">(y, 0, y.ndim() - 4);
}

/// Attention in ordinary operators: the path for dropout and for masks that want gradients.
Tensor ByOperators(const CallReader& c, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                   double scale) {
  if (q.dtype() != SumDType(q.dtype())) {
    return Op<"cast">(ByOperators(c, Wide(q), Wide(k), Wide(v), Wide(mask), scale), q.dtype());
  }
  Tensor weights = Weights(q, Shared(k, q.size(1)), mask, {scale, c.Bool("is_causal")});
  if (c.Real("dropout_p") > 0) weights = Op<"dropout">(weights, c.Real("dropout_p"), true);
  return Op<"matmul">(weights, Shared(v, q.size(1)));
}

Tensors ScaledDotProductAttention(const CallReader& c) {
  const Tensor &q = c.x("q"), &k = c.x("k"), &v = c.x("v");
  if (q.ndim() < 2 || k.ndim() != q.ndim() || v.ndim() != q.ndim()) {
    throw ValueError(c.name())
        .Got("queries ", q.shape(), ", keys ", k.shape(), " and values ", v.shape())
        .Expected("equal ranks of at least 2");
  }
  if (c.Real("dropout_p") < 0 || c.Real("dropout_p") > 1)
    throw ValueError(c.name()).Got("dropout_p ", c.Real("dropout_p")).Expected("0 to 1");
  if (c.has("attn_mask") && c.Bool("is_causal"))
    throw ValueError(c.name()).Got("a mask and is_causal").Expected("one of them");
  if (!c.Bool("enable_gqa") && q.ndim() > 3 && k.size(-3) != q.size(-3) && k.size(-3) != 1) {
    throw ValueError(c.name())
        .Got(q.size(-3), " query and ", k.size(-3), " key heads")
        .Expected("equal ones, or enable_gqa");
  }
  const double scale =
      c.Given("scale") ? c.Real("scale") : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(q.size(-1), 1)));
  Tensor mask = c.has("attn_mask") ? c.x("attn_mask") : Tensor();
  if (mask.defined()) {
    Dims scores = q.shape();
    scores.back() = k.size(-2);
    if (mask.dtype() != DType::kBool && mask.dtype() != q.dtype()) mask = Op<"cast">(mask, q.dtype());
    mask = FourAxes(Op<"expand">(mask, scores));
  }
  const Tensor q4 = FourAxes(q), k4 = FourAxes(k), v4 = FourAxes(v);
  const bool by_operators = c.Real("dropout_p") > 0 || (mask.defined() && Door().grad_enabled && mask.requires_grad());
  const Tensor y = by_operators ? ByOperators(c, q4, k4, v4, mask, scale)
                                : OpN<"attention">(q4, k4, v4, mask, scale, c.Bool("is_causal"))[0];
  Dims shape = q.shape();
  shape.back() = v.size(-1);
  return {Op<"reshape">(y, shape)};
}

[[maybe_unused]] const auto& sdpa =
    DefineOp(
        "scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, Tensor? attn_mask=None, float dropout_p=0.0, bool "
        "is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor")
        .Doc("softmax(q @ k^T * scale + mask) @ v over the last two axes; a bool mask says what is seen.")
        .Autocast(Precision::kLower)
        .As(ScaledDotProductAttention);

}  // namespace
}  // namespace dragon
