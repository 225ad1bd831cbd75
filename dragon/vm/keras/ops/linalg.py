"""keras.ops.linalg: factors, inverses and norms of matrices."""
from dragon import LinAlgError
from dragon.core.scopes import ExitStack
from dragon.vm.keras.core import tree
from dragon.vm.keras.ops.common import (canonical_axis, cast_to, dtype_of, in_floats, operation, ops, publish,
                                        result_type, tensor)


def _matrices(x, what="x", square=False):
    x = tensor(x)
    if x.ndim < 2:
        raise ValueError(f"Input should have rank >= 2. Received: {what}.shape={tuple(x.shape)}")
    if square and x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Expected a square matrix. Received: {what}.shape={tuple(x.shape)}")
    return x if "float" in dtype_of(x) or "complex" in dtype_of(x) else cast_to(x, result_type(dtype_of(x), float))


def _epsilon(x):
    """Return the distance from 1 to the next number, of floats or of the parts of complex ones."""
    return 2.0 ** -52 if dtype_of(x) in ("float64", "complex128") else 2.0 ** -23


def _adjoint(x):
    return ops.conj_physical(ops.matrix_transpose(x))


def _square(name, sentence, compute):
    return publish(lambda x: compute(_matrices(x, square=True)), name, sentence)


det = _square("det", "Return the determinants of matrices.", ops.linalg_det)
inv = _square("inv", "Return the inverses of matrices.", in_floats(ops.linalg_inv))
eigh = _square("eigh", "Return eigenvalues and eigenvectors of symmetric matrices.",
               lambda x: tuple(ops.linalg_eigh(x)))
eig = _square("eig", "Return complex eigenvalues and eigenvectors of matrices.",
              lambda x: tuple(ops.linalg_eig(x)))
slogdet = _square("slogdet", "Return signs and logarithms of determinants.", lambda x: tuple(ops.linalg_slogdet(x)))


@operation
def cholesky(x, upper=False):
    """Return the triangular factors of positive matrices.

    Parameters
    ----------
    x : Tensor
        Symmetric positive matrices.
    upper : bool, optional, default=False
        Return the upper factor.

    Returns
    -------
    Tensor
        The lower factors, by default.

    """
    try:
        return ops.linalg_cholesky(_matrices(x, square=True), upper=upper)
    except LinAlgError as error:
        raise ValueError(f"Cholesky decomposition failed: {error}") from error


@operation
def cholesky_inverse(x, upper=False):
    """Return the inverses of the matrices whose triangular factors are given."""
    factor = _matrices(x, square=True)
    # The engine's gradient, like PyTorch's, tells of the other triangle too; Keras's is 0 there.
    return ops.cholesky_inverse(ops.triu(factor) if upper else ops.tril(factor), upper)


@operation
def lu_factor(x):
    """Return the triangular factors of matrices in one, and the rows' order as numbers of exchanged rows."""
    x = _matrices(x)
    lu, pivots = ops.linalg_lu_factor(x)
    # Genuine results tell the permutation itself, counted from 0.
    order = ops.lu_permutation(pivots, x.shape[-2], "float32")
    return lu, cast_to(ops.argmax(order, -2), "int32")


@operation
def qr(x, mode="reduced"):
    """Return orthogonal and triangular factors.

    Parameters
    ----------
    mode : str, optional, default="reduced"
        "reduced" or "complete".

    Returns
    -------
    Tuple[Tensor, Tensor]
        The factors.

    """
    if mode not in ("reduced", "complete"):
        raise ValueError("`mode` argument value not supported. Expected one of {'reduced', 'complete'}. "
                         f"Received: mode={mode}")
    return tuple(ops.linalg_qr(_matrices(x), mode))


@operation
def svd(x, full_matrices=True, compute_uv=True):
    """Return singular values and vectors.

    Parameters
    ----------
    full_matrices : bool, optional, default=True
        Return square matrices of vectors.
    compute_uv : bool, optional, default=True
        Return the vectors, not the values alone.

    Returns
    -------
    Union[Tensor, Tuple[Tensor, Tensor, Tensor]]
        u, s and vh; or s.

    """
    x = _matrices(x)
    return tuple(ops.linalg_svd(x, full_matrices)) if compute_uv else ops.linalg_svdvals(x)


def _solve(compute, a, b):
    a, b = _matrices(a, "a", True), tensor(b)
    dtype = result_type(dtype_of(a), dtype_of(b))
    a, b = cast_to(a, dtype), cast_to(b, dtype)
    if b.ndim == a.ndim - 1:
        return ops.squeeze(compute(a, ops.unsqueeze(b, -1)), -1)
    if b.ndim != a.ndim or b.shape[-2] != a.shape[-1]:
        raise ValueError("Incompatible shapes between `a` and `b`. "
                         f"Received: a.shape={tuple(a.shape)}, b.shape={tuple(b.shape)}")
    return compute(a, b)


@operation
def solve(a, b):
    """Return x such that a x = b.

    Parameters
    ----------
    a : Tensor
        Square matrices.
    b : Tensor
        Matrices, or vectors.

    Returns
    -------
    Tensor
        In the shape of `b`.

    """
    return _solve(ops.linalg_solve, a, b)


@operation
def solve_triangular(a, b, lower=False):
    """Return x such that a x = b for triangular matrices a; `lower` says which triangle counts."""
    return _solve(lambda a, b: ops.linalg_solve_triangular(a, b, upper=not lower), a, b)


