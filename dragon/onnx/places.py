"""Where elements lie, as tensors of whole numbers: constants where all sizes are known, else worked out at run time."""
import numpy

from dragon.onnx.size import Size
from dragon.onnx.source import Value, is_dynamic
from dragon.onnx.table import row_function


@row_function
def whole(w, number):
    """Return a whole number, a Size or a value as a 0-d int64."""
    if isinstance(number, Value):
        return number
    return w.number(number) if isinstance(number, Size) else w.constant(number, "int64")


def is_known(*numbers):
    """Return whether numbers are known while exporting."""
    return not any(isinstance(number, (Size, Value)) for number in numbers)


def count_places(w, count, step=1, start=0):
    """Return start, start + step and so on.

    Parameters
    ----------
    w : Writer
        The graph.
    count : int, Size or Value
        How many.
    step, start : int, Size or Value, optional
        How far apart they are, and the first.

    Returns
    -------
    Value
        A vector of int64.

    """
    if is_known(count, step, start):
        return w.constant(start + step * numpy.arange(count, dtype="int64"))
    places = w.Range(w.constant(0, "int64"), whole(w, count), w.constant(1, "int64"))
    if not is_known(step) or step != 1:
        places = w.Mul(places, whole(w, step))
    return places if is_known(start) and start == 0 else w.Add(places, whole(w, start))


def count_windows(w, size, reach, step):
    """Return how many windows that reach so far fit into an axis.

    Parameters
    ----------
    w : Writer
        The graph.
    size : int or Size
        The axis' size.
    reach : int
        How far from a window's first place to its last one.
    step : int
        How far apart windows begin.

    Returns
    -------
    int or Value
        The number; a value where it is known at run time only.

    """
    if is_known(size):
        return (size - reach - 1) // step + 1
    return w.Add(w.Div(w.Sub(w.number(size), reach + 1), step), 1)


def sum_grid(w, vectors):
    """Return all sums of one number of each vector, which has an axis of its own."""
    total = w.constant(0, "int64")
    for axis, vector in enumerate(vectors):
        others = [place for place in range(len(vectors)) if place != axis]
        total = w.Add(total, w.Unsqueeze(vector, others) if others else vector)
    return total


def memory_places(w, shape, strides, offset):
    """Return where each element of a tensor lies in memory."""
    if not is_dynamic((*shape, *strides, offset)):
        return w.constant(known_places(shape, strides, offset))
    places = [count_places(w, size, stride) for size, stride in zip(shape, strides)]
    return w.Add(sum_grid(w, places), whole(w, offset))


def known_places(shape, strides, offset):
    """Return where in memory each element lies, as an array."""
    places = numpy.full(shape, offset, "int64")
    for axis, (size, stride) in enumerate(zip(shape, strides)):
        places += (numpy.arange(size) * stride).reshape([-1] + [1] * (len(shape) - 1 - axis))
    return places
