"""The random numbers of shuffles: TensorFlow's seeds and its Philox generator, so that orders are the same.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""
import os
from itertools import chain, count

from dragon.vm.shared.seed import get_seed

FIRST_MULTIPLIER, SECOND_MULTIPLIER = 0xD2511F53, 0xCD9E8D57
FIRST_STEP, SECOND_STEP = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10
LOW = 0xFFFFFFFF
SCALE = 2.0 ** 32
BLOCKS = 1024  # of four numbers, made at a time


def get_seeds(seed):
    """Return the two seeds of a dataset; fresh ones where the user has set none."""
    first, second = get_seed(None if seed is None else int(seed))
    if first is None and second is None:
        return int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little")
    first, second = first or 0, second or 0
    return (first, second) if first or second else (0, 2 ** 31 - 1)


def make_numbers(seed, second_seed, first_block, blocks):
    """Return 32-bit numbers of a generator's stream, four of each block."""
    import numpy as np
    index = np.arange(first_block, first_block + blocks, dtype=np.uint64)
    low, shift = np.uint64(LOW), np.uint64(32)
    lanes = [index & low, index >> shift, np.full(blocks, second_seed & LOW, np.uint64),
             np.full(blocks, second_seed >> 32 & LOW, np.uint64)]
    keys = [seed & LOW, seed >> 32 & LOW]
    for _ in range(ROUNDS):
        first = lanes[0] * np.uint64(FIRST_MULTIPLIER)
        second = lanes[2] * np.uint64(SECOND_MULTIPLIER)
        lanes = [(second >> shift) ^ lanes[1] ^ np.uint64(keys[0]), second & low,
                 (first >> shift) ^ lanes[3] ^ np.uint64(keys[1]), first & low]
        keys = [keys[0] + FIRST_STEP & LOW, keys[1] + SECOND_STEP & LOW]
    return np.stack(lanes, 1).reshape(-1)


class Draws:
    """The stream of 32-bit numbers of two seeds.

    Parameters
    ----------
    seed : int
        The generator's key.
    second_seed : int
        The upper half of its counter.
    used : int, optional, default=0
        How many numbers were taken before.

    """

    used = property(lambda self: self._used, doc="How many numbers were taken.")

    def __init__(self, seed, second_seed, used=0):
        self._seeds, self._used = (seed, second_seed), used
        self._waiting = iter(())

    def next(self):
        """Return the next number."""
        for number in self._waiting:
            self._used += 1
            return number
        self._waiting = iter(self._numbers(0, 4 * BLOCKS).tolist())
        return self.next()

    def share(self):
        """Return the next number as a share of all: from 0 up to 1."""
        return self.next() / SCALE

    def stream(self):
        """Return an iterator over the numbers from here on, at less than a call for each; they do not count as used."""
        return chain.from_iterable(self._numbers(start, 4 * BLOCKS).tolist() for start in count(0, 4 * BLOCKS))

    def _numbers(self, start, size):
        """Return `size` numbers from place `start` after those already used."""
        start += self._used
        blocks = (start + size + 3) // 4 - start // 4
        return make_numbers(*self._seeds, start // 4, blocks)[start % 4:start % 4 + size]

    def many(self, size):
        """Return the next numbers as an array; they then count as used."""
        numbers = self._numbers(0, size)
        self._used += size
        self._waiting = iter(())
        return numbers


class Seeded:
    """What of a dataset has seeds, and streams of random numbers made of them."""

    def _set_seeds(self, seed, anew):
        """Take a user's seed; with `anew`, each iteration has other numbers."""
        self._seeds = get_seeds(seed)
        self._outer = Draws(*self._seeds) if anew else None

    def _draws(self):
        """Return the numbers of one iteration."""
        return Draws(*self._seeds) if self._outer is None else Draws(self._outer.next(), self._outer.next())

    def _get_state(self):
        """Return what the numbers of the next iterations follow from: the seeds, and how many numbers were drawn."""
        return *self._seeds, 0 if self._outer is None else self._outer.used

    def _set_state(self, first, second, used):
        """Have the next iterations draw what they did when `_get_state` told this."""
        self._seeds = first, second
        self._outer = None if self._outer is None else Draws(first, second, used)


def seeded(dataset):
    """Return the datasets with seeds that a dataset is made of, in the same order each time."""
    own = [dataset] if isinstance(dataset, Seeded) else []
    return own + [found for source in dataset._sources for found in seeded(source)]
