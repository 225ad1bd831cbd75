"""Random numbers of genuine PyTorch on a GPU, made slowly: Philox as its authors describe it, spread as there.

Salmon, Moraes, Dror and Shaw: Parallel Random Numbers: As Easy as 1, 2, 3. SC11.
"""
import math

import numpy

LOW = numpy.uint64(0xFFFFFFFF)
HALF = numpy.uint64(32)


def rounds(counter, key):
    """Return the four words of each counter ([.., 4]) under a key of two words, after ten rounds."""
    a, b, c, d = (numpy.asarray(counter, numpy.uint64)[..., i] for i in range(4))
    first, second = key
    for _ in range(10):
        p, q = a * numpy.uint64(0xD2511F53), c * numpy.uint64(0xCD9E8D57)
        a, b, c, d = q >> HALF ^ b ^ numpy.uint64(first), q & LOW, p >> HALF ^ d ^ numpy.uint64(second), p & LOW
        first, second = (first + 0x9E3779B9) % 2 ** 32, (second + 0xBB67AE85) % 2 ** 32
    return numpy.stack([a, b, c, d], -1).astype(numpy.uint32)


def single(words):
    """Return uniform numbers in (0, 1]."""
    return words.astype(numpy.float32) * numpy.float32(2 ** -32) + numpy.float32(2 ** -33)


def double(low, high):
    """Return uniform numbers of two words each."""
    return (low.astype(numpy.uint64) ^ high.astype(numpy.uint64) << numpy.uint64(21)) * 2.0 ** -53 + 2.0 ** -54


class Stream:
    """A generator: a seed, an offset, and the card's streams (132 multiprocessors of 2048 threads)."""

    def __init__(self, seed, offset=0, most=132 * 2048):
        self.seed, self.offset, self.most = seed, offset, most

    def blocks(self, streams, numbers):
        """Return blocks of streams, counted from the offset."""
        streams, numbers = numpy.broadcast_arrays(numpy.asarray(streams, numpy.uint64),
                                                  numpy.asarray(numbers, numpy.uint64))
        numbers = numbers + numpy.uint64(self.offset // 4)
        counter = numpy.stack([numbers & LOW, numbers >> HALF, streams & LOW, streams >> HALF], -1)
        return rounds(counter, (self.seed % 2 ** 32, self.seed >> 32))

    def take(self, used):
        """Raise the offset."""
        self.offset += (used + 3) // 4 * 4

    def spread(self, count, unroll, places=None):
        """Return the block of each number, or of some of them, and which of the block's numbers it is."""
        streams = min(self.most, (count + 255) // 256 * 256)
        places = numpy.arange(count) if places is None else numpy.array(places) % count
        turns, at = numpy.divmod(places, streams)
        words = self.blocks(at, turns // unroll)
        self.take(((count - 1) // (streams * unroll) + 1) * 4)
        return words, turns % unroll

    def words(self, count):
        """Return words of 32 bits."""
        words, which = self.spread(count, 4)
        return words[numpy.arange(count), which]

    def pairs(self, count):
        """Return pairs of words."""
        words, which = self.spread(count, 2)
        at = numpy.arange(count)
        return words[at, 2 * which], words[at, 2 * which + 1]

    def uniform(self, count, dtype="float32"):
        """Return uniform numbers in (0, 1], in double precision if asked for."""
        return double(*self.pairs(count)) if dtype == "float64" else single(self.words(count))

    def normal(self, count, dtype="float32", places=None):
        """Return normal numbers, or some of them."""
        words, which = self.spread(count, 2 if dtype == "float64" else 4, places)
        if dtype == "float64":
            radius = numpy.sqrt(-2 * numpy.log(double(words[:, 0], words[:, 1])))
            angle = numpy.pi * 2 * double(words[:, 2], words[:, 3])
        else:
            at, first = numpy.arange(len(which)), which // 2 * 2
            radius = numpy.sqrt(-2 * numpy.log(single(words[at, first])))
            angle = single(words[at, first + 1]) * numpy.float32(2 * numpy.pi)
        return radius * numpy.where(which % 2 == 0, numpy.sin(angle), numpy.cos(angle))

    def integers(self, low, high, count):
        """Return integers in [low, high)."""
        span = high - low
        if span < 2 ** 28:
            return self.words(count).astype(numpy.int64) % span + low
        first, second = self.pairs(count)
        return numpy.array([(int(a) << 32 | int(b)) % span + low for a, b in zip(first, second)])

    def coins(self, chances):
        """Return a coin for each chance."""
        at = numpy.arange(len(chances))
        words = self.blocks(at // 4, 0)[at, at % 4]
        self.take(10)
        return single(words) <= chances

    def kept(self, count, neighbours, chance):
        """Return which elements a dropout keeps, of which a thread takes so many neighbours."""
        if neighbours == 1:
            return single(self.words(count)) < numpy.float32(chance)
        streams, at = min(self.most, (count + 255) // 256 * 256), numpy.arange(count)
        group, inside = numpy.divmod(at, neighbours)
        block = group // streams * max(1, neighbours // 4) + inside // 4
        words = self.blocks(group % streams, block)[at, inside % 4]
        self.take(((count - 1) // (streams * 4) + 1) * 4)
        return single(words) < numpy.float32(chance)

    def permutation(self, count):
        """Return the numbers below `count` in random order."""
        bits = min(64, math.ceil(math.log2(count - (6 * count * count + 1) / (math.log(0.9) * 12))))
        lowest = -2 ** 31 if bits <= 32 else -2 ** 63
        drawn = self.integers(lowest, -lowest - 1, count)
        keys = numpy.array([int(key) % 2 ** bits for key in drawn], numpy.uint64)
        places = numpy.argsort(keys, kind="stable")
        keys, result = keys[places], places.copy()
        for first in range(count):
            if first and keys[first - 1] == keys[first]:
                continue
            last = first
            while last + 1 < count and keys[last + 1] == keys[first]:
                last += 1
            words = self.blocks(first, numpy.arange((last - first) // 4 + 1)).ravel()
            for left, word in zip(range(last - first, 0, -1), words):
                other = first + int(word) % (left + 1)
                result[[first + left, other]] = result[[other, first + left]]
        self.take(count)
        return result

    def categories(self, weights, samples):
        """Return categories by the weights of rows, with replacement."""
        rows = min(len(weights), 65535)
        across = (samples + 127) // 128 * 128
        row, sample = numpy.divmod(numpy.arange(len(weights) * samples), samples)
        drawn = single(self.blocks(row % rows * across + sample, row // rows)[:, 0])
        self.take(((len(weights) - 1) // rows + 1) * 4)
        shares = numpy.cumsum(weights, 1) / numpy.sum(weights, 1, keepdims=True)
        found = [numpy.searchsorted(shares[line].astype(numpy.float32), u) for line, u in zip(row, drawn)]
        return numpy.array(found).reshape(len(weights), samples)
