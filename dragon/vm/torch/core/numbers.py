"""Limits of dtypes, default dtype and promotion, as PyTorch tells them."""
from dragon import _C
from dragon.core import config
from dragon.vm.torch.core.dtypes import OBJECTS, as_dtype, dtype
from dragon.vm.torch.core.functions.creation import default_dtype
from dragon.vm.torch.core.register import function
from dragon.vm.torch.core.tensor import Tensor

# bits, largest, smallest normal, smallest subnormal, spacing at one, decimal digits that survive
FLOATS = {
    "float16": (16, 65504.0, 2.0 ** -14, 2.0 ** -24, 2.0 ** -10, 1e-3),
    "bfloat16": (16, (2 - 2.0 ** -7) * 2.0 ** 127, 2.0 ** -126, 2.0 ** -133, 2.0 ** -7, 1e-2),
    "float32": (32, (2 - 2.0 ** -23) * 2.0 ** 127, 2.0 ** -126, 2.0 ** -149, 2.0 ** -23, 1e-6),
    "float64": (64, (2 - 2.0 ** -52) * 2.0 ** 1023, 2.0 ** -1022, 2.0 ** -1074, 2.0 ** -52, 1e-15),
    "float8_e4m3fn": (8, 448.0, 2.0 ** -6, 2.0 ** -9, 0.125, 1.0),
    "float8_e5m2": (8, 57344.0, 2.0 ** -14, 2.0 ** -16, 0.25, 1.0),
    "float8_e4m3fnuz": (8, 240.0, 2.0 ** -7, 2.0 ** -10, 0.125, 1.0),
    "float8_e5m2fnuz": (8, 57344.0, 2.0 ** -15, 2.0 ** -17, 0.25, 1.0),
}
REAL = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}
INTEGERS = {"uint8": (8, 0), "int8": (8, 1), "int16": (16, 1), "int32": (32, 1), "int64": (64, 1), "uint16": (16, 0),
            "uint32": (32, 0), "uint64": (64, 0)}


class finfo:
    """The limits of a floating dtype; the default one if none is named.

    Parameters
    ----------
    type : dtype, optional
        A floating or complex dtype.

    Examples
    --------
    >>> torch.finfo(torch.float32).eps
    1.1920928955078125e-07
    >>> torch.finfo(torch.float16).max
    65504.0

    """

    def __init__(self, type=None):
        kind = default_dtype() if type is None else as_dtype(type)
        name = REAL.get(getattr(kind, "name", ""), getattr(kind, "name", ""))
        if name not in FLOATS:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle {kind!r}")
        self.bits, self.max, self.tiny, self.smallest_subnormal, self.eps, self.resolution = FLOATS[name]
        self.smallest_normal, self.min, self.dtype = self.tiny, -self.max, name

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)


class iinfo:
    """The limits of an integer dtype.

    Parameters
    ----------
    type : dtype
        An integer dtype.

    """

    def __init__(self, type):
        name = getattr(as_dtype(type), "name", "")
        held = name[1:] if name in ("qint8", "quint8", "qint32") else name  # by what quantized numbers are held in
        if held not in INTEGERS:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle {type!r}")
        self.bits, signed = INTEGERS[held]
        self.min = -(1 << self.bits - 1) if signed else 0
        self.max = (1 << self.bits - signed) - 1
        self.dtype = name

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)


@function
def get_default_dtype():
    """Return the dtype of Python floats."""
    return default_dtype()


@function
def set_default_dtype(d):
    """Set the dtype of Python floats to a floating dtype."""
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"set_default_dtype: got {d!r}, only floating-point types are supported as the default type")
    config.set_default_dtype(d)


@function
def promote_types(type1, type2):
    """Return the smallest dtype that holds both."""
    return OBJECTS[_C.promote_types(type1, type2)]


@function
def result_type(tensor1, tensor2):
    """Return the dtype that an operation on both gives; tensors or numbers."""
    return OBJECTS[_C.result_type(tensor1, tensor2)]


@function
def can_cast(from_, to):
    """Return whether results of one dtype may be written into another."""
    return _C.can_cast(from_, to)


@function
def typename(obj):
    """Return an object's type as text."""
    if isinstance(obj, Tensor):
        return obj.type()
    module = getattr(obj, "__module__", None)
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None) or type(obj).__name__
    return name if module in (None, "builtins") else f"{module}.{name}"
