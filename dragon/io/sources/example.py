"""`tf.train.Example` as a dict and back: what the records of TFRecord files usually are."""
import numpy as np

from dragon import _C
from dragon.core.wire import BYTES, write_field, write_varint
from dragon.io.errors import DataError

BYTES_LIST, FLOAT_LIST, INT64_LIST = 1, 2, 3


def parse_example(record):
    """Return the features of an Example.

    Parameters
    ----------
    record : bytes
        The serialized message.

    Returns
    -------
    dict
        For each name a list of bytes, or an array of float32 or int64 numbers; None for a feature without a value.

    """
    found = _C.read_example(record)
    if found is None:
        raise DataError(f"parse_example: got {len(record)} bytes that are no Example, expected one")
    return found


def make_example(features):
    """Return a dict as a serialized Example.

    Parameters
    ----------
    features : dict
        For each name a number, text or bytes, a list of them, or a NumPy array, which is written flat: an Example has
        no shapes. Integers and booleans become int64, other numbers float32.

    Returns
    -------
    bytes
        The message.

    """
    if not isinstance(features, dict):
        raise TypeError(f"make_example: got {type(features).__name__}, expected a dict")
    entries = []
    for key, value in features.items():
        if not isinstance(key, str):
            raise TypeError(f"make_example: got a name of type {type(key).__name__}, expected text")
        feature = b"" if value is None else _make_feature(key, value)
        pair = write_field(1, BYTES, key.encode()) + write_field(2, BYTES, feature)
        entries.append(write_field(1, BYTES, pair))
    return write_field(1, BYTES, b"".join(entries))


def _make_feature(key, value):
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        value = [value]
    is_texts = isinstance(value, (list, tuple)) and value and isinstance(value[0], (str, bytes, bytearray, memoryview))
    array = np.array([], np.float32) if isinstance(value, (list, tuple)) and not value else None
    if array is None and not is_texts:
        array = np.asarray(value).reshape(-1)
    if is_texts or array.dtype.kind in "SU":
        return write_field(BYTES_LIST, BYTES, b"".join(write_field(1, BYTES, _bytes_of(key, one)) for one in (
            value if is_texts else array.tolist())))
    if array.dtype.kind == "f":
        return write_field(FLOAT_LIST, BYTES, _packed(array.astype("<f4").tobytes()))
    if array.dtype.kind in "biu" and (array.dtype != np.uint64 or (array < 1 << 63).all()):
        return write_field(INT64_LIST, BYTES, _packed(b"".join(map(write_varint, array.astype(np.int64).tolist()))))
    raise TypeError(f"make_example: got {value!r} for {key!r}, expected numbers of 64 bits, text or bytes")


def _packed(data):
    return write_field(1, BYTES, data) if data else b""


def _bytes_of(key, value):
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"make_example: got {value!r} among the bytes of {key!r}, expected text or bytes")
