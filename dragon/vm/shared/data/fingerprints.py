"""Fingerprints of datasets: equal where the same program makes them again, so that files of theirs can be found."""
import functools
import hashlib
import types

from dragon import _C
from dragon.vm.shared.data import kinds
from dragon.vm.shared.data.rows import Rows, array_of
from dragon.vm.shared.data.seeds import Draws
from dragon.vm.shared.tensors.convert import is_tensor
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.type_spec import TypeSpec

PLAIN = (bool, int, float, complex, str, bytes, range, type(None), type(Ellipsis))


# What of a dataset follows from the rest: it is worked out on the way.
FOLLOWING = frozenset(("_kept", "_spec", "_lock", "_plain"))


class Unknown(Exception):
    """Something has no fingerprint: whether it will be the same again cannot be told."""


def fingerprint(dataset):
    """Return a number below 2 ** 64 for what a dataset is made of, or None where that cannot be told.

    Parameters
    ----------
    dataset : Dataset
        The dataset.

    Returns
    -------
    Optional[int]
        Of the kinds, the numbers and the functions' code all the way up to the sources.

    """
    try:
        told = _tell(dataset, ())
    except (Unknown, RecursionError):
        return None
    return int.from_bytes(hashlib.sha256(repr(told).encode()).digest()[:8], "little")


def _tell(value, within):
    """Return a value as plain ones that are equal wherever it is."""
    if isinstance(value, PLAIN):
        return type(value).__name__, repr(value)
    if any(value is one for one in within):
        return "itself", len(within)
    within = (*within, value)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [_tell(item, within) for item in value]
    if isinstance(value, dict):
        return "dict", [(_tell(key, within), _tell(item, within)) for key, item in value.items()]
    if isinstance(value, (set, frozenset)):
        return "set", sorted(repr(_tell(item, within)) for item in value)
    if isinstance(value, kinds.Dataset):
        return type(value).__name__, [(name, _tell(item, within)) for name, item in sorted(vars(value).items())
                                      if name not in FOLLOWING and item is not None and item is not False
                                      and not isinstance(item, Rows)]
    if isinstance(value, types.FunctionType):
        return _tell_function(value, within)
    if isinstance(value, types.MethodType):
        return "method", _tell(value.__func__, within), _tell(value.__self__, within)
    if isinstance(value, functools.partial):
        return "partial", _tell([value.func, value.args, value.keywords], within)
    if isinstance(value, (type, types.BuiltinFunctionType, types.ModuleType)):
        return type(value).__name__, getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__)
    if is_tensor(value) or type(value).__module__ == "numpy":
        return _tell_array(value)
    if isinstance(value, Draws):
        return "Draws", value._seeds
    if isinstance(value, (_C.dtype, TypeSpec, TensorShape)):
        return type(value).__name__, repr(value)
    raise Unknown(type(value))


def _tell_array(value):
    array = array_of(value) if hasattr(value, "device") and is_tensor(value) else value
    if getattr(array, "dtype", None) == object:
        return "array", array.shape, repr(array.tolist())
    if hasattr(array, "tobytes"):
        return "array", str(array.dtype), array.shape, hashlib.sha256(array.tobytes()).hexdigest()
    raise Unknown(type(value))


def _tell_function(function, within):
    """Return a function as its code, what it closes over, and what of the module its code names."""
    wrapped = getattr(function, "__wrapped__", None)
    names = [name for name in function.__code__.co_names if name in function.__globals__]
    return ("function", _tell_code(function.__code__), _tell(function.__defaults__, within),
            [_tell(cell.cell_contents, within) for cell in function.__closure__ or ()],
            [(name, _tell(function.__globals__[name], within)) for name in names],
            None if wrapped is None else _tell(wrapped, within))


def _tell_code(code):
    return code.co_code, code.co_names, [_tell_code(one) if isinstance(one, types.CodeType) else repr(one)
                                         for one in code.co_consts]
