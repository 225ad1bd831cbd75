"""TensorFlow's functions of dense tensors, when a ragged or sparse one comes along.

Dense tensors need not ask: the functions are replaced by ones that look for such arguments when the first ragged or
sparse tensor of a process is about to be made.
"""
import functools
import importlib
import sys

from dragon.vm.tensorflow.core import ragged_math
from dragon.vm.tensorflow.core.convert import convert_to_tensor
from dragon.vm.tensorflow.core.dtypes import as_dtype
from dragon.vm.tensorflow.core.ragged import RaggedTensor
from dragon.vm.tensorflow.core.sparse import SparseTensor

HOME = "dragon.vm.tensorflow"
# Modules, and their functions that go through values one by one.
ELEMENTWISE = {
    "core.creation": "cast ones_like zeros_like identity saturate_cast",
    "core.gathering": "where",
    "core.numbers.clipping": "clip_by_value",
    "math": "abs acos acosh add angle asin asinh atan atan2 atanh ceil conj cos cosh digamma divide divide_no_nan "
            "equal erf erfc exp expm1 floor floordiv floormod greater greater_equal imag is_finite is_inf is_nan less "
            "less_equal lgamma log log1p log_sigmoid logical_and logical_not logical_or logical_xor maximum minimum "
            "mod multiply multiply_no_nan negative not_equal pow real reciprocal rint round rsqrt scalar_mul sigmoid "
            "sign sin sinh softplus sqrt square squared_difference subtract tan tanh truediv",
    "nn": "relu relu6 elu selu leaky_relu gelu silu sigmoid softplus softsign tanh swish dropout",
}
REDUCTIONS = ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_mean", "reduce_any", "reduce_all")
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


CHOICES = {"core.array": {"concat": ragged_math.concat, "stack": ragged_math.stack,
                          "expand_dims": ragged_math.expand_dims},
           "core.gathering": {"gather": gather, "boolean_mask": ragged_math.boolean_mask},
           "core.creation": {"size": size, "rank": rank, "shape": shape}}


def replace(module, name, make):
    """Put a function's replacement where it is found: in its module and among TensorFlow's names."""
    function = vars(module).get(name)
    if function is None or hasattr(function, "__wrapped__") and getattr(function, "_knows_ragged", False):
        return
    wrapper = make(function)
    wrapper._knows_ragged = True
    setattr(module, name, wrapper)
    package = sys.modules[HOME]
    for alias, value in list(vars(package).items()):
        if value is function:
            setattr(package, alias, wrapper)


def load(module):
    """Return a module of the guest, or None where there is none."""
    try:
        return importlib.import_module(f"{HOME}.{module}")
    except ModuleNotFoundError as error:
        if error.name != f"{HOME}.{module}":
            raise
    return None


def install():
    """Have TensorFlow's functions know ragged and sparse tensors."""
    for place, names in ELEMENTWISE.items():
        module = load(place)
        for name in names.split() if module is not None else ():
            replace(module, name, functools.partial(spreading, name=name))
    for place, choices in CHOICES.items():
        module = load(place)
        for name, other in choices.items():
            replace(module, name, functools.partial(choosing, other=other))
    module = load("math")
    for name in REDUCTIONS if module is not None else ():
        replace(module, name, functools.partial(reducing, name=name))


install()
