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
void NeedState(const CallReader& c, bool needed, int list) {
  if (!needed || c.list(list).size() == c.list(0).size()) return;
  throw ValueError(c.name())
      .Got("no ", c.op().schema.tensor(list).name)
      .Expected("one per parameter with these options");
}

void DefineDescent() {
  const UpdateLists sgd_lists{.states = 1, .optional = 1};
  Step("sgd",
       "Tensor![] momentum_buffers, *, float lr, float momentum=0.0, float dampening=0.0, float weight_decay=0.0, "
       "bool nesterov=False, bool maximize=False, bool first=False",
       sgd_lists, "Gradient descent with momentum. At the `first` step the buffers become the gradients.")
      .Runs([sgd_lists](Run& r) {
        const kernels::SgdOptions options{r.Real(0), r.Real(1), r.Real(2), r.Real(3), r.Bool(4), r.Bool(5), r.Bool(6)};
        NeedState(r, options.momentum != 0, 2);
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
        const double lr = r.Real(0), lambd = r.Real(1), alpha = r.Real(2), t0 = r.Real(3);
        Update update(r, asgd_lists);
        update.EachDType([&](kernels::UpdateSet& set, DType dtype, const std::vector<int64_t>& places) {
          std::vector<double> rates, averaging;
          for (int64_t place : places) {
            rates.push_back(ReadNumber(r.list(3)[place]));
            averaging.push_back(ReadNumber(r.list(4)[place]));
          }
          kernels::Asgd(r.ctx(), dtype, set, {lambd, r.Real(4), r.Bool(5), rates.data(), averaging.data()});
        });
        for (int64_t i = 0; i < update.count(); ++i) {
          WriteNumber(r.list(3)[i], lr / std::pow(1 + lambd * lr * update.step(i), alpha));
          WriteNumber(r.list(4)[i], 1 / std::max(1.0, update.step(i) - t0));
        }
      });
  const UpdateLists rprop_lists{.states = 2};
  Step("rprop",
       "Tensor![] previous, Tensor![] step_sizes, *, float etaminus=0.5, float etaplus=1.2, float smallest=1e-06, "
       "float largest=50.0, bool maximize=False",
       rprop_lists, "Resilient propagation: step sizes grow while the gradient's sign stays, and shrink when it turns.")
      .Runs([rprop_lists](Run& r) {
        const kernels::RpropOptions options{r.Real(0), r.Real(1), r.Real(2), r.Real(3), r.Bool(4)};
        Update update(r, rprop_lists);
        update.EachDType(
            [&](kernels::UpdateSet& set, DType dtype, auto&) { kernels::Rprop(r.ctx(), dtype, set, options); });
      });
}

