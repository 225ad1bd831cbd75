"""Creation, copies, joins, views and rearrangements of axes."""
import numpy

from dragon.onnx.places import whole
from dragon.onnx.size import Size
from dragon.onnx.source import is_dynamic
from dragon.onnx.table import maps, row_function
from dragon.onnx.writer import LARGEST, SMALLEST, numpy_dtype


# --- creation

@maps("full", "full_like")
def full(w, value, **arguments):
    if isinstance(value, Size):
        return w.Expand(w.cast(whole(w, value), w.out.dtype), list(w.out.shape))
    return w.full(w.out.shape, value, w.out.dtype)


@maps("arange")
def arange(w, start, stop, step, dtype, device):
    if stop is None:
        start, stop = 0, start
    dtype = w.out.dtype
    if not any(isinstance(number, Size) for number in (start, stop, step)):
        count = w.out.shape[0]
        wide = "float64" if numpy_dtype(dtype).kind not in "iu" else "int64"
        return w.constant((start + step * numpy.arange(count, dtype=wide)), dtype)
    ascends = min(numbers_of(start)) >= 0 and min(numbers_of(step)) > 0
    numbers = (start, stop, step) if ascends else (-start, -stop, -step)
    places = w.Range(*(whole(w, number) for number in numbers))
    # ONNX Runtime makes a slice of what is read at a range, whose negative bounds it then counts from the end.
    return w.cast(places if ascends else w.Neg(places), dtype)


def numbers_of(number):
    """Return what a number is in each capture."""
    return number.samples if isinstance(number, Size) else (number,)


