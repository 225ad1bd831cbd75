"""A picture that is decoded, resized and normalized: in one pass of the engine, in place of three operators.

Where a chain of such calls is all that its results are used for, the picture is never whole in memory: what the decoder
gives is resized row by row and written as numbers. These are those of the operators, but for the edges of regions that
are made smaller: there the filter is cut off, where the operators by themselves repeat the last pixel. What a chain
cannot do it leaves to them.
"""
from types import SimpleNamespace

import numpy as np

from dragon.io.errors import DataError
from dragon.io.pictures import Geometry
from dragon.io.pictures.batch import kept_recipe
from dragon.io.pictures.geometry import random_resized_crop, surroundings
from dragon.io.pictures.heads import jpeg_head, kind_of, read_size
from dragon.vm.dali.core.kinds import FLOAT, FLOAT16, INTERP_LINEAR, INTERP_TRIANGULAR, RGB, UINT8, to_numpy_type
from dragon.vm.dali.core.operators.normalizing import line_settings
from dragon.vm.dali.core.operators.regions import window
from dragon.vm.dali.core.operators.resizing import Wanted, filters
from dragon.vm.dali.core.operators.values import number, vector

DECODERS = {"decoders.image": {"output_type", "dtype", "adjust_orientation"},
            "decoders.image_random_crop": {"output_type", "dtype", "adjust_orientation", "random_area",
                                           "random_aspect_ratio", "num_attempts", "seed"}}
SIZES = {"size", "resize_x", "resize_y", "resize_shorter", "resize_longer", "mode", "max_size"}
FILTERS = {"interp_type", "min_filter", "mag_filter", "antialias", "dtype"}
RESIZERS = {"resize": SIZES | FILTERS | {"subpixel_scale"},
            "random_resized_crop": FILTERS | {"size", "random_area", "random_aspect_ratio", "num_attempts", "seed"}}
WINDOW = {"crop", "crop_h", "crop_w", "crop_pos_x", "crop_pos_y", "rounding"}
NORMALIZER = WINDOW | {"mirror", "mean", "std", "scale", "shift", "dtype", "output_dtype", "output_layout"}
LITTLE = 1e-6  # of a pixel: what sums of floats may be off by
LINE = {"mean": 0.0, "std": 1.0, "scale": 1.0, "shift": 0.0}


class Chain:
    """Three calls whose results nobody else sees.

    Parameters
    ----------
    decode, resize, normalize : Node
        The calls.

    """

    def __init__(self, decode, resize, normalize):
        self.decode, self.resize, self.normalize = decode, resize, normalize
        given = normalize.constants
        kind = given.get("output_dtype") or given.get("dtype") or FLOAT
        line = (tuple(np.ravel(given.get(name, default)).tolist()) for name, default in LINE.items())
        self._settings = line_settings(3, *line, given.get("output_layout") or "CHW",
                                       np.dtype(to_numpy_type(kind)).name)

    @classmethod
    def find(cls, node, users):
        """Return the chain that ends in a node, or None.

        Parameters
        ----------
        node : Node
            The last call.
        users : Dict[Node, int]
            How often the results of each node are used.

        """
        if node.operator.name != "crop_mirror_normalize" or not _knows(node, NORMALIZER):
            return None
        resize = node.inputs[0].node
        if users[resize] != 1 or not _knows(resize, RESIZERS.get(resize.operator.name)):
            return None
        decode = resize.inputs[0].node
        if users[decode] != 1 or not _knows(decode, DECODERS.get(decode.operator.name)):
            return None
        chain = cls(decode, resize, node) if _is_plain(decode, resize, node) else None
        return chain if chain and chain._settings else None

    def run(self, data, arguments, draws):
        """Return the normalized picture, or None where only the operators by themselves know what to do.

        Parameters
        ----------
        data : numpy.ndarray
            The bytes of a file.
        arguments : Callable[[Node], dict]
            Gives the arguments of a call for this sample.
        draws : Callable[[Node], Draws]
            Gives the random numbers of a call for this sample.

        """
        try:
            return self._run(memoryview(data), arguments, draws)
        except DataError:
            return None

    def _run(self, data, arguments, draws):
        decoding, resizing, normal = (arguments(node) for node in (self.decode, self.resize, self.normalize))
        upright = bool(decoding.get("adjust_orientation", True))
        whole = (0, 0, *_size_of(data, upright))
        if self.decode.operator.name == "decoders.image_random_crop":
            whole = _window(whole, draws(self.decode), decoding)
        if self.resize.operator.name == "random_resized_crop":
            whole = _window(whole, draws(self.resize), resizing)
            sizes = exact = vector(resizing["size"], 2, "fn.random_resized_crop(size=)").astype(int)
        else:
            exact, turned = Wanted("fn.resize", **{key: value for key, value in resizing.items() if key in SIZES}).of(
                whole[2:])
            sizes = np.maximum(1, np.floor(exact + 0.5)).astype(int)
            if turned.any():
                return None
        picture = SimpleNamespace(shape=(*sizes.tolist(), 3), ndim=3)
        low, high = window(picture, "HWC", "fn.crop_mirror_normalize",
                           **{key: value for key, value in normal.items() if key in WINDOW})
        if min(sizes) < 1 or any(start < 0 or end > size for start, end, size in zip(low, high, picture.shape)):
            return None
        box, steps = _box(whole, sizes, exact if resizing.get("subpixel_scale", True) else sizes, low, high)
        if box is None:
            return None
        geometry = Geometry(surroundings(box, steps, whole), box, mirror=bool(number(normal.get("mirror", 0))))
        recipe = kept_recipe((high[0] - low[0], high[1] - low[1]), upright=upright, **self._settings)
        made = np.empty(recipe.shape(1), recipe.dtype)
        troubles = recipe.write([recipe.prepare(data, geometry)], made)
        return None if troubles else made[0]


