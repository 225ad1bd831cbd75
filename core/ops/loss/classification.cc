// Losses of classifiers on two classes or several labels.
#include "core/ops/check.h"
#include "core/ops/loss/loss.h"

namespace dragon {
namespace {

// --- probabilities against targets

void InferTerms(Infer& i) {
  if (!i.x("x").is_floating())
    throw TypeError("binary_cross_entropy").Got(i.x("x").dtype()).Expected("a floating dtype");
  if (i.x("x").shape() != i.x("y").shape()) {
    throw ValueError("binary_cross_entropy")
        .Got("input of shape ", i.x("x").shape(), " and target of shape ", i.x("y").shape())
        .Expected("equal shapes");
  }
  InferPointwise(i);
}

/// A logarithm that stops at -100, so that a wrong certainty costs much but not infinity.
Tensor BoundedLog(const Tensor& x) { return Op<"clamp">(Op<"log">(x), Number(-100.0)); }

/// NaN is no probability either.
void RequireProbabilities(const Tensor& x, const char* what) {
  if (x.numel() == 0 || (Op<"amin">(x).Item().real() >= 0 && Op<"amax">(x).Item().real() <= 1)) return;
  throw ValueError("binary_cross_entropy").Got(what, " outside [0, 1]").Expected("probabilities");
}

[[maybe_unused]] const auto& binary_cross_entropy_terms =
    DefineOp("binary_cross_entropy_terms(Tensor x, Tensor y) -> Tensor")
        .Doc("-(y log(x) + (1 - y) log(1 - x)), with logarithms of at least -100.")
        .Batches(Batching::kRows)
        .Promotes(Promotion::kCommon)
        .Infers(InferTerms)
        .Runs([](Run& r) {
          const Tensor &x = r.x("x"), &y = r.x("y");
          RequireProbabilities(x, "inputs");
          RequireProbabilities(y, "targets");
          OpInto<"copy">(r.y(), (y - 1.0) * BoundedLog(1.0 - x) - y * BoundedLog(x));
        })
        .Gradient("x, y", [](Grad& g) {
          const Tensor &x = g.x("x"), &y = g.x("y");
          if (g.needs("x")) g.dx("x", g.dy() * (x - y) / Op<"clamp">(x * (1.0 - x), Number(1e-12)));
          if (g.needs("y")) g.dx("y", g.dy() * (BoundedLog(1.0 - x) - BoundedLog(x)));
        });

[[maybe_unused]] const auto& binary_cross_entropy =
    DefineOp("binary_cross_entropy(Tensor x, Tensor y, Tensor? weight=None, str reduction=\"mean\") -> Tensor")
        .Doc("The cross entropy of probabilities x with targets y of two classes.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          Tensor errors = Op<"binary_cross_entropy_terms">(c.x("x"), c.x("y"));
          if (c.has("weight")) errors = errors * c.x("weight");
          return {ReduceLoss(c.name(), errors, c.String("reduction"))};
        });

[[maybe_unused]] const auto& binary_cross_entropy_with_logits =
    DefineOp(
        "binary_cross_entropy_with_logits(Tensor x, Tensor y, Tensor? weight=None, str reduction=\"mean\", Tensor? "
        "pos_weight=None) -> Tensor")
        .Doc("The cross entropy of sigmoid(x) with targets y of two classes.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y");
          if (x.shape() != y.shape()) {
            throw ValueError(c.name())
                .Got("input of shape ", x.shape(), " and target of shape ", y.shape())
                .Expected("equal shapes");
          }
          Tensor penalty = SoftPlus(-x);  // -log(sigmoid(x))
          if (c.has("pos_weight")) penalty = penalty * ((c.x("pos_weight") - 1.0) * y + 1.0);
          Tensor errors = (1.0 - y) * x + penalty;
          if (c.has("weight")) errors = errors * c.x("weight");
          return {ReduceLoss(c.name(), errors, c.String("reduction"))};
        });

// --- margins

[[maybe_unused]] const auto& soft_margin_loss =
    DefineOp("soft_margin_loss(Tensor x, Tensor y, str reduction=\"mean\") -> Tensor")
        .Doc("log(1 + exp(-y x)) for y of 1 or -1.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          return {ReduceLoss(c.name(), SoftPlus(-(c.x("y") * c.x("x"))), c.String("reduction"))};
        });

[[maybe_unused]] const auto& multilabel_soft_margin_loss =
    DefineOp("multilabel_soft_margin_loss(Tensor x, Tensor y, Tensor? weight=None, str reduction=\"mean\") -> Tensor")
        .Doc("The mean over classes (the last axis) of the cross entropy of sigmoid(x) with y.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y");
          if (x.ndim() == 0) throw ValueError(c.name()).Got("a 0-d tensor").Expected("classes along the last axis");
          Tensor errors = y * SoftPlus(-x) + (1.0 - y) * SoftPlus(x);
          if (c.has("weight")) errors = errors * c.x("weight");
          return {ReduceLoss(c.name(), Op<"mean">(errors, Dims{-1}), c.String("reduction"))};
        });

