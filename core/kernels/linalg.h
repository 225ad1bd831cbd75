// Dense linear algebra on batches of row-major matrices. All views are contiguous; batches agree (operators expand
// them).
//
// `who` is the name that errors speak with. Where it may be null, trouble is only told in `info` (int32, one per
// matrix): 0 is success, a positive number what LAPACK means by it.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon {

/// How least squares are solved: by QR, by QR with pivoting, by divide-and-conquer SVD, by SVD.
enum class LstsqDriver { kGels, kGelsy, kGelsd, kGelss };

namespace kernels {

/// A = L L^H (or U^H U): reads one triangle, zeroes the other. `who` may be null.
inline const Kernel<void(View l, View info, View a, bool upper, const char* who)> LinalgCholesky{"linalg_cholesky"};
/// A = P L U, packed; pivots are int32, counted from 1. `who` may be null.
inline const Kernel<void(View lu, View pivots, View info, View a, const char* who)> LinalgLuFactor{"linalg_lu_factor"};
/// Solve A X = B (X A = B if not left; A^H if adjoint) from packed factors.
inline const Kernel<void(View x, View lu, View pivots, View b, bool left, bool adjoint, const char* who)> LinalgLuSolve{
    "linalg_lu_solve"};
/// The permutation matrix P that the pivots stand for.
inline const Kernel<void(View p, View pivots, const char* who)> LinalgLuPermutation{"lu_unpack"};
/// The determinant from packed factors.
inline const Kernel<void(View det, View lu, View pivots)> LinalgDet{"linalg_det"};
/// Sign (or phase) and logarithm of the magnitude of the determinant from packed factors.
inline const Kernel<void(View sign, View logabs, View lu, View pivots)> LinalgSlogdet{"linalg_slogdet"};
/// Solve A X = B (X A = B if not left). `who` may be null.
inline const Kernel<void(View x, View info, View a, View b, bool left, const char* who)> LinalgSolve{"linalg_solve"};
/// The inverse. `who` may be null.
inline const Kernel<void(View y, View info, View a, const char* who)> LinalgInverse{"linalg_inv"};
/// Solve A X = B (X A = B if not left), where A is triangular.
inline const Kernel<void(View x, View a, View b, bool upper, bool left, bool unitriangular)> LinalgSolveTriangular{
    "linalg_solve_triangular"};
/// A = Q R; the shapes say whether Q is complete, and a Q that is not given is not made.
inline const Kernel<void(View q, View r, View a)> LinalgQr{"linalg_qr"};
/// Householder reflectors below, R above the diagonal.
inline const Kernel<void(View y, View tau, View a)> Geqrf{"geqrf"};
/// The first columns of the product of reflectors.
inline const Kernel<void(View q, View a, View tau)> LinalgHouseholderProduct{"linalg_householder_product"};
/// op(Q) C or C op(Q), where Q is the product of reflectors and op its adjoint if `transpose`.
inline const Kernel<void(View y, View a, View tau, View c, bool left, bool transpose)> Ormqr{"ormqr"};
/// A = U diag(s) Vh; the shapes say whether U and Vh are full, and if they are not given, only s is made.
inline const Kernel<void(View u, View s, View vh, View a, const char* who)> LinalgSvd{"linalg_svd"};
/// A = V diag(w) V^H of a Hermitian A, of which one triangle is read; V may be left out.
inline const Kernel<void(View w, View v, View a, bool upper, const char* who)> LinalgEigh{"linalg_eigh"};
/// A V = V diag(w), w and V complex; V may be left out. The table is indexed by A's dtype.
inline const Kernel<void(View w, View v, View a, const char* who)> LinalgEig{"linalg_eig"};

/// min |A X - B|: `x` has max(m, n) rows, the first n the solution, in the rest (kGelsy aside) the residual's
/// components. `rank` (int64) and `s` may be left out.
inline const Kernel<void(View x, View rank, View s, View a, View b, double rcond, LstsqDriver driver, const char* who)>
    LinalgLstsq{"linalg_lstsq"};
/// A = L D L^T (L D L^H if hermitian) of the lower triangle. `who` may be null.
inline const Kernel<void(View ld, View pivots, View info, View a, bool hermitian, const char* who)> LinalgLdlFactor{
    "linalg_ldl_factor"};
/// Solve A X = B from what LinalgLdlFactor made.
inline const Kernel<void(View x, View ld, View pivots, View b, bool hermitian, const char* who)> LinalgLdlSolve{
    "linalg_ldl_solve"};
/// e^A by scaling, a rational approximation, and squaring.
inline const Kernel<void(View y, View a)> MatrixExp{"matrix_exp"};

}  // namespace kernels
}  // namespace dragon
