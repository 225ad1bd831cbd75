"""Functions of dense tensors, when a ragged or sparse one comes along.

Dense tensors need not ask: the functions are replaced by ones that look for such arguments when the first ragged or
sparse tensor of a process is about to be made.
"""
import functools

from dragon.vm.shared.arrays import array, creation, gathering, joining
from dragon.vm.shared.ragged import axes, listeners, math as ragged_math
from dragon.vm.shared.ragged.tensor import RaggedTensor, axis_within
from dragon.vm.shared.sparse.tensor import SparseTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype

# Functions that leave zeros zeros, hence work on the values of sparse tensors.
SPARSE = {"cast", "identity", "abs", "asin", "asinh", "atan", "atanh", "ceil", "erf", "expm1", "floor", "log1p",
          "negative", "rint", "round", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh"}


def has_kind(kind, args, kwargs):
    """Return whether an argument, or an item of the first one, is of a class."""
    first = args[0] if args else None
    return any(isinstance(value, kind) for value in args) or any(
        isinstance(value, kind) for value in kwargs.values()) or (
            isinstance(first, (list, tuple)) and any(isinstance(value, kind) for value in first))


def spreading(function, name):
    """Return a function that goes through the flat values of ragged arguments."""
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if has_kind(RaggedTensor, args, kwargs):
            names = [key for key, value in kwargs.items() if isinstance(value, RaggedTensor)]
            fixed = {key: value for key, value in kwargs.items() if key not in names}
            count = len(args)
            return ragged_math.elementwise(
                lambda *flat: function(*flat[:count], **dict(zip(names, flat[count:])), **fixed),
                *args, *(kwargs[key] for key in names))
        if name in SPARSE and args and isinstance(args[0], SparseTensor):
            return args[0].with_values(function(args[0].values, *args[1:], **kwargs))
        return function(*args, **kwargs)
    return wrapper


def reducing(function, name):
    """Return a reduction that knows ragged tensors."""
    @functools.wraps(function)
    def wrapper(input_tensor, axis=None, keepdims=False, name_=None, **kwargs):
        if isinstance(input_tensor, RaggedTensor):
            return ragged_math.reduce(name, input_tensor, axis, bool(keepdims))
        return function(input_tensor, axis, keepdims, **kwargs)
    return wrapper


def choosing(function, other):
    """Return a function in whose place another is called where an argument is ragged."""
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if has_kind(RaggedTensor, args, kwargs):
            kwargs.pop("name", None)
            return other(*args, **kwargs)
        return function(*args, **kwargs)
    return wrapper


def gather(params, indices, validate_indices=None, axis=None, batch_dims=0):
    """Return rows of ragged tensors, or rows by ragged numbers."""
    if batch_dims:
        raise NotImplementedError("gather: batch_dims is not supported for ragged tensors. "
                                  f"Received: batch_dims={batch_dims}")
    return ragged_math.gather(params, indices, axis)


def size(input, out_type="int32"):
    """Return how many values a ragged tensor has."""
    return convert_to_tensor(input.flat_values.shape.num_elements(), dtype=as_dtype(out_type))


def rank(input):
    """Return how many axes a ragged tensor has."""
    return convert_to_tensor(input.ndim)


def shape(input, out_type="int32"):
    """Raise: a ragged tensor's shape is no tensor."""
    raise NotImplementedError("tf.shape: the shape of a ragged tensor is no tensor here; `row_lengths()`, `nrows()` "
                              f"and `bounding_shape()` tell it. Received: {input}")


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None):
    """Return a ragged tensor with an axis more, the last one; see `tf.one_hot`."""
    axis = -1 if axis is None else axis_within(axis, indices.ndim + 1)
    if axis not in (-1, indices.ndim):
        raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank}).")
    return ragged_math.map_flat_values(
        lambda flat: creation.one_hot(flat, depth, on_value, off_value, -1, dtype), indices)


def of_axes(name):
    """Return a function of `axes`, which may be the file that all of this is read for and is not read to its end."""
    return lambda *args, **kwargs: getattr(axes, name)(*args, **kwargs)


# Modules, and their functions that go through values one by one.
ELEMENTWISE = {creation: "cast ones_like zeros_like identity saturate_cast", gathering: "where"}
CHOICES = {array: {"expand_dims": of_axes("expand_dims"), "reverse": ragged_math.reverse,
                   "squeeze": of_axes("squeeze")},
           joining: {"concat": ragged_math.concat, "stack": ragged_math.stack, "tile": ragged_math.tile,
                     "split": of_axes("split")},
           gathering: {"gather": gather, "boolean_mask": ragged_math.boolean_mask},
           creation: {"size": size, "rank": rank, "shape": shape, "one_hot": one_hot}}


def replace(module, name, make):
    """Put a function's replacement where it is found: in its module and among the names of guests."""
    function = vars(module).get(name)
    if function is None or hasattr(function, "__wrapped__") and getattr(function, "_knows_ragged", False):
        return
    wrapper = make(function)
    wrapper._knows_ragged = True
    setattr(module, name, wrapper)
    for namespace in listeners.namespaces:
        for alias in [alias for alias, value in namespace.items() if value is function]:
            namespace[alias] = wrapper


def teach(elementwise, reductions=None, choices=None):
    """Have functions know ragged and sparse tensors.

    Parameters
    ----------
    elementwise : Dict[ModuleType, str]
        Modules, and their functions that go through values one by one.
    reductions : Dict[ModuleType, str], optional
        Modules and their reductions.
    choices : Dict[ModuleType, Dict[str, Callable]], optional
        Modules, and the functions that are called in the place of theirs where an argument is ragged.

    """
    for module, names in elementwise.items():
        for name in names.split():
            replace(module, name, functools.partial(spreading, name=name))
    for module, others in (choices or {}).items():
        for name, other in others.items():
            replace(module, name, functools.partial(choosing, other=other))
    for module, names in (reductions or {}).items():
        for name in names.split():
            replace(module, name, functools.partial(reducing, name=name))


teach(ELEMENTWISE, choices=CHOICES)
listeners.tell()
