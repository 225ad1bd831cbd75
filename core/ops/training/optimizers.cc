// One step of every optimizer, over all parameters at once. Steps are counted in 0-d tensors, as checkpoints hold them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/training/update.h"

namespace dragon {
namespace {

const std::string kBegin = "(Tensor![] params, Tensor[] grads, ";

Operator& Step(const std::string& name, const std::string& rest, const UpdateLists& lists, const char* doc) {
  return DefineOp(name + "_step" + kBegin + rest + ") -> ()")
      .Doc(doc)
      .Infers([lists](Infer& i) { CheckUpdate(i, lists); })
      .NotDifferentiable();
}
void NeedState(const CallReader& c, bool needed, ArgumentName list) {
  if (!needed || c.list(list).size() == c.list("params").size()) return;
  throw ValueError(c.name()).Got("no ", list.text).Expected("one per parameter with these options");
}

/// One update of all parameters by a kernel that needs nothing but its options.
template <typename Options>
void RunStep(Run& r, const UpdateLists& lists, const Kernel<void(const kernels::UpdateSet& set, Options options)>& step,
             const std::type_identity_t<Options>& options) {
  Update update(r, lists);
  update.EachDType([&](kernels::UpdateSet& set, DType dtype, auto&) { step(r.ctx(), dtype, set, options); });
}

void DefineDescent() {
  const UpdateLists sgd_lists{.states = 1, .optional = 1};
  Step("sgd",
       "Tensor![] momentum_buffers, *, float lr, float momentum=0.0, float dampening=0.0, float weight_decay=0.0, "
       "bool nesterov=False, bool maximize=False, bool first=False",
       sgd_lists, "Gradient descent with momentum. At the `first` step the buffers become the gradients.")
      .Runs([sgd_lists](Run& r) {
        const kernels::SgdOptions options{r.Real("lr"),           r.Real("momentum"), r.Real("dampening"),
                                          r.Real("weight_decay"), r.Bool("nesterov"), r.Bool("maximize"),
                                          r.Bool("first")};
        NeedState(r, options.momentum != 0, "momentum_buffers");
        if (options.nesterov && (options.momentum <= 0 || options.dampening != 0)) {
          throw ValueError(r.name()).Got("nesterov").Expected("a momentum, and no dampening, with it");
        }
        Update update(r, sgd_lists);
        update.EachDType([&](kernels::UpdateSet& set, DType dtype, auto&) {
          if (options.momentum == 0) set.slots[0] = nullptr;
          kernels::Sgd(r.ctx(), dtype, set, options);
        });
      });
  const UpdateLists asgd_lists{.states = 1, .numbers = 2, .steps = true};
  Step("asgd",
       "Tensor![] averages, Tensor![] etas, Tensor![] mus, Tensor![] steps, *, float lr=0.01, float lambd=0.0001, "
       "float alpha=0.75, float t0=1000000.0, float weight_decay=0.0, bool maximize=False",
       asgd_lists, "Averaged gradient descent: etas and mus are the rates and averaging weights of this step.")
      .Runs([asgd_lists](Run& r) {
        const double lr = r.Real("lr"), lambd = r.Real("lambd"), alpha = r.Real("alpha"), t0 = r.Real("t0");
        Update update(r, asgd_lists);
        update.EachDType([&](kernels::UpdateSet& set, DType dtype, const std::vector<int64_t>& places) {
          std::vector<double> rates, averaging;
          for (int64_t place : places) {
            rates.push_back(ReadNumber(r.list("etas")[place]));
            averaging.push_back(ReadNumber(r.list("mus")[place]));
          }
          kernels::Asgd(r.ctx(), dtype, set,
                        {lambd, r.Real("weight_decay"), r.Bool("maximize"), rates.data(), averaging.data()});
        });
        for (int64_t i = 0; i < update.count(); ++i) {
          WriteNumber(r.list("etas")[i], lr / std::pow(1 + lambd * lr * update.step(i), alpha));
          WriteNumber(r.list("mus")[i], 1 / std::max(1.0, update.step(i) - t0));
        }
      });
  const UpdateLists rprop_lists{.states = 2};
  Step("rprop",
       "Tensor![] previous, Tensor![] step_sizes, *, float etaminus=0.5, float etaplus=1.2, float smallest=1e-06, "
       "float largest=50.0, bool maximize=False",
       rprop_lists, "Resilient propagation: step sizes grow while the gradient's sign stays, and shrink when it turns.")
      .Runs([rprop_lists](Run& r) {
        const kernels::RpropOptions options{r.Real("etaminus"), r.Real("etaplus"), r.Real("smallest"),
                                            r.Real("largest"), r.Bool("maximize")};
        RunStep(r, rprop_lists, kernels::Rprop, options);
      });
}

/// The arguments that Adam and its kin share.
kernels::AdamOptions AdamOptionsOf(const CallReader& c) {
  return {.rate = c.Real("lr"),
          .beta1 = c.Real("beta1"),
          .beta2 = c.Real("beta2"),
          .eps = c.Real("eps"),
          .weight_decay = c.Real("weight_decay"),
          .maximize = c.Bool("maximize")};
}

/// Two moments, a third if amsgrad, and steps.
void DefineAdam() {
  const UpdateLists lists{.states = 3, .steps = true, .optional = 4};
  Step("adam",
       "Tensor![] exp_avgs, Tensor![] exp_avg_sqs, Tensor![] max_exp_avg_sqs, Tensor![] steps, *, float lr=0.001, "
       "float beta1=0.9, float beta2=0.999, float eps=1e-08, float weight_decay=0.0, bool decoupled=False, "
       "bool amsgrad=False, bool maximize=False",
       lists, "Adam; with `decoupled` weight decay, AdamW.")
      .Runs([lists](Run& r) {
        kernels::AdamOptions options = AdamOptionsOf(r);
        options.decoupled = r.Bool("decoupled"), options.amsgrad = r.Bool("amsgrad");
        NeedState(r, options.amsgrad, "max_exp_avg_sqs");
        RunStep(r, lists, kernels::Adam, options);
      });
  // For optimizers whose schedules are tensors themselves, so that a step can be a graph.
  const UpdateLists scaled_lists{.states = 3, .optional = 4};
  Step("adam_scaled",
       "Tensor![] exp_avgs, Tensor![] exp_avg_sqs, Tensor![] max_exp_avg_sqs, Tensor rate, Tensor kept, *, "
       "float beta1=0.9, float beta2=0.999, float eps=1e-08, bool amsgrad=False",
       scaled_lists,
       "Adam without counting steps: parameters become kept * p - rate * m / (sqrt(v) + eps), with 0-d tensors for the "
       "rate, corrected for the means' start at zero, and for what decay leaves.")
      .Runs([scaled_lists](Run& r) {
        const kernels::AdamOptions options{.rate = ReadNumber(r.x("rate")),
                                           .beta1 = r.Real("beta1"),
                                           .beta2 = r.Real("beta2"),
                                           .eps = r.Real("eps"),
                                           .amsgrad = r.Bool("amsgrad"),
                                           .kept = ReadNumber(r.x("kept"))};
        NeedState(r, options.amsgrad, "max_exp_avg_sqs");
        Update update(r, scaled_lists);
        update.EachDType([&](kernels::UpdateSet& set, DType dtype, auto&) {
          // After infinitely many steps there is nothing left to correct.
          const std::vector<double> steps(set.count, std::numeric_limits<double>::infinity());
          set.steps = steps.data();
          kernels::Adam(r.ctx(), dtype, set, options);
        });
      });
}

/// Adam's kin: two moments and steps.
void DefineAdamKin() {
  const UpdateLists lists{.states = 2, .steps = true};
  const std::string states = "Tensor![] exp_avgs, Tensor![] exp_avg_sqs, Tensor![] steps, *, ";
  Step("radam",
       states +
           "float lr=0.001, float beta1=0.9, float beta2=0.999, float eps=1e-08, float weight_decay=0.0, "
           "bool decoupled=False, bool maximize=False",
       lists, "Adam whose adaptive rate is rectified, or left out while its variance is unknown.")
      .Runs([lists](Run& r) {
        kernels::AdamOptions options = AdamOptionsOf(r);
        options.decoupled = r.Bool("decoupled");
        RunStep(r, lists, kernels::RAdam, options);
      });
  Step(
      "adamax",
      "Tensor![] exp_avgs, Tensor![] exp_infs, Tensor![] steps, *, float lr=0.002, float beta1=0.9, float beta2=0.999, "
      "float eps=1e-08, float weight_decay=0.0, bool maximize=False",
      lists, "Adam with the largest gradient in place of the mean square.")
      .Runs([lists](Run& r) { RunStep(r, lists, kernels::Adamax, AdamOptionsOf(r)); });
  Step("lamb",
       states +
           "float lr=0.001, float beta1=0.9, float beta2=0.999, float eps=1e-06, float weight_decay=0.0, "
           "bool maximize=False",
       lists, "Adam whose step on every tensor is scaled by the tensor's norm.")
      .Runs([lists](Run& r) {
        kernels::AdamOptions options = AdamOptionsOf(r);
        options.decoupled = true;
        RunStep(r, lists, kernels::Lamb, options);
      });
}

void DefineNAdam() {
  const UpdateLists lists{.states = 2, .numbers = 1, .steps = true};
  Step("nadam",
       "Tensor![] exp_avgs, Tensor![] exp_avg_sqs, Tensor![] mu_products, Tensor![] steps, *, float lr=0.002, "
       "float beta1=0.9, float beta2=0.999, float eps=1e-08, float weight_decay=0.0, float momentum_decay=0.004, "
       "bool decoupled=False, bool maximize=False",
       lists, "Adam with Nesterov momentum; mu_products are the products of all momenta so far.")
      .Runs([lists](Run& r) {
        Update update(r, lists);
        const double beta1 = r.Real("beta1"), momentum_decay = r.Real("momentum_decay");
        for (int64_t i = 0; i < update.count(); ++i) {
          const Tensor& product = r.list("mu_products")[i];
          const double momentum = beta1 * (1 - 0.5 * std::pow(0.96, update.step(i) * momentum_decay));
          WriteNumber(product, ReadNumber(product) * momentum);
        }
        update.EachDType([&](kernels::UpdateSet& set, DType dtype, const std::vector<int64_t>& places) {
          std::vector<double> products;
          for (int64_t place : places) products.push_back(ReadNumber(r.list("mu_products")[place]));
          kernels::NAdam(r.ctx(), dtype, set,
                         {r.Real("lr"), beta1, r.Real("beta2"), r.Real("eps"), r.Real("weight_decay"), momentum_decay,
                          r.Bool("decoupled"), r.Bool("maximize"), products.data()});
        });
      });
}

void DefineAdaptive() {
  const UpdateLists rms_lists{.states = 3, .optional = 6};
  Step("rmsprop",
       "Tensor![] square_avgs, Tensor![] momentum_buffers, Tensor![] grad_avgs, *, float lr=0.01, float alpha=0.99, "
       "float eps=1e-08, float weight_decay=0.0, float momentum=0.0, bool centered=False, bool maximize=False",
       rms_lists, "Gradient descent scaled by the running root mean square of the gradient.")
      .Runs([rms_lists](Run& r) {
        const kernels::RmspropOptions options{r.Real("lr"),           r.Real("alpha"),    r.Real("eps"),
                                              r.Real("weight_decay"), r.Real("momentum"), r.Bool("centered"),
                                              r.Bool("maximize")};
        NeedState(r, options.momentum > 0, "momentum_buffers");
        NeedState(r, options.centered, "grad_avgs");
        RunStep(r, rms_lists, kernels::Rmsprop, options);
      });
  const UpdateLists grad_lists{.states = 1, .steps = true};
  Step("adagrad",
       "Tensor![] state_sums, Tensor![] steps, *, float lr=0.01, float lr_decay=0.0, float weight_decay=0.0, "
       "float eps=1e-10, bool maximize=False",
       grad_lists, "Gradient descent scaled by the root of all squared gradients so far.")
      .Runs([grad_lists](Run& r) {
        const kernels::AdagradOptions options{r.Real("lr"), r.Real("lr_decay"), r.Real("weight_decay"), r.Real("eps"),
                                              r.Bool("maximize")};
        RunStep(r, grad_lists, kernels::Adagrad, options);
      });
  const UpdateLists delta_lists{.states = 2};
  Step("adadelta",
       "Tensor![] square_avgs, Tensor![] acc_deltas, *, float lr=1.0, float rho=0.9, float eps=1e-06, "
       "float weight_decay=0.0, bool maximize=False",
       delta_lists, "Gradient descent in units of earlier updates.")
      .Runs([delta_lists](Run& r) {
        const kernels::AdadeltaOptions options{r.Real("lr"), r.Real("rho"), r.Real("eps"), r.Real("weight_decay"),
                                               r.Bool("maximize")};
        RunStep(r, delta_lists, kernels::Adadelta, options);
      });
}

[[maybe_unused]] const bool optimizers_defined =
    (DefineDescent(), DefineAdam(), DefineAdamKin(), DefineNAdam(), DefineAdaptive(), true);

}  // namespace
}  // namespace dragon
