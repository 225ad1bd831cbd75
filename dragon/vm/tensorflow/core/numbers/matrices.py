"""Products, decompositions and solutions of matrices."""
import collections

from dragon import _C
from dragon.vm.guest import named
from dragon.vm.shared.arrays.array import as_ints, at_least, check_axis
from dragon.vm.shared.arrays.moving import is_ragged, take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, int32
from dragon.vm.shared.tensors.operators import BOOL, mismatch, operand, refuse_dtype
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.numbers.rows import check_pair


def _pair(a, b, node):
    """Return two operands of one dtype as tensors."""
    a, b = check_pair(a, b, node)
    b = take(operand(a, b, node), None if isinstance(b, _C.Tensor) else a.dtype)
    return a, b


def _turned(x, transposed, adjoined, who):
    if transposed and adjoined:
        raise ValueError(f"{who}: only one of transposing and adjoining can be asked for. Received: True and True")
    if not transposed and not adjoined:
        return x
    x = ops.matrix_transpose(x)
    return ops.conj_physical(x) if adjoined and x.dtype.is_complex else x


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
           b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None):
    """Return products of matrices.

    Parameters
    ----------
    a, b : Tensor
        Matrices, or batches of them.
    transpose_a, transpose_b, adjoint_a, adjoint_b : bool, optional, default=False
        Whether an operand is transposed, or adjoined, first.
    a_is_sparse, b_is_sparse, name : optional
        Change no number.
    output_type : DType, optional
        The dtype of the products.
    grad_a, grad_b : bool, optional, default=False
        Must be False.

    Returns
    -------
    Tensor
        The products.

    Examples
    --------
    >>> tf.matmul([[1, 2], [3, 4]], [[1], [1]]).numpy().tolist()
    [[3], [7]]

    """
    if grad_a or grad_b:
        raise NotImplementedError(f"tf.matmul: grad_a and grad_b are not there. Received: grad_a={grad_a}, "
                                  f"grad_b={grad_b}")
    if is_ragged(a) or is_ragged(b):
        raise NotImplementedError("tf.matmul: ragged tensors are not supported")
    a, b = _pair(a, b, "MatMul")
    for place, side in enumerate((a, b)):
        if side.ndim < 2:
            raise invalid_argument(f"In[{place}] ndims must be >= 2: {side.ndim} [Op:MatMul]")
    if a.dtype is BOOL:
        raise refuse_dtype("MatMul", BOOL)
    a, b = _turned(a, transpose_a, adjoint_a, "tf.matmul"), _turned(b, transpose_b, adjoint_b, "tf.matmul")
    if a.shape[-1] != b.shape[-2]:
        raise invalid_argument(f"Matrix size-incompatible: In[0]: {tuple(a.shape)}, In[1]: {tuple(b.shape)} "
                               "[Op:MatMul]")
    if output_type is not None:
        a, b = ops.cast(a, as_dtype(output_type)), ops.cast(b, as_dtype(output_type))
    return ops.matmul(a, b)


def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """Return products of matrices and vectors."""
    a, b = _pair(a, b, "MatMul")
    return ops.squeeze(matmul(a, ops.unsqueeze(b, -1), transpose_a=transpose_a, adjoint_a=adjoint_a), -1)


def einsum(equation, *inputs, **kwargs):
    """Return products summed as an equation such as "ij,jk->ik" tells it.

    Parameters
    ----------
    equation : str
        Such as "ij,jk->ik".
    *inputs : Tensor
        The operands.
    **kwargs : Any
        `name`, and how TensorFlow would order the products; accepted.

    Returns
    -------
    Tensor
        With the axes that stand behind the arrow.

    Examples
    --------
    >>> a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([[1, 0], [0, 2]])
    >>> tf.einsum("ij,jk->ik", a, b).numpy().tolist()
    [[1, 4], [3, 8]]

    """
    kwargs.pop("name", None), kwargs.pop("optimize", None)
    if not isinstance(equation, str):
        raise TypeError(f"tf.einsum: the equation must be text. Received: {equation!r}")
    if kwargs:
        raise TypeError(f"Invalid keyword arguments for this function: {', '.join(kwargs)}. Expected: `optimize` or "
                        "`name`.")
    first = next((item for item in inputs if isinstance(item, _C.Tensor)), None)
    tensors = [take(item, None if first is None or isinstance(item, _C.Tensor) else first.dtype) for item in inputs]
    for place, item in enumerate(tensors):
        if item.dtype is not tensors[0].dtype:
            raise mismatch("Einsum", tensors[0], item.dtype, place)
    equation = equation.replace(" ", "")
    if equation.count(",") + 1 != len(tensors):
        raise ValueError(f"Expected {equation.count(',') + 1} inputs for the equation {equation}. Received: "
                         f"{len(tensors)}")
    return ops.einsum(equation, tensors)