/// Adam and those that share its arguments: two moments, a third if amsgrad, and steps.
void DefineAdams() {
  const UpdateLists adam_lists{.states = 3, .steps = true, .optional = 4};
  Step("adam",
       "Tensor![] exp_avgs, Tensor![] exp_avg_sqs, Tensor![] max_exp_avg_sqs, Tensor![] steps, *, float lr=0.001, "
       "float beta1=0.9, float beta2=0.999, float eps=1e-08, float weight_decay=0.0, bool decoupled=False, "
       "bool amsgrad=False, bool maximize=False",
       adam_lists, "Adam; with `decoupled` weight decay, AdamW.")
      .Runs([adam_lists](Run& r) {
        const kernels::AdamOptions options{r.Real(0), r.Real(1), r.Real(2), r.Real(3),
                                           r.Real(4), r.Bool(5), r.Bool(6), r.Bool(7)};
        NeedState(r, options.amsgrad, 4);
        Update update(r, adam_lists);
        update.EachDType(
            [&](kernels::UpdateSet& set, DType dtype, auto&) { kernels::Adam(r.ctx(), dtype, set, options); });
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
        const size_t count = r.call().inputs.size();  // the two single tensors stand behind the lists
        kernels::AdamOptions options{
            ReadNumber(r.call().inputs[count - 2]), r.Real(0), r.Real(1), r.Real(2), 0, false, r.Bool(3), false};
        options.kept = ReadNumber(r.call().inputs[count - 1]);
        NeedState(r, options.amsgrad, 4);
        Update update(r, scaled_lists);
        update.EachDType([&](kernels::UpdateSet& set, DType dtype, auto&) {
          // After infinitely many steps there is nothing left to correct.
          const std::vector<double> steps(set.count, std::numeric_limits<double>::infinity());
          set.steps = steps.data();
          kernels::Adam(r.ctx(), dtype, set, options);
        });
      });
  const UpdateLists lists{.states = 2, .steps = true};
  const std::string states = "Tensor![] exp_avgs, Tensor![] exp_avg_sqs, Tensor![] steps, *, ";
  Step("radam",
       states +
           "float lr=0.001, float beta1=0.9, float beta2=0.999, float eps=1e-08, float weight_decay=0.0, "
           "bool decoupled=False, bool maximize=False",
       lists, "Adam whose adaptive rate is rectified, or left out while its variance is unknown.")
      .Runs([lists](Run& r) {
        const kernels::AdamOptions options{r.Real(0), r.Real(1), r.Real(2), r.Real(3),
                                           r.Real(4), r.Bool(5), false,     r.Bool(6)};
        Update update(r, lists);
        update.EachDType(
            [&](kernels::UpdateSet& set, DType dtype, auto&) { kernels::RAdam(r.ctx(), dtype, set, options); });
      });
  Step(
      "adamax",
      "Tensor![] exp_avgs, Tensor![] exp_infs, Tensor![] steps, *, float lr=0.002, float beta1=0.9, float beta2=0.999, "
      "float eps=1e-08, float weight_decay=0.0, bool maximize=False",
      lists, "Adam with the largest gradient in place of the mean square.")
      .Runs([lists](Run& r) {
        const kernels::AdamOptions options{r.Real(0), r.Real(1), r.Real(2), r.Real(3),
                                           r.Real(4), false,     false,     r.Bool(5)};
        Update update(r, lists);
        update.EachDType(
            [&](kernels::UpdateSet& set, DType dtype, auto&) { kernels::Adamax(r.ctx(), dtype, set, options); });
      });
  Step("lamb",
       states +
           "float lr=0.001, float beta1=0.9, float beta2=0.999, float eps=1e-06, float weight_decay=0.0, "
           "bool maximize=False",
       lists, "Adam whose step on every tensor is scaled by the tensor's norm.")
      .Runs([lists](Run& r) {
        const kernels::AdamOptions options{r.Real(0), r.Real(1), r.Real(2), r.Real(3),
                                           r.Real(4), true,      false,     r.Bool(5)};
        Update update(r, lists);
        update.EachDType(
            [&](kernels::UpdateSet& set, DType dtype, auto&) { kernels::Lamb(r.ctx(), dtype, set, options); });
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
        const double beta1 = r.Real(1), momentum_decay = r.Real(5);
        for (int64_t i = 0; i < update.count(); ++i) {
          const Tensor& product = r.list(4)[i];
          const double momentum = beta1 * (1 - 0.5 * std::pow(0.96, update.step(i) * momentum_decay));
          WriteNumber(product, ReadNumber(product) * momentum);
        }
        update.EachDType([&](kernels::UpdateSet& set, DType dtype, const std::vector<int64_t>& places) {
          std::vector<double> products;
          for (int64_t place : places) products.push_back(ReadNumber(r.list(4)[place]));
          kernels::NAdam(r.ctx(), dtype, set,
                         {r.Real(0), beta1, r.Real(2), r.Real(3), r.Real(4), momentum_decay, r.Bool(6), r.Bool(7),
                          products.data()});
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
        const kernels::RmspropOptions options{r.Real(0), r.Real(1), r.Real(2), r.Real(3),
                                              r.Real(4), r.Bool(5), r.Bool(6)};
        NeedState(r, options.momentum > 0, 3);
        NeedState(r, options.centered, 4);
        Update update(r, rms_lists);
        update.EachDType(
            [&](kernels::UpdateSet& set, DType dtype, auto&) { kernels::Rmsprop(r.ctx(), dtype, set, options); });
      });
  const UpdateLists grad_lists{.states = 1, .steps = true};
  Step("adagrad",
       "Tensor![] state_sums, Tensor![] steps, *, float lr=0.01, float lr_decay=0.0, float weight_decay=0.0, "
       "float eps=1e-10, bool maximize=False",
       grad_lists, "Gradient descent scaled by the root of all squared gradients so far.")
      .Runs([grad_lists](Run& r) {
        const kernels::AdagradOptions options{r.Real(0), r.Real(1), r.Real(2), r.Real(3), r.Bool(4)};
        Update update(r, grad_lists);
        update.EachDType(
            [&](kernels::UpdateSet& set, DType dtype, auto&) { kernels::Adagrad(r.ctx(), dtype, set, options); });
      });
  const UpdateLists delta_lists{.states = 2};
  Step("adadelta",
       "Tensor![] square_avgs, Tensor![] acc_deltas, *, float lr=1.0, float rho=0.9, float eps=1e-06, "
       "float weight_decay=0.0, bool maximize=False",
       delta_lists, "Gradient descent in units of earlier updates.")
      .Runs([delta_lists](Run& r) {
        const kernels::AdadeltaOptions options{r.Real(0), r.Real(1), r.Real(2), r.Real(3), r.Bool(4)};
        Update update(r, delta_lists);
        update.EachDType(
            [&](kernels::UpdateSet& set, DType dtype, auto&) { kernels::Adadelta(r.ctx(), dtype, set, options); });
      });
}

[[maybe_unused]] const bool defined = (DefineDescent(), DefineAdams(), DefineNAdam(), DefineAdaptive(), true);

}  // namespace
}  // namespace dragon
