"""How fast KPLRecord files are written, and read from the page cache: beside reading the same file whole and in
pieces, and beside other forms of the same samples.

The time is the processor's, of this process: nothing waits for a disk here, and other programs do not count.

python benchmarks/records.py [megabytes of each file]
"""
import os
import pickle
import sys
import tempfile
import time

import numpy as np

from dragon.io.records import KPLRecord, KPLRecordWriter
from dragon.io.source import BATCH
from dragon.io.sources import TarWriter, TFRecord, TFRecordWriter, WebDataset, make_example, parse_example

SIZES = ((1 << 10, "1 kB"), (100 << 10, "100 kB"), (1 << 20, "1 MB"))
ROUNDS, PIECE = 7, 512 << 10


def measure(functions, rounds=ROUNDS):
    """Return the shortest times of a few functions, in seconds, that take turns."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
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


class Pickles:
    """A file of one pickle after the other."""

    def __init__(self, path):
        self._file = open(path, "wb")
        self.write = lambda sample: pickle.dump(sample, self._file, protocol=5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()


def read_pickles(path):
    """Read all samples of a file of pickles."""
    with open(path, "rb") as file:
        while file.peek(1):
            pickle.load(file)


# How samples are written, how they are made ready for it, and how they are read.
FORMS = {
    "a.kpl": (KPLRecordWriter, None, lambda path: read_records(KPLRecord(path))),
    "a.pickle": (Pickles, None, read_pickles),
    "a.tfrecord": (TFRecordWriter,
                   lambda sample: make_example({"image": sample["image"].tobytes(), "label": sample["label"]}),
                   lambda path: read_records(TFRecord(path, parse=parse_example))),
    "a.tar": (TarWriter, lambda sample: {"image": sample["image"].tobytes(), "cls": b"3"},
              lambda path: read_records(WebDataset(path))),
}


def write_all(path, samples):
    """Write samples in the form of a name."""
    make, prepare, _ = FORMS[os.path.basename(path)]
    with make(path) as writer:
        for number, sample in enumerate(samples):
            made = sample if prepare is None else prepare(sample)
            writer.write({"__key__": f"{number:08}", **made} if make is TarWriter else made)


def compare_forms(megabytes, rng, folder):
    """Print a table: GB/s of samples written and read in several forms, of fewer megabytes: some take long."""
    megabytes = max(1, megabytes // 8)
    print("\n| dict of | " + " | ".join(f"{name[2:]} written" for name in FORMS) + " | "
          + " | ".join(f"{name[2:]} read" for name in FORMS) + " |")
    print("| ---" * (2 * len(FORMS) + 1) + " |")
    for size, name in SIZES:
        samples = [{"image": np.frombuffer(rng.bytes(size - 48), "u1"), "label": 3}] * ((megabytes << 20) // size)
        paths = [os.path.join(folder, form) for form in FORMS]
        written = measure([lambda path=path: write_all(path, samples) for path in paths], 3)
        read = measure([lambda path=path: FORMS[os.path.basename(path)][2](path) for path in paths], 3)
        speeds = " | ".join(f"{len(samples) * size / seconds / 1e9:.2f}" for seconds in (*written, *read))
        print(f"| {name} | {speeds} |", flush=True)


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
        compare_forms(megabytes, rng, folder)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 256)