@operation
def lstsq(a, b, rcond=None):
    """Return x for which |a x - b| is least.

    Parameters
    ----------
    a : Tensor
        A matrix.
    b : Tensor
        A matrix, or a vector.
    rcond : float, optional
        Which share of the largest singular value counts as zero.

    Returns
    -------
    Tensor
        The least x.

    """
    a, b = tensor(a), tensor(b)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ValueError("Expected a matrix `a`, and `b` with as many rows. "
                         f"Received: a.shape={tuple(a.shape)}, b.shape={tuple(b.shape)}")
    epsilon = _epsilon(a)
    rcond = epsilon * max(a.shape) if rcond is None else epsilon if rcond < 0 else rcond
    u, s, vh = ops.linalg_svd(a, False)
    keep = ops.ge(s, ops.mul(ops.select(s, 0, 0), rcond))
    inverse = ops.where(keep, ops.div(1.0, ops.where(keep, s, 1.0)), 0.0)
    rows = ops.unsqueeze(b, -1) if b.ndim == 1 else b
    x = ops.matmul(_adjoint(vh), ops.mul(ops.unsqueeze(inverse, -1), ops.matmul(_adjoint(u), rows)))
    return ops.reshape(x, (-1,)) if b.ndim == 1 else x


@operation
def matrix_rank(x, tol=None):
    """Return how many singular values are above a tolerance, as int32.

    Parameters
    ----------
    tol : float, optional
        The tolerance; follows from the largest value by default.

    Returns
    -------
    Tensor
        Counts.

    """
    x = _matrices(x)
    values = ops.linalg_svdvals(x)
    if tol is None:
        greatest = ops.narrow(values, -1, 0, min(1, values.shape[-1]))
        tol = ops.mul(greatest, _epsilon(x) * max(x.shape[-2:]))
    return ops.sum(cast_to(ops.gt(values, tol), "int32"), -1, dtype="int32")


@operation
def pinv(x, rcond=None):
    """Return pseudo-inverses; singular values below a share `rcond` of the largest count as zero."""
    x = _matrices(x)
    if rcond is None:
        rcond = 10.0 * max(x.shape[-2:]) * _epsilon(x)
    return ops.linalg_pinv(x, atol=0.0, rtol=rcond)


@operation
def norm(x, ord=None, axis=None, keepdims=False):
    """Return norms of vectors or matrices.

    Parameters
    ----------
    x : Tensor
        The numbers.
    ord : Union[number, str], optional
        Which norm: 1, 2, inf ... of vectors, "fro", "nuc", 1, 2, inf ... of matrices; the root of squares by default.
    axis : Union[int, Tuple[int, int]], optional
        The axes of vectors or matrices; all by default.

    Returns
    -------
    Tensor
        Floating norms.

    """
    x = tensor(x)
    x = x if "float" in dtype_of(x) or "complex" in dtype_of(x) else cast_to(x, result_type(dtype_of(x), float))
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = [canonical_axis(item, x.ndim) for item in axes]
    if ord is None or len(axes) == 2 and ord == "fro" or len(axes) == 1 and ord == 2:
        return ops.sqrt(ops.sum(ops.square(ops.abs(x)), axes, keepdims))
    if len(axes) > 2:
        raise ValueError(f"Improper number of axes for norm. Received: axis={axis}, ord={ord}")
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"Invalid `ord` argument for vector norm. Received: ord={ord}")
        return ops.linalg_vector_norm(x, ord, axes, keepdims)
    if ord not in ("nuc", 1, -1, 2, -2, float("inf"), float("-inf")):
        raise ValueError(f"Invalid `ord` argument for matrix norm. Received: ord={ord}")
    if ord == "nuc":
        return ops.linalg_matrix_norm_name(x, "nuc", axes, keepdims)
    return ops.linalg_matrix_norm(x, ord, axes, keepdims)


def _leaf(x):
    """Return a copy that asks for gradients."""
    made = ops.clone(x.detach())
    made.requires_grad = True
    return made


@operation
def jvp(fun, primals, tangents, has_aux=False):
    """Return a function's results, and how they change with its arguments in a direction.

    Parameters
    ----------
    fun : Callable
        The function.
    primals : Sequence[Tensor]
        Its arguments.
    tangents : Sequence[Tensor]
        The direction.
    has_aux : bool, optional, default=False
        Whether the function returns something else as well.

    Returns
    -------
    Tuple[Any, ...]
        Results, changes, and what else there is.

    """
    from dragon import _C
    from dragon.core import modes
    with ExitStack() as exits:
        exits.switch(modes.set_recording, True)
        xs = tree.map_structure(lambda x: _leaf(tensor(x)), list(primals))
        made = fun(*xs)
        made, aux = made if has_aux else (made, None)
        ys = [tensor(y) for y in tree.flatten(made)]
        flat = tree.flatten(xs)
        # The gradient of a gradient with respect to what it is multiplied by runs forward.
        seeds = [_leaf(ops.zeros_like(y.detach())) for y in ys]
        grads = _C.grad(ys, flat, seeds, True, True, True)
        pairs = [(g, tensor(t, dtype_of(x))) for g, x, t in zip(grads, flat, tree.flatten(list(tangents)))
                 if g is not None]
        moved = _C.grad([pair[0] for pair in pairs], seeds, [pair[1] for pair in pairs], True, False, True)
    moved = [ops.zeros_like(y.detach()) if change is None else change for y, change in zip(ys, moved)]
    results = tree.map_structure(lambda y: tensor(y).detach(), made), tree.pack_sequence_as(made, moved)
    return (*results, aux) if has_aux else results
