"""Claims about tensors, which raise where they do not hold."""
import functools

from dragon import _C
from dragon.vm.shared.arrays.moving import is_text, take
from dragon.vm.shared.autograph.hosting import require
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import ops


def _say(message, claim, *values):
    shown = "\n".join(f"{value!r}" for value in values)
    return invalid_argument(f"{message or ''}\n{claim}\n{shown}".lstrip("\n"))


def Assert(condition, data, summarize=None, name=None):
    """Raise an InvalidArgumentError that shows `data` unless a condition holds."""
    condition = take(condition)
    require(condition, _summarize, condition, *data)


def _summarize(condition, *data):
    shown = "\n".join(str(convert_to_tensor(item).numpy() if not isinstance(item, str) else item) for item in data)
    return invalid_argument(f"Expected '{condition!r}' to be true. Summarized data: {shown}")


def _compare(name, symbol, compare):
    """Make a function that claims a relation of two tensors, element by element."""
    def claim(x, y, message=None, summarize=None, name=None):
        one = take(x) if isinstance(x, _C.Tensor) or not isinstance(y, _C.Tensor) else convert_to_tensor(x, y.dtype)
        other = take(y) if isinstance(y, _C.Tensor) else convert_to_tensor(y, one.dtype)
        require(compare(one, other), functools.partial(
            _say, message, f"Condition x {symbol} y did not hold element-wise: x and y are"), one, other)
    claim.__name__ = claim.__qualname__ = name
    claim.__doc__ = f"Raise an InvalidArgumentError unless x {symbol} y holds for all elements."
    return claim


assert_equal = _compare("assert_equal", "==", lambda x, y: x == y)
assert_none_equal = _compare("assert_none_equal", "!=", lambda x, y: x != y)
assert_less = _compare("assert_less", "<", lambda x, y: x < y)
assert_less_equal = _compare("assert_less_equal", "<=", lambda x, y: x <= y)
assert_greater = _compare("assert_greater", ">", lambda x, y: x > y)
assert_greater_equal = _compare("assert_greater_equal", ">=", lambda x, y: x >= y)


def _sign(name, symbol, compare):
    """Make a function that claims a sign of all elements."""
    def claim(x, message=None, summarize=None, name=None):
        x = take(x)
        require(compare(x), functools.partial(
            _say, message, f"Condition x {symbol} 0 did not hold element-wise: x is"), x)
    claim.__name__ = claim.__qualname__ = name
    claim.__doc__ = f"Raise an InvalidArgumentError unless x {symbol} 0 holds for all elements."
    return claim


assert_negative = _sign("assert_negative", "<", lambda x: x < 0)
assert_positive = _sign("assert_positive", ">", lambda x: x > 0)
assert_non_negative = _sign("assert_non_negative", ">=", lambda x: x >= 0)
assert_non_positive = _sign("assert_non_positive", "<=", lambda x: x <= 0)


def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """Raise an InvalidArgumentError unless two tensors are as good as equal."""
    one = take(x)
    other = take(y) if isinstance(y, _C.Tensor) else convert_to_tensor(y, one.dtype)
    import numpy as np
    small = 10 * float(np.finfo(one.dtype.real_dtype.name).eps if one.dtype.name != "bfloat16" else 2 ** -7)
    rtol, atol = (small if bound is None else float(bound) for bound in (rtol, atol))
    require(abs(one - other) <= atol + rtol * abs(other), functools.partial(
        _say, message, f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}: x and y are"), one, other)


def assert_rank(x, rank, message=None, name=None):
    """Raise a ValueError unless a tensor has so many axes."""
    found, wanted = convert_to_tensor(x).shape.rank, int(rank)
    if found != wanted:
        raise ValueError(f"{message or ''}Tensor must have rank {wanted}. Received rank {found}, shape "
                         f"{convert_to_tensor(x).shape}")


def assert_rank_at_least(x, rank, message=None, name=None):
    """Raise a ValueError if a tensor has fewer axes."""
    found = convert_to_tensor(x).shape.rank
    if found < int(rank):
        raise ValueError(f"{message or ''}Tensor must have rank at least {int(rank)}. Received rank {found}, shape "
                         f"{convert_to_tensor(x).shape}")


def assert_rank_in(x, ranks, message=None, name=None):
    """Raise a ValueError unless the number of a tensor's axes is among some."""
    found = convert_to_tensor(x).shape.rank
    if found not in [int(rank) for rank in ranks]:
        raise ValueError(f"{message or ''}Tensor must have rank in {tuple(ranks)}. Received rank {found}, shape "
                         f"{convert_to_tensor(x).shape}")


def assert_scalar(tensor, message=None, name=None):
    """Return a tensor without axes, or raise a ValueError."""
    tensor = convert_to_tensor(tensor)
    if tensor.shape.rank:
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {tensor.shape}.")
    return tensor


def assert_type(tensor, tf_type, message=None, name=None):
    """Raise a TypeError unless a tensor has a dtype."""
    found = convert_to_tensor(tensor).dtype
    if found is not as_dtype(tf_type):
        raise TypeError(f"{message or ''}tensor must be of type {as_dtype(tf_type)!r}; got {found!r}")


def assert_integer(x, message=None, name=None):
    """Raise a TypeError unless a tensor holds integers."""
    found = convert_to_tensor(x).dtype
    if not found.is_integer:
        raise TypeError(f"{message or ''}Expected \"x\" to be integer type. Found: {found!r}")


def assert_same_float_dtype(tensors=None, dtype=None):
    """Return the one floating dtype of all tensors, or raise a ValueError."""
    found = [convert_to_tensor(item).dtype for item in tensors or ()]
    wanted = as_dtype(dtype) if dtype is not None else found[0] if found else as_dtype("float32")
    if any(item is not wanted for item in found) or not wanted.is_floating:
        raise ValueError(f"Expected tensors of one floating point type, got {found} and dtype={dtype!r}.")
    return wanted


def assert_proper_iterable(values):
    """Raise a TypeError unless something is iterable and no tensor, array or text."""
    if isinstance(values, _C.Tensor) or is_text(values) and not isinstance(values, (list, tuple)) or hasattr(
            values, "__array__") or not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument \"values\" to be a \"proper\" iterable. Found: {type(values)}")


