"""Resampling, and reading at points."""
import numpy

from dragon.core.dtypes import NATIVE
from dragon.onnx.places import count_places, is_known, whole
from dragon.onnx.pooling import adaptive_average
from dragon.onnx.source import array_of, ops
from dragon.onnx.table import maps

RESIZE = {"nearest": {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
          "nearest-exact": {"mode": "nearest", "coordinate_transformation_mode": "half_pixel",
                            "nearest_mode": "round_prefer_ceil"},
          **dict.fromkeys(("linear", "bilinear", "trilinear"), {"mode": "linear"}),
          "bicubic": {"mode": "cubic", "cubic_coeff_a": -0.75}}

SHIFTS = {"nearest": 0.0, "nearest-exact": 0.5}  # of places, before they are scaled and rounded down


def is_resize_exact(image, size, scales):
    """Return whether ONNX's Resize surely finds the same neighbours: each element becomes several."""
    def is_multiple(old, new, scale):
        known = is_known(old, new)
        return known and new % old == 0 and scale in (0, new // old) or not known and scale > 0 and scale == int(scale)
    return all(map(is_multiple, image, size, scales))


def nearest(w, x, size, scales, shift):
    """Return the elements nearest to each place; Resize rounds otherwise in the last bit, and takes another one."""
    dtype = "float64" if x.dtype == "float64" else "float32"
    y = x
    for axis, (old, new, scale) in enumerate(zip(x.shape[2:], size, scales), start=2):
        places = w.Add(w.cast(count_places(w, new), dtype), shift)
        sizes = [w.cast(whole(w, number), dtype) for number in (old, new)]
        step = w.constant(1 / scale, dtype) if scale else w.Div(*sizes)
        places = w.cast(w.Floor(w.Mul(places, step)), "int64")
        y = w.Gather(y, w.Min(places, w.Sub(whole(w, old), 1)), axis=axis)
    return y


def weighed(w, x, size, scales, mode, antialias):
    """Return each axis multiplied by its weights, which are what becomes of ones among zeros."""
    if not is_known(*x.shape[2:], *size):
        w.refuse(f"mode '{mode}' of sizes that are not known")
    y = x
    for axis, (old, new, scale) in enumerate(zip(x.shape[2:], size, scales), start=2):
        ones = ops.reshape(ops.eye(old, dtype=NATIVE["float64"]), (old, 1, 1, old))
        weights = array_of(ops.resample(ones, [1, new], [0.0, scale], mode, False, antialias)).reshape(old, new)
        order = [place for place in range(x.ndim) if place != axis] + [axis]
        y = w.MatMul(w.Transpose(y, perm=order), w.constant(weights, x.dtype))
        y = w.Transpose(y, perm=[order.index(place) for place in range(x.ndim)])
    return y


@maps("resample")
def resample(w, x, size, scales, mode, align_corners, antialias):
    if mode == "area":
        return adaptive_average(w, x, size)
    if mode not in RESIZE:
        return weighed(w, x, size, scales, mode, antialias)
    if mode in SHIFTS and not is_resize_exact(x.shape[2:], size, scales):
        return nearest(w, x, size, scales, SHIFTS[mode])
    options = dict(RESIZE[mode])
    if mode not in ("nearest", "nearest-exact"):
        options["coordinate_transformation_mode"] = "align_corners" if align_corners else "half_pixel"
    if antialias:
        options.update(antialias=1, exclude_outside=1)
        if mode == "bicubic":
            options["cubic_coeff_a"] = -0.5
    if any(scales) and not align_corners:
        factors = numpy.array([1, 1, *scales], "float32")
        return w.Resize(x, None, factors, **options)
    return w.Resize(x, None, None, list(x.shape[:2]) + list(size), **options)


@maps("grid_sample")
def grid_sample(w, x, grid, mode, padding_mode, align_corners):
    if x.ndim == 5 and w.opset < 20:
        w.refuse("volumes before opset 20")
    if w.opset >= 20:
        mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    return w.GridSample(x, grid, mode=mode, padding_mode=padding_mode, align_corners=int(align_corners))
