"""DALI's types of numbers, pictures and interpolation, and constants that have one."""
from enum import IntEnum

import numpy as np

from dragon.vm.dali.core.refusals import got

CPU_ONLY_DEVICE_ID = -99999


class DALIDataType(IntEnum):
    """The types of numbers."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11
    STRING = 12
    FEATURE = 13
    IMAGE_TYPE = 14
    DATA_TYPE = 15
    INTERP_TYPE = 16
    TENSOR_LAYOUT = 17
    PYTHON_OBJECT = 18
    NO_TYPE = -1

    def __repr__(self):
        return f"<DALIDataType.{self.name}: {self.value}>"

    def __str__(self):
        return f"DALIDataType.{self.name}"


class DALIImageType(IntEnum):
    """What the channels of a picture mean."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4

    def __str__(self):
        return f"DALIImageType.{self.name}"


class DALIInterpType(IntEnum):
    """How pixels are made of their neighbours."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5

    def __str__(self):
        return f"DALIInterpType.{self.name}"


UINT8, UINT16, UINT32, UINT64 = list(DALIDataType)[:4]
INT8, INT16, INT32, INT64 = list(DALIDataType)[4:8]
FLOAT16, FLOAT, FLOAT64, BOOL = list(DALIDataType)[8:12]
STRING, FEATURE, IMAGE_TYPE, DATA_TYPE = list(DALIDataType)[12:16]
INTERP_TYPE, TENSOR_LAYOUT, PYTHON_OBJECT, NO_TYPE = list(DALIDataType)[16:]
RGB, BGR, GRAY, YCbCr, ANY_DATA = DALIImageType
INTERP_NN, INTERP_LINEAR, INTERP_CUBIC, INTERP_LANCZOS3, INTERP_TRIANGULAR, INTERP_GAUSSIAN = DALIInterpType

_NUMPY = {UINT8: "uint8", UINT16: "uint16", UINT32: "uint32", UINT64: "uint64", INT8: "int8", INT16: "int16",
          INT32: "int32", INT64: "int64", FLOAT16: "float16", FLOAT: "float32", FLOAT64: "float64", BOOL: "bool"}
_DALI = {np.dtype(name): kind for kind, name in _NUMPY.items()}
_PYTHON = {bool: BOOL, int: INT32, float: FLOAT}


def to_numpy_type(dali_type):
    """Return NumPy's type for one of DALI's.

    Parameters
    ----------
    dali_type : DALIDataType
        The type.

    Returns
    -------
    type
        NumPy's scalar type.

    """
    if dali_type not in _NUMPY:
        raise TypeError(got("to_numpy_type", dali_type, "a type of numbers"))
    return np.dtype(_NUMPY[dali_type]).type


def to_dali_type(framework_type):
    """Return DALI's type for one of NumPy's, Python's or a name of one.

    Parameters
    ----------
    framework_type : Union[type, numpy.dtype, str, DALIDataType]
        The type.

    Returns
    -------
    DALIDataType
        The same in DALI's words.

    """
    if isinstance(framework_type, DALIDataType):
        return framework_type
    if framework_type in _PYTHON:
        return _PYTHON[framework_type]
    try:
        return _DALI[np.dtype(framework_type)]
    except (KeyError, TypeError):
        raise TypeError(got("to_dali_type", framework_type, "a type of numbers")) from None


class ScalarConstant:
    """A number with a type of its own, for arithmetic.

    Parameters
    ----------
    value : Union[bool, int, float]
        The number.
    dtype : DALIDataType, optional
        Its type; that which Python's number has by default.

    """

    def __init__(self, value, dtype=None):
        self.value = value
        self.dtype = to_dali_type(type(value)) if dtype is None else dtype
        self.shape = []

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value, to_numpy_type(self.dtype) if dtype is None else dtype)
