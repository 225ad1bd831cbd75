"""Hunts for damaged pictures that crash, hang, or fail as not promised: `python tests/fuzz/pictures.py 0 20000`.

Files are cut, overwritten, spliced and given lying heads, then read whole, in part, shrunken and into batches. Memory
is bounded while they are; what is promised is pixels, or a `DataError`.
"""
import argparse
import collections
import pathlib
import resource
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from dragon.io.errors import DataError  # noqa: E402
from dragon.io.pictures import decode, encode, make_batch, read_size  # noqa: E402
from harness.photographs import jpeg, photograph  # noqa: E402

MEMORY, PATIENCE = 3 << 30, 20.0  # bytes that the process may map, seconds that one file may take
SIZES = (0, 1, 7, 255, 256, 13000, 32767, 65500, 65535)


def list_seeds():
    """Return files of every kind, small ones: damage is to hit what matters."""
    pixels = photograph(48, 64)
    inks = np.concatenate((pixels, pixels[:, :, :1]), 2)
    files = [jpeg(pixels, **options) for options in (
        {}, {"subsampling": "4:4:4"}, {"progressive": True}, {"restart_marker_blocks": 3}, {"optimize": True},
        {"exif": b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"},
        {"progressive": True, "quality": 20})]
    return files + [jpeg(pixels[:, :, 0]), jpeg(inks, "CMYK"), encode(pixels, "PNG"), encode(pixels, "WEBP"),
                    encode(pixels, "GIF")]


def damage(data, draw):
    """Return a file with one to four kinds of damage."""
    data = bytearray(data)
    for _ in range(draw.integers(1, 5)):
        kind, place = draw.integers(7), int(draw.integers(max(1, len(data))))
        if kind == 0:
            data = data[:place]
        elif kind == 1:
            for at in draw.integers(0, max(1, len(data)), draw.integers(1, 9)):
                data[at:at + 1] = bytes(draw.integers(0, 256, 1, np.uint8))
        elif kind == 2:
            data[place:place] = data[place // 2:place // 2 + int(draw.integers(1, 80))]
        elif kind == 3:
            del data[place:place + int(draw.integers(1, 40))]
        elif kind == 4:
            data[place:place + 2] = bytes((0xff, int(draw.integers(0xc0, 0x100))))
        elif kind == 5:
            data[place:place + 2] = int(draw.choice(SIZES)).to_bytes(2, "big")
        else:
            start = max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2"))
            if start > 0:
                at = start + 5 + 2 * int(draw.integers(2))
                data[at:at + 2] = int(draw.choice(SIZES)).to_bytes(2, "big")
    return bytes(data)


def attempt(call):
    """Return what became of a call: the promised error, or the shape of its result."""
    try:
        made = call()
    except DataError:
        return "refused"
    return "read" if made is not None else "nothing"


def check(data, draw):
    """Read one file in every way; return what became of each."""
    ends = [attempt(lambda: read_size(data))]
    ends.append(attempt(lambda: decode(data, channels=int(draw.choice((0, 1, 3, 4))), most_pixels=4000000).sum()))
    ends.append(attempt(lambda: decode(data, upright=True, most_pixels=4000000)))
    if ends[0] == "read":
        height, width = read_size(data)
        rows, columns = int(draw.integers(1, min(height, 500) + 1)), int(draw.integers(1, min(width, 500) + 1))
        region = int(draw.integers(height - rows + 1)), int(draw.integers(width - columns + 1)), rows, columns
        try:
            ends.append(attempt(lambda: decode(data, region)))
        except ValueError as error:  # another size than the head told: a second head
            assert "region" in str(error), error
        ends.append(attempt(lambda: make_batch([data, data], (9, 11), [region, None], most_pixels=4000000,
                                               fast=bool(draw.integers(2)))))
    if data.startswith(b"\xff\xd8\xff"):
        ends.append(attempt(lambda: decode(data, shrink=int(draw.choice((2, 4, 8))), most_pixels=4000000)))
    return ends


def main():
    """Read the files of a range of seeds; what is not as promised ends the run by its exception."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    seeds, ends = list_seeds(), collections.Counter()
    for seed in range(options.first, options.first + options.count):
        draw = np.random.default_rng(seed)
        data, start = damage(seeds[seed % len(seeds)], draw), time.monotonic()
        try:
            ends.update(check(data, draw))
        except BaseException:
            print(f"seed {seed}", flush=True)
            raise
        if time.monotonic() - start > PATIENCE:
            raise SystemExit(f"seed {seed} took {time.monotonic() - start:.0f} s")
    print(dict(ends))


if __name__ == "__main__":
    main()
