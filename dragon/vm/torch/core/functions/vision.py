"""Images of `torch.nn.functional`: resizing, grids, blocks and padding, with PyTorch's checks of what fits what."""
import math

from dragon.core import warnings
from dragon.core.capture.sizes import as_whole
from dragon.vm.torch.core.functions.convolution import each_axis
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.tensor import ops

# The axes of each mode's input; None where three to five will do.
MODES = {"nearest": None, "nearest-exact": None, "area": None, "linear": 3, "bilinear": 4, "bicubic": 4,
         "trilinear": 5, "lanczos": 4}


@overridable
def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """Resize sequences, images or volumes.

    Parameters
    ----------
    input : Tensor
        (N, C, ...) with one to three spatial axes.
    size : Union[int, Sequence[int]], optional
        The size wanted.
    scale_factor : Union[float, Sequence[float]], optional
        Or by how much.
    mode : str, optional, default="nearest"
        "nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear", "lanczos".
    align_corners : bool, optional
        Whether corners' centres stay where they are, for the linear and cubic modes.
    recompute_scale_factor : bool, optional
        Whether the scale is computed anew from the whole size.
    antialias : bool, optional, default=False
        Whether to filter before shrinking, for "bilinear" and "bicubic"; "lanczos" always does.

    Returns
    -------
    Tensor
        The resized input.

    """
    spatial = tuple(input.shape)[2:]
    check_mode(input, mode, align_corners, antialias)
    size, factors = check_sizes(spatial, size, scale_factor)
    if recompute_scale_factor and factors is None:
        raise ValueError("interpolate: got recompute_scale_factor with size, expected it with scale_factor")
    if factors is not None and (mode == "area" or recompute_scale_factor):
        size, factors = [math.trunc(axis * factor) for axis, factor in zip(spatial, factors)], None
    if mode == "area":
        return getattr(ops, f"adaptive_avg_pool{len(spatial)}d")(input, size)
    corners = None if mode.startswith(("nearest", "lanczos")) else bool(align_corners)
    return ops.interpolate(input, size, factors, mode, corners, None, antialias)


def check_mode(input, mode, align_corners, antialias):
    """Raise unless the mode exists, fits the input and takes the flags."""
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(f"interpolate: got align_corners for mode {mode!r}, expected a linear or cubic mode: "
                         "align_corners option can only be set with the interpolating modes: linear | bilinear | "
                         "bicubic | trilinear")
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise ValueError(f"interpolate: got antialias for mode {mode!r} and {input.ndim} dims, expected 'bilinear' or "
                         "'bicubic' and 4 axes")
    if mode not in MODES or MODES[mode] not in (None, input.ndim) or not 3 <= input.ndim <= 5:
        if MODES.get(mode) is not None and 3 <= input.ndim <= 5:
            known = f"Got {input.ndim}D input, but {mode} mode needs {MODES[mode]}D input"
        else:
            known = (f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: "
                     f"{' | '.join(MODES)} (got {mode})")
        raise NotImplementedError(f"interpolate: got mode {mode!r} for input of {input.shape}. {known}")
    if mode == "lanczos":
        if align_corners or not antialias:
            raise ValueError("interpolate: got mode 'lanczos', expected antialias=True and align_corners=False")


def check_sizes(spatial, size, scale_factor):
    """Return the size or the scale of each axis, the other as None."""
    if (size is None) == (scale_factor is None):
        known = "either" if size is None else "only one of"
        raise ValueError(f"interpolate: got size {size} and scale_factor {scale_factor}, expected one of them: {known} "
                         "size or scale_factor should be defined")
    given = size if scale_factor is None else scale_factor
    given = list(given) if isinstance(given, (list, tuple)) else [given] * len(spatial)
    if len(given) != len(spatial):
        what = "output size of" if scale_factor is None else "scale_factor of"
        raise ValueError("interpolate: Input and output must have the same number of spatial dimensions, but got input "
                         f"with spatial dimensions of {list(spatial)} and {what} {tuple(given)}")
    if scale_factor is not None:
        return None, [float(factor) for factor in given]
    if not all(hasattr(number, "__index__") for number in given):
        raise TypeError(f"interpolate: got size {size!r}, expected integers")
    return [as_whole(number) for number in given], None


@overridable
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """Resize; the old name of `interpolate`."""
    warnings.warn("upsample: it is deprecated, expected interpolate")
    return interpolate(input, size, scale_factor, mode, align_corners)


@overridable
def upsample_nearest(input, size=None, scale_factor=None):
    """Resize to the nearest element; `interpolate` with mode="nearest"."""
    warnings.warn("upsample_nearest: it is deprecated, expected interpolate")
    return interpolate(input, size, scale_factor, mode="nearest")


