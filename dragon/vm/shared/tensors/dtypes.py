"""The element types under TensorFlow's names; `tf.string` and others of the host are known here too."""
from dragon import _C
from dragon.core.dtypes import SHORT_FLOATS, make_dtypes
from dragon.vm.shared.naming import known_as

NUMBERS = {"bool": 10, "uint8": 4, "int8": 6, "int16": 5, "int32": 3, "int64": 9, "float16": 19, "bfloat16": 14,
           "float32": 1, "float64": 2, "complex64": 8, "complex128": 18, "uint16": 17, "uint32": 22, "uint64": 23,
           "float8_e5m2": 24, "float8_e4m3fn": 25, "float8_e4m3fnuz": 26, "float8_e5m2fnuz": 28}
# Known by name alone: no tensor can have them.
NAMED_ONLY = {"qint8": ("qint8", 11),
              "quint8": ("quint8", 12), "qint32": ("qint32", 13), "qint16": ("bits16", 15), "quint16": ("bits8", 16),
              "int4": ("int4", 29), "uint4": ("uint4", 30), "int2": ("int2", 31), "uint2": ("uint6", 32),
              "float8_e4m3b11fnuz": ("float8_e8m0fnu", 27), "float4_e2m1fn": ("float4_e2m1fn_x2", 33)}
LITTLE = ("int4", "uint4", "int2", "uint2", "float8_e4m3b11fnuz", "float4_e2m1fn")  # of the package ml_dtypes
# Of the host, beside the engine: the stand-in only makes them differ from each other.
HOST = {"string": ("uint1", 7), "resource": ("uint2", 20), "variant": ("uint3", 21)}
ENUM = {**NUMBERS, **{name: number for table in (NAMED_ONLY, HOST) for name, (_, number) in table.items()}}
fits_into = []  # the function that tells whether a dtype takes in a tensor of another, where a guest promotes dtypes
BITS = {"bool": 1, "qint16": 16, "quint16": 16}


@known_as("tensorflow")
class DType(_C.dtype):
    """The type of a tensor's elements, as `tf.float32`."""

    def __repr__(self):
        return f"tf.{self.name}"

    def __str__(self):
        return f"<dtype: {self.name!r}>"

    def __reduce__(self):
        return as_dtype, (self.name,)

    __hash__ = _C.dtype.__hash__

    def __eq__(self, other):
        if other is self:
            return True
        if type(other) is DType or other is None:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    base_dtype = property(lambda self: self, doc="DType: the dtype itself; there are no references to others.")

    @property
    def real_dtype(self):
        """DType: the dtype of the real part."""
        return OBJECTS[{"complex64": "float32", "complex128": "float64"}.get(self.name, self.name)]

    @property
    def as_numpy_dtype(self):
        """type: NumPy's class of such a number."""
        import numpy as np
        if self.name in SHORT_FLOATS or self.name in LITTLE:
            return getattr(ml_dtypes(self.name), self.name)
        if self.name in ("string", "resource", "variant"):
            return np.object_
        return np.dtype(self.name.replace("q", "") if self.is_quantized else self.name).type

    as_datatype_enum = property(lambda self: ENUM[self.name],
                                doc="int: the number that TensorFlow's files give the dtype.")
    is_bool = property(lambda self: self.name == "bool", doc="bool: whether elements are truth values.")
    is_floating = property(lambda self: "float" in self.name, doc="bool: whether elements are real numbers.")
    is_integer = property(lambda self: self.name.startswith(("int", "uint")),
                          doc="bool: whether elements are integers, other than quantized ones.")
    is_numeric = property(lambda self: (self.is_integer or self.is_floating or self.is_complex)
                          and self.name not in LITTLE, doc="bool: whether elements are numbers.")
    is_quantized = property(lambda self: self.name.startswith("q"),
                            doc="bool: whether elements stand for others by a scale.")
    is_unsigned = property(lambda self: self.name.startswith("uint"),
                           doc="bool: whether elements are integers from zero.")
    size = property(lambda self: 0 if self.name in HOST else BITS.get(self.name, 8 * self.itemsize) // 8 or 1,
                    doc="int: bytes of an element.")
    min = property(lambda self: self._limits()[0], doc="number: the smallest element.")
    max = property(lambda self: self._limits()[1], doc="number: the greatest element.")

    @property
    def limits(self):
        """Tuple[number, number]: the range that images in this dtype use."""
        if self.name in LITTLE:
            raise ValueError(f"{self} does not have defined limits.")
        return (self.min, self.max) if self.is_integer else (0, 1)

    def is_compatible_with(self, other):
        """Return whether the other dtype is the same one."""
        return as_dtype(other) is self

    def _limits(self):
        import numpy as np
        if self.is_bool:
            return False, True
        if self.name in LITTLE:
            told = (ml_dtypes(self.name).iinfo if self.is_integer else ml_dtypes(self.name).finfo)(self.as_numpy_dtype)
            return told.min, told.max
        if self.is_integer:
            return np.iinfo(self.name).min, np.iinfo(self.name).max
        if self.is_floating:
            short = self.name in SHORT_FLOATS
            info = ml_dtypes(self.name).finfo(self.as_numpy_dtype) if short else np.finfo(self.name)
            return info.min, info.max
        raise TypeError(f"Cannot find minimum value of {self}.")


