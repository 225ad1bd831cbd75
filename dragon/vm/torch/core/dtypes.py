"""The element types under PyTorch's names."""
from dragon import _C
from dragon.core.dtypes import make_dtypes


class dtype(_C.dtype):
    """The type of a tensor's elements, as `torch.float32`."""

    __slots__ = ()

    def __repr__(self):
        return f"torch.{self.name}"

    __str__ = __repr__

    def __reduce__(self):
        return self.name  # the attribute of `torch` that a pickle names

    def to_complex(self):
        """Return the complex dtype of the same precision."""
        return OBJECTS[COMPLEX_OF.get(self.name, "complex64")]

    def to_real(self):
        """Return the dtype of the real part."""
        return OBJECTS[REAL_OF.get(self.name, self.name)]


COMPLEX_OF = {"float64": "complex128", "complex128": "complex128", "float16": "complex32", "complex32": "complex32"}
REAL_OF = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}
OBJECTS = make_dtypes(dtype)
# Names that files and libraries speak of, though no tensor can have them: whoever asks for one is told so.
UNSUPPORTED = ("float8_e8m0fnu", "float4_e2m1fn_x2", "qint8", "quint8", "qint32", "quint4x2", "quint2x4", "bits8",
               "bits16", "bits1x8", "bits2x4", "bits4x2", "int1", "int2", "int3", "int4", "int5", "int6", "int7",
               "uint1", "uint2", "uint3", "uint4", "uint5", "uint6", "uint7")
OBJECTS.update((name, dtype(name)) for name in UNSUPPORTED)
ALIASES = {"half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32",
           "long": "int64", "cfloat": "complex64", "cdouble": "complex128", "chalf": "complex32", "bit": "uint1"}
NAMES = {**OBJECTS, **{alias: OBJECTS[name] for alias, name in ALIASES.items()}}
PYTHON_DTYPES = {bool: OBJECTS["bool"], int: OBJECTS["int64"], float: OBJECTS["float64"],
                 complex: OBJECTS["complex128"]}


def as_dtype(kind):
    """Return the dtype that a type of Python stands for; anything else as it is."""
    return PYTHON_DTYPES.get(kind, kind) if isinstance(kind, type) else kind
