// Updates scaled by the history of squared gradients: RMSprop, Adagrad, Adadelta.
#include "core/kernels/training/steps.h"

#if defined(DRAGON_GPU)
#include "core/kernels/training/sweep_cuda.h"
#else
#include "core/kernels/training/sweep.h"
#endif

namespace dragon::DRAGON_DEVICE {

template <typename T>
void Rmsprop(Context& ctx, const kernels::UpdateSet& set, kernels::RmspropOptions o) {
  using W = Wide<T>;
  if (o.momentum > 0) {
    o.centered ? Steps<T>(ctx, set, RmspropStep<W, true, true>(o)) : Steps<T>(ctx, set, RmspropStep<W, true, false>(o));
  } else {
    o.centered ? Steps<T>(ctx, set, RmspropStep<W, false, true>(o))
               : Steps<T>(ctx, set, RmspropStep<W, false, false>(o));
  }
}
DRAGON_KERNEL(Rmsprop, Floating);

template <typename T>
void Adagrad(Context& ctx, const kernels::UpdateSet& set, kernels::AdagradOptions o) {
  using W = Wide<T>;
  Steps<T>(ctx, set, AdagradStep<W>(o));
}
DRAGON_KERNEL(Adagrad, Floating);

template <typename T>
void Adadelta(Context& ctx, const kernels::UpdateSet& set, kernels::AdadeltaOptions o) {
  using W = Wide<T>;
  Steps<T>(ctx, set, AdadeltaStep<W>(o));
}
DRAGON_KERNEL(Adadelta, Floating);

}  // namespace dragon::DRAGON_DEVICE