def _box(whole, sizes, exact, low, high):
    """Return what a window of the resized picture shows of the whole one, and how many pixels become one; None for what
    reaches beyond it."""
    starts, extents, steps = [], [], []
    for axis in (0, 1):
        # The scale is that of the size before it was rounded; what is seen is a little less than the whole, or more.
        step = whole[axis + 2] / exact[axis]
        first = whole[axis] + whole[axis + 2] / 2 - sizes[axis] * step / 2
        start, end = first + low[axis] * step, first + high[axis] * step
        if start < whole[axis] - LITTLE or end > whole[axis] + whole[axis + 2] + LITTLE:
            return None, None
        starts.append(max(start, whole[axis]))
        extents.append(min(end, whole[axis] + whole[axis + 2]) - starts[-1])
        steps.append(step)
    return (*starts, *extents), steps


def _knows(node, names):
    """Return whether a call has one input, and no arguments but these; None stands for calls that are none of ours."""
    return names is not None and len(node.inputs) == 1 and {*node.constants, *node.varying} <= names


def _is_plain(decode, resize, normalize):
    """Return whether the constants of three calls are such that one pass gives the same."""
    def plain(node, **wanted):
        return all(node.constants.get(name) in (None, *values) and name not in node.varying
                   for name, values in wanted.items())
    linear = {INTERP_LINEAR, INTERP_TRIANGULAR}
    constants = resize.constants
    if not (plain(decode, output_type=[RGB], dtype=[UINT8], adjust_orientation=[True, False])
            and plain(resize, antialias=[True], dtype=[UINT8], interp_type=linear, min_filter=linear, mag_filter=linear)
            and set(filters(*(constants.get(name) for name in ("interp_type", "min_filter", "mag_filter")))) <= linear
            and plain(normalize, dtype=[FLOAT, FLOAT16], output_dtype=[FLOAT, FLOAT16], output_layout=["CHW", "HWC"])):
        return False
    return not LINE.keys() & normalize.varying.keys()


def _size_of(data, upright):
    """Return the height and width of a file's picture, as the camera was held if this is asked for."""
    height, width = read_size(data)
    turned = upright and kind_of(data) == "JPEG" and jpeg_head(data, "picture").orientation >= 5
    return (width, height) if turned else (height, width)


def _window(whole, draws, arguments):
    top, left, height, width = random_resized_crop(
        whole[2:], draws, arguments.get("random_area", (0.08, 1.0)),
        arguments.get("random_aspect_ratio", (3 / 4, 4 / 3)), arguments.get("num_attempts", 10))
    return whole[0] + top, whole[1] + left, height, width