class HostDType(DType):
    """A dtype that only the host has."""

    def __new__(cls, name, stand_in):
        self = DType.__new__(cls, stand_in)
        self._name = name
        return self

    name = property(lambda self: self._name, doc="str: TensorFlow's name")
    is_floating_point = is_complex = is_signed = property(lambda self: False, doc="bool: no number is meant")
    __hash__ = DType.__hash__


def ml_dtypes(name):
    """Return the package with the small floats that NumPy lacks."""
    try:
        import ml_dtypes as module
    except ImportError:
        raise NotImplementedError(f"NumPy has no {name}; install ml_dtypes to see such numbers there, "
                                  f"or cast to float32 first. Received: {name}") from None
    return module


OBJECTS = make_dtypes(DType)
OBJECTS.update((name, DType(name) if name == stand_in else HostDType(name, stand_in))
               for name, (stand_in, _) in NAMED_ONLY.items())
OBJECTS.update((name, HostDType(name, stand_in)) for name, (stand_in, _) in HOST.items())
ALIASES = {"half": "float16", "double": "float64", "float": "float32"}
PYTHON = {int: "int32", float: "float32", bool: "bool", complex: "complex128", str: "string", bytes: "string",
          object: "string"}
BY_NUMBER = {number: OBJECTS[name] for name, number in ENUM.items()}
REFERENCES = 100  # TensorFlow's numbers of dtypes by reference begin here
_known = {**OBJECTS, **{alias: OBJECTS[name] for alias, name in ALIASES.items()},
          **{kind: OBJECTS[name] for kind, name in PYTHON.items()}}

bool_, uint8, string = OBJECTS["bool"], OBJECTS["uint8"], OBJECTS["string"]
int8, int16, int32, int64 = (OBJECTS[name] for name in ("int8", "int16", "int32", "int64"))
float16, bfloat16, float32, float64 = (OBJECTS[name] for name in ("float16", "bfloat16", "float32", "float64"))
complex64, complex128 = OBJECTS["complex64"], OBJECTS["complex128"]


def as_dtype(type_value):
    """Return the DType that a dtype of any library, a Python or NumPy class, a name or TensorFlow's number stands for.

    Parameters
    ----------
    type_value : Union[DType, str, type, numpy.dtype, int]
        What is to be read as a dtype.

    Returns
    -------
    DType
        The one object of that dtype.

    """
    if type(type_value) is DType:
        return type_value
    try:
        found = _known.get(type_value)
    except TypeError:
        found = None
    if found is None and not isinstance(type_value, (bool, type)) and isinstance(type_value, int):
        found = BY_NUMBER.get(type_value % REFERENCES)
    if found is None:
        found = _as_foreign(type_value)
    if found is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.")
    return found


def _as_foreign(value):
    """Return the DType of a dtype of another library, or None."""
    if isinstance(value, HostDType):
        return value
    name = getattr(value, "name", None)
    if not isinstance(name, str):
        name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return None
    if name in ("bool_", "str_", "bytes_", "object_", "str", "bytes", "object"):
        return OBJECTS["bool" if name == "bool_" else "string"]
    if name not in OBJECTS:  # such as dtype("<U3"), whose name is str96
        kind = getattr(value, "kind", "")
        return OBJECTS["string"] if kind in ("U", "S", "O", "T") else None
    return OBJECTS[name]


_RANGES = {OBJECTS[name]: (OBJECTS[name].min, OBJECTS[name].max) for name in
           ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")}


def wrapped(number, dtype):
    """Return an integer as TensorFlow reads it for a dtype: what lies beyond comes back at its other end."""
    low, high = _RANGES[dtype]
    if low <= number <= high:
        return number
    if not -2 ** 63 <= number < 2 ** 63:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    return (number - low) % (high - low + 1) + low
