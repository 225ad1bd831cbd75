"""Tensors from nothing, and windows."""
import math

from dragon.vm.keras.ops.common import (as_axis, canonical_dtype, cast_to, concrete, convert_to_tensor, dtype_of,
                                        fitted, floatx, is_number, named, operation, ops, result_type,
                                        standardize_dtype, tensor)


@operation
def array(x, dtype=None):
    """Return something as a tensor, see `convert_to_tensor`."""
    return convert_to_tensor(x, dtype)


def zeros(shape, dtype=None):
    """Return zeros. ...

    Examples
    --------
    >>> np.asarray(keras.ops.zeros((2, 3)))
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)

    """
    return ops.zeros(concrete(shape), dtype=canonical_dtype(dtype))


def ones(shape, dtype=None):
    """Return ones; the arguments are those of `zeros`.

    Parameters
    ----------
    shape : Sequence[int]
        The sizes of the axes.
    dtype : str, optional
        The default floating dtype by default.

    Returns
    -------
    Tensor
        Of that shape.

    Examples
    --------
    >>> np.asarray(keras.ops.ones((2,), dtype="int32"))
    array([1, 1], dtype=int32)

    """
    return ops.ones(concrete(shape), dtype=canonical_dtype(dtype))


def empty(shape, dtype=None):
    """Return a tensor to be overwritten, of zeros; the arguments are those of `zeros`."""
    return zeros(shape, dtype)


@operation
def full(shape, fill_value, dtype=None):
    """Return a tensor of one number.

    Parameters
    ----------
    fill_value : Union[number, Tensor]
        The number; a tensor is broadcast.

    """
    dtype = canonical_dtype(dtype)
    if is_number(fill_value):
        return ops.full(concrete(shape), fitted(fill_value, dtype), dtype=dtype)
    return ops.clone(ops.broadcast_to(tensor(fill_value, dtype), concrete(shape)))


def _like(x, dtype):
    x = tensor(x)
    return x, dtype_of(x) if dtype is None else standardize_dtype(dtype)


def _filled(name, doc, compute):
    """Return a function that fills the shape of a tensor."""
    def function(x, dtype=None):
        x, dtype = _like(x, dtype)
        return compute(x, dtype=dtype)
    return named(function, name, doc)


zeros_like = _filled("zeros_like", "Return zeros in the shape of a tensor, in its dtype unless another is named.",
                     ops.zeros_like)
ones_like = _filled("ones_like", "Return ones in the shape of a tensor, in its dtype unless another is named.",
                    ops.ones_like)
empty_like = _filled("empty_like", "Return zeros in the shape of a tensor, to be overwritten.", ops.zeros_like)


@operation
def full_like(x, fill_value, dtype=None):
    """Return one number in the shape of a tensor, in its dtype unless another is named."""
    x, dtype = _like(x, dtype)
    if is_number(fill_value):
        return ops.full_like(x, fitted(fill_value, dtype or dtype_of(x)), dtype=dtype)
    return ops.clone(ops.broadcast_to(tensor(fill_value, dtype), x.shape))


@operation
def arange(start, stop=None, step=None, dtype=None):
    """Return numbers from `start` up to, not including, `stop`.

    Parameters
    ----------
    start : number
        The first number; the end, if it stands alone.
    stop : number, optional
        The end.
    step : number, optional
        The distance of neighbours, by default 1.
    dtype : str, optional
        By default the common one of the arguments.

    Returns
    -------
    Tensor
        One axis.

    Examples
    --------
    >>> np.asarray(keras.ops.arange(1, 10, 3))
    array([1, 4, 7], dtype=int32)

    """
    given = [item for item in (start, stop, step) if item is not None]
    if not all(is_number(item) or hasattr(item, "item") for item in given):
        raise TypeError(f"arange: expected numbers. Received: start={start}, stop={stop}, step={step}")
    dtype = result_type(*map(dtype_of, given)) if dtype is None else standardize_dtype(dtype)
    start, stop, step = (item if item is None or is_number(item) else item.item() for item in (start, stop, step))
    start, stop = (0, start) if stop is None else (start, stop)
    return ops.arange(start, stop, 1 if step is None else step, dtype=dtype)


@operation
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """Return numbers at equal distances.

    Parameters
    ----------
    start, stop : Union[number, Tensor]
        The ends.
    num : int, optional, default=50
        How many.
    endpoint : bool, optional, default=True
        Whether `stop` is the last of them.
    retstep : bool, optional, default=False
        Return the distance as well.
    dtype : str, optional
        A floating one by default.
    axis : int, optional, default=0
        Along which new axis the numbers run if the ends are tensors.

    Returns
    -------
    Union[Tensor, Tuple[Tensor, Tensor]]
        The numbers, and their distance.

    """
    if as_axis(num, "num") < 0:
        raise ValueError(f"`num` must be a non-negative integer. Received: num={num}")
    dtype = result_type(dtype_of(start), dtype_of(stop), float) if dtype is None else standardize_dtype(dtype)
    work = dtype if "float" in dtype else "float64" if "int" in dtype else floatx()
    steps = num - 1 if endpoint else num
    start, stop = tensor(start, dtype), tensor(stop, dtype)
    start, stop = cast_to(start, work), cast_to(stop, work)
    step = ops.div(ops.sub(stop, start), steps) if steps > 0 else ops.full((), math.nan, dtype=work)
    line = ops.reshape(ops.arange(num, dtype=work), (-1,) + (1,) * step.ndim)
    if steps <= 0:
        made = ops.broadcast_to(start, (num, *start.shape))
    else:
        made = ops.add(start, ops.mul(line, step))
        if endpoint:
            made = ops.where(ops.eq(line, steps), stop, made)
    made = ops.moveaxis(made, 0, axis) if axis else made
    made = cast_to(ops.floor(made) if "int" in dtype else made, dtype)
    return (made, step) if retstep else made