def _place(axis, rank, who):
    """Return an axis from 0; one that is not there is an index outside of the shape."""
    if not -rank <= axis < rank:
        raise IndexError(f"{who}: got axis {axis}, expected one in the range [{-rank}, {rank})")
    return axis % rank


def tensordot(a, b, axes, name=None):
    """Return products summed over axes: so many last and first ones, or those named for both sides."""
    a, b = _pair(a, b, "MatMul")
    axes = as_ints(axes)
    if isinstance(axes, int):
        if axes < 0 or axes > min(a.ndim, b.ndim):
            raise ValueError(f"`axes` must not be larger than the number of dimensions of tensor. Received: {axes}")
        axes = [list(range(a.ndim - axes, a.ndim)), list(range(axes))]
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received axes={axes}.")
    one, other = ([side] if isinstance(side, int) else side for side in axes)
    one, other = ([_place(place, x.ndim, "tensordot") for place in side] for side, x in ((one, a), (other, b)))
    if [a.shape[place] for place in one] != [b.shape[place] for place in other]:
        raise invalid_argument(f"Matrix size-incompatible: {tuple(a.shape)} and {tuple(b.shape)} over {axes} "
                               "[Op:MatMul]")
    return ops.tensordot(a, b, one, other)


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """Return matrices with rows and columns exchanged."""
    a = take(a)
    if a.ndim < 2:
        raise ValueError(f"Argument `a` should be a (batch) matrix with rank >= 2. Received `a` = {a!r} with shape: "
                         f"{a.shape}")
    return _turned(a, not conjugate, conjugate, "tf.linalg.matrix_transpose")


# --- norms

def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """Return lengths of vectors or norms of matrices.

    Parameters
    ----------
    tensor : Tensor
        Real or complex numbers.
    ord : Union[str, float], optional, default="euclidean"
        "euclidean", "fro", 1, 2, inf or another positive number.
    axis : Union[int, Tuple[int, int]], optional
        The axis of vectors or the two of matrices; without it, all numbers are one vector.
    keepdims : bool, optional, default=False
        Whether the axes stay, with size 1.

    Returns
    -------
    Tensor
        The norms.

    """
    x, keep = take(tensor), bool(keepdims)
    axes = None if axis is None else as_ints(axis)
    is_matrix = isinstance(axes, list) and len(axes) == 2
    allowed = ("euclidean", "fro", 1, 2, float("inf")) if is_matrix else ("euclidean", 1, 2, float("inf"))
    if is_matrix and ord not in allowed or not is_matrix and (isinstance(ord, str) and ord != "euclidean"
                                                              or not isinstance(ord, str) and ord <= 0):
        raise ValueError(f"`ord` must be one of {allowed}{'' if is_matrix else ', or positive'}. Received: {ord!r}")
    if isinstance(axes, list) and not is_matrix:
        if len(axes) != 1:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers. Received: "
                             f"axis={axis}")
        axes = axes[0]
    absolute = ops.abs(x)
    if ord in ("euclidean", "fro") or ord == 2 and not is_matrix:
        made = ops.sqrt(ops.sum(ops.square(absolute), axes, keep))
    elif not is_matrix:
        if ord == float("inf"):
            made = ops.amax(absolute, axes, keep)
        elif ord == 1:
            made = ops.sum(absolute, axes, keep)
        else:
            made = ops.pow(ops.sum(ops.pow(absolute, ord), axes, keep), 1.0 / ord)
    else:
        places = [check_axis(place, x.ndim, "tf.norm") for place in axes]
        if places[0] == places[1]:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers. Received: "
                             f"axis={axis}")
        made = _matrix_norm(x, absolute, ord, places, keep)
    return ops.cast(made, x.dtype) if x.dtype.is_complex else made


