// QR factors by Householder reflections on CUDA, and products with the reflections.
#include "core/kernels/linalg/batch_cuda.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
void LinalgQr(Context& ctx, View q, View r, View a) {
  const Batch from(a);
  const int64_t m = from.rows, n = from.columns, k = std::min(m, n), wide = q ? q.dim(-1) : 0;
  const int64_t stride = m * std::max(n, wide);
  if (k == 0) {  // nothing to reflect: a complete Q is the identity
    if (q && q.numel > 0) FillIdentity(ctx, q.dtype, q.data, m, from.count);
    return;
  }
  const Scratch columns = Bytes(ctx, a.dtype, stride * from.count), tau = Bytes(ctx, a.dtype, k * from.count);
  ToColumns(ctx, columns.data(), a, stride);
  solver::Geqrf(ctx, a.dtype, m, n, columns.data(), stride, tau.data(), from.count);
  ToRows(ctx, r, columns.data(), m, stride);
  if (r.numel > 0) kernels::KeepTriangle(ctx, r.dtype, r, 0, /*upper=*/true);
  if (wide == 0) return;
  solver::Orgqr(ctx, a.dtype, m, wide, k, columns.data(), stride, tau.data(), from.count);
  ToRows(ctx, q, columns.data(), m, stride);
}
DRAGON_KERNEL(LinalgQr, LinearTypes);

template <typename T>
void Geqrf(Context& ctx, View y, View tau, View a) {
  const Batch from(a);
  if (a.numel == 0) return;
  const Scratch columns = Bytes(ctx, a.dtype, a.numel);
  ToColumns(ctx, columns.data(), a);
  solver::Geqrf(ctx, a.dtype, from.rows, from.columns, columns.data(), from.size(), tau.data, from.count);
  ToRows(ctx, y, columns.data(), from.rows, from.size());
}
DRAGON_KERNEL(Geqrf, LinearTypes);

template <typename T>
void LinalgHouseholderProduct(Context& ctx, View q, View a, View tau) {
  const Batch from(a);
  const int64_t k = tau.dim(-1);
  if (a.numel == 0) return;
  const Scratch columns = Bytes(ctx, a.dtype, a.numel);
  if (k == 0) {  // the first columns of the identity
    const Scratch identity = Bytes(ctx, a.dtype, from.count * from.rows * from.rows);
    FillIdentity(ctx, a.dtype, identity.data(), from.rows, from.count);
    return ToRows(ctx, q, identity.data(), from.rows, from.rows * from.rows);
  }
  ToColumns(ctx, columns.data(), a);
  solver::Orgqr(ctx, a.dtype, from.rows, from.columns, k, columns.data(), from.size(), tau.data, from.count);
  ToRows(ctx, q, columns.data(), from.rows, from.size());
}
DRAGON_KERNEL(LinalgHouseholderProduct, LinearTypes);

template <typename T>
void Ormqr(Context& ctx, View y, View a, View tau, View c, bool left, bool transpose) {
  const Batch from(c), reflectors(a);
  const int64_t k = tau.dim(-1);
  if (c.numel == 0) return;
  if (k == 0) return CopyFlat(ctx, y.data, c.data, c.dtype, c.numel);
  const Scratch vectors = Bytes(ctx, a.dtype, a.numel), columns = Bytes(ctx, c.dtype, c.numel);
  ToColumns(ctx, vectors.data(), a);
  ToColumns(ctx, columns.data(), c);
  solver::Ormqr(ctx, c.dtype, left, transpose, from.rows, from.columns, k, vectors.data(), tau.data, columns.data(),
                from.count);
  ToRows(ctx, y, columns.data(), from.rows, from.size());
}
DRAGON_KERNEL(Ormqr, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
