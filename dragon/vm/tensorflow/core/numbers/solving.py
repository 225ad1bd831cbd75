"""Linear equations, and what stands in for an inverse."""
from dragon import _C
from dragon.vm.shared.arrays.array import at_least
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.dtypes import int32
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.numbers.matrices import _pair, _square, adjoint, diag, matmul


def _guarded(run, *args):
    try:
        return run(*args)
    except _C.LinAlgError as error:
        raise invalid_argument(f"Input is not invertible. {error}") from None


def inv(input, adjoint=False, name=None):
    """Return inverses."""
    x = _square(input)
    x = ops.conj_physical(ops.matrix_transpose(x)) if adjoint else x
    if x.dtype.name == "float16":
        return ops.cast(_guarded(ops.linalg_inv, ops.cast(x, "float32")), "float16")
    return _guarded(ops.linalg_inv, x)


def solve(matrix, rhs, adjoint=False, name=None):
    """Return x with matrix @ x = rhs, one for each of equally many matrices and right-hand sides."""
    a, b = _pair(matrix, rhs, "MatrixSolve")
    if a.ndim != b.ndim:
        raise invalid_argument(f"All input tensors must have the same rank. Received: {tuple(a.shape)} and "
                               f"{tuple(b.shape)} [Op:MatrixSolve]")
    a = _square(a)
    if tuple(a.shape[:-2]) != tuple(b.shape[:-2]):
        raise invalid_argument("All input tensors must have the same outer dimensions. Received: "
                               f"{tuple(a.shape)} and {tuple(b.shape)} [Op:MatrixSolve]")
    a = ops.conj_physical(ops.matrix_transpose(a)) if adjoint else a
    if b.ndim < 2 or b.shape[-2] != a.shape[-1]:
        raise invalid_argument(f"Input matrix and rhs are incompatible: {tuple(a.shape)} and {tuple(b.shape)} "
                               "[Op:MatrixSolve]")
    return _guarded(ops.linalg_solve, a, b)


def triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    """Return x with matrix @ x = rhs, of triangular matrices."""
    a, b = _pair(matrix, rhs, "MatrixTriangularSolve")
    a = _square(a)
    at_least(b, 2, "MatrixTriangularSolve")
    batch = tuple(ops.broadcast_to(ops.zeros(tuple(a.shape[:-2])), _joint(a, b)).shape)
    a = ops.broadcast_to(a, (*batch, *a.shape[-2:]))
    b = ops.broadcast_to(b, (*batch, *b.shape[-2:]))
    if adjoint:
        a, lower = ops.conj_physical(ops.matrix_transpose(a)), not lower
    return ops.linalg_solve_triangular(a, b, upper=not lower)


def _joint(a, b):
    from dragon.vm.shared.arrays.array import broadcast_static_shape
    return tuple(broadcast_static_shape(tuple(a.shape[:-2]), tuple(b.shape[:-2])))


def cholesky_solve(chol, rhs, name=None):
    """Return x with chol @ adjoint(chol) @ x = rhs."""
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)


def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """Return x with the least squares of matrix @ x - rhs; `l2_regularizer` counts where `fast` is True."""
    a, b = _pair(matrix, rhs, "MatrixSolveLs")
    at_least(a, 2, "tf.linalg.lstsq"), at_least(b, 2, "tf.linalg.lstsq")
    if not fast:
        return ops.linalg_lstsq(a, b)[0]
    wide = a.shape[-2] < a.shape[-1]
    gram = matmul(a, a, adjoint_b=True) if wide else matmul(a, a, adjoint_a=True)
    if l2_regularizer:
        gram = gram + l2_regularizer * ops.eye(gram.shape[-1], dtype=gram.dtype)
    if wide:
        return matmul(a, _guarded(ops.linalg_solve, gram, b), adjoint_a=True)
    return _guarded(ops.linalg_solve, gram, matmul(a, b, adjoint_a=True))


def _triangles(lower_upper):
    packed = _square(lower_upper)
    size = packed.shape[-1]
    return ops.tril(packed, -1) + ops.eye(size, dtype=packed.dtype), ops.triu(packed)


def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """Return the matrices that `lu` decomposed."""
    lower, upper = _triangles(lower_upper)
    order = ops.cast(take(perm), "int64")
    product = ops.matmul(lower, upper)
    back = ops.sort(order, -1)[1]
    index = ops.broadcast_to(ops.unsqueeze(back, -1), tuple(product.shape))
    return ops.take_along_axis(product, index, -2)


def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """Return x with matrix @ x = rhs, of matrices that `lu` decomposed."""
    lower, upper = _triangles(lower_upper)
    b, order = at_least(take(rhs), 2, "tf.linalg.lu_solve"), ops.cast(take(perm), "int64")
    b = ops.take_along_axis(b, ops.broadcast_to(ops.unsqueeze(order, -1), tuple(b.shape)), -2)
    return triangular_solve(upper, triangular_solve(lower, b), lower=False)


def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """Return inverses of matrices that `lu` decomposed."""
    packed = _square(lower_upper)
    unit = ops.broadcast_to(ops.eye(packed.shape[-1], dtype=packed.dtype), tuple(packed.shape))
    return lu_solve(packed, perm, unit)


