"""Parts of arrays: crops, slices, erased regions, pastes."""
import numpy as np

from dragon.io.pictures import geometry
from dragon.vm.dali.core.operators.values import axes_of, convert, kind_or, number, rounded, spatial, vector
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator

POLICIES = ("error", "pad", "trim_to_shape")


def cut(data, low, high, policy, fill_value, who):
    """Return a region of an array; what of it lies outside is an error, is filled, or is left away.

    Parameters
    ----------
    data : numpy.ndarray
        The array.
    low, high : Sequence[int]
        Where the region begins, and ends, along each axis.
    policy : str
        "error", "pad" or "trim_to_shape".
    fill_value : Union[float, Sequence[float]]
        What is filled in; one for each channel, the last axis.
    who : str
        Who speaks.

    """
    if policy not in POLICIES:
        raise ValueError(got(who, f"out_of_bounds_policy={policy!r}", f"one of {POLICIES}"))
    inside = all(0 <= start <= end <= size for start, end, size in zip(low, high, data.shape))
    if not inside and policy == "error":
        raise RuntimeError(got(who, f"the region from {tuple(low)} to {tuple(high)}",
                               f"one within {data.shape}; out_of_bounds_policy='pad' fills what is outside"))
    held = tuple(slice(min(max(start, 0), size), min(max(end, 0, start), size))
                 for start, end, size in zip(low, high, data.shape))
    if inside or policy == "trim_to_shape":
        return data[held]
    made = np.empty([max(end - start, 0) for start, end in zip(low, high)], data.dtype)
    fill = np.ravel(fill_value)
    made[...] = filling(fill if fill.size > 1 else fill.reshape(()), data.dtype) if fill.size else 0
    made[tuple(slice(part.start - start, part.stop - start) for part, start in zip(held, low))] = data[held]
    return made


def filling(value, kind):
    """Return what is filled in, in a type: cut to whole numbers, and to the bits that there are, as C does."""
    value = np.asarray(value, np.float64)
    if kind.kind not in "iu" or not np.all(np.abs(value) < 2.0 ** 63):
        return convert(value, kind)
    return value.astype(np.int64).astype(kind)


def window(data, layout, who, crop=None, crop_h=0.0, crop_w=0.0, crop_d=0.0, crop_pos_x=0.5, crop_pos_y=0.5,
           crop_pos_z=0.5, rounding="round"):
    """Return where the region of a crop begins and ends, along each axis."""
    if rounding not in ("round", "truncate"):
        raise ValueError(got(who, f"rounding={rounding!r}", "'round' or 'truncate'"))
    axes, _ = spatial(layout, data.ndim, who)
    if crop is not None:
        sizes = vector(crop, len(axes), f"{who}(crop=)")
    else:
        given = {"D": number(crop_d), "H": number(crop_h), "W": number(crop_w)}
        letters = (layout or {2: "HW", 3: "HWC", 4: "FHWC"}[data.ndim])
        sizes = [given[letters[axis]] or data.shape[axis] for axis in axes]
    places = [number(crop_pos_z), number(crop_pos_y), number(crop_pos_x)][-len(axes):]
    low, high = [0] * data.ndim, list(data.shape)
    for axis, size, place in zip(axes, sizes, places):
        start = place * (data.shape[axis] - int(size))
        low[axis] = int(rounded(np.float64(start))) if rounding == "round" else int(start)
        high[axis] = low[axis] + int(size)
    return low, high


@operator()
def crop(data, *, crop=None, crop_h=0.0, crop_w=0.0, crop_d=0.0, crop_pos_x=0.5, crop_pos_y=0.5, crop_pos_z=0.5,
         rounding="round", out_of_bounds_policy="error", fill_values=(0.0,), dtype=None, output_dtype=None,
         image_type=None, context):
    """Take a region of a picture, its place told between 0 and 1."""
    low, high = window(data, context.layout, "fn.crop", crop, crop_h, crop_w, crop_d, crop_pos_x, crop_pos_y,
                       crop_pos_z, rounding)
    kind = kind_or(output_dtype if dtype is None else dtype, data)
    return convert(cut(data, low, high, out_of_bounds_policy, fill_values, "fn.crop"), kind)


