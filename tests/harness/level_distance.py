"""How far the results of two levels of a processor are apart: in units in the last place, or of what was summed."""
import numpy

MANTISSAS = {"float64": 53, "complex128": 53, "float32": 24, "complex64": 24, "float16": 11, "bfloat16": 8}
LEAST = {"float64": -1074, "float32": -149, "float16": -24, "bfloat16": -133}  # exponents of the least denormals


def epsilon(dtype):
    """Return the distance from 1 to the next number of a dtype."""
    return 2.0 ** (1 - MANTISSAS[dtype])


def spacing(sizes, dtype):
    """Return the distance of neighbours at numbers of a float dtype, given by their absolute values in float64."""
    real = {"complex128": "float64", "complex64": "float32"}.get(dtype, dtype)
    _, exponents = numpy.frexp(sizes)
    return numpy.ldexp(1.0, numpy.maximum(exponents - MANTISSAS[real], LEAST[real]))


def special(one, other):
    """Return where two arrays of floats or complex numbers are not both finite, and where they agree there."""
    beyond = ~(numpy.isfinite(one) & numpy.isfinite(other))
    if one.dtype.kind == "c":  # which part of a complex number is infinite and which NaN is nobody's promise
        return beyond, ~numpy.isfinite(one) & ~numpy.isfinite(other)
    return beyond, numpy.isnan(one) & numpy.isnan(other) | (one == other)


def zeros_agree(one, other):
    """Return where numbers that are both zero have the same sign."""
    if one.dtype.kind == "c":
        return zeros_agree(one.real, other.real) & zeros_agree(one.imag, other.imag)
    return (one != 0) | (other != 0) | (numpy.signbit(one) == numpy.signbit(other))


def ulps(one, other, dtype):
    """Return how many units in the last place of the greater one two finite numbers are apart, element by element."""
    wide = numpy.complex128 if one.dtype.kind == "c" else numpy.float64
    one, other = one.astype(wide), other.astype(wide)
    with numpy.errstate(all="ignore"):
        unit = spacing(numpy.maximum(numpy.abs(one), numpy.abs(other)), dtype)
        return numpy.where(one == other, 0.0, numpy.abs(one - other) / unit)


def share(one, other, dtype, size):
    """Return the same distance in units in the last place of a size: what was summed up may cancel."""
    wide = numpy.complex128 if one.dtype.kind == "c" else numpy.float64
    one, other = one.astype(wide), other.astype(wide)
    with numpy.errstate(all="ignore"):
        greatest = max(size, float(numpy.abs(one).max(initial=0.0, where=numpy.isfinite(one))))
        return numpy.where(one == other, 0.0, numpy.abs(one - other) / (epsilon(dtype) * greatest))
