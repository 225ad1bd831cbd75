// Variance, standard deviation and mean in one go.
#include "core/kernels/reduction.h"
#include "core/kernels/reduction/moments.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
void Var(Context& ctx, View y, View mean, View x, double correction, bool root) {
  VarOf<Loaded<T>> reducer{};
  reducer.correction = correction;
  reducer.root = root;
  Reduce(ctx, y, mean, x, reducer);
}
DRAGON_KERNEL(Var, Floating);

}  // namespace dragon::DRAGON_DEVICE
