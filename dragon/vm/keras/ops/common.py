"""How arguments of keras.ops become tensors of one dtype: what every function of this folder stands on."""
import operator

from dragon import _C
from dragon.core import modes
from dragon.vm.guest import named as entitle
from dragon.vm.keras.core.config import floatx, image_data_format
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.dtypes import result_type, standardize_dtype
from dragon.vm.keras.core.variable import Variable
from dragon.vm.keras.ops.classes import operation  # noqa: F401
from dragon.vm.shared.tensors.dtypes import as_dtype, wrapped
from dragon.vm.shared.tensors.shape import as_shape
from dragon.vm.shared.tensors.tensor import Tensor, ops

# What short integers are added up in.
SUMS = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}


def named(function, name, doc, **marks):
    """Give a function of one line its name and docstring, and let it take symbolic tensors; see `operation`."""
    return operation(entitle(function, name, doc), **marks)


def publish(function, name, sentence, **marks):
    """Do so with a function whose arguments and result are documented by their words."""
    return named(function, name, f"{sentence} ...\n\n    Returns\n    -------\n    Tensor\n        The result.\n\n    ",
                 **marks)


_FLOATS = frozenset(as_dtype(name) for name in ("float16", "bfloat16", "float32", "float64"))
_WIDE = frozenset(as_dtype(name) for name in ("float32", "float64"))


def is_ready(x1, x2):
    """Return whether operands need no conversion: two floating tensors of one dtype, or one and a plain number."""
    if type(x1) is Tensor:
        dtype = x1.dtype
        if type(x2) is Tensor:
            return x2.dtype is dtype and dtype in _FLOATS
        return (type(x2) is float or type(x2) is int) and dtype in _WIDE
    return type(x2) is Tensor and (type(x1) is float or type(x1) is int) and x2.dtype in _WIDE


def is_number(x):
    """Return whether something is a plain Python number, whose type gives way to that of tensors."""
    return isinstance(x, (int, float))


def dtype_of(x):
    """Return the name of a tensor's dtype, the type of a Python number."""
    dtype = getattr(x, "dtype", None)
    return type(x) if dtype is None else dtype if type(dtype) is str else dtype.name


def read(x):
    """Return what a variable is read as: its numbers of a scope, or in the dtype of one; anything else as it is."""
    return x.value if isinstance(x, Variable) else x


def tensor(x, dtype=None):
    """Return something as a tensor, of a dtype if one is named."""
    if isinstance(x, _C.Tensor):
        x = read(x)
        return x if dtype is None or dtype_of(x) == dtype else ops.cast(x, dtype)
    return convert_to_tensor(x, dtype)


def cast_to(x, dtype):
    """Return a tensor in a dtype; itself if it has that one."""
    x = read(x)
    return x if dtype_of(x) == dtype else ops.cast(x, dtype)


def join(*xs, extra=(), change=None):
    """Return operands in the dtype they have in common; plain numbers stay what they are beside a tensor.

    Parameters
    ----------
    *xs : Union[Tensor, number]
        The operands.
    extra : Sequence[Union[str, type]], optional
        Dtypes that take part as well.
    change : Callable[[str], str], optional
        What the common dtype becomes.

    Returns
    -------
    List[Union[Tensor, number]]
        At least the first that is no number is a tensor.

    """
    xs = [read(x) if isinstance(x, (int, float, _C.Tensor)) else convert_to_tensor(x) for x in xs]
    dtype = result_type(*[dtype_of(x) for x in xs], *extra)
    dtype = dtype if change is None else change(dtype)
    if all(map(is_number, xs)):
        return [convert_to_tensor(x, dtype) for x in xs]
    return [narrow(x, dtype) if is_number(x) else cast_to(x, dtype) for x in xs]


def narrow(number, dtype):
    """Return a plain number as a dtype other than float32 and int32 would hold it."""
    if dtype in ("float32", "int32", "float64", "int64"):
        return float(number) if dtype[0] == "f" else fitted(number, dtype)
    return convert_to_tensor(number, dtype)


def fitted(number, dtype):
    """Return a plain number as TensorFlow reads it for a dtype: integers beyond it come back at its other end."""
    kind = as_dtype(dtype)
    return wrapped(number, kind) if kind.is_integer and isinstance(number, int) else number


def join_tensors(*xs, extra=()):
    """Return operands as tensors of the dtype they have in common, where even plain numbers are strong."""
    xs = [tensor(x) for x in xs]
    dtype = result_type(*[dtype_of(x) for x in xs], *extra)
    return [cast_to(x, dtype) for x in xs]


def to_float(x):
    """Return a tensor of real or complex numbers: integers and truths become the default floating dtype."""
    x = tensor(x)
    dtype = dtype_of(x)
    return x if "float" in dtype or "complex" in dtype else ops.cast(x, floatx())


