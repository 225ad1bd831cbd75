"""Random numbers of one sample: they depend on the seed, the epoch and the sample, not on who draws them, or when."""
import math

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15  # of SplitMix64: 2**64 over the golden ratio
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mix(value):
    """Return 64 bits of which each depends on all bits of a number."""
    value = (value ^ value >> 30) * FIRST & MASK
    value = (value ^ value >> 27) * SECOND & MASK
    return value ^ value >> 31


class Draws:
    """A small generator; making one costs next to nothing.

    Parameters
    ----------
    key : int
        Whole numbers; the same ones give the same draws.

    """

    __slots__ = ("state",)

    def __init__(self, *key):
        state = 0
        for number in key:
            state = mix(state + STEP + (number & MASK) & MASK)
        self.state = state

    def bits(self):
        """Return 64 random bits as a number."""
        self.state = self.state + STEP & MASK
        return mix(self.state)

    def uniform(self, low=0.0, high=1.0):
        """Return a number from `low` on and below `high`."""
        return low + (high - low) * ((self.bits() >> 11) * 2.0 ** -53)

    def integer(self, low, high=None):
        """Return a whole number from `low` on and below `high`, or from 0 on and below `low` if it stands alone."""
        if high is None:
            low, high = 0, low
        if high <= low:
            raise ValueError(f"Draws.integer: got no number between {low} and {high}, expected at least one")
        return low + (self.bits() * (high - low) >> 64)

    def chance(self, probability=0.5):
        """Return True with some probability."""
        return self.uniform() < probability

    def normal(self, mean=0.0, deviation=1.0):
        """Return a normally distributed number."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return mean + deviation * radius * math.cos(2.0 * math.pi * self.uniform())

    def choice(self, items):
        """Return one of several items."""
        return items[self.integer(len(items))]

    def shuffle(self, items):
        """Put a list in random order."""
        for place in range(len(items) - 1, 0, -1):
            other = self.integer(place + 1)
            items[place], items[other] = items[other], items[place]
