"""Functions of keras.ops, when a ragged or sparse tensor comes along.

Those of dense tensors need not ask: `teach` replaces them when the first ragged or sparse tensor of a process is about
to be made.
"""
import functools
import inspect
from math import prod

from dragon.vm.keras.core import convert, tree
from dragon.vm.keras.core.operation import known_operations
from dragon.vm.keras.core.shape_rules import compute_transpose_output_shape
from dragon.vm.keras.ops.common import canonical_axis, dtype_of, ops, result_type, tensor
from dragon.vm.keras.ops.numpy.pointwise import divide
from dragon.vm.shared.ragged import listeners

# Files whose functions, but for some, go through numbers one by one, and further functions that do.
POINTWISE_FILES = ("numpy.pointwise", "numpy.logic", "nn.activations")
ACROSS = frozenset("softmax log_softmax sparsemax glu polar allclose array_equal isin".split())
POINTWISE = frozenset("cast saturate_cast copy where ones_like zeros_like".split())
# Of two operands: what is there where both are, where one of them is, or where the first is.
UNIONS = {"add": "sum", "maximum": "amax", "minimum": "amin"}


def _is_sparse(x):
    return hasattr(x, "dense_shape")


def holds_parted(args, kwargs):
    """Return whether an argument, or an item of one, is a ragged or sparse tensor."""
    return any(convert.is_parted(item) for value in (*args, *kwargs.values())
               for item in (value if isinstance(value, (list, tuple)) else (value,)))


def knowing(function, name, is_pointwise, keeps_zeros=False):
    """Return a function that knows ragged and sparse tensors."""
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if not holds_parted(args, kwargs):
            return function(*args, **kwargs)
        leaves = [leaf for leaf in tree.flatten((args, kwargs)) if convert.is_parted(leaf)]
        if all(map(_is_sparse, leaves)):
            found = _of_sparse(function, name, keeps_zeros, args, kwargs)
            if found is NotImplemented:
                args, kwargs = tree.map_structure(convert.dense_of, (args, kwargs))
                found = function(*args, **kwargs)
            return found
        return _of_ragged(function, name, is_pointwise, args, kwargs)
    return wrapper


# --- sparse tensors

def _of_sparse(function, name, keeps_zeros, args, kwargs):
    """Return the result that is sparse, or what needs no dense tensor of all zeros; NotImplemented if there is none."""
    if kwargs:  # whoever tells arguments by their names gets what others get
        bound = inspect.signature(function).bind(*args, **kwargs)
        args, kwargs = bound.args, bound.kwargs
    first, second = (*args, None, None)[:2]
    if keeps_zeros and _is_sparse(first):
        return first.with_values(function(first.values, *args[1:], **kwargs))
    of_two = len(args) == 2 and not kwargs
    if of_two and name in UNIONS and _is_sparse(first) and _is_sparse(second):
        return _united(name, first, second)
    if of_two and name == "subtract" and _is_sparse(first) and _is_sparse(second):
        return _united("add", first, second.with_values(ops.neg(second.values)))
    if of_two and name in ("multiply", "divide", "true_divide"):
        return _scaled(function, name, first, second)
    if of_two and name in ("matmul", "dot"):
        return _product(first, second)
    if name in _MOVES and _is_sparse(first) or name == "concatenate" and all(map(_is_sparse, first)):
        return _MOVES[name](*args, **kwargs)
    return NotImplemented


def _united(name, a, b):
    from dragon.vm.shared.sparse.math import combine
    if a._sizes != b._sizes:
        return NotImplemented
    a, b = _alike(a, b)
    return combine(a, b, UNIONS[name])


def _alike(*xs):
    dtype = result_type(*map(dtype_of, xs))
    return [tensor(x, dtype) for x in xs]


