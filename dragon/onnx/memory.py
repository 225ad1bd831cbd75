"""Windows, diagonals, and reads and writes at strides: elements are found by where they lie."""
import numpy

from dragon.onnx.geometry import find_box, find_order, lies_within, logical_places, take, write
from dragon.onnx.places import (count_places, count_windows, is_known, known_places, memory_places, sum_grid, whole)
from dragon.onnx.size import product
from dragon.onnx.source import is_dynamic, row_major
from dragon.onnx.table import maps


def need_static(w, what, sizes):
    """Refuse sizes that are known at run time only."""
    if is_dynamic(sizes):
        w.refuse(f"{what} of axes whose sizes are dynamic")


def last_axes_first_flat(w, x, axes):
    """Return x with some axes moved to the end and joined there."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    y = w.transpose(x, kept + list(axes))
    return w.reshape(y, [x.shape[axis] for axis in kept] + [product(x.shape[axis] for axis in axes)])


@maps("diagonal")
def diagonal(w, x, offset, axis1, axis2):
    axes = [axis1 % x.ndim, axis2 % x.ndim]
    rows, columns = (x.shape[axis] for axis in axes)
    if is_known(rows, columns, offset):
        places = w.constant(numpy.arange(rows * columns).reshape(rows, columns).diagonal(offset).astype("int64"))
    else:
        places = diagonal_places(w, rows, columns, offset)
    return w.Gather(last_axes_first_flat(w, x, axes), places, axis=-1)


def diagonal_places(w, rows, columns, offset):
    """Return where a diagonal lies among the elements of rows, whose sizes are known at run time."""
    rows, columns, offset = whole(w, rows), whole(w, columns), whole(w, offset)
    right, down = w.Max(offset, 0), w.Max(w.Neg(offset), 0)
    count = w.Max(w.Min(w.Sub(rows, down), w.Sub(columns, right)), 0)
    return count_places(w, count, w.Add(columns, 1), w.Add(right, w.Mul(down, columns)))


@maps("unfold")
def unfold(w, x, axis, size, step):
    if x.ndim == 0:
        return w.reshape(x, [1])
    axis %= x.ndim
    if not is_known(size, step):
        w.refuse("windows whose sizes are dynamic")
    count = count_windows(w, x.shape[axis], size - 1, step)
    windows = w.Gather(x, sum_grid(w, [count_places(w, count, step), count_places(w, size)]), axis=axis)
    axes = list(range(x.ndim + 1))
    axes.append(axes.pop(axis + 1))
    return w.transpose(windows, axes)


def in_memory_order(w, shape, strides):
    """Return the order of axes in which a tensor lies in memory without gaps; or None."""
    lies = row_major(shape)
    return find_order(w, shape, lies, shape, strides, 0)


@maps("as_strided_of")
def as_strided_of(w, x, shape, strides, offset, x_strides, x_offset):
    """Memory is not to be had in ONNX; the elements of x are found by where they lay."""
    offset = offset - x_offset
    parts = find_box(w, x, x_strides, shape, strides, offset)
    if parts is not None:
        return take(w, x, parts, shape)
    order = find_order(w, x.shape, x_strides, shape, strides, offset)
    if order is not None:
        return w.transpose(w.reshape(x, [shape[axis] for axis in order]), numpy.argsort(order).tolist())
    order = find_order(w, shape, strides, x.shape, x_strides, offset)
    if order is not None:
        return w.reshape(w.transpose(x, order), shape)
    order = in_memory_order(w, x.shape, x_strides)
    if order is not None and lies_within(w, x.shape, shape, strides, offset):
        return w.Gather(w.flatten(w.transpose(x, list(order))), memory_places(w, shape, strides, offset), axis=0)
    need_static(w, "memory", [*x.shape, *shape, *strides, offset])
    places = logical_places(x.shape, x_strides, known_places(shape, strides, offset))
    if places is None:
        w.refuse("it reads memory outside of the tensor's elements")
    return w.Gather(w.flatten(x), places.astype("int64"), axis=0)


@maps("restride")
def restride(w, x, strides, offset, shape, to_strides, to_offset):
    """Elements are added up where they lie in zeroed memory, which is then read at another geometry."""
    numbers = [*x.shape, *strides, offset, *shape, *to_strides, to_offset]
    if is_dynamic(numbers):
        whole_memory = w.full(shape, 0, x.dtype)
        whole_memory.shape = tuple(shape)
        parts = find_box(w, whole_memory, tuple(to_strides), x.shape, strides, offset - to_offset)
        if parts is not None:
            return write(w, whole_memory, x, parts)
    need_static(w, "memory", numbers)
    lies, wanted = known_places(x.shape, strides, offset), known_places(shape, to_strides, to_offset)
    size = max(lies.max(initial=-1), wanted.max(initial=-1)) + 1
    memory = w.full([int(size)], 0, x.dtype)
    if lies.size:
        memory = w.ScatterND(memory, lies.reshape(-1, 1), w.flatten(x), reduction="add")
    return w.Gather(memory, wanted, axis=0)


@maps("write_view")
def write_view(w, x, y, shape, strides, offset):
    """Elements of y at places of x's memory, counted from x's first element."""
    x_strides = x.strides or row_major(x.shape)
    parts = find_box(w, x, x.strides, shape, strides, offset) if x.strides else None
    if parts is not None:
        return write(w, x, y, parts)
    order = find_order(w, x.shape, x_strides, shape, strides, offset)
    if order is not None:
        return w.reshape(w.transpose(y, order), x.shape)
    order = in_memory_order(w, x.shape, x_strides)
    if order is not None and is_dynamic([*x.shape, *shape, *strides, offset]) and lies_within(
            w, x.shape, shape, strides, offset):
        return write_places(w, x, y, order, memory_places(w, shape, strides, offset))
    need_static(w, "writing memory", [*x.shape, *shape, *strides, offset])
    places = logical_places(x.shape, x_strides, known_places(shape, strides, offset))
    if places is None:
        w.refuse("it writes memory outside of the tensor's elements")
    if places.size == 0:
        return x
    flat = w.ScatterND(w.flatten(x), places.reshape(-1, 1).astype("int64"), w.flatten(y))
    return w.reshape(flat, x.shape)


def write_places(w, x, y, order, places):
    """Return x with y at places of its memory, in which its axes lie in an order."""
    turned = w.transpose(x, list(order))
    flat = w.ScatterND(w.flatten(turned), w.Reshape(places, [-1, 1]), w.flatten(y))
    made = w.Reshape(flat, w.Shape(turned))
    return w.transpose(made, numpy.argsort(order).tolist())


@maps("im2col_batch")
def im2col_batch(w, x, kernel_size, dilation, padding, stride):
    y = w.Pad(x, [0, 0, *padding, 0, 0, *padding], w.constant(0, x.dtype)) if any(padding) else x
    for axis, size, window, apart, pad, step in zip((2, 4), x.shape[2:], kernel_size, dilation, padding, stride):
        count = count_windows(w, size + 2 * pad, (window - 1) * apart, step)
        y = w.Gather(y, sum_grid(w, [count_places(w, window, apart), count_places(w, count, step)]), axis=axis)
    batch, channels = x.shape[:2]
    y = w.Transpose(y, perm=[0, 1, 2, 4, 3, 5])
    return w.reshape(y, [batch, channels * kernel_size[0] * kernel_size[1], w.out.shape[2]])
