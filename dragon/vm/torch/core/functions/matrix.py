"""Products and decompositions that PyTorch calls with variadic operands, numbers of axes or options of its own."""
import string

from dragon.vm.torch.core.register import both, function
from dragon.vm.torch.core.functions.destination import deliver
from dragon.vm.torch.core.functions.random import randn
from dragon.vm.torch.core.functions.shape import tensors_of
from dragon.vm.torch.core.tensor import Tensor, ops


@function
def einsum(*args):
    """Return a sum of products, told by a formula or by lists of axes after each operand."""
    if isinstance(args[0], str):
        return ops.einsum(args[0], tensors_of(args[1:]))
    operands, letters = args[0:len(args) // 2 * 2:2], args[1::2]
    terms = [_letters(axes) for axes in letters]
    formula = ",".join(terms[:len(operands)])
    if len(args) % 2:
        formula += "->" + _letters(args[-1])
    return ops.einsum(formula, operands)


def _letters(axes):
    """Return a list of numbered axes as letters."""
    return "".join("..." if axis is Ellipsis else string.ascii_letters[axis] for axis in axes)


@both
def ormqr(input, tau, other, left=True, transpose=False, *, out=None):
    """Return the product of a matrix and the orthogonal one that reflections tell.

    Parameters
    ----------
    input : Tensor
        The reflections as `torch.geqrf` gives them, one in each column; columns without a factor do not count.
    tau : Tensor
        The factors of the reflections.
    other : Tensor
        The matrix.
    left : bool, optional, default=True
        Whether the orthogonal matrix stands on the left.
    transpose : bool, optional, default=False
        Whether it is transposed, and conjugated.

    Returns
    -------
    Tensor
        The product.

    """
    if tau.ndim and input.ndim > 1 and input.shape[-1] > input.shape[-2] == tau.shape[-1]:
        input = input[..., :tau.shape[-1]]
    return ops.ormqr(input, tau, other, left, transpose, out=out)


@function
def _scaled_mm(input, mat2, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False, *,
               out=None):
    """Return the product of two matrices of 8-bit floats, each times its scale.

    Parameters
    ----------
    input, mat2 : Tensor
        Matrices of float8.
    scale_a, scale_b : Tensor
        What brings their numbers back, of float32: one number each, or one for each row of `input`, `(m, 1)`, and each
        column of `mat2`, `(1, n)`.
    bias : Tensor, optional
        Added to each row.
    scale_result : Tensor, optional
        One number of float32, by which the result is divided where `out_dtype` says float8_e4m3fn or float8_e5m2;
        other results have no scale.
    out_dtype : dtype, optional
        That of the result; that of `input` by default.
    use_fast_accum : bool, optional, default=False
        Allow sums that are less exact: tensor cores of a GPU then keep them in fewer bits.
    out : Tensor, optional
        Where the result goes, of `out_dtype` if that is given.

    Returns
    -------
    Tensor
        The product.

    """
    if out is not None and out_dtype not in (None, out.dtype):
        raise ValueError(f"_scaled_mm: got out_dtype={out_dtype} and out of {out.dtype}, expected the same. "
                         "out_dtype must match output matrix type")
    scaled = scale_result if out is None or out_dtype else None
    dtype = out_dtype if out is None else out.dtype
    return deliver(ops.scaled_mm(input, mat2, scale_a, scale_b, bias, scaled, dtype, use_fast_accum), out)


@function
def tensordot(a, b, dims=2, out=None):
    """Return the product of two tensors over a number of axes, or over those listed for each."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0 or dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot: got dims={dims}, expected 0 to {min(a.ndim, b.ndim)}")
        left, right = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        left, right = ([axes] if isinstance(axes, int) else list(axes) for axes in dims)
    for mine, other in zip(left, right):  # an axis of size 1 meets any other as if it were repeated
        if a.shape[mine] == 1 and b.shape[other] != 1:
            b = ops.sum(b, other, True, dtype=b.dtype)
        elif b.shape[other] == 1 and a.shape[mine] != 1:
            a = ops.sum(a, mine, True, dtype=a.dtype)
    return ops.tensordot(a, b, left, right, out=out)


@function
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """Return the p-norm distances between the rows of two batches."""
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    if compute_mode is not None and compute_mode not in modes:
        raise ValueError(f"cdist: got compute_mode={compute_mode!r}, expected one of {', '.join(modes)}")
    return ops.cdist(x1, x2, p)


@function
def chain_matmul(*matrices, out=None):
    """Return the product of matrices, in the cheapest order."""
    return ops.chain_matmul(tensors_of(matrices), out=out)


def _check_weights(weights, what, x):
    """Raise unless weights of observations fit."""
    if weights is None:
        return
    if weights.ndim > 1 or weights.numel() != (x.shape[-1] if x.ndim else 1):
        raise RuntimeError(f"cov: got {what} of shape {tuple(weights.shape)}, expected one for each observation")
    if weights.dtype.is_floating_point != (what == "aweights"):
        raise RuntimeError(f"cov: got {what} of {weights.dtype}, expected fweights of integers, aweights of floats")
    if weights.numel() and bool(ops.any(ops.lt(weights, 0))):
        raise RuntimeError(f"cov: got negative {what}, expected none below 0")


@both
def cov(input, *, correction=1, fweights=None, aweights=None):
    """Return the covariance matrix of variables in rows."""
    if input.ndim > 2:
        raise RuntimeError(f"cov: got {input.ndim} dims, expected at most 2")
    for weights, what in ((fweights, "fweights"), (aweights, "aweights")):
        _check_weights(weights, what, input)
    x = ops.reshape(input, (1, -1)) if input.ndim < 2 else input
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        x = x.float()
    weights = fweights
    if aweights is not None:
        weights = aweights if weights is None else ops.mul(aweights, weights)
    if weights is None:
        total, mean = x.shape[1], ops.mean(x, 1, True)
        rest = total - correction
    else:
        total = ops.sum(weights)
        mean = ops.div(ops.sum(ops.mul(x, weights), 1, True), total)
        if aweights is None or not correction:
            rest = ops.sub(total, correction)
        else:
            rest = ops.sub(total, ops.div(ops.mul(ops.sum(ops.mul(weights, aweights)), correction), total))
        rest = ops.clamp(rest, 0)
    x = ops.sub(x, mean)
    other = ops.conj(ops.t(x if weights is None else ops.mul(x, weights)))
    rest = max(rest, 0) if weights is None else rest
    made = ops.div(ops.matmul(x, other), rest)
    return ops.squeeze(made) if input.ndim < 2 or input.shape[0] == 1 else made


@both
def corrcoef(input):
    """Return the correlation matrix of variables in rows."""
    made = cov(input)
    if made.ndim == 0:
        return ops.div(made, made)
    spread = ops.sqrt(ops.diagonal(made) if not made.dtype.is_complex else ops.real(ops.diagonal(made)))
    made = ops.div(ops.div(made, ops.unsqueeze(spread, 1)), ops.unsqueeze(spread, 0))
    if made.dtype.is_complex:
        return ops.complex(ops.clamp(ops.real(made), -1, 1), ops.clamp(ops.imag(made), -1, 1))
    return ops.clamp(made, -1, 1)


@both
def lu(A, pivot=True, get_infos=False, out=None):
    """Return the compact LU factorization, the pivots and, if wanted, the infos."""
    factors, pivots, infos = ops.linalg_lu_factor_ex(A, pivot=pivot)
    made = (factors, pivots, infos) if get_infos else (factors, pivots)
    return deliver(made, out)


def _range_basis(A, q, niter, M):
    """Return an orthonormal basis of about the range of a matrix, by subspace iteration from random vectors."""
    A = A if M is None else ops.sub(A, M)
    other = ops.conj(ops.transpose(A, -2, -1))
    draw = ops.cast(randn(A.shape[-1], q), A.dtype) if not A.dtype.is_complex else randn(A.shape[-1], q).to(A.dtype)
    basis = ops.linalg_qr(ops.matmul(A, draw))[0]
    for _ in range(niter):
        basis = ops.linalg_qr(ops.matmul(other, basis))[0]
        basis = ops.linalg_qr(ops.matmul(A, basis))[0]
    return A, basis


@function
def svd_lowrank(A, q=6, niter=2, M=None):
    """Return an approximate singular value decomposition of rank `q`."""
    if A.shape[-2] < A.shape[-1]:
        flipped = ops.transpose(A, -2, -1)
        V, S, U = svd_lowrank(flipped if not A.dtype.is_complex else ops.conj(flipped), q, niter,
                              None if M is None else ops.conj(ops.transpose(ops.broadcast_to(M, A.shape), -2, -1)))
        return U, S, V
    A, basis = _range_basis(A, q, niter, M)
    U, S, Vh = ops.linalg_svd(ops.matmul(ops.conj(ops.transpose(basis, -2, -1)), A), False)
    return ops.matmul(basis, U), S, ops.conj(ops.transpose(Vh, -2, -1))


@function
def pca_lowrank(A, q=None, center=True, niter=2):
    """Return an approximate principal component analysis of rank `q`."""
    q = min(6, *A.shape[-2:]) if q is None else q
    if not 0 <= q <= min(A.shape[-2:]):
        raise ValueError(f"pca_lowrank: got q={q}, expected 0 to {min(A.shape[-2:])}")
    if center:
        A = ops.sub(A, ops.mean(A, -2, True))
    return svd_lowrank(A, q, niter)