def _scaled(function, name, a, b):
    """Return values with what stands at their places in the other tensor."""
    from dragon.vm.shared.arrays import gathering
    if name != "multiply" and not (_is_sparse(a) and not _is_sparse(b)):
        return NotImplemented  # zeros by zeros
    if _is_sparse(a) and _is_sparse(b):
        return _met(function, a, b) if a._sizes == b._sizes else NotImplemented
    is_first = _is_sparse(a)
    sparse, dense = (a, b) if is_first else (b, a)
    wide = convert.convert_to_tensor(dense) if hasattr(dense, "shape") or isinstance(dense, (list, tuple)) else dense
    if getattr(wide, "shape", ()):
        if len(wide.shape) > sparse.ndim:
            return NotImplemented
        wide = gathering.gather_nd(ops.broadcast_to(wide, sparse._sizes), sparse.indices)
    return sparse.with_values(function(sparse.values, wide) if is_first else function(wide, sparse.values))


def _met(function, a, b):
    """Return what a function gives at the places that two sparse tensors have in common."""
    import numpy as np
    _, of_a, of_b = np.intersect1d(a._flat(), b._flat(), return_indices=True)
    a, b = a._take(of_a), b._take(of_b)
    return a.with_values(function(a.values, b.values))


def _product(a, b):
    """Return a product of matrices; of two sparse ones, a sparse one."""
    from dragon.vm.shared.sparse import math
    sizes = [x._sizes if _is_sparse(x) else tuple(x.shape) for x in (a, b)]
    if any(len(size) != 2 for size in sizes):
        return NotImplemented
    if _is_sparse(a) and _is_sparse(b):
        a, b = _alike(a, b)
        return math.from_dense(math.matmul(a, math.to_dense(b)))
    sparse, dense = (a, b) if _is_sparse(a) else (b, a)
    sparse, dense = _alike(sparse, tensor(dense))
    return math.matmul(sparse, dense) if _is_sparse(a) else math.matmul(dense, sparse)


def _axes_of(x, axis):
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, (list, tuple)) else (axis,)
    return {canonical_axis(one, x.ndim) for one in axes}


def _total(x, axis=None, keepdims=False):
    """Return a sum; along some axes a sparse one, with a value wherever one of those that are added stands."""
    import numpy as np
    from dragon.vm.shared.data.rows import wrap_array
    from dragon.vm.shared.sparse.tensor import SparseTensor
    axes = _axes_of(x, axis)
    places = x._places().copy()
    places[:, sorted(axes)] = 0
    sizes = [1 if one in axes else size for one, size in enumerate(x._sizes)]
    whole = SparseTensor(wrap_array(places), x.values, sizes)
    found, first, numbers = np.unique(whole._flat(), return_index=True, return_inverse=True)
    values = ops.index_add(ops.zeros([len(found)], dtype=x.dtype), 0,
                           wrap_array(numbers.reshape(-1).astype(np.int64)), x.values)
    kept = list(range(x.ndim)) if keepdims else [one for one in range(x.ndim) if one not in axes]
    return SparseTensor(wrap_array(places[first][:, kept]), values, [sizes[one] for one in kept])


def _mean(x, axis=None, keepdims=False):
    total = _total(x, axis, keepdims)
    return total.with_values(divide(total.values, prod(x._sizes[one] for one in _axes_of(x, axis))))


def _concatenated(xs, axis=0):
    from dragon.vm.shared.sparse.math import concat
    return concat(_alike(*xs), canonical_axis(axis, xs[0].ndim))


def _reshaped(x, newshape):
    from dragon.vm.shared.sparse.math import reshape
    return reshape(x, newshape)


def _transposed(x, axes=None):
    from dragon.vm.shared.sparse.math import transpose
    if axes is not None:
        axes = [canonical_axis(one, x.ndim) for one in axes]
        compute_transpose_output_shape(x._sizes, axes)  # which refuses what is no order of the axes
    return transpose(x, axes)


