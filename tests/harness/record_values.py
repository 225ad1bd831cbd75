"""What KPLRecord bodies were written by before the engine did it: the oracle of its bytes, and of its refusals."""
import struct

import numpy as np

from dragon.core.wire import write_varint

NONE, FALSE, TRUE, INTEGER, LARGE, REAL, COMPLEX, TEXT, BYTES, LIST, TUPLE, DICT, ARRAY, SCALAR = range(14)
DEEPEST = 100  # as the engine has it
ALIGN = 16
KEYS = (str, int, float, bytes, bool, complex, type(None))
WHAT_WOULD_DO = "dicts, lists and tuples of NumPy arrays, bytes, text, numbers, booleans and None"
DOUBLE, DOUBLES = struct.Struct("<d"), struct.Struct("<dd")
TIME_UNITS = ("generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")


class Refusal(TypeError):
    """A value that records do not hold, and its place in what was given."""

    def __init__(self, what):
        self.what, self.where = what, []
        super().__init__(what)

    def __str__(self):
        place = "".join(f"[{key!r}]" for key in reversed(self.where))
        return self.what + (f" (at {place})" if place else "")


def encode(value):
    """Return a value as bytes.

    Parameters
    ----------
    value : Any
        Dicts, lists and tuples of NumPy arrays, bytes, text, numbers, booleans and None.

    Returns
    -------
    bytes
        The body of a record.

    """
    out = bytearray()
    _put(out, value, 0)
    return bytes(out)


def _put(out, value, depth):
    put = PUTTERS.get(type(value))
    if put is not None:
        put(out, value, depth)
    elif isinstance(value, np.generic):
        _put_array(out, np.asarray(value), depth, SCALAR)
    elif isinstance(value, dict):  # ordered, or with a default: what is written is what it holds
        _put_dict(out, value, depth)
    else:
        hint = ", call its numpy() first" if hasattr(value, "numpy") else ""
        raise Refusal(f"KPLRecord: got a value of type {type(value).__name__}{hint}, expected {WHAT_WOULD_DO}")


def _put_int(out, value, depth):
    if -1 << 63 <= value < 1 << 63:
        out.append(INTEGER)
        out += write_varint(value << 1 if value >= 0 else (-value << 1) - 1)
    else:
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        out.append(LARGE)
        out += write_varint(len(data))
        out += data


def _put_text(out, value, depth):
    data = value.encode("utf-8", "surrogatepass")
    out.append(TEXT)
    out += write_varint(len(data))
    out += data


def _put_bytes(out, value, depth):
    data = value if type(value) is bytes else bytes(value)
    out.append(BYTES)
    out += write_varint(len(data))
    out += data


def _put_real(out, value, depth):
    out.append(REAL)
    out += DOUBLE.pack(value)


def _put_complex(out, value, depth):
    out.append(COMPLEX)
    out += DOUBLES.pack(value.real, value.imag)


def _put_list(out, values, depth):
    _check_depth(depth)
    out.append(LIST if type(values) is list else TUPLE)
    out += write_varint(len(values))
    for place, value in enumerate(values):
        try:
            _put(out, value, depth + 1)
        except Refusal as refusal:
            refusal.where.append(place)
            raise


def _put_dict(out, values, depth):
    _check_depth(depth)
    out.append(DICT)
    out += write_varint(len(values))
    for key, value in values.items():
        if type(key) not in KEYS:
            raise Refusal(f"KPLRecord: got a key of type {type(key).__name__}, expected text, bytes or a number")
        try:
            _put(out, key, depth + 1)
            _put(out, value, depth + 1)
        except Refusal as refusal:
            refusal.where.append(key)
            raise


def _check_depth(depth):
    if depth >= DEEPEST:
        raise Refusal(f"KPLRecord: got values more than {DEEPEST} deep in one another, expected fewer")


def _put_array(out, array, depth, tag=ARRAY):
    array = _plain(array)
    letters = array.dtype.str.encode()
    out.append(tag)
    out += write_varint(len(letters))
    out += letters
    out += write_varint(array.ndim)
    for length in array.shape:
        out += write_varint(length)
    out += bytes(-len(out) % ALIGN)
    if array.size:
        # Times lend no buffer of their own, so all are lent as bytes.
        out += array.reshape(-1).view(np.uint8).data


def _plain(array):
    """Return an array in rows and in the byte order of files, or raise a Refusal for its dtype."""
    dtype = array.dtype
    if dtype.names or dtype.subdtype:
        raise Refusal(f"KPLRecord: got a structured array of dtype {dtype}, expected an array for each field: a dict")
    is_time = dtype.kind in "mM" and np.datetime_data(dtype)[0] in TIME_UNITS and np.datetime_data(dtype)[1] == 1
    is_small = dtype.itemsize <= (16 if dtype.kind == "c" else 8)
    is_number = dtype.kind in "biufc" and is_small and (dtype.isbuiltin == 1 or dtype.byteorder == ">")
    if not (is_number or is_time or dtype.kind in "SU"):
        raise Refusal(f"KPLRecord: got an array of dtype {dtype}, expected numbers of 8 bytes at most (complex ones of "
                      f"16), booleans, times, text or bytes")
    wanted = dtype.newbyteorder("<")
    if not wanted.itemsize:  # text of no letters
        wanted = np.dtype(f"<{dtype.kind}1")
    # ascontiguousarray would make one axis of none.
    return np.asarray(array, wanted, order="C")


PUTTERS = {
    type(None): lambda out, value, depth: out.append(NONE),
    bool: lambda out, value, depth: out.append(TRUE if value else FALSE),
    int: _put_int, float: _put_real, complex: _put_complex, str: _put_text,
    bytes: _put_bytes, bytearray: _put_bytes, memoryview: _put_bytes,
    list: _put_list, tuple: _put_list, dict: _put_dict, np.ndarray: _put_array, np.memmap: _put_array,
}
