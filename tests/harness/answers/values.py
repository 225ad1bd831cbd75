"""Trees of plain values as bytes and back: what answers and their keys are made of."""
import builtins
import re
import struct

import numpy

# Classes of errors that are told by name; the rest of a class's bases are Python's and the framework's own.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
PLAIN_KINDS = "biufcSU"


class Content(bytes):
    """What a package writes into a file: other bytes each time, for the same meaning, and so never compared."""


class Raised(Exception):
    """An error that a genuine package raised: the names of its class and of that one's bases, and what it says."""

    def __init__(self, names, text):
        super().__init__(text)
        self.names = list(names)

    @property
    def name(self):
        """The name of the error's class."""
        return self.names[0]

    def is_a(self, *kinds):
        """Whether the error's class, or one that it comes from, is called as one of some classes."""
        return any(kind.__name__ in self.names for kind in kinds)

    def builtin(self):
        """Return the error as the nearest of Python's own."""
        return next(kind for kind in (getattr(builtins, name, None) for name in self.names) if kind)(str(self))

    def nearest(self, kinds):
        """Return the first of some classes that the error is one of."""
        return next(kind for kind in kinds if self.is_a(kind))

    def __repr__(self):
        return f"{self.name}({str(self)!r})"


def raised(error):
    """Return an error as a plain value."""
    if isinstance(error, Raised):
        return error
    return Raised([kind.__name__ for kind in type(error).__mro__ if kind is not object], ADDRESS.sub("", str(error)))


def encode(value):
    """Return a tree of plain values as bytes: the same bytes for the same values.

    Plain are None, numbers, strings, bytes, lists, tuples, dictionaries, slices, ranges, errors, and NumPy's arrays,
    scalars and dtypes.
    """
    out = []
    _put(value, out)
    return b"".join(out)


def _tagged(tag, data, out):
    out += (tag, struct.pack("<I", len(data)), data)


def _put(value, out):
    kind = type(value)
    if value is None or kind is bool or value is Ellipsis:
        out.append({None: b"N", True: b"T", False: b"F", Ellipsis: b"E"}[value])
    elif kind is int:
        _tagged(b"i", str(value).encode(), out)
    elif kind is float:
        out.append(b"d" + struct.pack("<d", value))
    elif kind is complex:
        out.append(b"c" + struct.pack("<dd", value.real, value.imag))
    elif kind is str:
        _tagged(b"s", value.encode("utf-8", "surrogatepass"), out)
    elif kind is bytes:
        _tagged(b"b", value, out)
    elif kind is Content:
        _tagged(b"f", value, out)
    elif isinstance(value, (list, tuple)):
        out += (b"t" if isinstance(value, tuple) else b"l", struct.pack("<I", len(value)))
        for item in value:
            _put(item, out)
    elif isinstance(value, dict):
        out += (b"m", struct.pack("<I", len(value)))
        for pair in value.items():
            _put(pair[0], out)
            _put(pair[1], out)
    elif isinstance(value, (numpy.ndarray, numpy.generic)):
        _put_array(value, out)
    elif isinstance(value, BaseException):
        told = raised(value)
        out.append(b"x")
        _put([told.names, str(told)], out)
    elif isinstance(value, (slice, range)):
        out.append(b"r" if isinstance(value, slice) else b"R")
        _put([value.start, value.stop, value.step], out)
    elif isinstance(value, numpy.dtype):
        _tagged(b"y", value.str.encode(), out)
    else:
        raise TypeError(f"answers: got {value!r}, a {kind.__name__}, expected plain values")


def _put_array(value, out):
    out.append(b"g" if isinstance(value, numpy.generic) else b"a")
    array = numpy.asarray(value)
    out += (struct.pack("<B", array.ndim), struct.pack(f"<{array.ndim}q", *array.shape))
    if array.dtype == object:
        _tagged(b"o", b"", out)
        _put(array.ravel().tolist(), out)
        return
    # Dtypes of others, bfloat16 say, are known by name.
    name = array.dtype.newbyteorder("<").str if array.dtype.kind in PLAIN_KINDS else array.dtype.name
    _tagged(b"p", name.encode(), out)
    if array.dtype.kind in PLAIN_KINDS:
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    # Bytes of one place stand together: exponents are alike, and compress.
    data = numpy.frombuffer(array.tobytes(), numpy.uint8).reshape(-1, array.dtype.itemsize or 1)
    _tagged(b"", data.T.tobytes(), out)


def decode(data):
    """Return the values that `encode` made bytes of."""
    reader = _Reader(data)
    value = reader.take()
    if reader.place != len(data):
        raise ValueError(f"answers: got {len(data) - reader.place} bytes too many")
    return value


