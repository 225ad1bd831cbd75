"""Random changes of pictures: of streams that go on, or of a seed alone."""
from dragon.core.capture.settings import is_capturing
from dragon.vm.tensorflow.core.errors import invalid_argument
from dragon.vm.tensorflow.core.moving import take
from dragon.vm.tensorflow.core.tensor import ops
from dragon.vm.tensorflow.image.coloring import (
    adjust_brightness, adjust_contrast, adjust_hue, adjust_jpeg_quality, adjust_saturation)
from dragon.vm.tensorflow.image.framing import as_batch


def _draw(seed, stateless, shape, low, high, dtype="float32"):
    """Return random numbers of a seed: of a stream that goes on, or of the seed alone."""
    from dragon.vm.tensorflow import random
    if stateless:
        return random.stateless_uniform(shape, seed, low, high, dtype)
    return random.uniform(shape, low, high, dtype, seed=seed)


def _flip(image, axis, seed, stateless):
    x = take(image)
    batch, single = as_batch(x)
    flipped = ops.flip(batch, [axis])
    if single and not is_capturing():
        chosen = bool(_draw(seed, stateless, [], 0.0, 1.0) < 0.5)
        return ops.clone((flipped if chosen else batch)[0])
    if single:
        chosen = _draw(seed, stateless, [1], 0.0, 1.0) < 0.5
    else:
        chosen = ops.ge(ops.round(_draw(seed, stateless, [batch.shape[0]], 0.0, 1.0)), 0.5)
    made = ops.where(ops.reshape(chosen, (-1, 1, 1, 1)), flipped, batch)
    return made[0] if single else made


def _check_range(low, high, who):
    if high <= low:
        raise ValueError(f"{who}: upper must be > lower. Received: lower={low}, upper={high}")
    if low < 0:
        raise ValueError(f"{who}: lower must be non-negative. Received: lower={low}")


def _crop(value, size, seed, stateless):
    from dragon.vm.tensorflow.core.array import as_ints, slice_
    x, sizes = take(value), as_ints(size)
    room = [have - want + 1 for have, want in zip(x.shape, sizes)]
    if len(sizes) != x.ndim or min(room) < 1:
        raise invalid_argument(f"Need value.shape >= size, got {tuple(x.shape)} and {sizes}")
    drawn = _draw(seed, stateless, [len(sizes)], 0, 2 ** 31 - 1, "int32").tolist()
    return slice_(x, [number % limit for number, limit in zip(drawn, room)], sizes)


def _changes(stateless):
    """Return the random changes by name: with streams that go on, or stateless ones."""
    def flip_left_right(image, seed=None):
        return _flip(image, 2, seed, stateless)

    def flip_up_down(image, seed=None):
        return _flip(image, 1, seed, stateless)

    def brightness(image, max_delta, seed=None):
        if max_delta < 0:
            raise ValueError(f"max_delta must be non-negative. Received: {max_delta}")
        return adjust_brightness(image, _draw(seed, stateless, [], -max_delta, max_delta))

    def contrast(image, lower, upper, seed=None):
        _check_range(lower, upper, "random_contrast")
        return adjust_contrast(image, _draw(seed, stateless, [], lower, upper))

    def hue(image, max_delta, seed=None):
        if max_delta > 0.5 or max_delta < 0:
            raise ValueError(f"max_delta must be within [0, 0.5]. Received: {max_delta}")
        return adjust_hue(image, _draw(seed, stateless, [], -max_delta, max_delta))

    def saturation(image, lower, upper, seed=None):
        _check_range(lower, upper, "random_saturation")
        return adjust_saturation(image, _draw(seed, stateless, [], lower, upper))

    def jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
        low, high = min_jpeg_quality, max_jpeg_quality
        if low < 0 or high < 0 or low > 100 or high > 100 or low >= high:
            raise ValueError(f"Qualities must rise within 0 and 100. Received: {low} and {high}")
        return adjust_jpeg_quality(image, int(_draw(seed, stateless, [], low, high, "int32")))

    def crop(value, size, seed=None, name=None):
        return _crop(value, size, seed, stateless)
    return {"flip_left_right": (flip_left_right, "mirrored left to right or not"),
            "flip_up_down": (flip_up_down, "mirrored top to bottom or not"),
            "brightness": (brightness, "with a random number added"),
            "contrast": (contrast, "of a random contrast"), "hue": (hue, "with their hues turned at random"),
            "saturation": (saturation, "of a random saturation"),
            "jpeg_quality": (jpeg_quality, "as JPEG leaves them at a random quality"),
            "crop": (crop, "cut to a size at a random place")}


for _prefix, _stateless in (("random_", False), ("stateless_random_", True)):
    for _name, (_function, _words) in _changes(_stateless).items():
        _function.__name__ = _function.__qualname__ = _prefix + _name
        _function.__doc__ = f"Return pictures {_words}."
        globals()[_prefix + _name] = _function
