"""How far the levels of a processor may be apart: one table, by operator."""
import collections

import numpy

from harness import level_distance

# `kind`: "exact", all bits but those of NaNs; "ulps", so many units in the last place of each element; "sums", so many
# of the largest number that was summed up, times 1 + log2 of how many there were.
Bound = collections.namedtuple("Bound", "kind size")
EXACT = Bound("exact", 0)
HALVES = ("float16", "bfloat16")
# What a family's operators do: move and compare numbers, round each result once or by a function's few units, add up.
FAMILIES = {
    **dict.fromkeys(("array", "control", "index", "sort"), EXACT),
    **dict.fromkeys(("activation", "math"), Bound("ulps", 4)),
    **dict.fromkeys(("attention", "convolution", "fft", "linalg", "loss", "matmul", "normalization", "pooling",
                     "random", "recurrent", "reduction", "sparse", "training", "vision"), Bound("sums", 4)),
}
NAMES = {
    # Functions of elements that end in a sum, which may cancel.
    **dict.fromkeys(("logaddexp", "logaddexp2", "lerp", "addcmul", "addcdiv", "polar", "tanh_backward", "silu", "mish",
                     "gelu", "sinc", "tanh", "igamma", "igammac", "atan2", "renorm", "quantile", "embedding_bag",
                     "kron", "cross", "scatter", "i0", "i0e", "i1", "i1e"),
                    Bound("sums", 4)),
    "linalg_pinv": Bound("sums", 32),  # its gradient has the square of the condition
}
WEIGHED_IN_FLOAT32 = ("scale_and_translate",)  # places and weights are numbers of float32 in float64, too
LARGEST = {"float64": 1.8e308, "complex128": 1.8e308, "float16": 65504.0}  # of all others that of float32


def bound_of(family, name, dtype):
    """Return the bound of an operator's results; a product of complex numbers is a sum."""
    found = NAMES.get(name, FAMILIES[family])
    if name in WEIGHED_IN_FLOAT32 and dtype == "float64":
        return Bound("sums", 4 * 2.0 ** 29)
    return Bound("sums", 4) if found.kind == "ulps" and dtype.startswith("complex") else found


def judge(key, sizes, one, other):
    """Return (farthest distance, bound, what is too far apart or None) of one call's results on two levels."""
    family, name, dtype, _, _ = key
    bound = bound_of(family, name, dtype)
    if isinstance(one, str) or isinstance(other, str):
        same = isinstance(one, str) and isinstance(other, str) and one == other
        return 0.0, bound, None if same else f"{str(one)[:200]} and {str(other)[:200]}"
    farthest, words = 0.0, None
    for place, ((kind, mine), (_, theirs)) in enumerate(zip(one, other, strict=True)):
        distance, sentence = apart(kind, mine, theirs, bound, sizes)
        farthest = max(farthest, distance)
        words = words or sentence and f"result {place} in {kind}: {sentence}"
    return farthest, bound, words


def apart(dtype, one, other, bound, sizes):
    """Return (farthest distance, what is too far apart or None) of two arrays."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return 0.0, f"{one.dtype}{one.shape} and {other.dtype}{other.shape}"
    if one.dtype.kind not in "fc":
        return told(one, other, one == other, 0.0)
    beyond, same = level_distance.special(one, other)
    largest, count = sizes
    if bound.kind == "sums":
        if largest > LARGEST.get(dtype, 3.4e38) / 4:  # a fused product does not overflow before the sum
            same = beyond
        distance = level_distance.share(one, other, dtype, largest) / (1 + numpy.log2(count))
        if dtype in HALVES:
            distance = numpy.where(level_distance.ulps(one, other, dtype) <= 1, 0.0, distance)
    else:
        distance = level_distance.ulps(one, other, dtype)
    distance = numpy.where(beyond, 0.0, distance)
    good = numpy.where(beyond, same, distance <= bound.size)
    if bound.kind != "sums":
        good &= level_distance.zeros_agree(one, other)
    return told(one, other, good, float(distance.max(initial=0.0)))


def told(one, other, good, distance):
    """Return the distance, and a sentence on the first element that is too far apart."""
    if numpy.all(good):
        return distance, None
    place = tuple(int(axis[0]) for axis in numpy.nonzero(~numpy.atleast_1d(good)))
    first, second = numpy.atleast_1d(one)[place], numpy.atleast_1d(other)[place]
    return distance, f"{good.size - numpy.count_nonzero(good)} of {good.size} differ by up to {distance:.3g}, e.g. " \
                     f"{first!r} and {second!r} at {place}"
