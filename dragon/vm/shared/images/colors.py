"""Hues and shades of colours."""
from dragon.vm.shared.tensors.tensor import ops

GRAY = [0.2989, 0.5870, 0.1140]  # of red, green and blue


def find_hue(red, green, blue):
    """Return the hue, the greatest and the least channel of colours."""
    value = ops.maximum(ops.maximum(red, green), blue)
    least = ops.minimum(ops.minimum(red, green), blue)
    spread = value - least
    none = ops.eq(spread, 0)
    safe = ops.where(none, ops.ones_like(spread), spread)
    hue = ops.where(ops.eq(red, value), (green - blue) / safe,
                    ops.where(ops.eq(green, value), (blue - red) / safe + 2.0, (red - green) / safe + 4.0)) / 6.0
    return ops.where(none, ops.zeros_like(hue), ops.where(ops.lt(hue, 0), hue + 1.0, hue)), value, least


def find_shades(hue):
    """Return how far each channel of a hue is from its least to its greatest."""
    sixth = hue * 6.0
    return [ops.clamp(ops.abs(sixth - 3.0) - 1.0, 0.0, 1.0), ops.clamp(2.0 - ops.abs(sixth - 2.0), 0.0, 1.0),
            ops.clamp(2.0 - ops.abs(sixth - 4.0), 0.0, 1.0)]
