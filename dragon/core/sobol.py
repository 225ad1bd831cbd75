"""The direction numbers of Sobol's sequence.

They are those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections" (2008).
`sobol.bin` has them by degree: of each primitive polynomial its inner coefficients, then the numbers m_2, m_3, ... of
its dimension without their last bit, which is 1; m_1 is 1.
"""
import os

MAXBIT = 30
# How many primitive polynomials there are of degree 1, 2, ...
COUNTS = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776)
MAXDIM = 1 + sum(COUNTS)


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


def gray(number):
    """Return the Gray code of a number, of which two that follow each other differ in one bit."""
    return number ^ number >> 1
