"""How fast KPLRecord files are read from the page cache, beside reading the same file whole, and in pieces.

The time is the processor's, of this process: nothing waits for a disk here, and other programs do not count.

python benchmarks/records.py [megabytes of each file]
"""
import os
import sys
import tempfile
import time

import numpy as np

from dragon.io.records import KPLRecord, KPLRecordWriter
from dragon.io.source import BATCH

SIZES = ((1 << 10, "1 kB"), (100 << 10, "100 kB"), (1 << 20, "1 MB"))
ROUNDS, PIECE = 7, 512 << 10


def measure(functions):
    """Return the shortest times of a few functions, in seconds, that take turns."""
    best = [float("inf")] * len(functions)
    for _ in range(ROUNDS):
        for place, function in enumerate(functions):
            start = time.process_time()
            function()
            best[place] = min(best[place], time.process_time() - start)
    return best


def read_whole(path):
    """Read a file as one piece."""
    with open(path, "rb", buffering=0) as file:
        return len(file.read())


def read_pieces(path):
    """Read a file into one buffer, which is fast memory after the first piece, and keep nothing."""
    piece = bytearray(PIECE)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(piece):
            pass


def read_records(source):
    """Read all samples in order, and keep none."""
    for _ in source:
        pass


def read_shuffled(source, order):
    """Read all samples in a random order."""
    for start in range(0, len(order), BATCH):
        source.read(order[start:start + BATCH])


def main(megabytes):
    """Print a table: GB/s of reading whole, in pieces, in order and shuffled, for bytes, arrays and dicts."""
    rng = np.random.default_rng(0)
    print("| record | value | `read()` | in pieces | records in order | shuffled | written |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for size, name in SIZES:
            for kind in ("bytes", "array", "dict"):
                path = os.path.join(folder, "a.kpl")
                data = rng.bytes(size - 48)
                value = {"bytes": data, "array": np.frombuffer(data, "u1"),
                         "dict": {"image": np.frombuffer(data, "u1"), "label": 3}}[kind]
                start = time.process_time()
                with KPLRecordWriter(path) as writer:
                    for _ in range((megabytes << 20) // size):
                        writer.write(value)
                written = time.process_time() - start
                source, total = KPLRecord(path), os.path.getsize(path)
                order = rng.permutation(len(source))
                times = measure((lambda: read_whole(path), lambda: read_pieces(path), lambda: read_records(source),
                                 lambda: read_shuffled(source, order)))
                speeds = " | ".join(f"{total / time / 1e9:.2f}" for time in (*times, written))
                print(f"| {name} | {kind} | {speeds} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 256)
