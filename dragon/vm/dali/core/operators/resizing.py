"""Pictures of other sizes: how large they become, and of which region."""
import numpy as np

from dragon.io.pictures import geometry
from dragon.vm.dali.core.kinds import INTERP_LINEAR
from dragon.vm.dali.core.operators.regions import cut, window
from dragon.vm.dali.core.operators.resampling import resample
from dragon.vm.dali.core.operators.values import axes_of, kind_or, number, spatial, vector
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator

MODES = ("default", "stretch", "not_larger", "not_smaller")


def target_sizes(extents, given, mode, max_size, who):
    """Return how long the axes of a region become.

    Parameters
    ----------
    extents : Sequence[float]
        How long they are.
    given : Sequence[float]
        How long they should be; 0 where nothing is said.
    mode : str
        "default" and "stretch" do so, "not_larger" and "not_smaller" keep the ratio of the axes.
    max_size : Sequence[float], optional
        What no axis may exceed.
    who : str
        Who speaks.

    """
    if mode not in MODES:
        raise ValueError(got(who, f"mode={mode!r}", f"one of {MODES}"))
    extents, given = np.asarray(extents, np.float64), np.asarray(given, np.float64)
    told = given != 0
    scales = np.where(told, np.abs(given) / np.where(extents == 0, 1, extents), 1.0)
    if mode == "default" and not told.all() and told.any():
        scales = np.where(told, scales, np.exp(np.mean(np.log(scales[told]))))
    elif mode in ("not_larger", "not_smaller") and told.any():
        scales = np.full(len(extents), scales[told].min() if mode == "not_larger" else scales[told].max())
    sizes = extents * scales
    if max_size is not None:
        most = vector(max_size, len(extents), f"{who}(max_size=)")
        if mode == "stretch" or (mode == "default" and told.all()):
            sizes = np.minimum(sizes, most)
        else:
            sizes = sizes * min(1.0, (most / np.maximum(sizes, 1e-9)).min())
    return sizes


class Wanted:
    """The size that is asked for, in one of the ways to say it."""

    def __init__(self, who, size=None, resize_x=0.0, resize_y=0.0, resize_z=0.0, resize_shorter=0.0,
                 resize_longer=0.0, mode="default", max_size=None):
        self.who, self.mode, self.max_size = who, mode, max_size
        separate = [number(one) for one in (resize_z, resize_y, resize_x)]
        shorter, longer = number(resize_shorter), number(resize_longer)
        if sum((size is not None, any(separate), bool(shorter), bool(longer))) != 1:
            raise RuntimeError(got(who, "none or several of size, resize_x and its kin, resize_shorter and "
                                   "resize_longer", "exactly one way to say the size"))
        self.size, self.separate, self.shorter, self.longer = size, separate, shorter, longer

    def of(self, extents):
        """Return the sizes for a region of these extents, not rounded yet, and whether an axis is turned round."""
        count = len(extents)
        if self.shorter or self.longer:
            given = np.full(count, self.shorter or self.longer)
            mode = "not_smaller" if self.shorter else "not_larger"
        else:
            given, mode = self.separate[-count:], self.mode
            if self.size is not None:
                given = vector(self.size, count, f"{self.who}(size=)")
        sizes = target_sizes(extents, given, mode, self.max_size, self.who)
        return sizes, np.asarray(given) < 0


def filters(interp_type, min_filter, mag_filter):
    """Return the filters where things become smaller, and larger."""
    general = None if interp_type is None else int(number(interp_type))
    chosen = [general if one is None else int(number(one)) for one in (min_filter, mag_filter)]
    return tuple(int(INTERP_LINEAR) if one is None else one for one in chosen)


def region(whole, axes, roi_start, roi_end, roi_relative):
    """Return where the region of interest begins and ends."""
    sizes = np.array([whole[axis] for axis in axes], np.float64)
    if (roi_start is None) != (roi_end is None):
        raise RuntimeError(got("roi", "one of roi_start and roi_end", "both or none"))
    if roi_start is None:
        return np.zeros(len(axes)), sizes
    scale = sizes if roi_relative else 1
    return vector(roi_start, len(axes)) * scale, vector(roi_end, len(axes)) * scale


def widened(low, high, factor, fixed=0.5):
    """Return a region that is made longer by a factor; a part of it, its middle by default, stays in its place."""
    extent = high - low
    low = low + extent * (1 - factor) * fixed
    high = low + extent * factor
    return (np.where(np.abs(row - np.rint(row)) < 1e-6, np.rint(row), row) for row in (low, high))


def resized(data, layout, wanted, kinds, antialias, kind, roi, subpixel):
    """Return a picture, or a region of it, in another size.

    Parameters
    ----------
    data : numpy.ndarray
        The picture.
    layout : str
        Its layout.
    wanted : Wanted
        The size.
    kinds : Tuple[int, int]
        The filters where things become smaller, and larger.
    antialias : bool
        Whether filters grow where things become smaller.
    kind : numpy.dtype
        The type of the result.
    roi : tuple
        Where the region begins and ends, and whether this is told as parts of the whole.
    subpixel : bool
        Whether the region is widened by what rounding the size has changed, so that the scale stays exact.

    """
    axes, _ = spatial(layout, data.ndim, wanted.who)
    low, high = region(data.shape, axes, *roi)
    exact, turned = wanted.of(np.abs(high - low))
    sizes = np.maximum(1, np.floor(exact + 0.5)).astype(int)
    if subpixel:
        low, high = widened(low, high, sizes / np.maximum(exact, 1e-9))
    low, high = np.where(turned, high, low), np.where(turned, low, high)
    return resample(data, axes, sizes, low, high, kinds, antialias, kind)