@operator("slice")
def slice_of(data, anchor=None, shape_in=None, *, start=None, end=None, shape=None, rel_start=None, rel_end=None,
             rel_shape=None, axes=None, axis_names=None, normalized_anchor=True, normalized_shape=True,
             out_of_bounds_policy="error", fill_values=(0.0,), dtype=None, output_dtype=None, image_type=None,
             context):
    """Take a region of an array between two places, which are told in elements or as parts of the whole."""
    low, high = bounds(data.shape, context.layout, anchor, shape_in, start, end, shape, rel_start, rel_end, rel_shape,
                       axes, axis_names, normalized_anchor, normalized_shape)
    kind = kind_or(output_dtype if dtype is None else dtype, data)
    return convert(cut(data, low, high, out_of_bounds_policy, fill_values, "fn.slice"), kind)


def bounds(whole, layout, anchor, extent, start, end, shape, rel_start, rel_end, rel_shape, axes, axis_names,
           normalized_anchor, normalized_shape):
    """Return where a slice begins and ends along each axis."""
    if axes is None and axis_names is None:  # width before height
        axes, axis_names = (1, 0), "WH" if "W" in layout and "H" in layout else None
    named = axis_names is not None
    chosen = axes_of(layout, len(whole), axis_names=axis_names) if named else axes_of(layout, len(whole), axes)
    first = next((one for one in (anchor, start, rel_start, end, shape, rel_end, rel_shape) if one is not None), None)
    if first is not None and not named and np.size(first) < len(chosen):
        chosen = chosen[:np.size(first)]
    scale = np.array([whole[axis] for axis in chosen], np.float64)
    if anchor is not None:
        begin = vector(anchor) * (scale if _relative(anchor, normalized_anchor) else 1)
        if extent is not None:
            stop = begin + vector(extent) * (scale if _relative(extent, normalized_shape) else 1)
        else:
            stop = scale
    else:
        begin = (vector(start) if start is not None else vector(rel_start) * scale if rel_start is not None
                 else np.zeros(len(chosen)))
        stop = scale
    if end is not None or rel_end is not None:
        stop = vector(end) if end is not None else vector(rel_end) * scale
    elif shape is not None or rel_shape is not None:
        stop = begin + (vector(shape) if shape is not None else vector(rel_shape) * scale)
    low, high = [0] * len(whole), list(whole)
    for axis, left, right in zip(chosen, begin, stop):
        low[axis], high[axis] = int(np.floor(left + 0.5)), int(np.floor(right + 0.5))
    return low, high


def _relative(value, normalized):
    """Return whether numbers are parts of the whole: whole numbers never are."""
    return normalized and np.asarray(value).dtype.kind == "f"


@operator()
def erase(data, *, anchor=(), shape=(), axes=(1, 0), axis_names=None, fill_value=(0.0,), normalized=False,
          normalized_anchor=False, normalized_shape=False, centered_anchor=False, context):
    """Write a value over some regions."""
    names = axis_names or ("HW" if all(one in context.layout for one in "HW") and tuple(axes) == (1, 0) else None)
    chosen = axes_of(context.layout, data.ndim, None if names else axes, names)
    count = len(chosen)
    starts, extents = (np.reshape(vector(one), (-1, count)) for one in (anchor, shape))
    if len(starts) != len(extents) and 1 not in (len(starts), len(extents)):
        raise ValueError(got("fn.erase", f"{len(starts)} anchors and {len(extents)} shapes", "equally many"))
    made, scale = data.copy(), np.array([data.shape[axis] for axis in chosen], np.float64)
    channel = context.layout.find("C") if "C" in context.layout else data.ndim - 1
    fill = np.ravel(fill_value)
    for start, extent in zip(*np.broadcast_arrays(starts, extents)):
        start = start * scale if normalized or normalized_anchor else start
        extent = extent * scale if normalized or normalized_shape else extent
        start = start - extent / 2 if centered_anchor else start
        region = [slice(None)] * data.ndim
        for axis, left, size in zip(chosen, start, extent):
            region[axis] = slice(max(0, int(left)), max(0, int(left + size)))
        value = convert(fill.astype(np.float64), data.dtype)
        if fill.size > 1:
            value = value.reshape([-1 if axis == channel else 1 for axis in range(data.ndim)])
        made[tuple(region)] = value
    return made


