// Losses between numbers: squares, distances, likelihoods of counts and of normal variables.
#include <cmath>

#include "core/ops/check.h"
#include "core/ops/loss/loss.h"

namespace dragon {
namespace {

/// The errors, each as often as its weight says; their mean is over the weights.
Tensor ReduceWeighted(const char* who, const Tensor& errors, const Tensor& weight, const std::string& reduction) {
  if (!weight.defined()) return ReduceLoss(who, errors, reduction);
  if (weight.shape() != errors.shape()) {
    throw ValueError(who).Got("weight of shape ", weight.shape()).Expected("shape ", errors.shape());
  }
  const Tensor weighted = errors * weight;
  return reduction == "mean" ? Op<"sum">(weighted) / Op<"sum">(weight) : ReduceLoss(who, weighted, reduction);
}

[[maybe_unused]] const auto& mse_loss =
    DefineOp("mse_loss(Tensor x, Tensor y, str reduction=\"mean\", Tensor? weight=None) -> Tensor")
        .Doc("The squared difference.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          return {ReduceWeighted(c.name(), Op<"square">(c.x("x") - c.x("y")), c.x("weight"), c.String("reduction"))};
        });

[[maybe_unused]] const auto& l1_loss =
    DefineOp("l1_loss(Tensor x, Tensor y, str reduction=\"mean\", Tensor? weight=None) -> Tensor")
        .Doc("The absolute difference.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          return {ReduceWeighted(c.name(), Op<"abs">(c.x("x") - c.x("y")), c.x("weight"), c.String("reduction"))};
        });

/// Square near 0 and linear beyond `edge`: scale * (d^2 / 2) inside, scale * edge * (|d| - edge / 2) outside.
Tensor SquareThenLinear(const Tensor& d, double edge, double scale) {
  const Tensor size = Op<"abs">(d);
  return Op<"where">(Op<"lt">(size, Number(edge)), Op<"square">(d) * (0.5 * scale),
                     (size - 0.5 * edge) * (edge * scale));
}

[[maybe_unused]] const auto& smooth_l1_loss =
    DefineOp("smooth_l1_loss(Tensor x, Tensor y, str reduction=\"mean\", float beta=1.0) -> Tensor")
        .Doc("The square of the difference over 2 beta where it is below beta, else the difference minus beta / 2.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const double beta = c.Real("beta");
          if (!(beta >= 0)) throw ValueError(c.name()).Got("beta ", beta).Expected("at least 0");
          const Tensor d = c.x("x") - c.x("y");
          const Tensor errors = beta == 0 ? Op<"abs">(d) : SquareThenLinear(d, beta, 1 / beta);
          return {ReduceLoss(c.name(), errors, c.String("reduction"))};
        });

[[maybe_unused]] const auto& huber_loss =
    DefineOp("huber_loss(Tensor x, Tensor y, str reduction=\"mean\", float delta=1.0, Tensor? weight=None) -> Tensor")
        .Doc("Half the squared difference where it is below delta, else delta times (the difference - delta / 2).")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const double delta = c.Real("delta");
          if (!(delta > 0)) throw ValueError(c.name()).Got("delta ", delta).Expected("more than 0");
          const Tensor errors = SquareThenLinear(c.x("x") - c.x("y"), delta, 1.0);
          // Unlike the others, PyTorch's mean is over the elements.
          return {ReduceLoss(c.name(), c.has("weight") ? errors * c.x("weight") : errors, c.String("reduction"))};
        });

[[maybe_unused]] const auto& kl_div =
    DefineOp("kl_div(Tensor x, Tensor y, str reduction=\"mean\", bool log_target=False) -> Tensor")
        .Doc("y (log(y) - x) for logarithms x of probabilities; y itself may be given as logarithms.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y");
          const Tensor errors = c.Bool("log_target") ? Op<"exp">(y) * (y - x) : Op<"xlogy">(y, y) - y * x;
          if (c.String("reduction") != "batchmean") return {ReduceLoss(c.name(), errors, c.String("reduction"))};
          const double batch = x.ndim() ? static_cast<double>(x.size(0)) : 1.0;
          return {Op<"sum">(errors) / batch};
        });

[[maybe_unused]] const auto& poisson_nll_loss =
    DefineOp(
        "poisson_nll_loss(Tensor x, Tensor y, bool log_input=True, bool full=False, float eps=1e-8, str "
        "reduction=\"mean\") -> Tensor")
        .Doc("The negative log-likelihood of counts y under Poisson rates x (or exp(x) with log_input).")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y");
          Tensor errors = c.Bool("log_input") ? Op<"exp">(x) - y * x : x - y * Op<"log">(x + c.Real("eps"));
          if (c.Bool("full")) {  // Stirling's approximation of log(y!)
            const Tensor stirling = y * Op<"log">(y) - y + Op<"log">(y * (2 * M_PI)) * 0.5;
            errors = errors + Op<"where">(Op<"gt">(y, Number(1)), stirling, Number(0.0));
          }
          return {ReduceLoss(c.name(), errors, c.String("reduction"))};
        });

/// Variances as the input's shape wants them: equal, with a last axis of 1, or without the last axis.
Tensor VarianceLike(const CallReader& c, const Tensor& variance, const Dims& shape) {
  if (variance.shape() == shape || variance.numel() == 1) return variance;
  Dims without = shape;
  if (!without.empty()) without.pop_back();
  if (variance.shape() == without) return Op<"unsqueeze">(variance, -1);
  without.push_back(1);
  if (variance.shape() == without) return variance;
  throw ValueError(c.name()).Got("var of shape ", variance.shape()).Expected("shape ", shape, " or ", without);
}

[[maybe_unused]] const auto& gaussian_nll_loss =
    DefineOp(
        "gaussian_nll_loss(Tensor x, Tensor y, Tensor var, bool full=False, float eps=1e-6, str reduction=\"mean\") -> "
        "Tensor")
        .Doc("The negative log-likelihood of y under normal distributions with mean x and variance var.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y");
          const Tensor given = VarianceLike(c, c.x("var"), x.shape());
          if (!Holds(Op<"logical_not">(Op<"any">(Op<"lt">(given.Detach(), Number(0.0)))))) {
            throw ValueError(c.name()).Got("a negative variance").Expected("variances of at least 0");
          }
          // Raised to eps for the value only: the gradient passes as if nothing had been done. An infinite one stays.
          const Tensor raised = Op<"clamp">(c.Real("eps") - given.Detach(), Number(0.0));
          const Tensor variance = given + raised;
          Tensor errors = (Op<"log">(variance) + Op<"square">(x - y) / variance) * 0.5;
          if (c.Bool("full")) errors = errors + 0.5 * std::log(2 * M_PI);
          return {ReduceLoss(c.name(), errors, c.String("reduction"))};
        });

}  // namespace
}  // namespace dragon
