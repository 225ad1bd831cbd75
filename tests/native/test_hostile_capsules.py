"""DLPack capsules of a hostile maker: what cannot be memory is refused before anybody looks at it."""
import ctypes

import pytest

import dragon
from dragon import _C


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


MEMORY = (ctypes.c_float * 8)()
NAME = b"dltensor"


def capsule(shape, strides=None, *, data=True, ndim=None, **fields):
    """Return a capsule, and what must outlive it."""
    sizes = (ctypes.c_int64 * len(shape))(*shape) if shape is not None else None
    steps = (ctypes.c_int64 * len(strides))(*strides) if strides else None
    made = DLTensor(ctypes.addressof(MEMORY) if data else None, 1, 0, len(shape or ()) if ndim is None else ndim, 2, 32,
                    1, sizes, steps, 0, None, None)
    for name, value in fields.items():
        setattr(made, name, value)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(made), NAME, None), (made, sizes, steps)


def test_an_honest_capsule():
    made, kept = capsule((2, 3), (4, 1))
    x = _C.from_dlpack(made, dragon.Tensor)
    assert x.shape == (2, 3) and x.strides == (4, 1) and kept
    del x


def test_numbers_begin_where_the_offset_says():
    MEMORY[:] = range(8)
    made, kept = capsule((3,), byte_offset=8)
    assert _C.from_dlpack(made, dragon.Tensor).tolist() == [2.0, 3.0, 4.0] and kept


HOSTILE = {
    "negative size": dict(shape=(-1, 3)), "product beyond 64 bits": dict(shape=(2**40, 2**40)),
    "bytes beyond 64 bits": dict(shape=(2**62,)), "reach beyond 64 bits": dict(shape=(3, 2), strides=(2**62, 1)),
    "bytes of the reach": dict(shape=(2,), strides=(2**62,)), "negative stride": dict(shape=(2, 2), strides=(-2, 1)),
    "many axes": dict(shape=(1,), ndim=65), "fewer axes than none": dict(shape=(1,), ndim=-1),
    "no shape": dict(shape=None, ndim=2), "no memory": dict(shape=(2,), data=False),
    "lanes": dict(shape=(2,), lanes=4), "bits": dict(shape=(2,), bits=7), "code": dict(shape=(2,), code=99),
    "device": dict(shape=(2,), device_type=77),
}


@pytest.mark.parametrize("fields", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_memory_is_refused(fields):
    made, kept = capsule(**fields)
    with pytest.raises((ValueError, TypeError)):
        _C.from_dlpack(made, dragon.Tensor)
    assert kept


def test_nothing_needs_no_memory():
    made, kept = capsule((0, 3), data=False)
    assert _C.from_dlpack(made, dragon.Tensor).shape == (0, 3) and kept
