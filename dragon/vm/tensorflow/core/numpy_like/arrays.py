"""NumPy's functions that make tensors, and that move, cut and join what is in them."""
import builtins

from dragon.vm.guest import gather, named
from dragon.vm.keras import ops as kops
from dragon.vm.keras.ops.numpy import shapes
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.shape import as_shape
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.numpy_like.promotion import SCALARS, default_float, result_type, to_tensor, together


def _dtype(dtype):
    """Return a dtype; Python's `float` means the default of floating numbers."""
    return default_float() if dtype is None or dtype is builtins.float else as_dtype(
        {builtins.int: "int64", builtins.bool: "bool", builtins.complex: "complex128"}.get(dtype, dtype))


def _sizes(shape):
    return as_shape([shape] if isinstance(shape, int) or getattr(shape, "ndim", 1) == 0 else shape)


# --- made

def array(val, dtype=None, copy=True, ndmin=0):
    """Return a value as a tensor with at least some number of axes."""
    found = to_tensor(val, None if dtype is None else _dtype(dtype))
    return ops.reshape(found, (1,) * (ndmin - found.ndim) + tuple(found.shape)) if ndmin > found.ndim else found


def asarray(a, dtype=None):
    """Return a value as a tensor."""
    return to_tensor(a, None if dtype is None else _dtype(dtype))


asanyarray = ascontiguousarray = asarray


def copy(a):
    """Return the same numbers in their own memory."""
    return ops.clone(to_tensor(a))


def zeros(shape, dtype=float):
    """Return zeros."""
    return ops.zeros(_sizes(shape), dtype=_dtype(dtype))


def ones(shape, dtype=float):
    """Return ones."""
    return ops.ones(_sizes(shape), dtype=_dtype(dtype))


empty = zeros


def full(shape, fill_value, dtype=None):
    """Return a tensor of one number, or of numbers that are broadcast."""
    value = to_tensor(fill_value, None if dtype is None else _dtype(dtype))
    return ops.clone(ops.broadcast_to(value, _sizes(shape)))


def zeros_like(a, dtype=None):
    """Return zeros of a tensor's shape."""
    a = to_tensor(a)
    return ops.zeros(tuple(a.shape), dtype=a.dtype if dtype is None else _dtype(dtype))


def ones_like(a, dtype=None):
    """Return ones of a tensor's shape."""
    a = to_tensor(a)
    return ops.ones(tuple(a.shape), dtype=a.dtype if dtype is None else _dtype(dtype))


empty_like = zeros_like


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    """Return a tensor of one number in another's shape and dtype."""
    if order != "K" or not subok or shape is not None:
        raise ValueError(f"full_like: got order={order!r}, subok={subok}, shape={shape}; expected their defaults")
    a = to_tensor(a)
    return full(tuple(a.shape), fill_value, a.dtype if dtype is None else dtype)


def eye(N, M=None, k=0, dtype=float):
    """Return ones on a diagonal, zeros elsewhere."""
    return kops.eye(int(N), None if M is None else int(M), int(k), dtype=_dtype(dtype).name)


def identity(n, dtype=float):
    """Return ones on the diagonal, zeros elsewhere."""
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None):
    """Return ones at and below a diagonal, zeros elsewhere."""
    return kops.tri(int(N), None if M is None else int(M), int(k), dtype=_dtype(dtype).name)


def arange(start, stop=None, step=1, dtype=None):
    """Return numbers at equal distances."""
    if not step:
        raise ValueError(f"step must be non-zero. Received: step={step}")
    ends = [end for end in (start, stop, step) if end is not None]
    dtype = result_type(*ends) if dtype is None else _dtype(dtype)
    first, last = (0, start) if stop is None else (start, stop)
    first, last, step = (end.numpy().item() if hasattr(end, "numpy") else end for end in (first, last, step))
    if (last - first) * (1 if step > 0 else -1) <= 0:
        return ops.zeros((0,), dtype=dtype)
    return ops.cast(ops.arange(first, last, step), dtype)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=float, axis=0):
    """Return `num` numbers from one to another; also their distance, where `retstep` says so."""
    start, stop = together(start, stop)
    wide = default_float() if not start.dtype.is_floating else start.dtype
    found = kops.linspace(ops.cast(start, wide), ops.cast(stop, wide), int(num), endpoint, False, wide.name, axis)
    found = ops.cast(found, wide if dtype in (None, float) and wide.name != "float32" else _dtype(dtype))
    if not retstep:
        return found
    gaps = num - 1 if endpoint else num
    return found, ops.div(ops.sub(ops.cast(stop, wide), ops.cast(start, wide)), gaps if gaps > 0 else float("nan"))


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Return the powers of a base at equal distances of the exponents."""
    found = ops.pow(float(base), linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else ops.cast(found, _dtype(dtype))


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Return numbers of which each is the one before times one factor."""
    wide = [ops.cast(end, default_float()) for end in together(start, stop)]
    found = kops.geomspace(*wide, int(num), endpoint, default_float().name, axis)
    return found if dtype is None else ops.cast(found, _dtype(dtype))