def _matrix_norm(x, absolute, ord, axes, keep):
    rows, columns = axes
    if ord == 2:
        order = [place for place in range(x.ndim) if place not in axes] + axes
        made = ops.amax(ops.linalg_svdvals(ops.permute(x, order)), -1)
    else:
        inner, outer = (rows, columns) if ord == 1 else (columns, rows)
        made = ops.amax(ops.sum(absolute, inner, True), outer, True)
    shape = [1 if place in axes else size for place, size in enumerate(x.shape)]
    return ops.reshape(made, shape if keep else [size for place, size in enumerate(x.shape) if place not in axes])


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """Return the numbers divided by their norm, and the norm."""
    found = norm(tensor, ord, axis, keepdims=True)
    return take(tensor) / found, found


# --- diagonals and bands

def _check_align(align, who):
    if align not in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        raise ValueError(f"{who}: align must be one of RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT, RIGHT_RIGHT. Received: "
                         f"{align}")


def _bands(k, align, rows, columns, who):
    """Return [(number of a diagonal, its length, where it begins in a padded row)], from the uppermost."""
    _check_align(align, who)
    k = as_ints(k)
    if k == []:
        raise invalid_argument(f"{who}: k must be one number or two. Received: {k}")
    low, high = (k, k) if isinstance(k, int) else (k[0], k[-1])
    if low > high:
        raise invalid_argument(f"{who}: lower diagonal is above the upper one. Received: k={k}")
    # Asked before anything is counted: there may be more diagonals than anybody can go through.
    if low < 0 and (low <= -rows or not columns) or high > 0 and (high >= columns or not rows):
        raise invalid_argument(f"{who}: k is out of bounds for matrices of {rows} rows and {columns} columns. "
                               f"Received: k={k}")
    lengths = {number: min(rows + min(number, 0), columns - max(number, 0)) for number in range(low, high + 1)}
    width = max(lengths.values())
    upper, lower = align.split("_")
    bands = []
    for number in range(high, low - 1, -1):
        side = upper if number > 0 else lower if number < 0 else "LEFT"
        bands.append((number, lengths[number], width - lengths[number] if side == "RIGHT" else 0))
    return bands, width, low == high


def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """Return diagonals of matrices: the main one, that of number k, or those of a range, padded to one length."""
    x = at_least(take(input), 2, "tf.linalg.diag_part")
    bands, width, single = _bands(k, align, *x.shape[-2:], "tf.linalg.diag_part")
    found = []
    for number, length, begin in bands:
        band = ops.diagonal(x, number, -2, -1)
        found.append(ops.pad(band, [begin, width - length - begin], "constant", padding_value))
    return ops.clone(found[0]) if single else ops.stack(found, -2)


def _write_bands(x, diagonal, bands, single):
    """Return matrices with other diagonals."""
    for place, (number, length, begin) in enumerate(bands):
        band = diagonal if single else diagonal[..., place, :]
        band = ops.narrow(band, -1, begin, length)
        rows = ops.arange(0, length, dtype="int64") - min(number, 0)
        columns = ops.arange(0, length, dtype="int64") + max(number, 0)
        flat = ops.reshape(x, (*x.shape[:-2], -1))
        index = ops.broadcast_to(rows * x.shape[-1] + columns, (*x.shape[:-2], length))
        band = ops.broadcast_to(band, (*x.shape[:-2], length))
        x = ops.reshape(ops.scatter(flat, -1, index, band), tuple(x.shape))
    return x


def diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Return matrices that hold diagonals: the main one, that of number k, or those of a range."""
    x = at_least(take(diagonal), 1, "tf.linalg.diag")
    numbers = as_ints(k)
    low, high = (numbers, numbers) if isinstance(numbers, int) else (numbers[0], numbers[-1])
    length = x.shape[-1]
    rows, columns = int(num_rows), int(num_cols)
    needed_rows, needed_columns = length - min(high, 0), length + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = max(needed_rows, needed_columns)
    rows = max(needed_rows, (columns if columns != -1 else 0) - max(high, 0)) if rows == -1 else rows
    if columns == -1:
        columns = needed_columns
    bands, _, single = _bands(k, align, rows, columns, "tf.linalg.diag")
    batch = tuple(x.shape[:-1] if single else x.shape[:-2])
    return _write_bands(ops.full((*batch, rows, columns), padding_value, dtype=x.dtype), x, bands, single)


def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """Return matrices with other diagonals."""
    x, band = _pair(input, diagonal, "MatrixSetDiagV3")
    at_least(x, 2, "tf.linalg.set_diag"), at_least(band, 1, "tf.linalg.set_diag")
    bands, _, single = _bands(k, align, *x.shape[-2:], "tf.linalg.set_diag")
    return _write_bands(ops.clone(x), band, bands, single)


def band_part(input, num_lower, num_upper, name=None):
    """Return matrices with zeros outside of a band around the main diagonal; -1 leaves all on that side."""
    x, lower, upper = at_least(take(input), 2, "MatrixBandPart"), int(num_lower), int(num_upper)
    for word, count, size in (("num_lower", lower, x.shape[-2]), ("num_upper", upper, x.shape[-1])):
        if count > size:
            raise invalid_argument(f"{word} must be negative or less or equal to {size}, got {count} "
                                   "[Op:MatrixBandPart]")
    x = ops.triu(x, -lower) if lower >= 0 else x
    x = ops.tril(x, upper) if upper >= 0 else x
    return convert_to_tensor(x)


def tensor_diag(diagonal, name=None):
    """Return a tensor with axes twice, which holds the numbers where both are equal."""
    x = take(diagonal)
    return ops.reshape(ops.diag_embed(ops.reshape(x, (-1,))), (*x.shape, *x.shape))


def tensor_diag_part(input, name=None):
    """Return the numbers where the first half of the axes equals the second."""
    x = take(input)
    half = x.ndim // 2
    if x.ndim % 2 or tuple(x.shape[:half]) != tuple(x.shape[half:]):
        raise invalid_argument(f"Both halves of the shape must be equal. Received shape {x.shape} [Op:DiagPart]")
    count = 1
    for size in x.shape[:half]:
        count *= size
    return ops.reshape(ops.diagonal(ops.reshape(x, (count, count))), tuple(x.shape[:half]))


def trace(x, name=None):
    """Return sums of main diagonals."""
    x = take(x)
    return ops.sum(ops.diagonal(x, 0, -2, -1), -1, dtype=x.dtype)


def cross(a, b, name=None):
    """Return vector products of triples."""
    a, b = _pair(a, b, "Cross")
    if tuple(a.shape) != tuple(b.shape) or not a.ndim or a.shape[-1] != 3:
        raise invalid_argument(f"Both inputs must be of the same shape, with 3 elements in the last axis. Received "
                               f"shapes {a.shape} and {b.shape} [Op:Cross]")
    return ops.linalg_cross(a, b, axis=-1)


# --- decompositions

def _square(x):
    x = take(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise invalid_argument(f"Input matrix must be square. Received shape {x.shape}")
    return x


def cholesky(input, name=None):
    """Return lower triangles whose products with their adjoints the matrices are."""
    x = _square(input)
    try:
        return ops.linalg_cholesky(x)  # reads the lower triangle; the gradient is one of both
    except _C.LinAlgError as error:
        raise invalid_argument(f"Cholesky decomposition was not successful. The input might not be valid: {error} "
                               "[Op:Cholesky]") from None


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """Return singular values, and left and right singular vectors in columns if asked."""
    x = take(tensor)
    if not compute_uv:
        return ops.linalg_svdvals(x)
    u, s, vh = ops.linalg_svd(x, full_matrices)
    return s, u, adjoint(vh)


Qr = collections.namedtuple("Qr", ["q", "r"])
Qr.__doc__ = "Orthogonal and triangular factors."
Lu = collections.namedtuple("Lu", ["lu", "p"])
Lu.__doc__ = "Both triangles in one matrix, and the order of the rows."
LogMatrixDeterminant = collections.namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])
LogMatrixDeterminant.__doc__ = "Determinants as signs and logarithms."


def qr(input, full_matrices=False, name=None):
    """Return orthogonal and triangular factors."""
    return Qr(*ops.linalg_qr(take(input), mode="complete" if full_matrices else "reduced"))


def lu(input, output_idx_type=int32, name=None):
    """Return both triangular factors in one matrix, and the order of the rows."""
    packed, pivots = ops.linalg_lu_factor(_square(input))
    return Lu(packed, ops.cast(_order(pivots, packed.shape[-1]), as_dtype(output_idx_type)))


def _order(pivots, size):
    """Return the order of the rows that exchanges one after the other lead to."""
    import numpy as np
    swaps = pivots.numpy().reshape(-1, pivots.shape[-1])
    orders = np.tile(np.arange(size), (len(swaps), 1))
    for order, row in zip(orders, swaps):
        for place, other in enumerate(row):
            order[[place, other - 1]] = order[[other - 1, place]]
    return convert_to_tensor(orders.reshape(*pivots.shape[:-1], size))


def _of_lower(x):
    """Return self-adjoint matrices of their lower triangles, which alone have a gradient then."""
    return ops.tril(x) + _turned(ops.tril(x, -1), False, True, "tf.linalg.eigh")


def eigh(tensor, name=None):
    """Return eigenvalues, ascending, and eigenvectors in columns of self-adjoint matrices."""
    x = _square(tensor)
    values, vectors = ops.linalg_eigh(_of_lower(x))
    return ops.cast(values, x.dtype), vectors


def eigvalsh(tensor, name=None):
    """Return eigenvalues, ascending, of self-adjoint matrices."""
    x = _square(tensor)
    return ops.cast(ops.linalg_eigvalsh(_of_lower(x)), x.dtype)


def slogdet(input, name=None):
    """Return signs and logarithms of absolute values of determinants."""
    x = _square(input)
    sign, logarithm = ops.linalg_slogdet(x)
    return LogMatrixDeterminant(sign, ops.cast(logarithm, x.dtype))


def logdet(matrix, name=None):
    """Return logarithms of determinants of positive definite matrices."""
    return 2.0 * ops.sum(ops.log(ops.real(ops.diagonal(cholesky(matrix), 0, -2, -1))), -1)


def _by_values(x, function):
    """Return a function of matrices by their eigenvalues; NaN where that of a real one is not real."""
    values, vectors = ops.linalg_eig(x)
    made = ops.matmul(vectors * ops.unsqueeze(function(values), -2), ops.linalg_inv(vectors))
    if x.dtype.is_complex:
        return made
    if not x.shape[-1]:
        return ops.cast(ops.real(made), x.dtype)
    size = ops.amax(ops.abs(made), [-2, -1], True)
    real = ops.le(ops.amax(ops.abs(ops.imag(made)), [-2, -1], True), 1e-3 * size)
    return ops.cast(ops.where(real, ops.real(made), float("nan")), x.dtype)


adjoint = named(lambda matrix, name=None: _turned(take(matrix), False, True, "tf.linalg.adjoint"), "adjoint",
                "Return matrices with rows and columns exchanged, conjugated.")
eig = named(lambda tensor, name=None: tuple(ops.linalg_eig(_square(tensor))), "eig",
            "Return eigenvalues and eigenvectors in columns, as complex numbers.")
eigvals = named(lambda tensor, name=None: ops.linalg_eigvals(_square(tensor)), "eigvals",
                "Return eigenvalues as complex numbers.")
det = named(lambda input, name=None: ops.linalg_det(_square(input)), "det", "Return determinants.")
expm = named(lambda input, name=None: ops.linalg_matrix_exp(_square(input)), "expm", "Return powers of e of matrices.")
sqrtm = named(lambda input, name=None: _by_values(_square(input), ops.sqrt), "sqrtm",
              "Return matrices whose squares the matrices are.")


def logm(input, name=None):
    """Return logarithms of complex matrices."""
    x = _square(input)
    if not x.dtype.is_complex:
        raise refuse_dtype("MatrixLogarithm", x.dtype)
    return _by_values(x, ops.log)