@operator()
def paste(data, *, fill_value, ratio, n_channels=3, paste_x=0.5, paste_y=0.5, min_canvas_size=0.0):
    """Put a picture onto a larger canvas of one colour."""
    scale = number(ratio)
    if scale < 1:
        raise ValueError(got("fn.paste", f"ratio={scale}", "at least 1"))
    height, width = (int(max(size * scale, number(min_canvas_size))) for size in data.shape[:2])
    canvas = np.empty((height, width, data.shape[2]), data.dtype)
    canvas[...] = convert(np.ravel(fill_value).astype(np.float64), data.dtype)
    top = int(number(paste_y) * (height - data.shape[0]))
    left = int(number(paste_x) * (width - data.shape[1]))
    canvas[top:top + data.shape[0], left:left + data.shape[1]] = data
    return canvas


@operator(kind="batch")
def multi_paste(*pictures, in_ids=None, in_anchors=None, in_anchors_rel=None, out_anchors=None, out_anchors_rel=None,
                shapes=None, shapes_rel=None, output_size=None, dtype=None, context, count):
    """Put regions of the batch's pictures onto canvases."""
    def own(value, place):
        return None if value is None else np.asarray(
            value[place] if isinstance(value, list) and len(value) == count else value)
    results = []
    for place in range(count):
        ids = own(in_ids, place)
        sources = [column[place] for column in pictures] if ids is None else [pictures[0][int(one)] for one in ids]
        size = own(output_size, place)
        size = sources[0].shape[:2] if size is None else size.astype(int)[:2]
        canvas = np.zeros((*size, sources[0].shape[2]), kind_or(dtype, sources[0]))
        for turn, source in enumerate(sources):
            whole = np.array(source.shape[:2])

            def told(plain, relative, scale, default, rounding=np.floor):
                plain, relative = own(plain, place), own(relative, place)
                if plain is not None:
                    return plain.reshape(-1, 2)[turn].astype(int)
                if relative is None:
                    return default
                return rounding(relative.reshape(-1, 2)[turn] * scale).astype(int)
            start = told(in_anchors, in_anchors_rel, whole, np.zeros(2, int))
            extent = told(shapes, shapes_rel, whole, whole - start, rounded)
            target = told(out_anchors, out_anchors_rel, np.array(size), np.zeros(2, int))
            low, high = np.maximum(0, -target), np.minimum(extent, np.array(size) - target)
            (top, left), (bottom, right) = start + low, start + high
            part = source[top:bottom, left:right]
            y, x = target + low
            canvas[y:y + part.shape[0], x:x + part.shape[1]] = convert(part, canvas.dtype)
        results.append(Laid(canvas, context.layout))
    return results


@operator("random_crop_generator", outputs=2)
def random_crop_generator(shape, *, random_area=(0.08, 1.0), random_aspect_ratio=(3 / 4, 4 / 3), num_attempts=10,
                          seed=None, context):
    """Return the place and the shape of a random region of pictures of this shape."""
    top, left, height, width = geometry.random_resized_crop(
        tuple(int(one) for one in shape[:2]), context.draws, random_area, random_aspect_ratio, num_attempts)
    return Laid(np.array([top, left], np.int64), ""), Laid(np.array([height, width], np.int64), "")


@operator("roi_random_crop")
def roi_random_crop(data=None, *, crop_shape, roi_start, roi_end=None, roi_shape=None, in_shape=None, seed=None,
                    context):
    """Return the place of a region that lies in another one, or around it, as far as it can."""
    def whole_numbers(value):
        return [int(one) for one in vector(value)]
    size, start = whole_numbers(crop_shape), whole_numbers(roi_start)
    end = whole_numbers(roi_end) if roi_end is not None else [
        low + extent for low, extent in zip(start, whole_numbers(roi_shape))]
    whole = data.shape if data is not None else None if in_shape is None else whole_numbers(in_shape)
    anchors = []
    for place, (extent, low, high) in enumerate(zip(size, start, end)):
        least, most = sorted((low, high - extent))
        if whole is not None:
            least, most = max(least, 0), min(most, int(whole[place]) - extent)
        anchors.append(least if most <= least else context.draws.integer(least, most + 1))
    return Laid(np.array(anchors, np.int64), "")