def meshgrid(*xi, **kwargs):
    """Return the coordinates of a grid's points.

    Parameters
    ----------
    *xi : Tensor
        The coordinates along each axis.
    **kwargs : Any
        `indexing`: "xy" or "ij"; `sparse` must be False and `copy` True.

    """
    if kwargs.get("sparse") or not kwargs.get("copy", True):
        raise ValueError(f"meshgrid doesn't support returning sparse arrays or views. Received: {kwargs}")
    return list(kops.meshgrid(*map(to_tensor, xi), indexing=kwargs.get("indexing", "xy")))


def diag_indices(n, ndim=2):
    """Return the places of a diagonal."""
    return (ops.arange(0, int(n), 1, dtype="int32"),) * ndim


def ix_(*args):
    """Return places that span a box."""
    made = []
    for number, one in enumerate(map(to_tensor, args)):
        if one.ndim != 1:
            raise ValueError("Arguments must be 1-d. Received: {}".format(tuple(one.shape)))
        one = nonzero(one)[0] if one.dtype.is_bool else one
        made.append(ops.reshape(one, [-1 if place == number else 1 for place in builtins.range(len(args))]))
    return made


def vander(x, N=None, increasing=False):
    """Return the powers of numbers as the columns of a matrix."""
    return kops.vander(to_tensor(x), N, increasing)


def reshape(a, newshape, order="C"):
    """Return the same numbers in another shape; "F" reads and writes the first axis fastest."""
    a = to_tensor(a)
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}")
    sizes = _sizes(newshape)
    if order == "C":
        return ops.reshape(a, sizes)
    turned = ops.reshape(kops.transpose(a), tuple(builtins.reversed(tuple(sizes))))
    return kops.transpose(turned)


def flatten(a, order="C"):
    """Return all numbers in a row."""
    return reshape(a, -1, order)


def take(a, indices, axis=None, out=None, mode="clip"):
    """Return entries by number: those outside are the last ("clip") or go around ("wrap")."""
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take")
    a, indices = to_tensor(a), to_tensor(indices)
    a, axis = (ops.reshape(a, (-1,)), 0) if axis is None else (a, int(axis))
    size = a.shape[axis]
    if mode == "wrap":
        indices = ops.remainder(indices, size)
    elif mode == "clip":
        indices = ops.clamp(indices, 0, size - 1)
    return kops.take(a, indices, axis)


def sort(a, axis=-1, kind="quicksort", order=None):
    """Return the numbers in order along an axis, or all of them."""
    _check_kind(kind, order)
    a = to_tensor(a)
    return kops.sort(ops.reshape(a, (-1,)) if axis is None else a, -1 if axis is None else axis)


def argsort(a, axis=-1, kind="quicksort", order=None):
    """Return the places of the numbers in order along an axis, or of all."""
    _check_kind(kind, order)
    a = to_tensor(a)
    found = kops.argsort(ops.reshape(a, (-1,)) if axis is None else a, -1 if axis is None else axis)
    return ops.cast(found, "int64")


def _check_kind(kind, order):
    if kind not in ("quicksort", "stable"):
        raise ValueError(f"Invalid value for argument `kind`. Only kind='quicksort' and kind='stable' are supported. "
                         f"Received: kind={kind}")
    if order is not None:
        raise ValueError(f"The `order` argument is not supported. Pass order=None. Received: order={order}")


def pad(array, pad_width, mode, **kwargs):
    """Return a tensor with more around it: "constant" (`constant_values`), "reflect" or "symmetric"."""
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}")
    return kops.pad(to_tensor(array), pad_width, mode, kwargs.get("constant_values", 0) if mode == "constant" else None)


def shape(a):
    """Return the sizes of the axes."""
    return to_tensor(a).shape


def ndim(a):
    """Return the number of axes."""
    return to_tensor(a).ndim


def size(x, axis=None):
    """Return how many numbers there are."""
    import numpy as np
    if axis is not None:
        raise NotImplementedError(f"axis argument is not supported in the current `np.size` implementation. Received: "
                                  f"axis={axis}")
    if type(x) in SCALARS:
        return 1
    total = 1
    for one in to_tensor(x).shape:
        total *= one
    return np.int64(total)


def isscalar(num):
    """Return whether something is a number: Python's, NumPy's, or a tensor without axes."""
    import numpy as np
    return np.isscalar(num) or getattr(num, "ndim", 1) == 0


# --- several tensors

def _joined(arrays):
    arrays = list(ops.unbind(arrays)) if hasattr(arrays, "ndim") else list(arrays)
    return together(*arrays)


def concatenate(arys, axis=0):
    """Return tensors one after the other along an axis; all numbers of them where it is None."""
    parts = _joined(arys)
    return ops.cat([ops.reshape(part, (-1,)) for part in parts] if axis is None else parts, 0 if axis is None else axis)


def stack(arrays, axis=0):
    """Return tensors side by side along a new axis."""
    return ops.stack(_joined(arrays), axis)