def _tridiagonal(diagonals, diagonals_format):
    """Return matrices whose three diagonals are given."""
    if diagonals_format == "matrix":
        return take(diagonals)
    if diagonals_format == "sequence":
        upper, main, lower = (take(item) for item in diagonals)
        size = main.shape[-1]
        if upper.shape[-1] == size:
            upper = upper[..., :-1]
        if lower.shape[-1] == size:
            lower = lower[..., 1:]
    elif diagonals_format == "compact":
        bands = take(diagonals)
        upper, main, lower = bands[..., 0, :-1], bands[..., 1, :], bands[..., 2, 1:]
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    return diag(upper, k=1) + diag(main) + diag(lower, k=-1)


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """Return products of matrices of three diagonals and others."""
    return matmul(_tridiagonal(diagonals, diagonals_format), rhs)


def tridiagonal_solve(diagonals, rhs, diagonals_format="compact", transpose_rhs=False, conjugate_rhs=False, name=None,
                      partial_pivoting=True, perturb_singular=False):
    """Return x with matrix @ x = rhs, of matrices of three diagonals."""
    matrix = _tridiagonal(diagonals, diagonals_format)
    b = take(rhs, None if isinstance(rhs, _C.Tensor) else matrix.dtype)
    b = ops.conj_physical(b) if conjugate_rhs and b.dtype.is_complex else b
    if b.ndim == matrix.ndim - 1:
        return ops.squeeze(solve(matrix, ops.unsqueeze(b, -1)), -1)
    b = ops.matrix_transpose(b) if transpose_rhs else b
    return solve(matrix, b)


def banded_triangular_solve(bands, rhs, lower=True, adjoint=False, name=None):
    """Return x with matrix @ x = rhs, of triangular matrices whose diagonals are given."""
    x = at_least(take(bands), 2, "tf.linalg.banded_triangular_solve")
    count = x.shape[-2]
    numbers = (1 - count, 0) if lower else (0, count - 1)
    matrix = diag(x, k=numbers, align="LEFT_RIGHT")
    return triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)


def _greatest(values):
    """Return the first of singular values, which is the greatest; none of none."""
    return ops.narrow(values, -1, 0, min(1, values.shape[-1]))


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """Return ranks: how many singular values are not as good as zero."""
    x = take(a)
    values = ops.linalg_svdvals(x)
    if tol is None:
        import numpy as np
        tol = max(x.shape[-2:]) * float(np.finfo(x.dtype.real_dtype.name).eps) * _greatest(values)
    else:
        tol = ops.unsqueeze(take(tol, values.dtype), -1)
    return ops.cast(ops.sum(ops.gt(values, tol), -1), int32)


def pinv(a, rcond=None, validate_args=False, name=None):
    """Return pseudo-inverses."""
    x = take(a)
    if rcond is None:
        import numpy as np
        rcond = 10.0 * max(x.shape[-2:]) * float(np.finfo(x.dtype.real_dtype.name).eps)
    u, s, vh = ops.linalg_svd(x, False)
    cut = take(rcond, s.dtype if not isinstance(rcond, _C.Tensor) else None)
    some = ops.gt(s, ops.unsqueeze(cut, -1) * _greatest(s))
    reciprocals = ops.where(some, 1.0 / ops.where(some, s, ops.ones_like(s)), ops.zeros_like(s))
    return ops.matmul(adjoint(vh) * ops.unsqueeze(ops.cast(reciprocals, x.dtype), -2), adjoint(u))


def eigh_tridiagonal(alpha, beta, eigvals_only=True, select="a", select_range=None, tol=None, name=None):
    """Return eigenvalues, ascending, and eigenvectors of self-adjoint matrices of three diagonals.

    Parameters
    ----------
    alpha, beta : Tensor
        The diagonal, of which the real part counts, and the one above it.
    eigvals_only : bool, optional, default=True
        Whether eigenvectors are left out.
    select : str, optional, default="a"
        "a" for all, "v" for those above the first number of a range and not above the second, "i" for those from one
        place to another.
    select_range : Tuple[float, float], optional
        The range.
    tol : float, optional
        How exact values must be at least; they are as exact as the dtype.

    Returns
    -------
    Union[Tensor, Tuple[Tensor, Tensor]]
        The values, or the values and the vectors in columns.

    """
    if select not in ("a", "i", "v"):
        raise ValueError("select must have a value in {'a', 'i', 'v'}.")
    if select != "a" and (select_range is None or len(select_range) != 2):
        raise ValueError(f"tf.linalg.eigh_tridiagonal: got select_range={select_range!r}, expected two numbers")
    main, upper = _pair(alpha, beta, "eigh_tridiagonal")
    if main.shape[-1] != upper.shape[-1] + 1:
        raise invalid_argument(f"Incompatible shapes: alpha has {main.shape[-1]} numbers and beta "
                               f"{upper.shape[-1]}, expected one less")
    lower = ops.conj_physical(upper) if upper.dtype.is_complex else upper
    if main.dtype.is_complex:
        main = ops.cast(ops.real(main), main.dtype)
    matrix = diag(main) + diag(upper, k=1) + diag(lower, k=-1) if upper.shape[-1] else diag(main)
    values, vectors = ops.linalg_eigh(matrix)
    begin, end = 0, values.shape[-1]
    if select == "i":
        begin, end = int(select_range[0]), int(select_range[1]) + 1
        if not 0 <= begin < end <= values.shape[-1]:
            raise ValueError(f"tf.linalg.eigh_tridiagonal: got select_range={select_range!r}, expected places from 0 "
                             f"to {values.shape[-1] - 1}")
    elif select == "v":
        if values.ndim > 1:
            raise NotImplementedError("tf.linalg.eigh_tridiagonal: select='v' takes no batches: counts may differ")
        low, high = select_range
        begin, end = (int(ops.sum(ops.le(values, float(bound)))) for bound in (low, high))
        end = max(begin, end)
    values = values[..., begin:end]
    return values if eigvals_only else (values, vectors[..., begin:end])
