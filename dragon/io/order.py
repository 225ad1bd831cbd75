"""The order of an epoch: which sample comes when, for whom; the same for the same seed, whoever asks.

NumPy promises that the numbers of `RandomState` never change, which it does not promise of its newer generators: an
order that was begun with one release of it is gone on with in another.
"""
from itertools import islice

UNEVEN = ("keep", "drop", "pad")
BLOCK = 1 << 16  # numbers of samples that are made at a time where they need no shuffling


def random_state(*key):
    """Return NumPy's frozen generator, seeded with whole numbers."""
    import numpy as np
    words = [word for number in key for word in (number & 0xFFFFFFFF, number >> 32 & 0xFFFFFFFF)]
    return np.random.RandomState(words)


def share(count, rank, shards, uneven):
    """Return how many of `count` samples a shard has.

    Parameters
    ----------
    count : int
        Samples of all shards together.
    rank : int
        The shard's number.
    shards : int
        How many shards there are.
    uneven : str
        What happens where `shards` does not divide `count`: "keep" gives some shards one sample more, "drop" leaves
        the last samples out, "pad" takes samples from the beginning twice.

    """
    if uneven == "drop":
        return count // shards
    if uneven == "pad":
        return -(-count // shards) if count else 0
    return len(range(rank, count, shards))


def places_of(count, rank, shards, uneven, begin=0):
    """Yield arrays of the places in an order that a shard's samples have; the order begins at one of them."""
    import numpy as np
    left = count - begin
    total = share(left, rank, shards, uneven)
    for start in range(0, total, BLOCK):
        places = np.arange(start, min(start + BLOCK, total), dtype=np.int64)
        yield (places * shards + rank) % left + begin


def shuffled(count, rank, shards, uneven, begin, seed, epoch):
    """Yield arrays of the numbers of a shard's samples, all samples being in random order."""
    order = random_state(seed, epoch).permutation(count)
    for places in places_of(count, rank, shards, uneven, begin):
        yield order[places]


def chunked(chunks, rank, shards, uneven, seed, epoch, window, announce=None):
    """Yield arrays of the numbers of a shard's samples: chunks in random order, samples mixed within some chunks.

    All chunks stand in one row, and each shard has a piece of it: at the ends of pieces a chunk may be read by two.

    Parameters
    ----------
    chunks : Sequence[range]
        Samples that are cheap to read one after the other.
    rank : int
        The shard's number.
    shards : int
        How many shards there are.
    uneven : str
        As for `share`.
    seed : int
        Where the orders of all epochs start from.
    epoch : int
        The epoch's number.
    window : int
        How many chunks are mixed with each other.
    announce : Callable[[range], Any], optional
        Told of each chunk before its samples come: now is the time to read it in one go.

    """
    import numpy as np
    count = sum(map(len, chunks))
    start, total = _piece(count, rank, shards, uneven)
    pieces = _cut([chunks[number] for number in random_state(seed, epoch).permutation(len(chunks))], start, total)
    for turn, together in enumerate(iter(lambda: list(islice(pieces, window)), [])):
        for chunk in together if announce else ():
            announce(chunk)
        mixed = np.concatenate([np.arange(chunk.start, chunk.stop, dtype=np.int64) for chunk in together])
        random_state(seed, epoch, rank, turn).shuffle(mixed)
        yield mixed


def _piece(count, rank, shards, uneven):
    """Return (start, length) of the piece of a row that a shard has; pieces of "pad" go on at the row's beginning."""
    least, more = divmod(count, shards)
    if uneven == "keep":
        return rank * least + min(rank, more), least + (rank < more)
    size = share(count, rank, shards, uneven)
    return rank * size, size


def _cut(chunks, start, total):
    """Yield the chunks that hold `total` samples from a place in the row on, the first and the last one cut."""
    place = 0
    while total > 0:
        for chunk in chunks:
            skipped = min(max(start - place, 0), len(chunk))
            place += len(chunk)
            part = chunk[skipped:skipped + total]
            if len(part):
                total -= len(part)
                yield part
            if total <= 0:
                return
        start = place  # all is read once: what is still wanted is taken from the beginning again


def skip(blocks, count):
    """Yield arrays without the first `count` numbers of all."""
    for block in blocks:
        if count >= len(block):
            count -= len(block)
        else:
            yield block[count:]
            count = 0