def in_floats(compute):
    """Return a function that computes in float32 what it gets in 16 bits."""
    def wide(x, *args, **kwargs):
        dtype = dtype_of(x)
        if dtype not in ("float16", "bfloat16"):
            return compute(x, *args, **kwargs)
        return cast_to(compute(ops.cast(x, "float32"), *args, **kwargs), dtype)
    return wide


def total(compute, x, axis, keepdims=False):
    """Return a sum or a product in the dtype that sums of small integers have."""
    dtype = SUMS.get(dtype_of(x), dtype_of(x))
    return compute(x, axis, keepdims, dtype=dtype)


def as_axis(axis, what="axis"):
    """Return an axis, or another whole number, as an int."""
    try:
        return operator.index(axis)
    except TypeError:
        raise TypeError(f"`{what}` must be an integer. Received: {what}={axis!r}") from None


def whole(number, what, dtype):
    """Return a number that fits among those of a dtype: of integers, none with digits after the point."""
    if isinstance(number, float) and "int" in dtype and not number.is_integer():
        raise TypeError(f"`{what}` must be an integer for numbers of {dtype}. Received: {what}={number}")
    return number


def places_of(indices, what="indices"):
    """Return indices as a tensor; numbers with digits after the point are none."""
    indices = tensor(indices)
    if "float" in dtype_of(indices) or "complex" in dtype_of(indices):
        if 0 in indices.shape or modes.is_phantom():  # an empty list, or a symbol of which no dtype was told
            return cast_to(indices, "int64")
        raise TypeError(f"`{what}` must be integers. Received: {what} of dtype {dtype_of(indices)}")
    return indices


def as_axes(axis, what="axis"):
    """Return axes, or other whole numbers, as what operators take: None, an int or a list."""
    if type(axis) is int or axis is None:
        return axis
    if not isinstance(axis, (tuple, list)) and hasattr(axis, "tolist"):  # a tensor or an array
        axis = axis.tolist()
    return [as_axis(item, what) for item in axis] if isinstance(axis, (tuple, list)) else as_axis(axis, what)


def along(x, axis, keepdims=False):
    """Return (tensor, axes, keepdims) for a reducing operator.

    Where no axes are named the engine reduces all of them, as PyTorch does, but Keras none: it gets one to reduce.
    """
    axes = as_axes(axis)
    return (ops.unsqueeze(x, 0), [0], False) if axes == [] else (x, axes, bool(keepdims))


def as_list(value, count, what):
    """Return one number `count` times, a sequence of `count` numbers as a list."""
    if isinstance(value, int):
        return [value] * count
    if len(value) != count:
        raise ValueError(f"The `{what}` argument must be a tuple of {count} integers. Received: {what}={value}")
    return [int(item) for item in value]


def as_told(x, sparse):
    """Return a tensor, as a sparse one where that is wanted; while shapes alone are asked for, it stays."""
    if not sparse or modes.is_phantom():
        return x
    from dragon.vm.shared.sparse.math import from_dense
    return from_dense(x)


def canonical_axis(axis, rank):
    """Return an axis counted from the front."""
    axis = as_axis(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}. Received: axis={axis}")
    return axis + rank if axis < 0 else axis


def ranked(x, least):
    """Return a tensor that must have at least so many axes."""
    if x.ndim < least:
        raise ValueError(f"Input should have rank >= {least}. Received: input.shape = {tuple(x.shape)}")
    return x


def positive(number, what):
    """Return a whole number that must be 1 or more."""
    if not hasattr(number, "__index__") or number < 1:
        raise ValueError(f"`{what}` must be a positive integer. Received: {what}={number}")
    return operator.index(number)


def counted_places(indices, size):
    """Return places counted from the front; they may be numbers of any kind."""
    indices = tensor(indices)
    if dtype_of(indices) not in ("int32", "int64"):
        indices = cast_to(indices, "int32")
    return ops.where(ops.lt(indices, 0), ops.add(indices, size), indices)


def canonical_dtype(dtype):
    """Return the name of a dtype that was asked for, the default floating dtype for None."""
    return floatx() if dtype is None else standardize_dtype(dtype)


def standard_format(data_format):
    """Return a data format that was asked for, the configured one for None."""
    data_format = image_data_format() if data_format is None else str(data_format).lower()
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
                         f"Received: data_format={data_format}")
    return data_format


def concrete(shape):
    """Return a shape as a tuple of ints; sizes may be tensors of one element."""
    if isinstance(shape, (_C.Tensor, int)) or hasattr(shape, "tolist"):
        return as_shape(shape)
    return tuple(size if isinstance(size, int) or size is None else as_shape(size)[0] for size in shape)
