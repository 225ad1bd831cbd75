"""Views of memory as slices of axes: what reads and writes at strides come down to, at every size alike."""
import numpy

from dragon.onnx.places import known_places
from dragon.onnx.size import Size, make_size, product
from dragon.onnx.source import is_dynamic
from dragon.onnx.writer import LARGEST


def logical_places(shape, strides, wanted):
    """Return which elements of a tensor lie at places of its memory; None if there is one that is none of them."""
    lies = known_places(shape, strides, 0).ravel()
    order = numpy.argsort(lies, kind="stable")
    found = numpy.searchsorted(lies[order], wanted)
    if wanted.size and (found.max() >= lies.size or (lies[order][found] != wanted).any()):
        return None
    return order[found]


class Part:
    """The part of an axis that a view shows: `count` places from `start`, `step` apart, as the view's axis `target`."""

    def __init__(self, start, count, step, target):
        self.start, self.count, self.step, self.target = start, count, step, target


def match_axes(shape, strides, to_shape, to_strides):
    """Return {axis: (axis of the view, step)}, or None if an axis of the view is not part of one."""
    found = {}
    for target in sorted(range(len(to_shape)), key=lambda place: -to_strides[place]):
        size, stride = to_shape[target], to_strides[target]
        if size == 1:
            continue
        fitting = [axis for axis in range(len(shape))
                   if axis not in found and shape[axis] > 1 and min(stride, strides[axis]) > 0 and
                   stride % strides[axis] == 0 and (size - 1) * (stride // strides[axis]) < shape[axis]]
        if not fitting:
            return None
        axis = max(fitting, key=lambda place: strides[place])
        found[axis] = target, stride // strides[axis]
    return found


def find_parts(shape, strides, to_shape, to_strides, offset):
    """Return the Part of each axis that a view is made of, or None if it is no box of slices.

    Parameters
    ----------
    shape, strides : sequence of int
        How the tensor lies in memory.
    to_shape, to_strides : sequence of int
        How the view lies there.
    offset : int
        Where its first element is, from the tensor's first.

    Returns
    -------
    list of Part or None
        One per axis of the tensor.

    """
    matched = match_axes(shape, strides, to_shape, to_strides)
    if matched is None:
        return None
    parts = [None] * len(shape)
    for axis in sorted(range(len(shape)), key=lambda place: -strides[place]):
        target, step = matched.get(axis, (None, 1))
        count = to_shape[target] if target is not None else 1
        start = min(offset // strides[axis], shape[axis] - 1) if shape[axis] > 1 and strides[axis] else 0
        if start < 0 or start + (count - 1) * step >= shape[axis]:
            return None
        offset -= start * strides[axis] if shape[axis] > 1 else 0
        parts[axis] = Part(start, count, step, target)
    return parts if offset == 0 else None


def samples_of(values, count):
    """Return a list of numbers and Sizes as it was in each capture."""
    return [[value.samples[sample] if isinstance(value, Size) else value for value in values]
            for sample in range(count)]


def find_box(w, x, strides, to_shape, to_strides, offset):
    """Return the Parts of a view whose numbers may follow sizes; None if they are not the same kind at all of them."""
    lists = [x.shape, strides, to_shape, to_strides, [offset]]
    if any(None in numbers for numbers in lists):
        return None
    count = len(next(iter(w.symbols.values()))) if w.symbols else 1
    found = [find_parts(*numbers[:4], numbers[4][0])
             for numbers in zip(*(samples_of(numbers, count) for numbers in lists))]
    if any(parts is None for parts in found):
        return None
    merged = []
    for parts in zip(*found):
        if any((part.target, part.step) != (parts[0].target, parts[0].step) for part in parts):
            return None
        merged.append(Part(make_size(part.start for part in parts), make_size(part.count for part in parts),
                           parts[0].step, parts[0].target))
    return merged


def lies_whole(shape, strides):
    """Return whether elements lie one after the other, in the order of their axes."""
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def find_order(w, shape, strides, to_shape, to_strides, offset):
    """Return the order in which a view's axes lie in memory if it shows all of a row-major tensor; or None.

    Axes may be split or joined in the view, so that no axis of one is a part of an axis of the other. The order is
    the same at every size.
    """
    lists = [shape, strides, to_shape, to_strides, [offset]]
    if any(None in numbers for numbers in lists):
        return None
    orders = set()
    count = len(next(iter(w.symbols.values()))) if w.symbols else 1
    for whole, lies, seen, steps, (first,) in zip(*(samples_of(numbers, count) for numbers in lists)):
        order = sorted(range(len(seen)), key=lambda axis: -steps[axis])
        sorted_view = [seen[axis] for axis in order], [steps[axis] for axis in order]
        if first or not lies_whole(whole, lies) or not lies_whole(*sorted_view) or product(seen) != product(whole):
            return None
        orders.add(tuple(order))
    return orders.pop() if len(orders) == 1 else None


def lies_within(w, shape, to_shape, to_strides, offset):
    """Return whether a view shows nothing but elements of a tensor without gaps, in every capture."""
    count = len(next(iter(w.symbols.values()))) if w.symbols else 1
    for whole, seen, steps, (first,) in zip(*(samples_of(numbers, count)
                                              for numbers in (shape, to_shape, to_strides, [offset]))):
        last = first + sum((size - 1) * step for size, step in zip(seen, steps))
        if product(seen) and (first < 0 or min(steps, default=0) < 0 or last >= product(whole)):
            return False
    return True


def is_whole(part, size):
    """Return whether a Part is its axis."""
    return part.start == 0 and part.count == size and part.step == 1


def take(w, x, parts, to_shape):
    """Return the view that Parts of x make up."""
    cut = [(axis, part) for axis, part in enumerate(parts) if not is_whole(part, x.shape[axis])]
    y = x
    if cut:
        starts, steps = [part.start for _, part in cut], [part.step for _, part in cut]
        stops = [part.start + (part.count - 1) * part.step + 1 for _, part in cut]
        y = w.Slice(x, starts, stops, [axis for axis, _ in cut], steps)
    single = [axis for axis, part in enumerate(parts) if part.target is None]
    y = w.Squeeze(y, single) if single else y
    targets = [part.target for part in parts if part.target is not None]
    y = w.transpose(y, numpy.argsort(targets).tolist())
    missing = [axis for axis in range(len(to_shape)) if axis not in targets]
    return w.Unsqueeze(y, missing) if missing else y


def write(w, x, y, parts):
    """Return x with y written over the view that Parts of x make up."""
    targets = [part.target for part in parts if part.target is not None]
    single = [axis for axis in range(y.ndim) if axis not in targets]
    y = w.Squeeze(y, single) if single else y
    order = numpy.argsort(numpy.argsort(targets)).tolist()
    y = w.transpose(y, order)
    missing = [axis for axis, part in enumerate(parts) if part.target is None]
    y = w.Unsqueeze(y, missing) if missing else y
    return write_axes(w, x, y, parts, x.shape, [axis for axis, part in enumerate(parts)
                                                if not is_whole(part, x.shape[axis])])


def write_axes(w, x, y, parts, shape, axes):
    """Return x with y over slices of some axes: before, in between and after are joined."""
    if not axes:
        return y
    axis, part = axes[0], parts[axes[0]]
    stop = part.start + (part.count - 1) * part.step + 1
    inner = y
    if len(axes) > 1:
        inner = write_axes(w, w.Slice(x, [part.start], [stop], [axis], [part.step]), y, parts, shape, axes[1:])
    if part.step != 1:
        return scatter_axis(w, x, inner, axis, part, len(shape))
    pieces = [] if part.start == 0 else [w.Slice(x, [0], [part.start], [axis])]
    pieces.append(inner)
    if stop != shape[axis]:
        pieces.append(w.Slice(x, [stop], [LARGEST], [axis]))
    return pieces[0] if len(pieces) == 1 else w.Concat(*pieces, axis=axis)


def scatter_axis(w, x, y, axis, part, ndim):
    """Return x with y at every step-th place of an axis."""
    if is_dynamic((part.start, part.count)):
        w.refuse("writing every few places of a dynamic axis")
    order = [axis] + [place for place in range(ndim) if place != axis]
    places = (part.start + numpy.arange(part.count) * part.step).reshape(-1, 1).astype("int64")
    made = w.ScatterND(w.transpose(x, order), places, w.transpose(y, order))
    return w.transpose(made, numpy.argsort(order).tolist())