class _Reader:
    """Values out of bytes, one after the other."""

    def __init__(self, data):
        self.data, self.place = data, 0

    def bytes(self, count):
        if self.place + count > len(self.data):
            raise ValueError("answers: got too few bytes")
        self.place += count
        return self.data[self.place - count:self.place]

    def unpack(self, form):
        return struct.unpack(form, self.bytes(struct.calcsize(form)))

    def tagged(self):
        return self.bytes(self.unpack("<I")[0])

    def take(self):
        tag = self.bytes(1)
        if tag in b"NTFE":
            return {b"N": None, b"T": True, b"F": False, b"E": Ellipsis}[tag]
        if tag == b"i":
            return int(self.tagged())
        if tag == b"d":
            return self.unpack("<d")[0]
        if tag == b"c":
            return complex(*self.unpack("<dd"))
        if tag == b"s":
            return self.tagged().decode("utf-8", "surrogatepass")
        if tag == b"b":
            return self.tagged()
        if tag == b"f":
            return Content(self.tagged())
        if tag in b"lt":
            items = [self.take() for _ in range(self.unpack("<I")[0])]
            return items if tag == b"l" else tuple(items)
        if tag == b"m":
            return {self.take(): self.take() for _ in range(self.unpack("<I")[0])}
        if tag in b"ag":
            array = self.array()
            return array[()] if tag == b"g" else array
        if tag == b"x":
            return Raised(*self.take())
        if tag in b"rR":
            return (slice if tag == b"r" else range)(*self.take())
        if tag == b"y":
            return numpy.dtype(self.tagged().decode())
        raise ValueError(f"answers: got a value of kind {tag!r}")

    def array(self):
        shape = self.unpack(f"<{self.unpack('<B')[0]}q")
        if self.bytes(1) == b"o":
            self.tagged()
            array = numpy.empty(shape, object)
            array.ravel()[:] = self.take() or None
            return array
        dtype = dtype_of(self.tagged().decode())
        columns = numpy.frombuffer(self.tagged(), numpy.uint8).reshape(dtype.itemsize or 1, -1)
        return numpy.frombuffer(bytearray(columns.T.tobytes()), dtype).reshape(shape)


def dtype_of(name):
    """Return a dtype of NumPy's or of `ml_dtypes`."""
    try:
        return numpy.dtype(name)
    except TypeError:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, name))


# How far answers of one package may lie apart on two machines, relative to the number and to its array's greatest. Wide
# numbers are often sums of narrow ones: a loss in float64 of float32 layers.
APART = {"float64": 1e-5, "complex128": 1e-5, "float32": 1e-3, "complex64": 1e-3}
COARSE = 2e-2  # of 16 bits, and of what is computed in 16 bits
# The least that an array's greatest counts for: what cancels leaves the rounding of the numbers that were added.
LEAST = 1e-2
HUGE = 1e12


def difference(mine, theirs, within=None):
    """Return what of two answers of one genuine package differs by more than rounding, or None.

    `within` is how far numbers may be apart, that of their dtype by default.
    """
    if isinstance(theirs, Raised):
        return None if isinstance(mine, Raised) and mine.names == theirs.names else f"{mine!r} and {theirs!r}"
    if isinstance(theirs, (list, tuple)):
        if type(mine) is not type(theirs) or len(mine) != len(theirs):
            return f"{mine!r} and {theirs!r}"
        return next(filter(None, (difference(*pair, within) for pair in zip(mine, theirs))), None)
    if isinstance(theirs, dict):
        return difference([list(mine.items())] if isinstance(mine, dict) else mine, [list(theirs.items())], within)
    if type(mine) is not type(theirs):
        return f"{mine!r} and {theirs!r}"
    if isinstance(theirs, Content):
        return None
    if isinstance(theirs, (numpy.ndarray, numpy.generic, float, complex)):
        one, other = numpy.asarray(mine), numpy.asarray(theirs)
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"{one.dtype} {one.shape} and {other.dtype} {other.shape}"
        return None if _near(one, other, within) else f"{mine!r} and {theirs!r}"
    return None if mine == theirs else f"{mine!r} and {theirs!r}"


def _near(one, other, within):
    """Whether two arrays of one dtype and shape are equal but for rounding."""
    if one.dtype.kind not in "fcV":
        return bool((one == other).all())
    within = within or APART.get(one.dtype.name, COARSE)
    eps = COARSE if one.dtype.kind == "V" else numpy.finfo(one.dtype).eps
    wide = numpy.complex128 if one.dtype.kind == "c" else numpy.float64
    one, other = one.astype(wide), other.astype(wide)
    sizes = numpy.abs(other[numpy.isfinite(other)])
    largest = sizes.max(initial=LEAST)
    # Beside -1e30 others are what its rounding leaves, which follows the order of sums, and so the processor.
    lost = 16 * eps * largest if largest > HUGE else 0.0
    with numpy.errstate(all="ignore"):
        good = numpy.isclose(one, other, within, max(within * min(1.0, largest), lost), equal_nan=True)
        if wide is numpy.complex128:  # which part is infinite and which NaN follows the processor
            good |= ~numpy.isfinite(one) & ~numpy.isfinite(other)
        return bool(good.all())
