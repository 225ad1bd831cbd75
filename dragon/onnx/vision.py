"""Resampling, reading at points, and sliding windows as columns."""
import numpy

from dragon.onnx.array import need_static
from dragon.onnx.pooling import adaptive_average
from dragon.onnx.table import maps

RESIZE = {"nearest": {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
          "nearest-exact": {"mode": "nearest", "coordinate_transformation_mode": "half_pixel",
                            "nearest_mode": "round_prefer_ceil"},
          **dict.fromkeys(("linear", "bilinear", "trilinear"), {"mode": "linear"}),
          "bicubic": {"mode": "cubic", "cubic_coeff_a": -0.75}}


@maps("resample")
def resample(w, x, size, scales, mode, align_corners, antialias):
    if mode == "area":
        return adaptive_average(w, x, size)
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


def window_places(whole, window, dilation, stride):
    """Return the places of each window's elements along an axis: (elements, windows)."""
    count = (whole - (window - 1) * dilation - 1) // stride + 1
    return numpy.arange(window)[:, None] * dilation + numpy.arange(count) * stride


@maps("im2col_batch")
def im2col_batch(w, x, kernel_size, dilation, padding, stride):
    need_static(w, "columns", x.shape[2:])
    wide = w.Pad(x, [0, 0, *padding, 0, 0, *padding], w.constant(0, x.dtype)) if any(padding) else x
    sizes = [whole + 2 * pad for whole, pad in zip(x.shape[2:], padding)]
    batch, channels = x.shape[:2]
    rows, columns = (window_places(*numbers) for numbers in zip(sizes, kernel_size, dilation, stride))
    places = rows[:, None, :, None] * sizes[1] + columns[None, :, None, :]
    flat = w.reshape(wide, [batch, channels, sizes[0] * sizes[1]])
    taken = w.Gather(flat, places.reshape(-1).astype("int64"), axis=2)
    return w.reshape(taken, [batch, channels * kernel_size[0] * kernel_size[1], rows.shape[1] * columns.shape[1]])


@maps("col2im_batch")
def col2im_batch(w, x, output_size, kernel_size, dilation, padding, stride):
    return w.Col2Im(x, list(output_size), list(kernel_size), dilations=dilation, pads=[*padding, *padding],
                    strides=stride)