@operator("resize", outputs=lambda arguments: 2 if arguments.get("save_attrs") else 1)
def resize(data, *, size=None, resize_x=0.0, resize_y=0.0, resize_z=0.0, resize_shorter=0.0, resize_longer=0.0,
           mode="default", max_size=None, interp_type=None, min_filter=None, mag_filter=None, antialias=True,
           roi_start=None, roi_end=None, roi_relative=False, subpixel_scale=True, dtype=None, save_attrs=False,
           image_type=None, context):
    """Resize a picture, or a region of it."""
    wanted = Wanted("fn.resize", size, resize_x, resize_y, resize_z, resize_shorter, resize_longer, mode, max_size)
    roi = roi_start, roi_end, roi_relative
    result = resized(data, context.layout, wanted, filters(interp_type, min_filter, mag_filter), antialias,
                     kind_or(dtype, data), roi, subpixel_scale)
    if not save_attrs:
        return result
    axes, _ = spatial(context.layout, data.ndim, "fn.resize")
    return result, Laid(np.array([data.shape[axis] for axis in axes], np.int32), "")


@operator()
def resize_crop_mirror(data, *, size=None, resize_x=0.0, resize_y=0.0, resize_z=0.0, resize_shorter=0.0,
                       resize_longer=0.0, mode="default", max_size=None, interp_type=None, min_filter=None,
                       mag_filter=None, antialias=True, roi_start=None, roi_end=None, roi_relative=False,
                       subpixel_scale=True, dtype=None, crop=None, crop_h=0.0, crop_w=0.0, crop_d=0.0, crop_pos_x=0.5,
                       crop_pos_y=0.5, crop_pos_z=0.5, rounding="round", mirror=0, context):
    """Resize a picture, take a region, and turn it round."""
    wanted = Wanted("fn.resize_crop_mirror", size, resize_x, resize_y, resize_z, resize_shorter, resize_longer, mode,
                    max_size)
    roi = roi_start, roi_end, roi_relative
    result = resized(data, context.layout, wanted, filters(interp_type, min_filter, mag_filter), antialias,
                     kind_or(dtype, data), roi, subpixel_scale)
    low, high = window(result, context.layout, wanted.who, crop, crop_h, crop_w, crop_d, crop_pos_x, crop_pos_y,
                       crop_pos_z, rounding)
    result = cut(result, low, high, "error", 0, wanted.who)
    axes, _ = spatial(context.layout, data.ndim, wanted.who)
    turns = int(number(mirror))
    return np.flip(result, [axis for bit, axis in enumerate(reversed(axes)) if turns >> bit & 1]) if turns else result


@operator()
def random_resized_crop(data, *, size, random_area=(0.08, 1.0), random_aspect_ratio=(3 / 4, 4 / 3), num_attempts=10,
                        interp_type=None, min_filter=None, mag_filter=None, antialias=True, dtype=None, seed=None,
                        context):
    """Take a random region of a picture, and resize it."""
    axes, _ = spatial(context.layout, data.ndim, "fn.random_resized_crop")
    top, left, height, width = geometry.random_resized_crop(
        [data.shape[axis] for axis in axes[-2:]], context.draws, random_area, random_aspect_ratio, num_attempts)
    sizes = vector(size, len(axes), "fn.random_resized_crop(size=)").astype(int)
    return resample(data, axes, sizes, np.array([top, left], float), np.array([top + height, left + width], float),
                    filters(interp_type, min_filter, mag_filter), antialias, kind_or(dtype, data))


@operator()
def tensor_resize(data, *, sizes=None, scales=None, axes=None, axis_names=None, mode="default", max_size=None,
                  interp_type=None, min_filter=None, mag_filter=None, antialias=True, roi_start=None, roi_end=None,
                  roi_relative=False, subpixel_scale=True, alignment=(0.5,), dtype=None, size_rounding="round",
                  context):
    """Resize any axes of an array."""
    if (sizes is None) == (scales is None):
        raise RuntimeError(got("fn.tensor_resize", "sizes and scales" if sizes is not None else "neither sizes nor "
                               "scales", "one of them"))
    chosen = axes_of(context.layout, data.ndim, axes, axis_names)
    low, high = region(data.shape, chosen, roi_start, roi_end, roi_relative)
    extents = high - low
    whole = np.array([data.shape[axis] for axis in chosen], np.float64)
    given = vector(sizes, len(chosen)) if scales is None else vector(scales, len(chosen)) * whole
    found = target_sizes(extents, given, mode, max_size, "fn.tensor_resize")
    rounding = {"round": lambda x: np.floor(x + 0.5), "truncate": np.trunc, "ceil": np.ceil}[size_rounding]
    made = np.maximum(1, rounding(found)).astype(int)
    if subpixel_scale:
        low, high = widened(low, high, made / np.maximum(found, 1e-9), vector(alignment, len(chosen)))
    return resample(data, chosen, made, low, high,
                    filters(interp_type, min_filter, mag_filter), antialias, kind_or(dtype, data))
