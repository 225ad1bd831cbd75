// Decompositions that are done on the host for want of a way on the device: general eigenvalues, least squares, LDL
// factors, the exponential. Their operands are brought over and their results back; calls wait for the device.
#include <algorithm>
#include <deque>
#include <utility>

#include "core/kernels/linalg.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Tensors of the device that are on the host for one call.
class HostCall {
 public:
  explicit HostCall(const Context& ctx) : ctx_(ctx) {}
  /// The view with its numbers on the host. All views of linear algebra are contiguous.
  View In(const View& x) {
    View here = Out(x);
    results_.pop_back();
    if (here && x.numel > 0) Owner().CopyToHost(ctx_.device.index, here.data, x.data, Bytes(x));
    return here;
  }
  /// Room for a result, which goes back when the call ends well.
  View Out(const View& x) {
    View here = x;
    if (x) {
      memory_.push_back(Scratch(Device{}, std::max<size_t>(Bytes(x), 1)));
      here.data = memory_.back().data();
    }
    results_.push_back({x, here});
    return here;
  }
  void End() {
    for (const auto& [there, here] : results_) {
      if (there && there.numel > 0) Owner().CopyFromHost(ctx_.device.index, there.data, here.data, Bytes(there));
    }
  }

 private:
  static size_t Bytes(const View& x) { return static_cast<size_t>(x.numel * ItemSize(x.dtype)); }
  Backend& Owner() const { return BackendOf(ctx_.device.type); }

  const Context& ctx_;
  std::deque<Scratch> memory_;
  std::deque<std::pair<View, View>> results_;
};

}  // namespace

template <typename T>
void LinalgEig(Context& ctx, View w, View v, View a, const char* who) {
  HostCall call(ctx);
  Context host;
  kernels::LinalgEig(host, kDTypeOf<T>, call.Out(w), call.Out(v), call.In(a), who);
  call.End();
}
DRAGON_KERNEL(LinalgEig, LinearTypes);

template <typename T>
void LinalgLstsq(Context& ctx, View x, View rank, View s, View a, View b, double rcond, LstsqDriver driver,
                 const char* who) {
  HostCall call(ctx);
  Context host;
  kernels::LinalgLstsq(host, kDTypeOf<T>, call.Out(x), call.Out(rank), call.Out(s), call.In(a), call.In(b), rcond,
                       driver, who);
  call.End();
}
DRAGON_KERNEL(LinalgLstsq, LinearTypes);

template <typename T>
void LinalgLdlFactor(Context& ctx, View ld, View pivots, View info, View a, bool hermitian, const char* who) {
  HostCall call(ctx);
  Context host;
  kernels::LinalgLdlFactor(host, kDTypeOf<T>, call.Out(ld), call.Out(pivots), call.Out(info), call.In(a), hermitian,
                           who);
  call.End();
}
DRAGON_KERNEL(LinalgLdlFactor, LinearTypes);

template <typename T>
void LinalgLdlSolve(Context& ctx, View x, View ld, View pivots, View b, bool hermitian, const char* who) {
  HostCall call(ctx);
  Context host;
  kernels::LinalgLdlSolve(host, kDTypeOf<T>, call.Out(x), call.In(ld), call.In(pivots), call.In(b), hermitian, who);
  call.End();
}
DRAGON_KERNEL(LinalgLdlSolve, LinearTypes);

template <typename T>
void MatrixExp(Context& ctx, View y, View a) {
  HostCall call(ctx);
  Context host;
  kernels::MatrixExp(host, kDTypeOf<T>, call.Out(y), call.In(a));
  call.End();
}
DRAGON_KERNEL(MatrixExp, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
