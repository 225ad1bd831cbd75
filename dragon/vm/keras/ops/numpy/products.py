"""Products of matrices and other sums of products."""
from dragon.vm.keras.ops.common import (canonical_axis, cast_to, dtype_of, floatx, join_tensors, operation, ops,
                                        result_type, tensor, total)


def _multiply(compute, *xs, result=None):
    """Multiply in the common dtype, where integers are exact and wrap around; truths are counted."""
    xs = [tensor(x) for x in xs]
    result = result_type(*map(dtype_of, xs)) if result is None else result
    work = "int32" if result == "bool" else result
    return cast_to(compute(*[cast_to(x, work) for x in xs]), result)


@operation
def matmul(x1, x2):
    """Return the product of matrices; further axes are broadcast.

    Parameters
    ----------
    x1, x2 : Tensor
        Matrices, or vectors.

    Returns
    -------
    Tensor
        In the dtype they have in common; int32 for int8.

    Examples
    --------
    >>> np.asarray(keras.ops.matmul(np.array([[1, 2], [3, 4]]), np.array([[1], [1]])))
    array([[3],
           [7]])

    """
    x1, x2 = tensor(x1), tensor(x2)
    if dtype_of(x1) == dtype_of(x2) == "int8" and x1.ndim != 1 and x2.ndim != 1:
        return _multiply(ops.matmul, x1, x2, result="int32")
    return _multiply(ops.matmul, x1, x2)


def _contract(x1, x2, place):
    """Sum products over the last axis of `x1` and one of `x2`, counted from its end; numbers only multiply."""
    def compute(x1, x2):
        if not x1.ndim or not x2.ndim:
            return ops.mul(x1, x2)
        return ops.tensordot(x1, x2, [x1.ndim - 1], [max(x2.ndim - place, 0)])
    return _multiply(compute, x1, x2)


@operation
def dot(x1, x2):
    """Return sums of products over the last axis of `x1` and the second to last (or only) one of `x2`."""
    return _contract(x1, x2, 2)


@operation
def inner(x1, x2):
    """Return sums of products over the last axes."""
    x1, x2 = tensor(x1), tensor(x2)
    if x1.ndim and x2.ndim and x1.shape[-1] != x2.shape[-1]:
        raise ValueError("inner: the last dimension of both operands must be the same. "
                         f"Received: x1.shape={tuple(x1.shape)}, x2.shape={tuple(x2.shape)}")
    return _contract(x1, x2, 1)


@operation
def vdot(x1, x2):
    """Return the sum of products of all elements."""
    def compute(x1, x2):
        return ops.tensordot(ops.reshape(x1, (-1,)), ops.reshape(x2, (-1,)), [0], [0])
    return _multiply(compute, x1, x2)


@operation
def tensordot(x1, x2, axes=2):
    """Return sums of products over axes.

    Parameters
    ----------
    x1, x2 : Tensor
        The operands.
    axes : Union[int, Tuple[Sequence[int], Sequence[int]]], optional, default=2
        The axes of each, or how many of the last and first.

    Returns
    -------
    Tensor
        The other axes of `x1`, then those of `x2`.

    """
    x1, x2 = tensor(x1), tensor(x2)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise ValueError("`axes` must not be larger than the number of dimensions of `x1` and `x2`. "
                             f"Received: axes={axes}, x1.shape={tuple(x1.shape)}, x2.shape={tuple(x2.shape)}")
        first, second = list(range(x1.ndim - axes, x1.ndim)), list(range(axes))
    else:
        first, second = ([item] if isinstance(item, int) else list(item) for item in axes)
    first = [canonical_axis(item, x1.ndim) for item in first]
    second = [canonical_axis(item, x2.ndim) for item in second]
    return _multiply(lambda x1, x2: ops.tensordot(x1, x2, first, second), x1, x2)


def einsum(subscripts, *operands, **kwargs):
    """Return sums of products that letters describe.

    Parameters
    ----------
    subscripts : str
        Letters for the axes of each operand, and of the result: "ij,jk->ik".
    *operands : Tensor
        The operands.

    Returns
    -------
    Tensor
        In the dtype they have in common.

    """
    unknown = set(kwargs) - {"optimize"}
    if unknown:
        raise TypeError(f"einsum: unsupported keyword arguments. Received: {sorted(unknown)}")
    return _einsum(*operands, subscripts=subscripts)


@operation
def _einsum(*operands, subscripts):
    """Return `einsum`: in graphs, the letters are what is configured."""
    if not isinstance(subscripts, str):
        raise TypeError(f"einsum: `subscripts` must be a string. Received: subscripts={subscripts}")
    operands = [tensor(operand) for operand in operands]
    result = "int32" if set(map(dtype_of, operands)) == {"int8"} else None
    return _multiply(lambda *xs: ops.einsum(subscripts.replace(" ", ""), list(xs)), *operands, result=result)


@operation
def outer(x1, x2):
    """Return the products of each element of `x1` with each of `x2`."""
    x1, x2 = join_tensors(x1, x2)
    return ops.mul(ops.reshape(x1, (-1, 1)), ops.reshape(x2, (-1,)))


@operation
def kron(x1, x2):
    """Return Kronecker's product: `x2` times each element of `x1`, in place of it."""
    x1, x2 = join_tensors(x1, x2)
    return ops.kron(x1, x2)


