// What the device's linear algebra asks of a library: batches of dense matrices by columns, in device memory, one after
// the other. Nothing here waits for the device; `info` (int32, one per matrix) is what LAPACK says.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::DRAGON_DEVICE::solver {

/// A becomes its Cholesky factor, in the triangle that is read.
void Potrf(const Context& ctx, DType dtype, bool upper, int64_t n, void* a, int64_t count, int32_t* info);
/// A (m, n) becomes its LU factors; min(m, n) pivots for each, from 1 on.
void Getrf(const Context& ctx, DType dtype, int64_t m, int64_t n, void* a, int64_t count, int32_t* pivots,
           int32_t* info);
/// B (n, others) becomes op(A)^-1 B; op is 'N', 'T' or 'C'. Pivots are known to be within the matrix.
void Getrs(const Context& ctx, DType dtype, char op, int64_t n, int64_t others, const void* lu, const int32_t* pivots,
           void* b, int64_t count);
/// A (m, n), `stride` elements from matrix to matrix, becomes R and reflectors, whose min(m, n) factors go to tau.
void Geqrf(const Context& ctx, DType dtype, int64_t m, int64_t n, void* a, int64_t stride, void* tau, int64_t count);
/// A (m, n) becomes the first n columns of the product of its k reflectors; `tau_stride` factors from one to the next.
void Orgqr(const Context& ctx, DType dtype, int64_t m, int64_t n, int64_t k, void* a, int64_t stride, const void* tau,
           int64_t count);
/// C (m, n) becomes op(Q) C or C op(Q) for the product Q of the k reflectors in A's columns; op is the adjoint or
/// nothing.
void Ormqr(const Context& ctx, DType dtype, bool left, bool adjoint, int64_t m, int64_t n, int64_t k, const void* a,
           const void* tau, void* c, int64_t count);
/// B (m, n) becomes A^-1 B, or B A^-1 if not `left`, of a triangular A.
void Trsm(const Context& ctx, DType dtype, bool left, bool upper, bool unit, int64_t m, int64_t n, const void* a,
          void* b, int64_t count);
/// A (m, n), m >= n, is lost for its singular values and, unless `job` is 'N', U (m, n or, for 'A', m) and V^H (n, n).
void Gesvd(const Context& ctx, DType dtype, char job, int64_t m, int64_t n, void* a, void* s, void* u, void* vh,
           int64_t count, int32_t* info);
/// Eigenvalues of a Hermitian A, of which one triangle is read; A becomes its vectors, or is lost.
void Syevd(const Context& ctx, DType dtype, bool vectors, bool upper, int64_t n, void* a, void* w, int64_t count,
           int32_t* info);

}  // namespace dragon::DRAGON_DEVICE::solver
