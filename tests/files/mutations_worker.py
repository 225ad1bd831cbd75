"""Read damaged files in this process's children; each finding is a line: crashes, hangs, wrong errors, memory.

    python mutations_worker.py --count 2000 --seed 0 ["Graph.load" ...]
    python mutations_worker.py --seed 0 --only 17 "Graph.load"     # one once more, with its traceback
"""
import argparse
import mmap
import os
import pathlib
import resource
import signal
import struct
import sys
import tempfile
import traceback
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import readers  # noqa: E402  (the path must be set before)

MOST_MEMORY = 1 << 30  # bytes above what there was
SECONDS = 10
warnings.simplefilter("ignore")


def errors_of(errors):
    """Return a tuple of classes, which may have to be asked for."""
    return errors() if callable(errors) else errors


def attempt(name, seed, index, source, folder):
    """Read one damaged file; return what is wrong, or None."""
    (_, read, errors), _ = readers.READERS[name]
    chance = readers.seeded(name, seed, index)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    try:
        read(readers.mutate(source, chance), folder, chance)
    except errors_of(errors):
        pass
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}\n" + traceback.format_exc()[-500:]
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    return f"took {more >> 20} MiB" if more > MOST_MEMORY else None


def walk(name, seed, first, count, shared, folder):
    """Read damaged files until one ends this process."""
    source = readers.READERS[name][0][0](folder)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)  # HDF5 talks
    for index in range(first, count):
        shared[:8] = struct.pack("<q", index)
        signal.alarm(SECONDS)
        trouble = attempt(name, seed, index, source, folder)
        signal.alarm(0)
        if trouble:
            print(f"{name}: {index}: {trouble}".encode("ascii", "replace").decode(), flush=True)
    os._exit(0)


def main():
    """Walk the readers named on the command line, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--only", type=int)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or readers.READERS:
            if options.only is not None:
                (make, read, _), _ = readers.READERS[name]
                chance = readers.seeded(name, options.seed, options.only)
                read(readers.mutate(make(folder), chance), folder, chance)
                continue
            count = max(1, options.count * readers.READERS[name][1] // 100)
            shared, first = mmap.mmap(-1, 8), 0
            while first < count:
                child = os.fork()
                if not child:
                    walk(name, options.seed, first, count, shared, folder)
                _, status = os.waitpid(child, 0)
                if status == 0:
                    break
                index, = struct.unpack("<q", shared[:8])
                what = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {status}"
                print(f"{name}: {index}: ended with {what}", flush=True)
                first = index + 1


if __name__ == "__main__":
    main()