@operation
def cross(x1, x2, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Return vectors at right angles to pairs of vectors.

    Parameters
    ----------
    x1, x2 : Tensor
        Vectors of 2 or 3 numbers.
    axisa, axisb, axisc : int, optional, default=-1
        The axes of the vectors, in `x1`, `x2` and the result.
    axis : int, optional
        Takes the place of all three.

    Returns
    -------
    Tensor
        Vectors of 3 numbers, or single ones for pairs of 2.

    """
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    x1, x2 = join_tensors(x1, x2)
    x1, x2 = ops.moveaxis(x1, axisa, -1), ops.moveaxis(x2, axisb, -1)
    sizes = x1.shape[-1], x2.shape[-1]
    if not set(sizes) <= {2, 3}:
        raise ValueError("`x1`'s dim on `axis={axisa}` and `x2`'s dim on `axis={axisb}` must be either 2 or 3. "
                         f"Received: x1.shape={tuple(x1.shape)}, x2.shape={tuple(x2.shape)}")
    if sizes == (2, 2):
        (a, b), (c, d) = ops.unbind(x1, -1), ops.unbind(x2, -1)
        return ops.sub(ops.mul(a, d), ops.mul(b, c))
    x1, x2 = (ops.pad(x, [0, 1]) if x.shape[-1] == 2 else x for x in (x1, x2))
    (a, b, c), (d, e, f) = ops.unbind(x1, -1), ops.unbind(x2, -1)
    parts = [ops.sub(ops.mul(b, f), ops.mul(c, e)), ops.sub(ops.mul(c, d), ops.mul(a, f)),
             ops.sub(ops.mul(a, e), ops.mul(b, d))]
    return ops.moveaxis(ops.stack(parts, -1), -1, axisc)


@operation
def trace(x, offset=0, axis1=0, axis2=1):
    """Return the sum of a diagonal; the arguments are those of `diagonal`."""
    return total(ops.sum, ops.diagonal(tensor(x), offset, axis1, axis2), -1)


@operation
def vander(x, N=None, increasing=False):
    """Return the powers of each element.

    Parameters
    ----------
    x : Tensor
        One axis.
    N : int, optional
        How many powers, by default as many as elements.
    increasing : bool, optional, default=False
        Begin with power 0.

    Returns
    -------
    Tensor
        A row for each element.

    """
    x = tensor(x)
    if x.ndim != 1:
        raise ValueError(f"Input tensor must be of rank 1. Received: x.shape={tuple(x.shape)}")
    if N is not None and N < 0:
        raise ValueError(f"Argument 'N' must be nonnegative. Received: N={N}")
    dtype = dtype_of(x)
    N = x.shape[0] if N is None else N
    work = "int32" if dtype == "bool" else dtype
    powers = ops.arange(N, dtype=work) if increasing else ops.arange(N - 1, -1, -1, dtype=work)
    return cast_to(ops.pow(cast_to(ops.unsqueeze(x, -1), work), powers), dtype)


@operation
def corrcoef(x):
    """Return the correlation of each row with each other."""
    x = tensor(x)
    dtype = dtype_of(x)
    x = x if "float" in dtype or "complex" in dtype else cast_to(x, "float64" if dtype == "int64" else floatx())
    if not x.ndim:
        return ops.full((), float("nan"), dtype=floatx())
    alone = x.ndim == 1
    x = ops.unsqueeze(x, 0) if alone else x
    centred = ops.sub(x, ops.mean(x, -1, True))
    products = ops.div(ops.matmul(centred, ops.matrix_transpose(ops.conj_physical(centred))), x.shape[-1] - 1)
    spread = ops.sqrt(ops.real(ops.diagonal(products, 0, -2, -1)))
    made = ops.div(products, ops.mul(ops.unsqueeze(spread, -1), ops.unsqueeze(spread, -2)))
    if "complex" in dtype:
        made = ops.complex(ops.clamp(ops.real(made), -1, 1), ops.clamp(ops.imag(made), -1, 1))
    else:
        made = ops.clamp(made, -1, 1)
    return ops.reshape(made, ()) if alone else made


@operation
def correlate(x1, x2, mode="valid"):
    """Return sums of products of a row with another that moves along it.

    Parameters
    ----------
    x1, x2 : Tensor
        Rows.
    mode : str, optional, default="valid"
        "valid" where they overlap wholly, "full" where at all, "same" for as many results as the longer one has.

    Returns
    -------
    Tensor
        Floating sums.

    """
    if mode not in ("valid", "same", "full"):
        raise ValueError("Invalid mode. Mode must be one of: 'full', 'same', 'valid'. "
                         f"Received: mode={mode}")
    x1, x2 = tensor(x1), tensor(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError("`x1` and `x2` must be rows. "
                         f"Received: x1.shape={tuple(x1.shape)}, x2.shape={tuple(x2.shape)}")
    dtype = result_type(dtype_of(x1), dtype_of(x2))
    dtype = "float64" if dtype == "int64" else dtype if "float" in dtype else "float32"
    x1, x2 = (ops.reshape(cast_to(x, dtype), (1, 1, -1)) for x in (x1, x2))
    ends = 0 if mode == "valid" else x2.shape[-1] - 1
    found = ops.reshape(ops.conv(x1, x2, None, [1], [ends]), (-1,))
    if mode != "same":
        return found
    size = max(x1.shape[-1], x2.shape[-1])
    return ops.narrow(found, 0, (found.shape[0] - size) // 2, size)