@overridable
def upsample_bilinear(input, size=None, scale_factor=None):
    """Resize linearly; `interpolate` with mode="bilinear" and aligned corners."""
    warnings.warn("upsample_bilinear: it is deprecated, expected interpolate")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def warn_about_corners(who):
    """Warn that corners are no longer aligned by default."""
    warnings.warn(f"{who}: got no align_corners, expected one: the default has been False since PyTorch 1.3")


@overridable
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Read images at the places that a grid names, from -1 to 1.

    Parameters
    ----------
    input : Tensor
        (N, C, H, W) or (N, C, D, H, W).
    grid : Tensor
        Places, x first: (N, ..., 2) or (N, ..., 3).
    mode : str, optional, default="bilinear"
        "bilinear", "nearest" or "bicubic".
    padding_mode : str, optional, default="zeros"
        What lies outside: "zeros", "border" or "reflection".
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the corners, not their outer edges.

    Returns
    -------
    Tensor
        What was read, in the grid's shape.

    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but "
                         f"got: {mode!r}")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
                         f"but got: {padding_mode!r}")
    if align_corners is None:
        warn_about_corners("grid_sample")
    return ops.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


@overridable
def affine_grid(theta, size, align_corners=None):
    """Return the grid that `grid_sample` reads an affinely transformed image by."""
    if align_corners is None:
        warn_about_corners("affine_grid")
    if not theta.dtype.is_floating_point:
        raise ValueError(f"affine_grid: got theta of {theta.dtype}, expected floats")
    size = [int(number) for number in size]
    if len(size) not in (4, 5):
        raise NotImplementedError(f"affine_grid: got size {size}, expected 4 or 5 numbers")
    wanted = (len(size) - 2, len(size) - 1)
    if theta.ndim != 3 or tuple(theta.shape)[1:] != wanted:
        raise ValueError(f"affine_grid: got theta of {theta.shape} for size {size}, expected (N, {wanted[0]}, "
                         f"{wanted[1]})")
    if align_corners and min(size[2:]) == 1:
        warnings.warn(f"affine_grid: got size {size} with align_corners, expected more than one place per dim")
    elif min(size) <= 0:
        raise ValueError(f"affine_grid: got size {size}, expected positive numbers")
    return ops.affine_grid(theta, size, bool(align_corners))


@overridable
def pad(input, pad, mode="constant", value=None):
    """Widen the last axes, or narrow them by negative numbers.

    Parameters
    ----------
    input : Tensor
        The tensor.
    pad : Sequence[int]
        How much before and after each axis, the last axis first.
    mode : str, optional, default="constant"
        "constant", "reflect", "replicate" or "circular".
    value : float, optional
        The constant, zero by default.

    Returns
    -------
    Tensor
        The padded tensor.

    """
    if mode == "replicate" and any(number < 0 for number in pad):
        return replicate(input, list(pad))
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"pad: got mode {mode!r}, expected 'constant', 'reflect', 'replicate' or 'circular': "
                                  f"Unrecognised padding mode {mode}")
    return ops.pad(input, pad, mode, float(value) if isinstance(value, int) else value)


def replicate(input, widths):
    """Pad by the outermost elements, also where one end is cut and the other grows."""
    for axis in range(len(widths) // 2):
        before, after = widths[2 * axis:2 * axis + 2]
        size = input.shape[-1 - axis]
        if size + before + after < 0:
            raise RuntimeError(f"pad: got pad {widths} for {input.shape}, expected no negative size")
        places = ops.arange(0, size + before + after, dtype="int64", device=input.device) - before
        # A cut before the first element moves the end that is repeated, one after the last moves it the same way.
        low, high = max(0, -before), size - 1 - max(0, -after)
        input = ops.index_select(input, input.ndim - 1 - axis, ops.clamp(places, min(low, size - 1), max(high, 0)))
    return input


@overridable
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Return the blocks of images as columns."""
    if input.dtype.name == "bool":
        return ops.cast(unfold(ops.cast(input, "uint8"), kernel_size, dilation, padding, stride), "bool")
    if not input.dtype.is_floating_point and not input.dtype.is_complex:
        return ops.cast(unfold(ops.cast(input, "float64"), kernel_size, dilation, padding, stride), input.dtype)
    return ops.im2col(input, *(each_axis(value, 2) for value in (kernel_size, dilation, padding, stride)))


@overridable
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Return images from columns of blocks, summed where they overlap."""
    return ops.col2im(input, *(each_axis(value, 2) for value in (output_size, kernel_size, dilation, padding, stride)))
