// Scatter and advanced writing: what is only moved goes by element size, what is combined goes by dtype.
#include "core/kernels/index.h"
#include "core/kernels/index/offsets.h"
#include "core/kernels/index/write.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Combine;
using kernels::Walk;
using kernels::Word;

namespace {

template <typename T, typename Join>
void IndexWriteWith(Context& ctx, View y, View value, const View* indices, int at, kernels::Indexing how) {
  const kernels::ResolvedIndex plan(ctx, y, indices, at, how);
  const std::array<const int64_t*, 3> strides = {plan.kept_strides.data(), plan.index_strides.data(), value.strides};
  const int last = at + plan.index_ndim;
  const Walk<3> before(value.shape, 0, at, strides), along(value.shape, at, last, strides);
  const Walk<3> after(value.shape, last, value.ndim, strides);
  kernels::Writer<T, Join, kernels::ReadyOffset>(y.as<T>(), plan.offsets.as<int64_t>(), value.as<T>(), before, along,
                                                 after, {})
      .Run();
}

}  // namespace

template <typename T>
void Scatter(Context& ctx, View y, View index, View src, int axis, Combine combine, kernels::Indexing how) {
  using W = Word<T>;
  if (combine == Combine::kAssign) return kernels::ScatterWith<W, kernels::Assign<W>>(y, index, src, axis, how);
  if (combine == Combine::kAdd) return kernels::ScatterWith<T, kernels::Add<T>>(y, index, src, axis, how);
  if (combine == Combine::kMultiply) return kernels::ScatterWith<T, kernels::Multiply<T>>(y, index, src, axis, how);
  if constexpr (!kIsComplex<T>) {
    if (combine == Combine::kMax) return kernels::ScatterWith<T, kernels::Max<T>>(y, index, src, axis, how);
    return kernels::ScatterWith<T, kernels::Min<T>>(y, index, src, axis, how);
  }
  throw TypeError(how.op).Got(y.dtype).Expected("a real dtype for amax and amin");
}
DRAGON_KERNEL(Scatter, AllTypes);

template <typename T>
void IndexWrite(Context& ctx, View y, View value, const View* indices, int at, Combine combine, kernels::Indexing how) {
  using W = Word<T>;
  if (value.numel == 0) return kernels::CheckIndices(y, indices, how);
  if (combine == Combine::kAdd) return IndexWriteWith<T, kernels::Add<T>>(ctx, y, value, indices, at, how);
  IndexWriteWith<W, kernels::Assign<W>>(ctx, y, value, indices, at, how);
}
DRAGON_KERNEL(IndexWrite, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
