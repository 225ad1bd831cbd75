"""Random changes of pictures: of streams that go on, or of a seed alone."""
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.image.coloring import (adjust_brightness, adjust_contrast, adjust_hue, adjust_jpeg_quality,
                                                 adjust_saturation)
from dragon.vm.shared.images.patches import as_batch


def _draw(seed, stateless, shape, low, high, dtype="float32"):
    """Return random numbers of a seed: of a stream that goes on, or of the seed alone."""
    from dragon.vm.tensorflow import random
    if stateless:
        return random.stateless_uniform(shape, seed, low, high, dtype)
    return random.uniform(shape, low, high, dtype, seed=seed)


def _flip(image, axis, seed, stateless):
    x = take(image)
    batch, single = as_batch(x)
    if single and not is_capturing():
        if bool(_draw(seed, stateless, [], 0.0, 1.0) < 0.5):
            return ops.flip(batch, [axis])[0]
        return x if x is image else ops.clone(x)
    flipped = ops.flip(batch, [axis])
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
    from dragon.vm.shared.arrays.array import as_ints, slice_
    x, sizes = take(value), as_ints(size)
    room = [have - want + 1 for have, want in zip(x.shape, sizes)]
    if len(sizes) != x.ndim or min(room) < 1:
        raise invalid_argument(f"Need value.shape >= size, got {tuple(x.shape)} and {sizes}")
    drawn = _draw(seed, stateless, [len(sizes)], 0, 2 ** 31 - 1, "int32").tolist()
    return slice_(x, [number % limit for number, limit in zip(drawn, room)], sizes)


def _brightness(image, max_delta, seed, stateless):
    if max_delta < 0:
        raise ValueError(f"max_delta must be non-negative. Received: {max_delta}")
    return adjust_brightness(image, _draw(seed, stateless, [], -max_delta, max_delta))


def _contrast(image, lower, upper, seed, stateless):
    _check_range(lower, upper, "random_contrast")
    return adjust_contrast(image, _draw(seed, stateless, [], lower, upper))


def _hue(image, max_delta, seed, stateless):
    if max_delta > 0.5 or max_delta < 0:
        raise ValueError(f"max_delta must be within [0, 0.5]. Received: {max_delta}")
    return adjust_hue(image, _draw(seed, stateless, [], -max_delta, max_delta))


def _saturation(image, lower, upper, seed, stateless):
    _check_range(lower, upper, "random_saturation")
    return adjust_saturation(image, _draw(seed, stateless, [], lower, upper))


def _jpeg_quality(image, low, high, seed, stateless):
    if low < 0 or high < 0 or low > 100 or high > 100 or low >= high:
        raise ValueError(f"Qualities must rise within 0 and 100. Received: {low} and {high}")
    return adjust_jpeg_quality(image, int(_draw(seed, stateless, [], low, high, "int32")))


# --- of streams that `tf.random.set_seed` and `seed` fix

def random_flip_left_right(image, seed=None):
    """Return pictures mirrored left to right or not, each by chance."""
    return _flip(image, 2, seed, False)


def random_flip_up_down(image, seed=None):
    """Return pictures mirrored top to bottom or not, each by chance."""
    return _flip(image, 1, seed, False)


def random_brightness(image, max_delta, seed=None):
    """Return pictures with one number added, of at most max_delta either way."""
    return _brightness(image, max_delta, seed, False)


def random_contrast(image, lower, upper, seed=None):
    """Return pictures of a contrast drawn between two factors."""
    return _contrast(image, lower, upper, seed, False)


def random_hue(image, max_delta, seed=None):
    """Return pictures whose hues are turned by at most max_delta either way."""
    return _hue(image, max_delta, seed, False)


def random_saturation(image, lower, upper, seed=None):
    """Return pictures of a saturation drawn between two factors."""
    return _saturation(image, lower, upper, seed, False)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """Return a picture as JPEG leaves it at a quality drawn between two."""
    return _jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed, False)


def random_crop(value, size, seed=None, name=None):
    """Return a part of a tensor, of a size, at a place that is drawn."""
    return _crop(value, size, seed, False)


# --- of a seed of two integers alone

def stateless_random_flip_left_right(image, seed):
    """Return pictures mirrored left to right or not, each by chance, a function of a seed."""
    return _flip(image, 2, seed, True)


def stateless_random_flip_up_down(image, seed):
    """Return pictures mirrored top to bottom or not, each by chance, a function of a seed."""
    return _flip(image, 1, seed, True)


def stateless_random_brightness(image, max_delta, seed):
    """Return pictures with one number added, of at most max_delta either way, a function of a seed."""
    return _brightness(image, max_delta, seed, True)


def stateless_random_contrast(image, lower, upper, seed):
    """Return pictures of a contrast drawn between two factors, a function of a seed."""
    return _contrast(image, lower, upper, seed, True)


def stateless_random_hue(image, max_delta, seed):
    """Return pictures whose hues are turned by at most max_delta either way, a function of a seed."""
    return _hue(image, max_delta, seed, True)


def stateless_random_saturation(image, lower, upper, seed=None):
    """Return pictures of a saturation drawn between two factors, a function of a seed."""
    return _saturation(image, lower, upper, seed, True)


def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """Return a picture as JPEG leaves it at a quality drawn between two, a function of a seed."""
    return _jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed, True)


def stateless_random_crop(value, size, seed, name=None):
    """Return a part of a tensor, of a size, at a place that is drawn, a function of a seed."""
    return _crop(value, size, seed, True)
