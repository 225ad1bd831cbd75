"""Dtypes by name, and the dtype in which two of them meet."""
import functools

from dragon.vm.keras.core import config

BOOL_TYPES = ("bool",)
INT_TYPES = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")
FLOAT_TYPES = ("bfloat16", "float16", "float32", "float64")
FLOAT8_TYPES = ("float8_e4m3fn", "float8_e5m2")
COMPLEX_TYPES = ("complex64", "complex128")
ALLOWED_DTYPES = (
    "float16", "float32", "float64", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "bfloat16", "bool", "string", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128")
_ALLOWED = frozenset(ALLOWED_DTYPES)
PYTHON_DTYPES = {bool: "bool", int: "int64", float: "float32", str: "string", "int": "int64", complex: "complex128"}

# Where a dtype may go, one step at a time; "int" and "float" are Python's numbers, which adapt to their partners.
_STEPS = {
    "bool": ["int"], "uint8": ["int16", "uint16"], "uint16": ["int32", "uint32"], "uint32": ["int64", "uint64"],
    "uint64": ["float"], "int": ["uint8", "int8", "complex64"], "int8": ["int16"], "int16": ["int32"],
    "int32": ["int64"], "int64": ["float"], "float": ["bfloat16", "float16"], "bfloat16": ["float32"],
    "float16": ["float32"], "float32": ["float64", "complex64"], "float64": ["complex128"],
    "complex64": ["complex128"], "complex128": [],
}


SHORTER = {"uint64": "uint32"}  # where dtypes meet, Keras makes the one of the other


def _reachable(name):
    found = {name}
    for step in _STEPS[name]:
        found |= _reachable(step)
    return frozenset(found)


_ABOVE = {name: _reachable(name) for name in _STEPS}


def standardize_dtype(dtype):
    """Return the name of a dtype that is given as a name, a type of Python, or a dtype of any framework."""
    if dtype.__class__ is str and dtype in _ALLOWED:
        return dtype
    if dtype is None:
        return config.floatx()
    if isinstance(dtype, (type, str)):
        dtype = PYTHON_DTYPES.get(dtype, dtype)
    if hasattr(dtype, "name"):
        name = dtype.name
    elif hasattr(dtype, "__name__"):
        name = dtype.__name__
    else:
        name = str(dtype).rpartition(".")[2] if "torch" in str(dtype) or "jax.numpy" in str(dtype) else dtype
    if name not in ALLOWED_DTYPES:
        raise ValueError(f"Invalid dtype: {name}")
    return name


def is_float_dtype(dtype):
    """Tell whether a dtype is one of the floats."""
    return standardize_dtype(dtype).startswith(("float", "bfloat"))


def is_int_dtype(dtype):
    """Tell whether a dtype is one of the integers."""
    return standardize_dtype(dtype).startswith(("int", "uint"))


@functools.lru_cache(1024)
def _meet(names):
    """Return the least dtype that all of these may become."""
    unknown = [name for name in names if name not in _ABOVE]
    if unknown:
        raise ValueError(f"dtype='{unknown[0]}' is not a valid dtype for Keras type promotion.")
    common = frozenset.intersection(*(_ABOVE[name] for name in names))
    least = common & names or {name for name in common if common <= _ABOVE[name]}
    if not least:
        raise ValueError(f"Input dtypes {tuple(sorted(names))} have no available implicit dtype promotion path. "
                         "Cast the inputs to the wanted output type.")
    return next(iter(least))


def result_type(*dtypes):
    """Return the name of the dtype in which the given ones meet; Python's `int` and `float` adapt to the others."""
    if not dtypes:
        return config.floatx()
    return _result_type(config.floatx(), *(dtype if dtype.__class__ in (str, type) else standardize_dtype(dtype)
                                           for dtype in dtypes))


@functools.lru_cache(4096)
def _result_type(default, *dtypes):
    if any(dtype in FLOAT8_TYPES for dtype in dtypes):
        raise ValueError("There is no implicit conversions from float8 dtypes to others. "
                         f"You must cast it internally. Received: {dtypes}")
    weak = [dtype is int or dtype is float for dtype in dtypes]
    names = [standardize_dtype(dtype) for dtype in dtypes]
    if len(set(names)) == 1 and not all(weak):
        return SHORTER.get(names[0], names[0])
    if all(weak):
        meeting = _meet(frozenset(names))
    else:
        meeting = _meet(frozenset(("float" if "float" in name else "int") if is_weak else name
                                  for name, is_weak in zip(names, weak)))
    if all(weak) or meeting in ("int", "float"):
        meeting = ("int" if meeting.startswith("int") else "float") + default[-2:]
    return "complex64" if meeting == "complex128" else SHORTER.get(meeting, meeting)
