"""Functions of single elements or rows, lifted to whole tensors; differences and the like that need several steps."""
import functools
import re

from dragon.vm.keras.ops.common import as_axis, canonical_axis, dtype_of, operation, ops, tensor


@operation
def diff(a, n=1, axis=-1):
    """Return the differences of neighbours.

    Parameters
    ----------
    a : Tensor
        The numbers.
    n : int, optional, default=1
        How often.
    axis : int, optional, default=-1
        Along which axis.

    Returns
    -------
    Tensor
        With `n` places less along the axis.

    """
    a, n = tensor(a), as_axis(n, "n")
    if n < 0:
        raise ValueError(f"Order `n` must be non-negative. Received n={n}")
    if a.ndim == 0:
        raise ValueError(f"`diff` requires input that is at least one dimensional. Received: a={a}")
    axis = canonical_axis(axis, a.ndim)
    if n >= a.shape[axis]:  # nothing is left
        return ops.narrow(a, axis, 0, 0)
    for _ in range(n):
        after, before = ops.slice(a, axis, 1), ops.slice(a, axis, 0, -1)
        a = ops.ne(after, before) if dtype_of(a) == "bool" else ops.sub(after, before)
    return a


def vectorize(pyfunc, *, excluded=None, signature=None):
    """Lift a function of single elements to tensors.

    Parameters
    ----------
    pyfunc : Callable
        Takes scalars, or what the signature says.
    excluded : Set[Union[int, str]], optional
        Arguments that are handed on as they are.
    signature : str, optional
        The axes of arguments and results: "(n),(n)->()".

    Returns
    -------
    Callable
        Takes tensors, whose further axes are broadcast.

    """
    if not callable(pyfunc):
        raise ValueError(f"Expected argument `pyfunc` to be a callable. Received: pyfunc={pyfunc}")
    excluded = set() if excluded is None else set(excluded)
    before, after = (None, None) if signature is None else _axes_of(signature)

    @functools.wraps(pyfunc)
    def lifted(*args, **kwargs):
        places = [place for place in range(len(args)) if place not in excluded]
        tensors = [tensor(args[place]) for place in places]
        own = [[]] * len(tensors) if before is None else before
        if len(own) != len(tensors):
            raise TypeError(f"vectorize: the signature names {len(own)} arguments. Received: {len(tensors)}")
        sizes = {}
        for x, axes in zip(tensors, own):
            _check_axes(x, axes, sizes, "argument")
        outer = _broadcast([x.shape[:x.ndim - len(axes)] for x, axes in zip(tensors, own)])
        rows = []
        for x, axes in zip(tensors, own):
            inner = tuple(x.shape[x.ndim - len(axes):])
            rows.append(ops.unbind(ops.reshape(ops.broadcast_to(x, (*outer, *inner)), (-1, *inner))))
        results = []
        for items in zip(*rows):
            given = list(args)
            for place, item in zip(places, items):
                given[place] = item
            results.append(pyfunc(*given, **kwargs))
        if not results:
            raise ValueError(f"vectorize: got arguments of shapes {[tuple(x.shape) for x in tensors]}, "
                             "without elements, expected one at least, to see what the function makes of it")
        if not isinstance(results[0], (tuple, list)):
            return _gathered(results, outer, after and after[0], sizes)
        return tuple(_gathered(column, outer, after and after[place % len(after)], sizes)
                     for place, column in enumerate(zip(*results)))
    return lifted


_GROUP = r"\((?:\w+(?:,\w+)*)?\)"
_SIGNATURE = re.compile(f"{_GROUP}(?:,{_GROUP})*->{_GROUP}(?:,{_GROUP})*")


def _axes_of(signature):
    """Return the names of the axes of each argument and of each result."""
    if not isinstance(signature, str):
        raise TypeError(f"vectorize: got signature={signature!r}, expected a string such as '(n),(n)->()'")
    signature = re.sub(r"\s", "", signature)
    if not _SIGNATURE.fullmatch(signature):
        raise ValueError(f"not a valid gufunc signature: {signature}")
    return [[re.findall(r"\w+", group) for group in re.findall(r"\(([^)]*)\)", side)]
            for side in signature.split("->")]


def _check_axes(x, axes, sizes, what):
    """Note how large named axes are, the last ones of a tensor, or see that they are as large as before."""
    if x.ndim < len(axes) or any(sizes.setdefault(name, size) != size
                                 for name, size in zip(axes, x.shape[x.ndim - len(axes):])):
        raise ValueError(f"vectorize: got an {what} of shape {tuple(x.shape)}, expected one that ends with the axes "
                         f"({', '.join(f'{name}={sizes[name]}' if name in sizes else name for name in axes)})")


def _gathered(results, outer, axes=None, sizes=None):
    made = ops.stack([tensor(result) for result in results])
    if axes is not None:
        if made.ndim - 1 != len(axes):
            raise ValueError(f"output shape {tuple(made.shape[1:])} does not match core dimensions ({', '.join(axes)})")
        _check_axes(made, axes, sizes, "output")
    return ops.reshape(made, (*outer, *made.shape[1:]))


def _broadcast(shapes):
    """Return the shape that shapes are broadcast to."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    made = []
    for sizes in zip(*padded):
        size = max(sizes) if 0 not in sizes else 0
        if any(item not in (1, size) for item in sizes):
            raise ValueError(f"Shapes cannot be broadcast. Received: {[tuple(shape) for shape in shapes]}")
        made.append(size)
    return tuple(made)
