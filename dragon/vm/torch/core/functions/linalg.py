"""Functions of `torch.linalg` with more forms than one: orders that are numbers or names, old tolerances."""
from dragon import _C
from dragon.vm.torch._api import functions_at
from dragon.vm.torch.core.functions.reduction import axis_words
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.tensor import Tensor, ops

# What a factorization raises that fails on the numbers it is given.
LinAlgError = getattr(_C, "LinAlgError", _C.EngineError)


def by_order(name):
    """Return (the operator that takes a number as the order, the one that takes a name)."""
    return getattr(ops, name), getattr(ops, name + "_name")


_norm, _norm_name = by_order("linalg_norm")
_matrix_norm, _matrix_norm_name = by_order("linalg_matrix_norm")
_cond, _cond_name = by_order("linalg_cond")


@overridable
def norm(input, ord=None, dim=None, keepdim=False, *, out=None, dtype=None, **named):
    """Return the norm of vectors or matrices.

    Parameters
    ----------
    input : Tensor
        The numbers.
    ord : Union[int, float, str], optional
        Which norm; that of all elements by default.
    dim : Union[int, Sequence[int]], optional
        One axis for vectors, two for matrices.
    keepdim : bool, optional, default=False
        Whether the axes stay, with size 1.
    out : Tensor, optional
        Where the result goes.
    dtype : dtype, optional
        The type to compute in.

    Returns
    -------
    Tensor
        The norms.

    """
    if named:
        dim, keepdim = axis_words("linalg.norm", dim, keepdim, named)
    if hasattr(dim, "__index__"):
        dim = (dim,)
    if ord is not None and (input.ndim if dim is None else len(dim)) == 2:
        return matrix_norm(input, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    return (_norm_name if isinstance(ord, str) else _norm)(input, ord, dim, keepdim, dtype=dtype, out=out)


@overridable
def matrix_norm(input, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None, **named):
    """Return the norm of matrices: "fro", "nuc", 1, 2, inf or their negatives."""
    if named:
        dim, keepdim = axis_words("linalg.matrix_norm", dim, keepdim, named)
    if input.numel() == 0 and not isinstance(ord, str) and ord > 0:
        ord = "fro"  # zero as well, and it asks for no greatest one of nothing
    operator = _matrix_norm_name if isinstance(ord, str) else _matrix_norm
    return operator(input, ord, dim, keepdim, dtype=dtype, out=out)


@overridable
def cond(input, p=None, *, out=None):
    """Return the condition number of matrices under a norm."""
    return (_cond_name if isinstance(p, str) else _cond)(input, p, out=out)


def singular_values(input, hermitian):
    """Return singular values, by way of eigenvalues where the matrix is hermitian."""
    return ops.abs(ops.linalg_eigvalsh(input)) if hermitian else ops.linalg_svdvals(input)


def tolerances(input, atol, rtol):
    """Return both tolerances, relative ones by the size of the matrix where none is given."""
    if rtol is None:
        step = ops.ones((), dtype=input.dtype.to_real())
        epsilon = (ops.nextafter(step, step + 1) - 1).item()
        has_atol = atol is not None and (isinstance(atol, Tensor) or atol > 0)
        rtol = 0.0 if has_atol and not isinstance(atol, Tensor) else epsilon * max(tuple(input.shape)[-2:])
        if isinstance(atol, Tensor):
            rtol = ops.where(atol > 0, ops.zeros_like(atol), ops.full_like(atol, rtol))
    return (0.0 if atol is None else atol), rtol


@overridable
def matrix_rank(input, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """Return how many singular values exceed the greater of the absolute and the relative tolerance."""
    if tol is not None:
        atol, rtol = tol, 0.0
    if input.numel() == 0:
        return ops.zeros(tuple(input.shape)[:-2], dtype="int64", device=input.device, out=out)
    if not isinstance(atol, Tensor) and not isinstance(rtol, Tensor):
        return ops.linalg_matrix_rank(input, atol=atol, rtol=rtol, hermitian=hermitian, out=out)
    values = singular_values(input, hermitian)
    atol, rtol = tolerances(input, atol, rtol)
    bound = ops.mul(ops.amax(values, -1), rtol)
    bound = ops.maximum(bound, atol) if isinstance(atol, Tensor) else ops.clamp(bound, atol)
    return ops.sum(values > ops.unsqueeze(bound, -1), -1, out=out)


@overridable
def pinv(input, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """Return the Moore-Penrose pseudoinverse; singular values within the tolerances count as zero."""
    if rcond is not None:
        rtol = rcond
    if input.numel() == 0:
        atol = rtol = None
    if not isinstance(atol, Tensor) and not isinstance(rtol, Tensor):
        return ops.linalg_pinv(input, atol=atol, rtol=rtol, hermitian=hermitian, out=out)
    atol, rtol = tolerances(input, atol, rtol)
    U, S, Vh = ops.linalg_svd(input, False)
    bound = ops.mul(ops.amax(S, -1), rtol)
    bound = ops.maximum(bound, atol) if isinstance(atol, Tensor) else ops.clamp(bound, atol)
    kept = S > ops.unsqueeze(bound, -1)
    inverse = ops.where(kept, ops.reciprocal(ops.where(kept, S, ops.ones_like(S))), ops.zeros_like(S))
    return ops.matmul(ops.adjoint(Vh) * ops.unsqueeze(inverse, -2), ops.adjoint(U), out=out)


@overridable
def svd(A, full_matrices=True, *, driver=None, out=None):
    """Return singular vectors and values, `A = U @ diag(S) @ Vh`.

    Parameters
    ----------
    A : Tensor
        The matrix, or a batch of them.
    full_matrices : bool, optional, default=True
        Whether U and Vh are square.
    driver : str, optional
        The method on a GPU.
    out : Tuple[Tensor, Tensor, Tensor], optional
        Where the results go.

    Returns
    -------
    Tuple[Tensor, Tensor, Tensor]
        U, S and Vh.

    """
    if out is not None or A.ndim < 2:
        return ops.linalg_svd(A, full_matrices, driver=driver, out=out)
    # LAPACK reads by columns. Given the transpose it sees what it sees under PyTorch, and chooses the same signs.
    found = ops.linalg_svd(ops.matrix_transpose(A), full_matrices, driver=driver)
    return type(found)((ops.matrix_transpose(found[2]), found[1], ops.matrix_transpose(found[0])))


@overridable
def eigh(input, UPLO="L", *, out=None):
    """Return the eigenvalues, rising, and eigenvectors of a hermitian matrix of which one triangle is read.

    Parameters
    ----------
    input : Tensor
        The matrix, or a batch of them.
    UPLO : str, optional, default="L"
        The triangle: "L" or "U".
    out : Tuple[Tensor, Tensor], optional
        Where the results go.

    Returns
    -------
    Tuple[Tensor, Tensor]
        The eigenvalues and, as columns, eigenvectors.

    """
    other = {"L": "U", "U": "L"}.get(UPLO.upper())
    if out is not None or input.ndim < 2 or other is None:
        return ops.linalg_eigh(input, UPLO, out=out)
    # As in svd; the transpose of a hermitian matrix is its conjugate.
    found = ops.linalg_eigh(ops.matrix_transpose(input), other)
    return type(found)((found[0], ops.conj_physical(found[1]))) if input.dtype.is_complex else found


@overridable
def cross(input, other, *, dim=-1, out=None):
    """Return the cross product of vectors of three numbers."""
    for x in (input, other):
        if x.shape[dim] != 3:
            raise RuntimeError(f"cross: got {x.shape}, expected 3 numbers along dim {dim}")
    return ops.linalg_cross(input, other, dim=dim, out=out)


@overridable
def matrix_power(input, n, *, out=None):
    """Return the product of `n` equal matrices, of their inverses where `n` is negative."""
    made = ops.linalg_matrix_power(input, n, out=out)
    if n == 0 and out is None and input.requires_grad:
        # The identity does not depend on the matrix, but the tape is to say so with zeros.
        made = made + ops.masked_fill(input, ops.ones_like(input, dtype="bool"), 0)
    return made


@overridable
def lstsq(input, b, rcond=None, *, driver=None):
    """Return the solution with the least squared residuals, those, and rank and singular values where found."""
    found = ops.linalg_lstsq(input, b, rcond, driver=driver)
    if found[0].requires_grad and not found[1].requires_grad:
        empty = ops.narrow(ops.reshape(found[0], (-1,)), 0, 0, 0)
        found = type(found)((found[0], empty, *found[2:]))
    return found


@overridable
def vander(x, N=None):
    """Return the matrix of the powers of a vector, rising."""
    if N is not None and N <= 1 or N is None and x.ndim == 0:
        raise RuntimeError(f"vander: got N {N} for x of {x.shape}, expected N greater than 1")
    if not x.dtype.is_floating_point and not x.dtype.is_complex:
        x = ops.cast(x, "int64")
    return ops.linalg_vander(x if x.ndim else ops.unsqueeze(x, 0), N=N)


NAMESPACE = dict(functions_at("linalg", ops))
NAMESPACE.update((python_function.__name__, python_function) for python_function in (
    norm, matrix_norm, svd, eigh, cross, cond, matrix_rank, pinv, matrix_power, lstsq, vander, LinAlgError))