[[maybe_unused]] const auto& hinge_embedding_loss =
    DefineOp("hinge_embedding_loss(Tensor x, Tensor y, float margin=1.0, str reduction=\"mean\") -> Tensor")
        .Doc("x where y is 1, max(0, margin - x) where y is -1.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y");
          const Tensor apart = Op<"where">(Op<"ne">(y, Number(1)), Positive(c.Real("margin") - x), Number(0.0));
          const Tensor alike = Op<"where">(Op<"ne">(y, Number(-1)), x, Number(0.0));
          return {ReduceLoss(c.name(), apart + alike, c.String("reduction"))};
        });

[[maybe_unused]] const auto& margin_ranking_loss =
    DefineOp("margin_ranking_loss(Tensor x1, Tensor x2, Tensor y, float margin=0.0, str reduction=\"mean\") -> Tensor")
        .Doc("max(0, margin - y (x1 - x2)).")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const Tensor errors = Positive(c.Real("margin") - c.x("y") * (c.x("x1") - c.x("x2")));
          return {ReduceLoss(c.name(), errors, c.String("reduction"))};
        });

/// True where the class (the last axis) is the target of its row.
Tensor IsTarget(const Tensor& x, const Tensor& target) {
  const Tensor classes = Op<"arange">(x.size(-1), None, 1, DType::kInt64, x.device());
  return Op<"eq">(classes, Op<"unsqueeze">(target, -1));
}

[[maybe_unused]] const auto& multi_margin_loss =
    DefineOp(
        "multi_margin_loss(Tensor x, Tensor y, Scalar p=1, float margin=1.0, Tensor? weight=None, str "
        "reduction=\"mean\") -> Tensor")
        .Doc("The mean over other classes of max(0, margin - x[target] + x[class]) ** p.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y");
          const double p = c.Real("p");
          if (p != 1 && p != 2) throw ValueError(c.name()).Got("p ", p).Expected("1 or 2");
          Dims rows = x.shape();
          if (!rows.empty()) rows.pop_back();
          if (x.ndim() == 0 || x.ndim() > 2 || y.shape() != rows || x.size(-1) == 0) {
            throw ValueError(c.name())
                .Got("input of shape ", x.shape(), " and target of shape ", y.shape())
                .Expected("(batch, classes) and (batch,), or (classes,) and ()");
          }
          const Tensor at = Op<"unsqueeze">(y, -1), own = Op<"gather">(x, -1, at);
          Tensor errors = Positive(c.Real("margin") - own + x);
          if (p == 2) errors = Op<"square">(errors);
          if (c.has("weight"))
            errors =
                errors * Op<"reshape">(Op<"index_select">(c.x("weight"), 0, Op<"reshape">(y, Dims{-1})), at.shape());
          errors = Op<"where">(IsTarget(x, y), Number(0.0), errors);
          return {ReduceLoss(c.name(), Op<"mean">(errors, Dims{-1}), c.String("reduction"))};
        });

[[maybe_unused]] const auto& multilabel_margin_loss =
    DefineOp("multilabel_margin_loss(Tensor x, Tensor y, str reduction=\"mean\") -> Tensor")
        .Doc(
            "The sum over targets t and other classes c of max(0, 1 - x[t] + x[c]), over the number of classes. The "
            "targets of a row end at its first negative number.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y");
          if (x.ndim() < 1 || x.ndim() > 2 || x.shape() != y.shape()) {
            throw ValueError(c.name())
                .Got("input of shape ", x.shape(), " and target of shape ", y.shape())
                .Expected("one shape, (batch, classes) or (classes,)");
          }
          if (y.numel() > 0 && !Holds(Op<"all">(Op<"ge">(y, Number(int64_t{-1}))))) {
            throw ValueError(c.name()).Got("a target below -1").Expected("classes from 0, and -1 at their end");
          }
          const Tensor listed = Op<"cumprod">(Op<"cast">(Op<"ge">(y, Number(0)), DType::kInt64), -1);
          const Tensor places = y * listed;  // 0 beyond the end: a place that `listed` then ignores
          const Tensor counts = Op<"scatter_add">(Op<"zeros_like">(listed), -1, places, listed);
          const Tensor valid = Op<"unsqueeze">(Op<"cast">(listed, x.dtype()), -1);
          const Tensor other = Op<"unsqueeze">(Op<"cast">(Op<"eq">(counts, Number(0)), x.dtype()), -2);
          const Tensor own = Op<"unsqueeze">(Op<"gather">(x, -1, places), -1);
          const Tensor errors = Positive(1.0 - own + Op<"unsqueeze">(x, -2)) * valid * other;
          const Tensor rows = Op<"sum">(errors, Dims{-2, -1}) / static_cast<double>(x.size(-1));
          return {ReduceLoss(c.name(), rows, c.String("reduction"))};
        });

}  // namespace
}  // namespace dragon
