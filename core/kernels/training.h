// Optimizer updates: one call, and one parallel region, for all the tensors of a model. Formulas and their order are
// PyTorch's.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// Tensors that are updated together. Entry i of every array belongs to parameter i; the numbers of one parameter, its
/// gradient and its states lie in the same order without gaps, and all have one dtype. Slots an update does not use are
/// null.
struct UpdateSet {
  int64_t count = 0;
  const int64_t* sizes = nullptr;
  void* const* params = nullptr;
  void* const* grads = nullptr;
  void* const* slots[4] = {};
  const double* steps = nullptr;  ///< the number of this step, from 1
};

struct SgdOptions {
  double rate, momentum, dampening, weight_decay;
  bool nesterov, maximize, first;  ///< first: the momentum buffer starts as the gradient
};
/// Slots: momentum buffer (if momentum is not 0).
inline const Kernel<void(const UpdateSet& set, SgdOptions options)> Sgd{"sgd_step"};

struct AdamOptions {
  double rate, beta1, beta2, eps, weight_decay = 0;
  bool decoupled = false, amsgrad = false, maximize = false;  ///< decoupled: AdamW
  double kept = 1;  ///< what the parameter is multiplied by first, besides decoupled decay
};
/// Slots: first moment, second moment, largest second moment (if amsgrad).
inline const Kernel<void(const UpdateSet& set, AdamOptions options)> Adam{"adam_step"};

struct NAdamOptions {
  double rate, beta1, beta2, eps, weight_decay, momentum_decay;
  bool decoupled, maximize;
  const double* products;  ///< per parameter, the product of all momenta including this step's
};
/// Slots: first moment, second moment.
inline const Kernel<void(const UpdateSet& set, NAdamOptions options)> NAdam{"nadam_step"};
/// Slots: first moment, second moment. `amsgrad` is not used.
inline const Kernel<void(const UpdateSet& set, AdamOptions options)> RAdam{"radam_step"};
/// Slots: first moment, largest gradient. `decoupled` and `amsgrad` are not used.
inline const Kernel<void(const UpdateSet& set, AdamOptions options)> Adamax{"adamax_step"};
/// Slots: first moment, second moment. Every tensor's step is scaled by |parameter| / |update|.
inline const Kernel<void(const UpdateSet& set, AdamOptions options)> Lamb{"lamb_step"};

struct RmspropOptions {
  double rate, alpha, eps, weight_decay, momentum;
  bool centered, maximize;
};
/// Slots: mean square, momentum buffer (if momentum > 0), mean gradient (if centered).
inline const Kernel<void(const UpdateSet& set, RmspropOptions options)> Rmsprop{"rmsprop_step"};

struct AdagradOptions {
  double rate, rate_decay, weight_decay, eps;
  bool maximize;
};
/// Slots: sum of squares.
inline const Kernel<void(const UpdateSet& set, AdagradOptions options)> Adagrad{"adagrad_step"};

struct AdadeltaOptions {
  double rate, rho, eps, weight_decay;
  bool maximize;
};
/// Slots: mean square of gradients, mean square of updates.
inline const Kernel<void(const UpdateSet& set, AdadeltaOptions options)> Adadelta{"adadelta_step"};

struct RpropOptions {
  double shrink, grow, smallest, largest;
  bool maximize;
};
/// Slots: previous gradient, step size.
inline const Kernel<void(const UpdateSet& set, RpropOptions options)> Rprop{"rprop_step"};

struct AsgdOptions {
  double decay, weight_decay;
  bool maximize;
  const double *rates, *averaging;  ///< per parameter
};
/// Slots: running average.
inline const Kernel<void(const UpdateSet& set, AsgdOptions options)> Asgd{"asgd_step"};

/// norms[i] = the p-norm of params[i] (p = inf: the largest magnitude); `norms` is contiguous of the set's dtype.
inline const Kernel<void(View norms, const UpdateSet& set, double p)> NormEach{"foreach_norm"};
/// params[i] *= factor, as computed in the wide type.
inline const Kernel<void(const UpdateSet& set, double factor)> ScaleEach{"foreach_scale"};

}  // namespace dragon::kernels
