// Updates that follow the gradient itself: SGD with momentum, averaged SGD, and Rprop, which looks at signs only.
#include "core/kernels/training/steps.h"

#if defined(DRAGON_GPU)
#include "core/kernels/training/sweep_cuda.h"
#else
#include "core/kernels/training/sweep.h"
#endif

namespace dragon::DRAGON_DEVICE {

template <typename T>
void Sgd(Context& ctx, const kernels::UpdateSet& set, kernels::SgdOptions o) {
  using W = Wide<T>;
  set.slots[0] ? Steps<T>(ctx, set, MomentumStep<W>(o)) : Steps<T>(ctx, set, SgdStep<W>(o));
}
DRAGON_KERNEL(Sgd, Floating);

template <typename T>
void Asgd(Context& ctx, const kernels::UpdateSet& set, kernels::AsgdOptions o) {
  using W = Wide<T>;
  Steps<T>(ctx, set, AsgdStep<W>(o));
}
DRAGON_KERNEL(Asgd, Floating);

template <typename T>
void Rprop(Context& ctx, const kernels::UpdateSet& set, kernels::RpropOptions o) {
  using W = Wide<T>;
  Steps<T>(ctx, set, RpropStep<W>(o));
}
DRAGON_KERNEL(Rprop, Floating);

}  // namespace dragon::DRAGON_DEVICE
