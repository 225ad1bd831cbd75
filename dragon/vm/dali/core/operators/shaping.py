"""Shapes, layouts and pads: what arranges numbers and computes none."""
import numpy as np

from dragon.vm.dali.core.kinds import to_numpy_type
from dragon.vm.dali.core.operators.regions import filling
from dragon.vm.dali.core.operators.values import axes_of, convert, kind_or, number, vector
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator


def _reshaped(data, reference, shape, rel_shape, src_dims, layout, own, who, size=None):
    """Return the shape and the layout that are asked for; -1 stands for what is left."""
    size = data.size if size is None else size
    if sum(one is not None for one in (reference, shape, rel_shape)) > 1:
        raise ValueError(got(who, "several of a reference, shape and rel_shape", "one of them"))
    if reference is not None:
        shape = reference
    if shape is not None:
        wanted = [int(one) for one in np.ravel(shape)]
        if src_dims is not None:
            wanted = [data.shape[source] if one == -1 and source >= 0 else one
                      for one, source in zip(wanted, np.ravel(src_dims))]
    elif rel_shape is not None:
        scales = vector(rel_shape)
        sources = range(len(scales)) if src_dims is None else [int(one) for one in np.ravel(src_dims)]
        wanted = [-1 if scale < 0 else int(scale) if source < 0 else int(round(scale * data.shape[source]))
                  for scale, source in zip(scales, sources)]
    elif src_dims is not None:
        wanted = [1 if source < 0 else data.shape[source] for source in map(int, np.ravel(src_dims))]
    else:
        wanted = list(data.shape)
    if wanted.count(-1) > 1 or (-1 not in wanted and np.prod(wanted, dtype=np.int64) != size):
        raise RuntimeError(got(who, f"shape {tuple(wanted)} for {size} elements of {data.shape}", "one of as many"))
    if -1 in wanted:
        rest = int(np.prod([one for one in wanted if one != -1], dtype=np.int64))
        if rest == 0 or size % rest:
            raise RuntimeError(got(who, f"shape {tuple(wanted)} for {size} elements", "one of as many"))
        wanted[wanted.index(-1)] = size // rest
    if layout is None:
        layout = own if len(own or "") == len(wanted) else ""
    if layout and len(layout) != len(wanted):
        raise ValueError(got(who, f"layout {layout!r} for {len(wanted)} axes", "a letter for each axis"))
    return wanted, layout


@operator()
def reshape(data, reference=None, *, shape=None, rel_shape=None, src_dims=None, layout=None, context):
    """Give the same numbers another shape."""
    wanted, layout = _reshaped(data, reference, shape, rel_shape, src_dims, layout, context.layout, "fn.reshape")
    return Laid(data.reshape(wanted), layout)


