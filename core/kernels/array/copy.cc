// Copying between any strides and dtypes.
#include "core/kernels/array.h"
#include "core/kernels/each.h"

namespace dragon::DRAGON_DEVICE {

struct Identity {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    return x;
  }
};

template <typename T>
void Copy(Context& ctx, View y, View x) {
  Each<T(T)>(ctx, Identity{}, y, x);
}
DRAGON_KERNEL(Copy, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
