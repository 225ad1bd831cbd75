"""Hunts for KPLRecord files that do harm: `python tests/fuzz/records.py 0 100000`.

Each file is changed, or lies under right checksums; it is read in all ways. Anything but values and a DataError ends
the hunt, as do a crash and more memory than the limit.
"""
import argparse
import pathlib
import resource
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness.record_mutations import mutate, try_one, write_whole  # noqa: E402

MEMORY = 4 << 30


def main():
    """Read the files of a range of seeds; return 1 if one does harm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    read = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.kpl")
        whole = write_whole(path)
        for seed in range(options.first, options.first + options.count):
            try:
                samples = try_one(path, mutate(seed, whole))
                read, refused = read + samples[0], refused + samples[1]
            except Exception:
                print(f"seed {seed}", flush=True)
                raise
    print(f"{options.count} files: {read} samples read, {refused} refused; "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB at most")


if __name__ == "__main__":
    sys.exit(main())
