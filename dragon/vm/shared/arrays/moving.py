"""Tensors of strings in functions that only move elements: these move numbers that stand for the strings."""
import functools

from dragon import _C
from dragon.vm.shared import nest
from dragon.vm.shared.tensors.convert import convert_to_tensor, first_leaf
from dragon.vm.shared.tensors.dtypes import DType, string
from dragon.vm.shared.tensors.tensor import Base, Tensor


def take(x, dtype=None):
    """Return an argument as an operand of the engine: variables and tensors stay what they are."""
    # Variables of Keras tell their dtype by its name: they are read first.
    return x if dtype is None and isinstance(x, Base) and type(x.dtype) is DType else convert_to_tensor(x, dtype)


def is_ragged(x):
    """Return whether something is a ragged tensor."""
    return not isinstance(x, _C.Tensor) and hasattr(x, "with_flat_values")


def is_text(x):
    """Return whether something is text, or a tensor or an array of it."""
    if isinstance(x, _C.Tensor):
        return False
    if isinstance(x, (str, bytes)) or getattr(type(x), "is_string_tensor", False):
        return True
    if isinstance(x, (list, tuple)):
        return is_text(first_leaf(x))
    return getattr(getattr(x, "dtype", None), "kind", "") in ("U", "S", "O", "T")


def _encode(value, pool):
    """Return numbers that stand for strings, which join a pool."""
    from dragon.vm.shared.tensors.strings import to_array
    import numpy as np
    array = to_array(value)
    begin = len(pool)
    pool.extend(array.reshape(-1).tolist())
    return convert_to_tensor(np.arange(begin, len(pool), dtype=np.int64).reshape(array.shape))


def _decode(numbers, pool):
    """Return the strings that numbers stand for."""
    import numpy as np
    from dragon.vm.shared.tensors.strings import StringTensor
    if not isinstance(numbers, Tensor):
        return numbers
    places = numbers.numpy()
    made = np.empty(places.shape if numbers.ndim else (), object)
    if not numbers.ndim:
        made[()] = pool[int(places)]
    else:
        made.reshape(-1)[:] = [pool[place] for place in places.reshape(-1)]
    return StringTensor(made)


def _code_of(values):
    """Return a function from strings to numbers that stand for them, and one back; in a file they stand already."""
    from dragon.vm.shared.written.nodes import is_written, stand_in_of, wrap
    if any(map(is_written, values)):
        return stand_in_of, lambda item: wrap(item, string) if isinstance(item, Tensor) else item
    pool = []
    return lambda value: _encode(value, pool), lambda numbers: _decode(numbers, pool)


def moving(*arguments):
    """Return a decorator for functions that only move elements of the arguments at these positions."""
    def decorate(function):
        @functools.wraps(function)
        def moved(*args, **kwargs):
            if arguments == (0,) and args and type(args[0]) is Tensor:
                return function(*args, **kwargs)
            places = [place for place in arguments if place < len(args)]
            if not any(is_text(args[place]) for place in places):
                return function(*args, **kwargs)
            args, (encode, decode) = list(args), _code_of([args[place] for place in places])
            for place in places:
                if is_text(args[place]):
                    parts = isinstance(args[place], (list, tuple)) and not all(
                        isinstance(item, (str, bytes)) for item in args[place])
                    args[place] = [encode(item) for item in args[place]] if parts else encode(args[place])
            found = function(*args, **kwargs)
            return nest.map_structure(decode, found)
        return moved
    return decorate