def _squeezed(x, axis=None):
    axes = [one for one, size in enumerate(x._sizes) if size == 1] if axis is None else _axes_of(x, axis)
    if any(x._sizes[one] != 1 for one in axes):
        raise ValueError(f"squeeze: got axis={axis} for shape {tuple(x._sizes)}, expected axes of size 1")
    return _reshaped(x, [size for one, size in enumerate(x._sizes) if one not in axes])


def _widened(x, axis):
    from dragon.vm.shared.sparse.math import expand_dims
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    for one in sorted(canonical_axis(one, x.ndim + len(axes)) for one in axes):
        x = expand_dims(x, one)
    return x


_MOVES = {"sum": _total, "mean": _mean, "concatenate": _concatenated, "reshape": _reshaped, "transpose": _transposed,
          "squeeze": _squeezed, "expand_dims": _widened}


# --- ragged tensors

def _reduction(name):
    """Return what TensorFlow calls a function that reduces axes, as `keras.ops` calls it."""
    return "reduce_" + {"amax": "max", "amin": "min"}.get(name, name)


def _of_ragged(function, name, is_pointwise, args, kwargs):
    from dragon.vm.shared.ragged import axes, math
    if is_pointwise:
        names = [key for key, value in kwargs.items() if convert.is_parted(value)]
        fixed = {key: value for key, value in kwargs.items() if key not in names}
        count = len(args)
        return math.elementwise(lambda *flat: function(*flat[:count], **dict(zip(names, flat[count:])), **fixed),
                                *args, *(kwargs[key] for key in names))
    if _reduction(name) in math.REDUCTIONS:
        def reduced(x, axis=None, keepdims=False, **others):
            if others:
                raise NotImplementedError(f"keras.ops.{name}: got a ragged tensor and {', '.join(others)}, expected "
                                          "`axis` and `keepdims` alone")
            return math.reduce(_reduction(name), x, axis, keepdims)
        return reduced(*args, **kwargs)
    if name == "take":
        def taken(x, indices, axis=None):
            if axis is None and not convert.is_parted(x):
                x = ops.reshape(tensor(x), (-1,))
            if hasattr(indices, "with_flat_values"):
                size = len(x) if convert.is_parted(x) else tensor(x).shape[axis or 0]
                flat = indices.flat_values
                indices = indices.with_flat_values(ops.where(ops.lt(flat, 0), ops.add(flat, size), flat))
            return math.gather(x, indices, axis)
        return taken(*args, **kwargs)
    other = {"ndim": lambda x: x.ndim, "concatenate": lambda xs, axis=0: math.concat(xs, axis),
             "stack": lambda x, axis=0: math.stack(x, axis),
             "expand_dims": axes.expand_dims, "tile": lambda x, repeats: math.tile(x, repeats)}.get(name)
    if other is None:
        raise NotImplementedError(f"keras.ops.{name}: got a ragged tensor, expected a dense one, which its "
                                  "`to_tensor()` makes")
    return other(*args, **kwargs)


def teach():
    """Have functions know ragged and sparse tensors."""
    for kind in known_operations():
        function = kind._function
        place = function.__module__.partition(".ops.")[2]
        word = function.__name__
        is_pointwise = word in POINTWISE or place in POINTWISE_FILES and word not in ACROSS
        kind._function = staticmethod(knowing(function, word, is_pointwise, kind.keeps_zeros))


# Whether the result is sparse, told of which operands are.
_OF_OPERANDS = {**dict.fromkeys([*_MOVES, *UNIONS, "subtract", "matmul", "dot"], all), "multiply": any,
                **dict.fromkeys(["divide", "true_divide"], lambda sparse: sparse[0] and not any(sparse[1:]))}
for _kind in known_operations():
    _kind._keeps_sparse = staticmethod(all if _kind.keeps_zeros else _OF_OPERANDS.get(
        _kind._function.__name__, lambda sparse: False))
listeners.when_made({}, teach)
