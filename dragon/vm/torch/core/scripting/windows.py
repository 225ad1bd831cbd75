"""Operators of windows, edges and sizes whose arguments stand otherwise in scripts than in Dragon's functions."""
import math

from dragon.vm.torch.core.scripting.face import face


def rooms():
    """Return (torch, torch.nn.functional)."""
    torch = face()
    return torch, torch.nn.functional


def pooled(name):
    """Return a pooling under its name in torch.nn.functional."""
    return lambda *values: getattr(rooms()[1], name)(*values)


def max_pooled(name):
    """Return a max pooling with its indices."""
    def run(input, kernel, stride=(), padding=0, dilation=1, ceil=False):
        return getattr(rooms()[1], name)(input, kernel, stride or None, padding, dilation, ceil, True)
    return run


def max_pool(name):
    """Return a max pooling."""
    def run(input, kernel, stride=(), padding=0, dilation=1, ceil=False):
        return getattr(rooms()[1], name)(input, kernel, stride or None, padding, dilation, ceil)
    return run


def avg_pool(name):
    """Return an average pooling."""
    def run(input, kernel, stride=(), *rest):
        return getattr(rooms()[1], name)(input, kernel, stride or None, *rest)
    return run


def adaptive_max(name):
    """Return an adaptive max pooling with its indices."""
    return lambda input, size: getattr(rooms()[1], name)(input, size, True)


def padded(mode):
    """Return a padding of a kind."""
    return lambda input, pad: rooms()[1].pad(input, pad, mode)


def pad(input, pad, mode="constant", value=None):
    """Return a tensor with edges around."""
    return rooms()[1].pad(input, pad, mode, *([] if value is None else [value]))


def max_unpool(axes):
    """Return a function that puts maxima back where they stood."""
    def put_back(input, indices, size, *rest):
        torch, _ = rooms()
        rows = input.shape[:-axes]
        empty = torch.zeros(*rows, math.prod(size), dtype=input.dtype, device=input.device)
        return empty.scatter(-1, indices.flatten(-axes), input.flatten(-axes)).reshape(*rows, *size)
    return put_back


def fractional(axes):
    """Return a fractional max pooling: maxima and where they stood."""
    def pool(input, kernel, size, samples):
        return getattr(rooms()[1], f"fractional_max_pool{axes}d")(input, kernel, size, None, True, samples)
    return pool


def upsample(mode, corners):
    """Return one of the ways of resizing, with or without `align_corners`."""
    def resize(input, size, *rest):
        align = rest[0] if corners else None
        scales = rest[1:] if corners else rest
        if len(scales) == 1 and isinstance(scales[0], list):
            scales = scales[0]
        scales = [scale for scale in scales if scale is not None]
        _, F = rooms()
        if size is not None:
            # The scales, where they are said, decide how places are counted.
            return F.interpolate(input, list(size), None, mode, align)
        return F.interpolate(input, None, scales, mode, align)
    return resize


BY_NAME = {"pad": pad, "fractional_max_pool2d": fractional(2), "fractional_max_pool3d": fractional(3),
           "max_unpool2d": max_unpool(2), "max_unpool3d": max_unpool(3)}
BY_NAME.update((name, max_pool(name)) for name in ("max_pool1d", "max_pool2d", "max_pool3d"))
BY_NAME.update((name + "_with_indices", max_pooled(name)) for name in ("max_pool1d", "max_pool2d", "max_pool3d"))
BY_NAME.update((name, avg_pool(name)) for name in ("avg_pool1d", "avg_pool2d", "avg_pool3d"))
BY_NAME.update((name, pooled(name)) for name in ("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"))
BY_NAME.update((name, adaptive_max(name)) for name in (
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"))
BY_NAME.update((f"{kind}_pad{axes}d", padded({"reflection": "reflect", "replication": "replicate"}[kind]))
               for kind in ("reflection", "replication") for axes in (1, 2, 3))
BY_NAME.update((f"upsample_{kind}{axes}d", upsample(mode, corners)) for kind, axes, mode, corners in (
    ("nearest", 1, "nearest", False), ("nearest", 2, "nearest", False), ("nearest", 3, "nearest", False),
    ("linear", 1, "linear", True), ("bilinear", 2, "bilinear", True), ("bicubic", 2, "bicubic", True),
    ("trilinear", 3, "trilinear", True)))
BY_NAME.update((f"_upsample_nearest_exact{axes}d", upsample("nearest-exact", False)) for axes in (1, 2, 3))
