"""Sobol's sequence: direction numbers, their scrambling, and the points they give.

The numbers are those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections"
(2008). `sobol.bin` has them by degree: of each primitive polynomial its inner coefficients, then the numbers m_2,
m_3, ... of its dimension without their last bit, which is 1; m_1 is 1.
"""
import os

from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import as_tensor
from dragon.vm.torch.core.register import function
from dragon.vm.torch.core.tensor import ops

MAXBIT = 30
# How many primitive polynomials there are of degree 1, 2, ...
COUNTS = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776)
MAXDIM = 1 + sum(COUNTS)
INT64 = OBJECTS["int64"]


def _rows(degree, skipped):
    """Return (coefficients, numbers) of all dimensions of a degree: bits, and integers that are odd."""
    import numpy as np
    widths = [degree - 1, *range(1, degree)]
    count, width = COUNTS[degree - 1], sum(widths)
    with open(os.path.join(os.path.dirname(__file__), "sobol.bin"), "rb") as file:
        file.seek(skipped)
        packed = np.frombuffer(file.read(-(-count * width // 8)), np.uint8)
    bits = np.unpackbits(packed, count=count * width).reshape(count, width).astype(np.int64)
    numbers, place = [np.ones(count, np.int64)], degree - 1
    for wide in widths[1:]:
        weights = 1 << np.arange(wide, 0, -1)
        numbers.append(bits[:, place:place + wide] @ weights + 1)
        place += wide
    return bits[:, :degree - 1], numbers, len(packed)


def direction_numbers(dimension):
    """Return the direction numbers of the first dimensions, as a NumPy array of (dimension, 30) integers."""
    import numpy as np
    found, skipped = [np.ones((1, MAXBIT), np.int64)], 0
    for degree in range(1, len(COUNTS) + 1):
        if sum(map(len, found)) >= dimension:
            break
        inner, numbers, size = _rows(degree, skipped)
        skipped += size
        for place in range(degree, MAXBIT):
            # The polynomial's own recurrence, whose last coefficient is 1.
            following = numbers[place - degree] ^ (numbers[place - degree] << degree)
            for back in range(1, degree):
                following = following ^ (inner[:, back - 1] * numbers[place - back] << back)
            numbers.append(following)
        found.append(np.stack(numbers, 1))
    return np.concatenate(found)[:dimension] << np.arange(MAXBIT - 1, -1, -1)


@function
def _sobol_engine_initialize_state_(input, dimension):
    """Write the direction numbers of some dimensions."""
    return input.copy_(as_tensor(direction_numbers(dimension)))


@function
def _sobol_engine_scramble_(input, ltm, dimension):
    """Multiply the direction numbers' bits, the highest first, with a triangular matrix of bits for each dimension."""
    steps = ops.arange(MAXBIT - 1, -1, -1)
    bits = ops.bitwise_and(ops.bitwise_right_shift(input.unsqueeze(1), steps.unsqueeze(1)), 1)
    matrix = ltm.clone()
    matrix.diagonal(0, -2, -1).fill_(1)
    # Sums of thirty bits are exact in single precision.
    parity = ops.matmul(matrix.float(), bits.float()).to(INT64).remainder(2)
    return input.copy_(ops.bitwise_left_shift(parity, steps.unsqueeze(1)).sum(1))


def _gray(number):
    return number ^ number >> 1


@function
def _sobol_engine_ff_(input, n, sobolstate, dimension, num_generated):
    """Take the last point to the one that comes `n` later."""
    changed = _gray(num_generated + n) ^ _gray(num_generated)
    for bit in range(changed.bit_length()):
        if changed >> bit & 1:
            input.bitwise_xor_(sobolstate[:, bit])
    return input


@function
def _sobol_engine_draw(quasi, n, sobolstate, dimension, num_generated, dtype):
    """Return the points that follow, as numbers of a dtype in [0, 1), and the last of them as an integer."""
    # Point i differs from the one that was last by the direction numbers of the bits in which their Gray codes differ.
    codes = ops.arange(num_generated + 1, num_generated + n + 1)
    codes = ops.bitwise_xor(ops.bitwise_xor(codes, ops.bitwise_right_shift(codes, 1)), _gray(num_generated))
    points = quasi.expand(n, dimension).clone()
    for bit in range((num_generated + n).bit_length()):
        wanted = ops.bitwise_and(ops.bitwise_right_shift(codes, bit), 1).unsqueeze(1)
        points.bitwise_xor_(wanted * sobolstate[:, bit])
    last = points[-1].clone() if n else quasi.clone()
    return points.to(dtype).mul_(2.0 ** -MAXBIT), last