@operator()
def reinterpret(data, reference=None, *, shape=None, rel_shape=None, src_dims=None, layout=None, dtype=None, context):
    """Read the same bytes as numbers of another type or shape."""
    kind = kind_or(dtype, data)
    who, size = "fn.reinterpret", data.nbytes // kind.itemsize
    if reference is None and shape is None and rel_shape is None and src_dims is None:
        last = data.shape[-1] * data.itemsize if data.ndim else data.nbytes
        if last % kind.itemsize:
            raise RuntimeError(got(who, f"rows of {last} bytes for {kind}", f"multiples of {kind.itemsize}"))
        shape = [*data.shape[:-1], last // kind.itemsize]
    wanted, layout = _reshaped(data, reference, shape, rel_shape, src_dims, layout, context.layout, who, size)
    return Laid(np.ascontiguousarray(data).reshape(-1).view(kind).reshape(wanted), layout)


@operator()
def transpose(data, *, perm=None, transpose_layout=True, output_layout=None, context):
    """Bring the axes into another order; turned round by default."""
    order = list(range(data.ndim))[::-1] if perm is None else [int(one) for one in np.ravel(perm)]
    if sorted(order) != list(range(data.ndim)):
        raise RuntimeError(got("fn.transpose", f"perm={order} for {data.ndim} axes", "each axis once"))
    layout = output_layout
    if layout is None and len(context.layout) == data.ndim:
        layout = "".join(context.layout[axis] for axis in order) if transpose_layout else context.layout
    return Laid(data.transpose(order), layout or "")


def _same_layout(layouts):
    return next((layout for layout in layouts if layout), "")


@operator()
def cat(*arrays, axis=0, axis_name=None, context):
    """Put arrays behind each other along an axis that they have."""
    layout, ndim = _same_layout(context.layouts), arrays[0].ndim
    axis = axes_of(layout, ndim, axis_names=axis_name)[0] if axis_name else int(axis)
    if ndim == 0 or not -ndim <= axis < ndim:
        raise IndexError(got("fn.cat", f"axis {axis} for {ndim} axes", "one that there is"))
    kinds = {array.dtype for array in arrays}
    if len(kinds) > 1:
        raise RuntimeError(got("fn.cat", f"types {sorted(map(str, kinds))}", "one type"))
    try:
        return Laid(np.concatenate(arrays, axis), layout)
    except ValueError:
        raise RuntimeError(got("fn.cat", f"shapes {[array.shape for array in arrays]}",
                               f"equal ones but for axis {axis}")) from None


@operator()
def stack(*arrays, axis=0, axis_name=None, context):
    """Put arrays beside each other along a new axis."""
    layout, ndim = _same_layout(context.layouts), arrays[0].ndim
    axis = int(axis)
    if not -ndim - 1 <= axis <= ndim:
        raise IndexError(got("fn.stack", f"axis {axis}", f"{-ndim - 1} to {ndim}"))
    if len({array.shape for array in arrays}) > 1:
        raise RuntimeError(got("fn.stack", f"shapes {[array.shape for array in arrays]}", "equal ones"))
    place = axis % (ndim + 1)
    named = (layout or not ndim) and axis_name
    return Laid(np.stack(arrays, place), layout[:place] + axis_name + layout[place:] if named else "")


@operator()
def squeeze(data, *, axes=None, axis_names=None, context):
    """Take axes of size 1 away."""
    if axes is None and axis_names is None:
        chosen = []
    else:
        chosen = axes_of(context.layout, data.ndim, axes, axis_names)
    for axis in chosen:
        if data.shape[axis] != 1:
            raise RuntimeError(got("fn.squeeze", f"axis {axis} of size {data.shape[axis]}", "axes of size 1"))
    layout = "".join(name for axis, name in enumerate(context.layout) if axis not in chosen)
    return Laid(data.squeeze(tuple(chosen)), layout)


@operator()
def expand_dims(data, *, axes, new_axis_names="", context):
    """Put in axes of size 1."""
    axes = [int(axis) for axis in np.ravel(axes)]
    layout = context.layout
    for place, axis in enumerate(axes):
        if not 0 <= axis <= data.ndim:
            raise RuntimeError(got("fn.expand_dims", f"axis {axis}", f"0 to {data.ndim}"))
        data = np.expand_dims(data, axis)
        if new_axis_names:
            layout = layout[:axis] + new_axis_names[place] + layout[axis:]
    return Laid(data, layout if new_axis_names and len(layout) == data.ndim else "")


@operator()
def shapes(data, *, dtype=7, type=None):
    """Return the shape of an array; `type` is an older word for `dtype`."""
    return Laid(np.asarray(data.shape, to_numpy_type(dtype if type is None else type)), "")


@operator()
def get_property(data, *, key, context):
    """Return a property: "layout" or "source_info", as bytes."""
    if key not in ("layout", "source_info"):
        raise RuntimeError(got("fn.get_property", key, "'layout' or 'source_info'"))
    text = context.layout if key == "layout" else context.source
    return Laid(np.frombuffer(text.encode(), np.uint8), "")


@operator()
def copy(data):
    """Return the same numbers in memory of their own."""
    return data.copy()


@operator()
def one_hot(data, *, num_classes=0, axis=-1, axis_name=None, on_value=1.0, off_value=0.0, dtype=9, context):
    """Write each number as a row with one place set."""
    if num_classes < 1:
        raise ValueError(got("fn.one_hot", f"num_classes={num_classes}", "a positive number"))
    # A single number is one label, and no row of them, unless an axis is asked for.
    labels = (data.reshape(()) if data.size == 1 and axis == -1 else data).astype(np.int64)
    if not -1 <= int(axis) <= labels.ndim:
        raise RuntimeError(got("fn.one_hot", f"axis={axis}", f"-1 to {labels.ndim}"))
    hot = np.where(labels[..., None] == np.arange(num_classes), on_value, off_value)
    place = labels.ndim if axis == -1 else int(axis)
    layout = context.layout if len(context.layout) == labels.ndim else ""
    named = axis_name and (layout or not labels.ndim)
    return Laid(convert(np.moveaxis(hot, -1, place).astype(np.float32), dtype),
                layout[:place] + axis_name + layout[place:] if named else "")


@operator("_pad_one")
def pad_one(data, *, axes=None, axis_names=None, shape=None, align=None, fill_value=0.0, context):
    """Put a value behind the numbers along some axes, up to a shape that is given."""
    chosen = axes_of(context.layout, data.ndim, axes, axis_names)
    return _padded(data, chosen, [data.shape[axis] for axis in chosen], shape, align, fill_value)


@operator(kind="batch", instead=lambda arguments: "_pad_one" if "shape" in arguments and not np.any(np.less(
    arguments["shape"], 1) if not hasattr(arguments["shape"], "node") else True) else None)
def pad(samples, *, axes=None, axis_names=None, shape=None, align=None, fill_value=0.0, context, count):
    """Put a value behind the numbers along some axes, up to a shape; without one, it is the batch's largest."""
    def each(value, place):
        return value[place] if isinstance(value, list) and len(value) == count and isinstance(
            value[0], np.ndarray) else value
    if not samples:
        return []
    chosen = axes_of(context.layout, samples[0].ndim, axes, axis_names)
    largest = [max(sample.shape[axis] for sample in samples) for axis in chosen]
    return [_padded(sample, chosen, largest, each(shape, place), each(align, place), each(fill_value, place))
            for place, sample in enumerate(samples)]


def _padded(data, chosen, largest, shape, align, fill_value):
    sizes = list(data.shape)
    wanted = [-1] * len(chosen) if shape is None else vector(shape, len(chosen), "fn.pad(shape=)").astype(int).tolist()
    steps = [1] * len(chosen) if align is None else vector(align, len(chosen), "fn.pad(align=)").astype(int).tolist()
    for axis, size, most, step in zip(chosen, wanted, largest, steps):
        if step < 1:
            raise ValueError(got("fn.pad", f"align={step}", "positive numbers"))
        sizes[axis] = -(-(max(sizes[axis], size) if size > 0 else most) // step) * step
    made = np.full(sizes, filling(number(fill_value), data.dtype), data.dtype)
    made[tuple(map(slice, data.shape))] = data
    return made


@operator("element_extract", outputs=lambda arguments: len(arguments["element_map"]))
def element_extract(data, *, element_map, context):
    """Take some of the elements along the first axis, each as a result of its own."""
    if context.layout and context.layout[0] != "F":
        raise RuntimeError(got("fn.element_extract", f"layout {context.layout!r}", "that of a sequence, F in front"))
    for place in element_map:
        if not 0 <= place < len(data):
            raise RuntimeError(got("fn.element_extract", f"element {place}", f"0 to {len(data) - 1}"))
    return tuple(Laid(data[place], context.layout[1:]) for place in element_map)


@operator()
def sequence_rearrange(data, *, new_order):
    """Bring the frames of a sequence into another order."""
    order = np.ravel(new_order).astype(int)
    if order.size == 0 or order.min() < 0 or order.max() >= len(data):
        raise RuntimeError(got("fn.sequence_rearrange", f"new_order={order.tolist()}", f"numbers below {len(data)}"))
    return data[order]


@operator()
def per_frame(data, *, replace=False, context):
    """Have the first axis counted as frames."""
    layout = context.layout
    if layout and layout[0] != "F" and not replace:
        raise ValueError(got("fn.per_frame", f"layout {layout!r}", "one with F in front, or replace=True"))
    return Laid(data, "F" + (layout[1:] if layout else "*" * (data.ndim - 1)))


@operator()
def constant(*, fdata=None, idata=None, shape=None, dtype=None, layout=""):
    """Return the same numbers for each sample."""
    if (fdata is None) == (idata is None):
        raise ValueError(got("fn.constant", "fdata and idata" if fdata is not None else "neither fdata nor idata",
                             "one of them"))
    data = np.asarray(fdata if idata is None else idata, np.float32 if idata is None else np.int32).ravel()
    if shape is not None and len(np.ravel(shape)):
        shape = [int(one) for one in np.ravel(shape)]
        data = np.broadcast_to(data, shape) if data.size == 1 else data.reshape(shape)
    return Laid(data if dtype is None else convert(data, dtype), layout)


def _filled(value, shape, dtype, layout):
    sizes = () if shape is None else tuple(int(one) for one in np.ravel(shape))
    return Laid(np.full(sizes, value, to_numpy_type(dtype)), layout or "")


@operator()
def zeros(*, shape=None, dtype=6, layout=None):
    """Return zeros."""
    return _filled(0, shape, dtype, layout)


@operator()
def ones(*, shape=None, dtype=6, layout=None):
    """Return ones."""
    return _filled(1, shape, dtype, layout)


@operator()
def full(fill_value, *, shape=None, layout=None):
    """Return an array of one value."""
    sizes = fill_value.shape if shape is None else tuple(int(one) for one in np.ravel(shape))
    return Laid(np.broadcast_to(fill_value, sizes), layout or "")


@operator()
def zeros_like(data, *, dtype=None):
    """Return zeros in the shape of an array."""
    return np.zeros(data.shape, kind_or(dtype, data))


@operator()
def ones_like(data, *, dtype=None):
    """Return ones in the shape of an array."""
    return np.ones(data.shape, kind_or(dtype, data))


@operator()
def full_like(data, fill_value):
    """Return an array of one value in the shape of another."""
    return np.broadcast_to(convert(fill_value, data.dtype), data.shape)
