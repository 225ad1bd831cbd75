// The family of Adam: running means of the gradient and of its square.
#include "core/kernels/training/steps.h"

#if defined(DRAGON_GPU)
#include "core/kernels/training/sweep_cuda.h"
#else
#include "core/kernels/training/sweep.h"
#endif

namespace dragon::DRAGON_DEVICE {

template <typename T>
void Adam(Context& ctx, const kernels::UpdateSet& set, kernels::AdamOptions o) {
  using W = Wide<T>;
  o.amsgrad ? Steps<T>(ctx, set, AdamStep<W, true>(o)) : Steps<T>(ctx, set, AdamStep<W, false>(o));
}
DRAGON_KERNEL(Adam, Floating);

template <typename T>
void NAdam(Context& ctx, const kernels::UpdateSet& set, kernels::NAdamOptions o) {
  using W = Wide<T>;
  Steps<T>(ctx, set, NAdamStep<W>(o));
}
DRAGON_KERNEL(NAdam, Floating);

template <typename T>
void RAdam(Context& ctx, const kernels::UpdateSet& set, kernels::AdamOptions o) {
  using W = Wide<T>;
  Steps<T>(ctx, set, RAdamStep<W>(o));
}
DRAGON_KERNEL(RAdam, Floating);

template <typename T>
void Adamax(Context& ctx, const kernels::UpdateSet& set, kernels::AdamOptions o) {
  using W = Wide<T>;
  Steps<T>(ctx, set, AdamaxStep<W>(o));
}
DRAGON_KERNEL(Adamax, Floating);

}  // namespace dragon::DRAGON_DEVICE
