// Singular values and eigenvalues on CUDA. Both wait for the device at their end: a matrix for which the iteration does
// not converge is an error of the call.
#include "core/kernels/linalg/batch_cuda.h"
#include "core/kernels/math.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr const char* kDiverged = "is too ill-conditioned: the iteration did not converge";

/// Refuse matrices with elements that are not finite before an iteration meets them.
void CheckFinite(Context& ctx, const char* who, const View& a, const Batch& batch) {
  const Scratch info = Bytes(ctx, DType::kInt32, batch.count);
  MarkNotFinite(ctx, a.dtype, a.data, batch.size(), batch.count, info.as<int32_t>());
  CheckInfo(ctx, who, a, info.data(), batch.count, kDiverged);
}

/// Of a wide A, read by columns: A^T = (Vh^T) S (U^T), whose left vectors, read by rows, are our Vh, and the right ones
/// our U. Of a tall one, which the library takes as it is, all is laid down by columns and back.
void Decompose(Context& ctx, const View& u, const View& s, const View& vh, const View& a, char job, int32_t* info) {
  const Batch from(a);
  const bool tall = from.rows > from.columns;
  const int64_t larger = std::max(from.rows, from.columns), k = std::min(from.rows, from.columns);
  const int64_t wide = job == 'A' ? larger : k;  // columns of the library's U
  const Scratch matrix = Bytes(ctx, a.dtype, a.numel);
  if (!tall) {
    CopyFlat(ctx, matrix.data(), a.data, a.dtype, a.numel);
    return solver::Gesvd(ctx, a.dtype, job, larger, k, matrix.data(), s.data, vh ? vh.data : nullptr,
                         u ? u.data : nullptr, from.count, info);
  }
  const bool vectors = job != 'N';
  const Scratch left = Bytes(ctx, a.dtype, vectors ? from.count * larger * wide : 1);
  const Scratch right = Bytes(ctx, a.dtype, vectors ? from.count * k * k : 1);
  ToColumns(ctx, matrix.data(), a);
  solver::Gesvd(ctx, a.dtype, job, larger, k, matrix.data(), s.data, left.data(), right.data(), from.count, info);
  if (!vectors) return;
  ToRows(ctx, u, left.data(), larger, larger * wide);
  ToRows(ctx, vh, right.data(), k, k * k);
}

}  // namespace

template <typename T>
void LinalgSvd(Context& ctx, View u, View s, View vh, View a, const char* who) {
  const Batch from(a);
  const int64_t k = std::min(from.rows, from.columns);
  const bool full = u && (u.dim(-1) > k || vh.dim(-2) > k);
  if (k == 0) {  // nothing to decompose, but full bases are identities
    if (full) FillIdentity(ctx, u.dtype, u.data, u.dim(-1), from.count);
    if (full) FillIdentity(ctx, vh.dtype, vh.data, vh.dim(-2), from.count);
    return;
  }
  if (from.count == 0) return;
  CheckFinite(ctx, who, a, from);
  const Scratch info = Bytes(ctx, DType::kInt32, from.count);
  Decompose(ctx, u, s, vh, a, !u ? 'N' : full ? 'A' : 'S', info.as<int32_t>());
  CheckInfo(ctx, who, a, info.data(), from.count, kDiverged);
}
DRAGON_KERNEL(LinalgSvd, LinearTypes);

template <typename T>
void LinalgEigh(Context& ctx, View w, View v, View a, bool upper, const char* who) {
  const Batch from(a);
  if (a.numel == 0) return;
  CheckFinite(ctx, who, a, from);
  // Read by columns A is conj(A): the same eigenvalues, the conjugate vectors, the other triangle.
  const Scratch info = Bytes(ctx, DType::kInt32, from.count), matrix = Bytes(ctx, a.dtype, a.numel);
  CopyFlat(ctx, matrix.data(), a.data, a.dtype, a.numel);
  solver::Syevd(ctx, a.dtype, static_cast<bool>(v), !upper, from.rows, matrix.data(), w.data, from.count,
                info.as<int32_t>());
  if (v) {
    ToRows(ctx, v, matrix.data(), from.rows, from.size());
    static const kernels::Unary conj{"conj_physical"};
    if constexpr (kIsComplex<T>) conj(ctx, v.dtype, v, v);
  }
  CheckInfo(ctx, who, a, info.data(), from.count, kDiverged);
}
DRAGON_KERNEL(LinalgEigh, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
