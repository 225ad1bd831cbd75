"""Orders of epochs: every sample once, the same for everybody, shared out among shards."""
import itertools

import numpy as np

from dragon.io import order
from harness.subresults import each

CHUNKS = [range(start, min(start + 7, 100)) for start in range(0, 100, 7)]
KINDS = {
    "no": lambda rank, shards, uneven: order.places_of(100, rank, shards, uneven),
    "samples": lambda rank, shards, uneven: order.shuffled(100, rank, shards, uneven, 0, 1, 2),
    "chunks": lambda rank, shards, uneven: order.chunked(CHUNKS, rank, shards, uneven, 1, 2, 3),
}
# What was begun with one release of Dragon or NumPy must go on with another: these numbers never change.
SAMPLES = [2, 5, 7, 1, 6, 4, 3, 0]
CHUNKED = [5, 4, 3, 7, 6, 1, 0, 2]


def numbers(blocks):
    return [int(number) for block in blocks for number in block]


@each("kind", KINDS)
@each("shards", (1, 2, 3, 7, 100, 130))
def test_shards_hold_every_sample_between_them(kind, shards):
    for uneven in order.UNEVEN:
        parts = [numbers(KINDS[kind](rank, shards, uneven)) for rank in range(shards)]
        together = sorted(itertools.chain(*parts))
        sizes = {len(part) for part in parts}
        assert [len(part) for part in parts] == [order.share(100, rank, shards, uneven) for rank in range(shards)] or (
            kind == "chunks" and uneven == "keep")
        if uneven == "keep":
            assert together == list(range(100)) and max(sizes) - min(sizes) <= 1
        elif uneven == "drop":
            assert len(sizes) == 1 and len(set(together)) == len(together) == 100 // shards * shards
        else:
            assert len(sizes) == 1 and set(together) == set(range(100)) and len(together) < 100 + shards


def test_orders_are_those_of_earlier_releases():
    assert numbers(order.shuffled(8, 0, 1, "keep", 0, 5, 3)) == SAMPLES
    assert numbers(order.chunked([range(3), range(3, 6), range(6, 8)], 0, 1, "keep", 5, 3, 2)) == CHUNKED


def test_chunks_stay_together_within_their_window():
    announced = []
    blocks = list(order.chunked(CHUNKS, 0, 1, "keep", 4, 0, 3, announced.append))
    assert sorted(map(str, announced)) == sorted(map(str, CHUNKS))
    assert [chunk.start for chunk in announced] != sorted(chunk.start for chunk in announced)
    for turn, block in enumerate(blocks):
        expected = [number for chunk in announced[3 * turn:3 * turn + 3] for number in chunk]
        assert sorted(block) == sorted(expected) and list(block) != expected


def test_nothing_has_an_order_too():
    for rank in (0, 1):
        for uneven in order.UNEVEN:
            assert numbers(order.places_of(0, rank, 2, uneven)) == []
            assert numbers(order.shuffled(0, rank, 2, uneven, 0, 1, 2)) == []
            assert numbers(order.chunked([], rank, 2, uneven, 1, 2, 3)) == []


def test_what_is_skipped_is_the_beginning():
    whole = [np.arange(3), np.arange(0), np.arange(3, 10)]
    for count in range(12):
        assert numbers(order.skip(whole, count)) == list(range(count, 10))
