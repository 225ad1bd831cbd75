"""Types of numbers as `experimental.dynamic` has them: objects that know their bits."""
import enum

import numpy as np

from dragon.vm.dali.core import kinds
from dragon.vm.dali.core.refusals import absent, got

EXPONENTS = {"f16": 5, "f32": 8, "f64": 11}


class DType:
    """A type of numbers.

    Parameters
    ----------
    kind : DType.Kind
        Signed or unsigned whole numbers, floats, truths, or words of a list.
    bits : int
        How many one number takes.
    name : str
        Such as "i32".
    type_id : DALIDataType, optional
        The same in the words of pipelines.
    exponent_bits : int, optional
        Of floats.

    """

    class Kind(enum.Enum):
        """What numbers of a type are."""

        signed = 1
        unsigned = 2
        float = 3
        bool = 4
        enum = 5

    def __init__(self, kind, bits, name, type_id=None, exponent_bits=None):
        self.kind, self.bits, self.name, self.type_id = kind, bits, name, type_id
        self.bytes = bits // 8
        self.exponent_bits = exponent_bits
        self.significand_bits = None if exponent_bits is None else bits - exponent_bits - 1

    def __repr__(self):
        floats = "" if self.exponent_bits is None else (f", exponent_bits={self.exponent_bits}, "
                                                        f"significand_bits={self.significand_bits}")
        return f"DType(kind={self.kind}, bits={self.bits}{floats})"

    def __str__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, DType) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


def _make(name, type_id):
    letter, bits = name[0], int(name[1:])
    kind = {"i": DType.Kind.signed, "u": DType.Kind.unsigned, "f": DType.Kind.float}[letter]
    return DType(kind, bits, name, type_id, EXPONENTS.get(name))


TYPES = {name: _make(name, kind) for name, kind in {
    "u8": kinds.UINT8, "u16": kinds.UINT16, "u32": kinds.UINT32, "u64": kinds.UINT64, "i8": kinds.INT8,
    "i16": kinds.INT16, "i32": kinds.INT32, "i64": kinds.INT64, "f16": kinds.FLOAT16, "f32": kinds.FLOAT,
    "f64": kinds.FLOAT64}.items()}
TYPES["bool"] = DType(DType.Kind.bool, 8, "bool", kinds.BOOL)
BFLOAT16 = DType(DType.Kind.float, 16, "bf16", None, 8)
LISTS = {name: DType(DType.Kind.enum, 32, name, kind) for name, kind in {
    "DataType": kinds.DATA_TYPE, "ImageType": kinds.IMAGE_TYPE, "InterpType": kinds.INTERP_TYPE}.items()}
_BY_ID = {one.type_id: one for one in TYPES.values()}


def as_dtype(value):
    """Return a type, given itself, its name, or that of pipelines, of NumPy or of PyTorch."""
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        known = {**TYPES, "bf16": BFLOAT16, **LISTS}
        if value not in known:
            raise ValueError(got("dtype", value, f"one of {sorted(known)}"))
        return known[value]
    if str(value).startswith("torch."):
        value = str(value).partition(".")[2]
    if isinstance(value, kinds.DALIDataType) and value not in _BY_ID:
        raise TypeError(got("dtype", value, "a type of numbers"))
    return _BY_ID[kinds.to_dali_type(value)]


def numpy_type(value):
    """Return NumPy's type for one of any kind."""
    found = as_dtype(value)
    if found.type_id is None or found.kind is DType.Kind.enum:
        raise absent(f"dtype {found.name}", "NumPy has no such numbers; float32 or int32 hold them")
    return np.dtype(kinds.to_numpy_type(found.type_id))


def kind_of(array):
    """Return the type of an array's numbers."""
    return _BY_ID[kinds.to_dali_type(array.dtype)]