def spread(start, stop, steps):
    """Return evenly spaced numbers, both ends included, counted from the nearer end."""
    step = (stop - start) / max(steps - 1, 1)
    places = numpy.arange(steps)
    return numpy.where(places < steps // 2, start + step * places, stop - step * (steps - 1 - places)) \
        if steps != 1 else numpy.array([start], "float64")


@maps("linspace")
def linspace(w, start, stop, steps, dtype, device):
    if not isinstance(steps, Size):
        return w.constant(spread(start, stop, steps), w.out.dtype)
    places = w.Range(w.constant(0, "int64"), w.number(steps), w.constant(1, "int64"))
    last = w.Max(w.Sub(w.number(steps), 1), 1)
    step = w.Div(w.constant(stop - start, w.out.dtype), w.cast(last, w.out.dtype))
    return w.Add(w.Mul(w.cast(places, w.out.dtype), step), start)


@maps("logspace")
def logspace(w, start, stop, steps, base, dtype, device):
    return w.constant(numpy.power(float(base), spread(start, stop, int(steps))), w.out.dtype)


@maps("eye")
def eye(w, n, m, dtype, device):
    if is_dynamic(w.out.shape):
        return w.cast(w.EyeLike(w.full(w.out.shape, 0, "float32")), w.out.dtype)
    return w.constant(numpy.eye(n, m), w.out.dtype)


# --- joins and copies of axes

@maps("cat")
def cat(w, xs, axis):
    parts = [x for x in xs if x.shape != (0,)] or xs[:1]
    return w.Concat(*(w.cast(x, w.out.dtype) for x in parts), axis=axis)


@maps("transpose")
def transpose(w, x, axis0, axis1):
    if x.ndim == 0:
        return x
    axes = list(range(x.ndim))
    axes[axis0], axes[axis1] = axes[axis1], axes[axis0]
    return w.transpose(x, axes)


@maps("squeeze")
def squeeze(w, x, axis):
    axes = range(x.ndim) if axis is None else {place % max(x.ndim, 1) for place in axis}
    axes = sorted(place for place in axes if x.ndim and x.shape[place] == 1)
    return w.Squeeze(x, axes) if axes else x


# --- parts

def take_slices(w, x, parts):
    """Return parts of several axes.

    Parameters
    ----------
    w : Writer
        The graph.
    x : Value
        Whose parts.
    parts : list
        (axis, start, stop, step) each; a stop of None is the axis' end.

    Returns
    -------
    Value
        x, if nothing is cut off.

    """
    parts = [(axis, start, LARGEST if stop is None or x.shape is not None and stop == x.shape[axis] else stop, step)
             for axis, start, stop, step in parts]
    parts = [part for part in parts if part[1:] != (0, LARGEST, 1)]
    if not parts:
        return x
    axes, starts, stops, steps = zip(*parts)
    return w.Slice(x, list(starts), list(stops), list(axes), list(steps))


def bound(place, otherwise):
    """Return a subscript's bound; None means the end it stands for."""
    return otherwise if place is None else place


def whole_slice(start, stop, step):
    """Return a slice as Python has it with bounds for the ends that None stands for."""
    backwards = not isinstance(step, Size) and step < 0
    return bound(start, LARGEST if backwards else 0), bound(stop, SMALLEST if backwards else LARGEST), step


@maps("slice")
def slice_axis(w, x, axis, start, stop, step):
    return take_slices(w, x, [(axis % x.ndim, *whole_slice(start, stop, step))])


@maps("select")
def select(w, x, axis, index):
    place = w.number(index) if isinstance(index, Size) else w.constant(index, "int64")
    return w.Gather(x, place, axis=axis % x.ndim)


@maps("subview")
def subview(w, x, items):
    """Items: 0 index | 1 start count step | 2 (a new axis) | 3 count (axes kept) | 4 start stop step (not clamped)."""
    items = iter(items)
    axis, parts, dropped, added, place = 0, [], [], [], 0
    for kind in items:
        if kind == 0:
            index = next(items)
            parts.append((axis, index, index + 1 if index != -1 else LARGEST, 1))
            dropped.append(axis)
            axis += 1
        elif kind == 1:
            start, count, step = next(items), next(items), next(items)
            stop = start + count * step if step == 1 else start + (count - 1) * step + 1
            parts.append((axis, start, stop, step))
            axis, place = axis + 1, place + 1
        elif kind == 4:  # ONNX clamps, and counts from the end, as Python does
            parts.append((axis, *whole_slice(next(items), next(items), next(items))))
            axis, place = axis + 1, place + 1
        elif kind == 2:
            added.append(place)
            place += 1
        else:
            count = next(items)
            axis, place = axis + count, place + count
    y = take_slices(w, x, parts)
    y = w.Squeeze(y, dropped) if dropped else y
    return w.Unsqueeze(y, added) if added else y


# --- rearrangements

@maps("flip")
def flip(w, x, axis):
    axes = sorted({place % max(x.ndim, 1) for place in axis})
    if not axes or x.ndim == 0:
        return x
    return w.Slice(x, [-1] * len(axes), [SMALLEST] * len(axes), axes, [-1] * len(axes))


@maps("roll_axes")
def roll_axes(w, x, shifts, axis):
    for shift, place in zip(shifts, axis):
        if shift == 0 or x.ndim == 0:
            continue
        place %= x.ndim
        size = x.shape[place]
        if isinstance(size, Size):  # the shift may be more than it
            start = w.Mod(w.sizes([-shift]), w.Max(w.size(size), w.constant([1], "int64")))
        elif size == 0 or shift % size == 0:
            continue
        else:
            start = w.sizes([-shift % size])
        tail = w.Slice(x, start, [LARGEST], [place])
        head = w.Slice(x, [0], start, [place])
        shape = x.shape
        x = w.Concat(tail, head, axis=place)
        x.shape = shape
    return x


@row_function
def number_of(w, x):
    """Return booleans as int32."""
    return w.cast(x, "int32") if x.dtype == "bool" else x


def wrap_axis(w, x, axis, before, after):
    """Return x with an axis continued from its other end; negative amounts cut off."""
    y = w.Slice(x, [max(-before, 0)], [min(after, 0) if after < 0 else LARGEST], [axis])
    parts = [w.Slice(y, [-before], [LARGEST], [axis])] if before > 0 else []
    parts += [y] + ([w.Slice(y, [0], [after], [axis])] if after > 0 else [])
    return parts[0] if len(parts) == 1 else w.Concat(*parts, axis=axis)


@maps("pad")
def pad(w, x, pad, mode, value):
    count = len(pad) // 2
    amounts = [(x.ndim - 1 - n, pad[2 * n], pad[2 * n + 1]) for n in range(count)]
    if mode == "circular":
        for axis, before, after in amounts:
            x = wrap_axis(w, x, axis, before, after)
        return x
    if all(amount == 0 for amount in pad):
        return x
    begins, ends = [0] * x.ndim, [0] * x.ndim
    for axis, before, after in amounts:
        begins[axis], ends[axis] = before, after
    fill = None if mode != "constant" else w.constant(value or 0, wide_pad(x.dtype))
    mode = {"replicate": "edge"}.get(mode, mode)
    y = w.cast(x, wide_pad(x.dtype))
    return w.cast(w.Pad(y, begins + ends, fill, mode=mode), x.dtype)


def wide_pad(dtype):
    """Return the dtype that padding is done in."""
    return {"int16": "int32", "bfloat16": "float32", "int8": "int32", "uint8": "int32"}.get(dtype, dtype)