def assert_all_finite(x, message, name=None):
    """Return the tensor, or raise an InvalidArgumentError if a number is infinite or undefined."""
    return check_numerics(x, message)


def check_numerics(tensor, message, name=None):
    """Return the tensor, or raise an InvalidArgumentError if a number is infinite or undefined."""
    x = take(tensor)
    require(ops.isfinite(x), functools.partial(_name_kinds, message), x)
    return convert_to_tensor(tensor)


def _name_kinds(message, x):
    kinds = [kind for kind, test in (("Inf", ops.isinf), ("NaN", ops.isnan)) if bool(ops.any(test(x)))]
    return invalid_argument(f"{message} : Tensor had {' and '.join(kinds)} values [Op:CheckNumerics]")


def is_numeric_tensor(tensor):
    """Return whether something is a tensor of numbers."""
    return isinstance(tensor, _C.Tensor) and tensor.dtype.name != "bool"


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Raise a ValueError unless tensors have shapes in which equal names stand for equal sizes.

    Parameters
    ----------
    shapes : Union[dict, Sequence[Tuple[Tensor, Sequence]]]
        Tensors and their shapes: numbers, names, None or "." for any size; a first "..." or "*" for any number of
        axes.
    data, summarize, name : Any, optional
        Not used.
    message : str, optional
        What precedes the error's text.

    """
    known = {}
    for tensor, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        tensor = tensor.deref() if hasattr(tensor, "deref") else tensor
        sizes = list(convert_to_tensor(tensor).shape)
        wanted = list(wanted) if isinstance(wanted, (list, tuple, str, TensorShape)) else [wanted]
        if wanted and wanted[0] in ("...", "*") or wanted and wanted[0] is Ellipsis:
            wanted = wanted[1:]
            sizes = sizes[len(sizes) - len(wanted):] if len(sizes) >= len(wanted) else sizes
        if len(sizes) != len(wanted):
            raise ValueError(f"{message or ''}Tensor {tensor!r} must have rank {len(wanted)}. Received rank "
                             f"{len(sizes)}")
        for place, (size, name_) in enumerate(zip(sizes, wanted)):
            if name_ in (None, "."):
                continue
            expected = int(name_) if not isinstance(name_, str) or name_.isdecimal() else known.setdefault(name_, size)
            if expected != size:
                raise ValueError(f"{message or ''}Specified by tensor {tensor!r} dimension {place} must have size "
                                 f"{expected}. Received size {size}")


def ensure_shape(x, shape, name=None):
    """Return the tensor, or raise an InvalidArgumentError if it cannot have a shape."""
    x, wanted = convert_to_tensor(x), TensorShape(shape)
    if not wanted.is_compatible_with(x.shape):
        raise invalid_argument(f"Shape of tensor [{','.join(map(str, x.shape))}] is not compatible with expected shape "
                               f"{wanted}. [Op:EnsureShape]")
    return x
