// Losses of classifiers over many classes: negative log-likelihood, and cross entropy fused with the softmax.
#include "core/kernels/loss.h"
#include "core/ops/loss/loss.h"

namespace dragon {
namespace {

/// (classes,), (batch, classes) or (batch, classes, ...) as (outer, classes, inner).
struct Flat {
  Tensor x, target, weight;
};

Flat Flatten(const CallReader& c) {
  const Tensor &x = c.x("x"), &target = c.x("target"), &weight = c.x("weight");
  const Dims& shape = x.shape();
  const int axis = shape.size() == 1 ? 0 : 1;
  if (shape.empty()) throw ValueError(c.name()).Got("a 0-d input").Expected("classes along axis 1 (or 0)");
  if (!x.is_floating()) throw TypeError(c.name()).Got("input of ", x.dtype()).Expected("a floating dtype");
  Dims wanted = shape;
  wanted.erase(axis);
  if (target.shape() != wanted) {
    throw ValueError(c.name()).Got("target of shape ", target.shape()).Expected("shape ", wanted, " for input ", shape);
  }
  if (!IsIntegral(target.dtype())) {
    throw TypeError(c.name()).Got("target of ", target.dtype()).Expected("class indices of an integer dtype");
  }
  const int64_t classes = shape[axis];
  if (weight.defined() && weight.shape() != Dims{classes}) {
    throw ValueError(c.name()).Got("weight of shape ", weight.shape()).Expected("shape ", Dims{classes});
  }
  const int64_t outer = axis ? shape[0] : 1;
  int64_t inner = 1;
  for (int i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  Flat flat;
  flat.x = Op<"reshape">(x, Dims{outer, classes, inner});
  flat.target =
      Op<"reshape">(target.dtype() == DType::kInt64 ? target : Op<"cast">(target, DType::kInt64), Dims{outer, inner});
  flat.weight = weight.defined() && weight.dtype() != x.dtype() ? Op<"cast">(weight, x.dtype()) : weight;
  return flat;
}

/// The operators on places are called by users as well: refuse whatever Flatten would not have made.
void CheckTarget(const CallReader& c, const Tensor& target, const Tensor& weight, DType dtype, int64_t classes) {
  if (!IsFloating(dtype)) throw TypeError(c.name()).Got(dtype).Expected("a floating dtype");
  if (target.dtype() != DType::kInt64) throw TypeError(c.name()).Got("target of ", target.dtype()).Expected("int64");
  if (target.ndim() != 2) throw ValueError(c.name()).Got("target of shape ", target.shape()).Expected("(outer, inner)");
  if (!weight.defined()) return;
  if (weight.dtype() != dtype || (classes >= 0 ? weight.shape() != Dims{classes} : weight.ndim() != 1)) {
    throw ValueError(c.name())
        .Got("weight of shape ", weight.shape(), ", ", weight.dtype())
        .Expected("one number per class, ", dtype);
  }
}
void CheckPlaces(const CallReader& c, const Tensor& x, const Tensor& target, const Tensor& weight) {
  if (x.ndim() != 3) throw ValueError(c.name()).Got("input of shape ", x.shape()).Expected("(outer, classes, inner)");
  CheckTarget(c, target, weight, x.dtype(), x.size(1));
  if (target.shape() != Dims{x.size(0), x.size(2)}) {
    throw ValueError(c.name()).Got("target of shape ", target.shape()).Expected("shape ", Dims{x.size(0), x.size(2)});
  }
}
void CheckSlope(const CallReader& c, const Tensor& dy, const Tensor& target) {
  if (dy.shape() == target.shape()) return;
  throw ValueError(c.name()).Got("dy of shape ", dy.shape()).Expected("shape ", target.shape());
}

/// The mean is over the weights of targets that count.
Tensor ReduceTerms(const CallReader& c, const Tensor& terms, const Flat& flat, int64_t ignore,
                   const std::string& reduction) {
  CheckReduction(c.name(), reduction);
  if (reduction == "none") return Op<"reshape">(terms, c.x("target").shape());
  const Tensor total = Op<"sum">(terms);
  if (reduction == "sum") return total;
  return total / Op<"sum">(Op<"target_weights">(flat.target, flat.weight, ignore, terms.dtype()));
}

void RefuseWeightGradient(const Grad& g) {
  if (!g.needs("weight")) return;
  throw NotImplementedError(g.name()).Got("a weight that requires grad").Expected("constant class weights");
}

/// x is (outer, classes, inner), with a target (outer, inner) and class weights.
void CheckTerms(const CallReader& c) {
  RequireRank(c, "x", 3);
  const Dims& shape = c.x("x").shape();
  if (shape[1] == 0) throw ValueError(c.name()).Got("shape ", shape).Expected("at least one class");
  RequireTensor(c, "target", Dims{shape[0], shape[2]}, DType::kInt64);
  RequireTensor(c, "weight", Dims{shape[1]}, c.x("x").dtype());
}

// --- negative log-likelihood.

[[maybe_unused]] const auto& nll_loss =
    DefineOp(
        "nll_loss(Tensor x, Tensor target, Tensor? weight=None, int "
        "ignore_index=-100, str reduction=\"mean\") -> Tensor")
        .Doc("-weight[target] x[target], for logarithms x of probabilities.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const Flat flat = Flatten(c);
          const Tensor terms = Op<"nll_loss_terms">(flat.x, flat.target, flat.weight, c.Int("ignore_index"));
          return {ReduceTerms(c, terms, flat, c.Int("ignore_index"), c.String("reduction"))};
        });

[[maybe_unused]] const auto& nll_loss_terms =
    DefineOp("nll_loss_terms(Tensor x, Tensor target, Tensor? weight, int ignore_index) -> Tensor")
        .Doc("nll_loss of (outer, classes, inner), place by place.")
        .Batches(Batching::kSamples, "", "weight")
        .Infers([](Infer& i) {
          CheckPlaces(i, i.x("x"), i.x("target"), i.x("weight"));
          i.y(0, i.x("target").shape(), i.x("x").dtype());
        })
        .Runs([](Run& r) {
          kernels::NllLoss(r.ctx(), r.x("x").dtype(), r.out(), r.rows("x"), r.rows("target"), r.rows("weight"),
                           r.Int("ignore_index"));
        })
        .Gradient("target, weight", [](Grad& g) {
          RefuseWeightGradient(g);
          g.dx("x", Op<"nll_loss_terms_backward">(g.dy(), g.x("target"), g.x("weight"), g.x_shape("x")[1],
                                                  g.Int("ignore_index")));
        });

[[maybe_unused]] const auto& nll_loss_terms_backward =
    DefineOp(
        "nll_loss_terms_backward(Tensor dy, Tensor target, Tensor? weight, int classes, int ignore_index) -> Tensor")
        .Doc("The gradient of each term of nll_loss by the log probabilities.")
        .Infers([](Infer& i) {
          if (i.Int("classes") < 0)
            throw ValueError(i.name()).Got("classes = ", i.Int("classes")).Expected("at least 0");
          CheckTarget(i, i.x("target"), i.x("weight"), i.x("dy").dtype(), i.Int("classes"));
          CheckSlope(i, i.x("dy"), i.x("target"));
          const Dims& shape = i.x("dy").shape();
          RequireRank(i, "dy", 2);
          RequireTensor(i, "target", shape, DType::kInt64);
          RequireTensor(i, "weight", Dims{i.Int("classes")}, i.x("dy").dtype());
          i.y(0, Dims{shape[0], i.Int("classes"), shape[1]}, i.x("dy").dtype());
        })
        .Runs([](Run& r) {
          kernels::NllLossBackward(r.ctx(), r.x("dy").dtype(), r.out(), r.rows("dy"), r.rows("target"),
                                   r.rows("weight"), r.Int("ignore_index"));
        })
        .Gradient("target, weight", [](Grad& g) {
          RefuseWeightGradient(g);
          g.dx("dy", Op<"nll_loss_terms">(g.dy(), g.x("target"), g.x("weight"), g.Int("ignore_index")));
        });

[[maybe_unused]] const auto& target_weights =
    DefineOp("target_weights(Tensor target, Tensor? weight, int ignore_index, dtype dtype) -> Tensor")
        .Doc("The weight of every target's class, 0 where the target is ignored.")
        .Batches(Batching::kRows, "", "weight")
        .Infers([](Infer& i) {
          CheckTarget(i, i.x("target"), i.x("weight"), i.attr("dtype").dtype(), -1);
          i.y(0, i.x("target").shape(), i.attr("dtype").dtype());
        })
        .Runs([](Run& r) {
          kernels::TargetWeights(r.ctx(), r.y().dtype(), r.out(), r.rows("target"), r.rows("weight"),
                                 r.Int("ignore_index"));
        })
        .NotDifferentiable();

// --- cross entropy.

/// Targets that are probabilities of all classes: a composition.
Tensor SoftTargets(const CallReader& c) {
  const Tensor &x = c.x("x"), &target = c.x("target"), &weight = c.x("weight");
  const int axis = x.ndim() == 1 ? 0 : 1;
  const int64_t classes = x.size(axis);
  const double smoothing = c.Real("label_smoothing");
  Tensor logs = Op<"log_softmax">(x, axis);
  if (weight.defined()) {
    Dims shape = Dims::Filled(x.ndim(), 1);
    shape[axis] = classes;
    logs = logs * Op<"reshape">(weight, shape);
  }
  Tensor wanted = target;
  if (smoothing > 0) wanted = target * (1 - smoothing) + smoothing / static_cast<double>(classes);
  const Tensor terms = -Op<"sum">(logs * wanted, Dims{axis});
  if (c.String("reduction") != "mean") return ReduceLoss(c.name(), terms, c.String("reduction"));
  return Op<"sum">(terms) / (static_cast<double>(x.numel()) / static_cast<double>(std::max<int64_t>(1, classes)));
}

[[maybe_unused]] const auto& cross_entropy =
    DefineOp(
        "cross_entropy(Tensor x, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction=\"mean\", "
        "float "
        "label_smoothing=0.0) -> Tensor")
        .Doc("The cross entropy of softmax(x) with class indices, or with probabilities of x's own shape.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const double smoothing = c.Real("label_smoothing");
          if (!(smoothing >= 0 && smoothing <= 1)) {
            throw ValueError(c.name()).Got("label_smoothing ", smoothing).Expected("0 to 1");
          }
          if (c.x("target").is_floating() && c.x("target").shape() == c.x("x").shape() && c.x("x").ndim() > 0)
            return {SoftTargets(c)};
          const Flat flat = Flatten(c);
          const Tensor terms =
              Op<"cross_entropy_terms">(flat.x, flat.target, flat.weight, c.Int("ignore_index"), smoothing);
          return {ReduceTerms(c, terms, flat, c.Int("ignore_index"), c.String("reduction"))};
        });

/// dx = a softmax(x) - own onehot(target) - share w, with factors that are 0 at ignored targets.
Tensor DifferentiableSlope(const Grad& g) {
  const Tensor &x = g.x("x"), &target = g.x("target"), &weight = g.x("weight"), &dy = g.dy();
  const int64_t classes = x.size(1), ignore = g.Int("ignore_index");
  const double smoothing = g.Real("label_smoothing"),
               share = smoothing / static_cast<double>(std::max<int64_t>(1, classes));
  const Tensor own = Op<"target_weights">(target, weight, ignore, x.dtype());
  const Tensor counts = Op<"target_weights">(target, None, ignore, x.dtype());
  const Tensor w = weight.defined() ? Op<"reshape">(weight, Dims{1, classes, 1})
                                    : Op<"ones">(Dims{1, classes, 1}, x.dtype(), x.device());
  const Tensor slope = dy * (own * (1 - smoothing) + counts * Op<"sum">(w) * share);
  Tensor dx = Op<"unsqueeze">(slope, 1) * Op<"softmax">(x, 1);
  dx = dx + Op<"nll_loss_terms_backward">(dy, target, weight, classes, ignore) * (1 - smoothing);
  return share > 0 ? dx - Op<"unsqueeze">(dy * counts, 1) * (w * share) : dx;
}

[[maybe_unused]] const auto& cross_entropy_terms =
    DefineOp(
        "cross_entropy_terms(Tensor x, Tensor target, Tensor? weight, int ignore_index, float label_smoothing) -> "
        "(Tensor "
        "out, Tensor lse)")
        .Doc("cross_entropy of (outer, classes, inner), place by place, and log(sum(exp(x))).")
        .Batches(Batching::kSamples, "", "weight")
        .Infers([](Infer& i) {
          CheckPlaces(i, i.x("x"), i.x("target"), i.x("weight"));
          const DType wide = i.x("x").dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
          CheckTerms(i);
          i.y(0, i.x("target").shape(), i.x("x").dtype());
          i.y(1, i.x("target").shape(), wide);
        })
        .Runs([](Run& r) {
          kernels::CrossEntropy(r.ctx(), r.x("x").dtype(), r.out(0), r.out(1), r.rows("x"), r.rows("target"),
                                r.rows("weight"), r.Int("ignore_index"), r.Real("label_smoothing"));
        })
        .Gradient("x, target, weight, lse", [](Grad& g) {
          RefuseWeightGradient(g);
          if (g.dy(1).defined()) {
            throw NotImplementedError(g.name()).Got("a gradient for 'lse'").Expected("logsumexp, which has one");
          }
          if (!g.dy().defined()) return;
          if (Door().grad_enabled) return g.dx("x", DifferentiableSlope(g));
          g.dx("x", Op<"cross_entropy_terms_backward">(g.dy(), g.y(1), g.x("x"), g.x("target"), g.x("weight"),
                                                       g.Int("ignore_index"), g.Real("label_smoothing")));
        });

[[maybe_unused]] const auto& cross_entropy_terms_backward =
    DefineOp(
        "cross_entropy_terms_backward(Tensor dy, Tensor lse, Tensor x, Tensor target, Tensor? weight, int "
        "ignore_index, "
        "float label_smoothing) -> Tensor")
        .Doc("The gradient of each term of cross_entropy by the scores.")
        .Infers([](Infer& i) {
          const Tensor &dy = i.x("dy"), &lse = i.x("lse"), &x = i.x("x"), &target = i.x("target");
          CheckPlaces(i, x, target, i.x("weight"));
          CheckSlope(i, dy, target);
          CheckSlope(i, lse, target);
          const DType wide = x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
          if (dy.dtype() != x.dtype() || lse.dtype() != wide) {
            throw TypeError(i.name())
                .Got("dy of ", dy.dtype(), ", lse of ", lse.dtype())
                .Expected(x.dtype(), " and ", wide);
          }
          i.y(0, x.shape(), x.dtype());
        })
        .Runs([](Run& r) {
          kernels::CrossEntropyBackward(r.ctx(), r.x("x").dtype(), r.out(), r.rows("dy"), r.rows("lse"), r.rows("x"),
                                        r.rows("target"), r.rows("weight"), r.Int("ignore_index"),
                                        r.Real("label_smoothing"));
        });

}  // namespace
}  // namespace dragon