def _stacked(name):
    run = getattr(kops, name)

    def function(tup):
        return run(_joined(tup))
    return named(function, name, f"Return NumPy's `{name}` of several tensors.")


hstack, dstack = _stacked("hstack"), _stacked("dstack")


def vstack(tup):
    """Return tensors, vectors as rows, one after the other along the first axis."""
    return ops.cat([atleast_2d(one) for one in _joined(tup)], 0)


def append(arr, values, axis=None):
    """Return a tensor with others after it along an axis."""
    return concatenate([arr, values], axis)


def broadcast_arrays(*args, **kwargs):
    """Return tensors in the shape that all broadcast to."""
    import numpy as np
    tensors = [to_tensor(one) for one in args]
    sizes = np.broadcast_shapes(*[tuple(one.shape) for one in tensors])
    return [ops.broadcast_to(one, sizes) for one in tensors]


def _cut(name, axis):
    def function(ary, indices_or_sections):
        return split(ary, indices_or_sections, axis)
    return named(function, name, f"Return the parts of a tensor cut along axis {axis}.")


def split(ary, indices_or_sections, axis=0):
    """Return the parts of a tensor cut along an axis: so many, or at places."""
    return list(kops.split(to_tensor(ary), indices_or_sections, axis))


vsplit, dsplit = _cut("vsplit", 0), _cut("dsplit", 2)


def hsplit(ary, indices_or_sections):
    """Return the parts of a tensor cut along its second axis, or its only one."""
    ary = to_tensor(ary)
    return split(ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


def _at_least(count):
    def function(*arys):
        import numpy as np
        found = []
        for one in map(to_tensor, arys):
            like = getattr(np, f"atleast_{count}d")(np.empty(tuple(one.shape), bool))
            found.append(ops.reshape(one, like.shape))
        return found[0] if len(found) == 1 else found
    return named(function, f"atleast_{count}d", f"Return tensors with at least {count} axes.")


atleast_1d, atleast_2d, atleast_3d = _at_least(1), _at_least(2), _at_least(3)


# --- chosen

def where(condition, x=None, y=None):
    """Return `x` where a condition holds and `y` elsewhere; without them, the places where it holds."""
    mask = ops.cast(to_tensor(condition), "bool")
    if x is None and y is None:
        return nonzero(mask)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    return ops.where(mask, *together(x, y))


def nonzero(a):
    """Return the places of what is other than zero, one vector for each axis."""
    a = to_tensor(a)
    a = ops.reshape(a, (1,)) if not a.ndim else a
    return list(ops.unbind(ops.argwhere(ops.cast(a, "bool")), 1))


def select(condlist, choicelist, default=0):
    """Return of several tensors the first whose condition holds."""
    if len(condlist) != len(choicelist):
        raise ValueError("condlist must have length equal to choicelist ({} vs {})".format(
            len(condlist), len(choicelist)))
    if not condlist:
        raise ValueError("condlist must be non-empty")
    *choices, found = together(*choicelist, default)
    for condition, choice in builtins.reversed(list(zip(condlist, choices))):
        found = ops.where(ops.cast(to_tensor(condition), "bool"), choice, found)
    return found


def compress(condition, a, axis=None):
    """Return the entries of an axis that a mask marks; of all numbers where it is None."""
    mask, a = ops.cast(to_tensor(condition), "bool"), to_tensor(a)
    if mask.ndim != 1:
        raise ValueError("condition must be a 1-d array.")
    a, axis = (ops.reshape(a, (-1,)), 0) if axis is None else (a, int(axis))
    return ops.index_select(a, axis, ops.reshape(ops.argwhere(mask), (-1,)))


# --- dtypes

def finfo(dtype):
    """Return the limits of a floating dtype."""
    import numpy as np
    return np.finfo(as_dtype(dtype).as_numpy_dtype)


def iinfo(int_type):
    """Return the limits of an integer dtype."""
    import numpy as np
    return np.iinfo(as_dtype(int_type).as_numpy_dtype)


def issubdtype(arg1, arg2):
    """Return whether a dtype is of a kind, in NumPy's hierarchy."""
    import numpy as np
    return np.issubdtype(*(one if isinstance(one, type) else as_dtype(one).as_numpy_dtype for one in (arg1, arg2)))


# --- functions of one tensor that keep its numbers, with NumPy's arguments

def _moved(name):
    run = getattr(kops, name)

    def function(a, *args, **kwargs):
        return run(to_tensor(a), *args, **kwargs)
    return named(function, name, f"Return NumPy's `{name}` of a tensor.")


def _other_shapes():
    """Return the names of Keras's functions of shapes but for those above, and for what TensorFlow's NumPy lacks."""
    gather(found := {}, shapes)
    return [name for name in found if name not in globals() and name != "view"]


for _name in (*_other_shapes(), "diff", "repeat", "take_along_axis", "tile"):
    globals()[_name] = _moved(_name)
    globals()[_name].__module__ = __name__
