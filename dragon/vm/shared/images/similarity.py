"""The similarity of the structures of images."""
import math

from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.tensor import ops


def _blurred(x, weights):
    """Return weighted sums of windows of pictures."""
    for axis in (-3, -2):
        count = x.shape[axis] - len(weights) + 1
        x = sum(weight * ops.narrow(x, axis, place, count) for place, weight in enumerate(weights))
    return x


def find_similarities(a, b, limit, size, sigma, k1, k2):
    """Return the similarity and the contrast part of it, for each channel and window."""
    for x in (a, b):
        if x.shape[-3] < size or x.shape[-2] < size:
            raise invalid_argument(f"Pictures must be at least as large as the filter, {size}. Received shape "
                                   f"{x.shape}")
    bell = [math.exp(-0.5 * ((place - (size - 1) / 2) / sigma) ** 2) for place in range(size)]
    weights = [value / sum(bell) for value in bell]
    first, second = (k1 * limit) ** 2, (k2 * limit) ** 2
    one, other = _blurred(a, weights), _blurred(b, weights)
    products = one * other * 2.0
    squares = one * one + other * other
    light = (products + first) / (squares + first)
    product = _blurred(a * b, weights) * 2.0
    square = _blurred(a * a + b * b, weights)
    contrast = (product - products + second) / (square - squares + second)
    return light * contrast, contrast
