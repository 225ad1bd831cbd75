"""Windows of pictures: glimpses at places, and boxes drawn at random that still show an object."""
from dragon.vm.shared.arrays.array import as_ints
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.seed import next_stream
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import float32
from dragon.vm.shared.tensors.tensor import ops

NOISES = ("uniform", "gaussian", "zero")


def extract_glimpse(input, size, offsets, centered=True, normalized=True, noise="uniform", name=None):
    """Return a window of each picture; what lies outside is filled with noise.

    Parameters
    ----------
    input : Tensor
        Pictures (batch, height, width, channels).
    size : Sequence[int]
        Height and width of the windows.
    offsets : Tensor
        (batch, 2): y and x of each window.
    centered : bool, optional, default=True
        Whether offsets are counted from the middle of pictures, rather than from the top left corner.
    normalized : bool, optional, default=True
        Whether offsets are shares of the pictures' sizes. Centred shares reach from -1 to 1 and say where the
        middle of the window is; all others say where it begins.
    noise : str, optional, default="uniform"
        "uniform" or "gaussian", like the numbers of each picture's channel, or "zero".

    Returns
    -------
    Tensor
        Windows (batch, height, width, channels) of float32.

    """
    x, sizes = ops.cast(convert_to_tensor(input), "float32"), as_ints(size)
    places = convert_to_tensor(offsets, dtype_hint=float32).numpy()
    if noise not in NOISES:
        raise invalid_argument(f"noise must be one of {', '.join(NOISES)}. Received: noise={noise!r}")
    if x.ndim != 4:
        raise invalid_argument(f"input must be of shape (batch, height, width, channels). Received: {list(x.shape)}")
    if len(sizes) != 2:
        raise invalid_argument(f"size must be of two numbers. Received: size={size}")
    if places.shape != (x.shape[0], 2):
        raise invalid_argument(f"offsets must be of shape [{x.shape[0]}, 2]. Received: {list(places.shape)}")
    bounds = x.shape[1:3]
    begins = [[_begin(float(place), bound, wanted, centered, normalized)
               for place, bound, wanted in zip(pair, bounds, sizes)] for pair in places]
    return ops.stack([_look(picture, begin, sizes, noise) for picture, begin in zip(ops.unbind(x), begins)])


def _begin(place, bound, wanted, centered, normalized):
    """Return where a window begins along an axis."""
    place = place * bound if normalized else place
    if centered:
        place = (place / 2 if normalized else place) + bound / 2
    return int(place - wanted / 2 if centered and normalized else place)


def _look(picture, begin, sizes, noise):
    """Return the window of one picture."""
    made, inside = picture, []
    for axis, (start, wanted, bound) in enumerate(zip(begin, sizes, picture.shape[:2])):
        index = ops.add(ops.arange(wanted, dtype="int64"), start)
        inside.append(ops.logical_and(ops.ge(index, 0), ops.lt(index, bound)))
        made = ops.index_select(made, axis, ops.clamp(index, 0, bound - 1))
    inside = ops.logical_and(ops.reshape(inside[0], (-1, 1, 1)), ops.reshape(inside[1], (1, -1, 1)))
    return ops.where(inside, made, _make_noise(picture, made.shape, noise))


def _make_noise(picture, shape, noise):
    """Return numbers between the least and the greatest one of each channel of a picture."""
    if noise == "zero":
        return 0.0
    low, high = ops.amin(picture, [0, 1]), ops.amax(picture, [0, 1])
    if noise == "uniform":
        drawn = ops.stateless_uniform(next_stream(None), tuple(shape), dtype="float32")
        return ops.add(ops.mul(drawn, ops.sub(high, low)), low)
    mean = ops.mean(picture, [0, 1])
    spread = ops.sqrt(ops.mean(ops.square(ops.sub(picture, mean)), [0, 1]))
    drawn = ops.stateless_normal(next_stream(None), tuple(shape), dtype="float32")
    return ops.minimum(ops.maximum(ops.add(ops.mul(drawn, spread), mean), low), high)
