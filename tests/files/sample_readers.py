"""The readers of samples (`dragon.io`): an honest file of each format, and how it is read."""
import numpy

ROWS = [{"name": f"row {number}", "n": number, "x": [number, 2]} for number in range(6)]
FLAT = [{"name": row["name"], "n": row["n"]} for row in ROWS]


def _write(rows):
    def make(path):
        from dragon.io.formats import write_samples
        write_samples(rows, path)
    return make


def _read(path, chance):
    """Read a file in all ways; the only error that may come is the promised one."""
    from dragon.io.formats import open_samples
    source = open_samples(path)
    for sample in source:
        repr(sample)
    if hasattr(source, "read"):
        source.read([chance.randrange(len(source)) for _ in range(3)] if len(source) else [])


def _errors():
    from dragon.io import DataError
    return DataError


# The ending: what is written, and how many of a hundred mutations it gets.
FORMATS = {
    ".kpl": (ROWS, 2), ".tfrecord": (ROWS, 2), ".tfrecord.gz": (ROWS, 1), ".tar": (ROWS, 2), ".tgz": (ROWS, 1),
    ".rec": ([{"data": b"abc" * number, "label": number} for number in range(4)], 2), ".csv": (FLAT, 1),
    ".jsonl": (ROWS, 1), ".npy": ([numpy.arange(3)] * 3, 1),
}


def list_readers(through_file):
    """Return the rows of `readers.READERS`."""
    return {f"samples, {ending}": (through_file(f"a{ending}", _write(rows), _read, _errors), share)
            for ending, (rows, share) in FORMATS.items()}