@operation
def logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0):
    """Return powers of `base` at equal distances of their exponents; the arguments are those of `linspace`."""
    exponents = linspace(start, stop, num, endpoint, dtype=dtype, axis=axis)
    return ops.pow(tensor(base, dtype_of(exponents)), exponents)


@operation
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Return numbers in equal proportion; the arguments are those of `linspace`."""
    start, stop = tensor(start), tensor(stop)
    work = canonical_dtype(dtype)
    ends = [ops.div(ops.log(cast_to(ops.abs(end), work)), math.log(10.0)) for end in (start, stop)]
    made = logspace(*ends, num=num, endpoint=endpoint, dtype=dtype, axis=axis)
    return ops.mul(made, cast_to(ops.sgn(start), dtype_of(made)))


def eye(N, M=None, k=0, dtype=None):
    """Return a matrix with ones on a diagonal.

    Parameters
    ----------
    N : int
        Rows.
    M : int, optional
        Columns, by default as many.
    k : int, optional, default=0
        Which diagonal: above the main one if positive.

    Returns
    -------
    Tensor
        The matrix.

    """
    N, M, k = as_axis(N, "N"), as_axis(N if M is None else M, "M"), as_axis(k, "k")
    if not k:
        return ops.eye(N, M, dtype=canonical_dtype(dtype))
    rows, columns = ops.unsqueeze(ops.arange(N), 1), ops.arange(M)
    return cast_to(ops.eq(ops.sub(columns, rows), k), canonical_dtype(dtype))


def identity(n, dtype=None):
    """Return the identity matrix of `n` rows."""
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None):
    """Return a matrix with ones on a diagonal and below it; the arguments are those of `eye`."""
    M = N if M is None else M
    return ops.tril(ops.ones((int(N), int(M)), dtype=canonical_dtype(dtype)), int(k))


@operation
def meshgrid(*x, indexing="xy"):
    """Return grids of coordinates.

    Parameters
    ----------
    *x : Tensor
        The coordinates along each axis.
    indexing : str, optional, default="xy"
        "ij" counts rows first, "xy" columns.

    Returns
    -------
    List[Tensor]
        One grid for each of `x`.

    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Valid values for `indexing` are 'xy' and 'ij'. Received: indexing={indexing}")
    return list(ops.meshgrid([ops.reshape(tensor(item), (-1,)) for item in x], indexing))


def _window_places(x):
    """Return the length of a window, its places, and the last of them."""
    size = int(x)
    return size, ops.arange(size, dtype=floatx()), max(size - 1, 1)


def _cosines(x, *terms):
    size, places, last = _window_places(x)
    if size == 1:
        return ops.ones((1,), dtype=floatx())
    made = terms[0]
    for order, term in enumerate(terms[1:], 1):
        made = ops.add(ops.mul(ops.cos(ops.mul(places, 2 * math.pi * order / last)), term), made)
    return made


def bartlett(x):
    """Return Bartlett's window, a triangle, of `x` places."""
    size, places, last = _window_places(x)
    if size == 1:
        return ops.ones((1,), dtype=floatx())
    return ops.sub(1.0, ops.abs(ops.sub(ops.div(places, last / 2), 1.0)))


def blackman(x):
    """Return Blackman's window of `x` places."""
    return _cosines(x, 0.42, -0.5, 0.08)


def hamming(x):
    """Return Hamming's window of `x` places."""
    return _cosines(x, 0.54, -0.46)


def hanning(x):
    """Return von Hann's window of `x` places."""
    return _cosines(x, 0.5, -0.5)


def kaiser(x, beta):
    """Return Kaiser's window of `x` places and shape `beta`."""
    size, places, last = _window_places(x)
    if size == 1:
        return ops.ones((1,), dtype=floatx())
    beta = float(beta)
    across = ops.sub(ops.div(ops.mul(places, 2.0), last), 1.0)
    root = ops.sqrt(ops.maximum(ops.sub(1.0, ops.square(across)), 0.0))
    # Scaled Bessel functions do not overflow for wide windows.
    high = ops.mul(root, beta)
    return ops.div(ops.mul(ops.i0e(high), ops.exp(ops.sub(high, beta))), ops.i0e(tensor(beta)))
