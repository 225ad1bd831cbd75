"""How close is close: one table by dtype; a row may widen it with a reason."""
import numpy

TABLE = {
    "float64": (1e-9, 1e-10),
    "complex128": (1e-9, 1e-10),
    "float32": (3e-6, 2e-6),
    "complex64": (3e-6, 2e-6),
    "float16": (2e-3, 1e-3),
    "bfloat16": (1.6e-2, 8e-3),
}


def tolerance_of(row, dtype):
    """Return (rtol, atol) for results of a row tested in a dtype."""
    if dtype in row.tolerance:
        rtol, atol, reason = row.tolerance[dtype]
        assert reason, f"{row.name}: a wider tolerance needs a reason"
        return rtol, atol
    return TABLE.get(dtype, (0.0, 0.0))


def compare(got, wanted, tolerance):
    """Return what differs between two arrays as a sentence, or None."""
    if got.shape != wanted.shape:
        return f"shape {got.shape}, expected {wanted.shape}"
    if got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes():
        return None  # to the bit, what is not a number too: no tolerance says otherwise
    rtol, atol = tolerance
    if got.dtype.kind in "fc" or wanted.dtype.kind in "fc":
        close = numpy.isclose(got, wanted, rtol=rtol, atol=atol, equal_nan=True)
    else:
        close = got == wanted
    if numpy.all(close):
        return None
    place = tuple(int(axis[0]) for axis in numpy.nonzero(~numpy.atleast_1d(close)))
    first, second = numpy.atleast_1d(got)[place], numpy.atleast_1d(wanted)[place]
    count = int(close.size - numpy.count_nonzero(close))
    return f"{count} of {close.size} differ, e.g. {first!r} at {place}, expected {second!r}"
