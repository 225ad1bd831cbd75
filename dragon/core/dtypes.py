"""The element types, and the classes that frontends make of them."""
import copyreg

from dragon import _C

NAMES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
         "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
         "float8_e5m2fnuz", "complex32")
# NumPy lacks them; the package ml_dtypes has them.
SHORT_FLOATS = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")


def make_dtypes(dtype_class=_C.dtype):
    """Return {name: dtype object} of a subclass of `_C.dtype`, one object per type.

    Parameters
    ----------
    dtype_class : type, optional, default=_C.dtype
        The frontend's class, called with the NumPy name.

    Returns
    -------
    dict
        From "bool" to "complex32".

    """
    return {name: dtype_class(name) for name in NAMES}


NATIVE = make_dtypes()


def find_dtype(name):
    """Return the native dtype of a name; what a pickled one becomes."""
    return NATIVE[name]


# A frontend's subclass tells pickle about itself.
copyreg.pickle(_C.dtype, lambda dtype: (find_dtype, (dtype.name,)))
