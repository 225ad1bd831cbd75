// What the sources of pointwise kernels name of the engine, for a generated kernel, which uses their functors alone. It
// is read under the names of the engine's headers.
#ifndef DRAGON_STAND_IN_KERNEL
#define DRAGON_STAND_IN_KERNEL

#include "core/base/types.h"

#if defined(__CUDACC_RTC__)
#define throw  // there are no exceptions in device code: functors raise none, and what does is not called
#endif

namespace dragon {

struct Context {};

struct View {
  int64_t numel;
  DType dtype;
  template <typename T>
  T* as() const;
};

template <typename Signature>
struct Kernel {
  constexpr explicit Kernel(const char*) {}
};

/// An error that nothing here raises.
struct Unraised {
  explicit Unraised(const char*) {}
  template <typename... T>
  Unraised& Got(const T&...);
  template <typename... T>
  Unraised& Expected(const T&...);
};
using ValueError = Unraised;
using TypeError = Unraised;

namespace DRAGON_DEVICE {
template <typename Signature, typename F, typename... Views>
void Each(Context&, const F&, const View&, const Views&...);
}  // namespace DRAGON_DEVICE

}  // namespace dragon

#endif  // DRAGON_STAND_IN_KERNEL
