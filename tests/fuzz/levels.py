"""Make the same calls with the kernels of each level that this processor has, and compare what comes.

    python tests/fuzz/levels.py --edges 2 --compiled --jobs 2

How far levels may be apart stands in `harness/level_bounds.py`. A level that was not compiled, or that the processor
lacks, is left out and named.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS)]

import numpy  # noqa: E402

from harness import level_bounds  # noqa: E402  (the folder of the harness is known by now)

WORKER = TESTS / "fuzz" / "level_worker.py"
LEVELS = ("v2", "v3", "v4")
PARTS = 12  # of the rows: a worker for each, whose results are thrown away when they are compared


def list_levels():
    """Return (levels to compare, {level: why it is left out})."""
    import dragon
    folder = pathlib.Path(dragon.__file__).parent / "lib"
    script = TESTS.parent / "tools" / "cpu_level.sh"
    best = subprocess.run(["sh", str(script)], capture_output=True, text=True, check=True).stdout.strip()
    found, left_out = [], {}
    for level in LEVELS:
        if best not in LEVELS:
            left_out[level] = f"this processor's kernels are those of {best}"
        elif LEVELS.index(level) > LEVELS.index(best):
            left_out[level] = f"this processor has no more than {best}"
        elif not (folder / f"libdragon_cpu_{level}.so").exists():
            left_out[level] = f"this build lacks it: DRAGON_CPU_LEVELS='{level};...' compiles it"
        else:
            found.append(level)
    return found, left_out


def run_worker(level, file, words):
    """Have one level make its calls, and write them into a file."""
    environment = dict(os.environ, DRAGON_CPU_LEVEL=level, OMP_NUM_THREADS="1", DRAGON_NUM_THREADS="1",
                       PYTHONHASHSEED="0")
    done = subprocess.run([sys.executable, str(WORKER), os.path.abspath(file), *words], capture_output=True, text=True,
                          env=environment, errors="replace", cwd=os.sep)
    if done.returncode:
        raise RuntimeError(f"levels: the worker of {level} ended with {done.returncode} in {' '.join(words)}:\n"
                           f"{done.stderr[-3000:]}")


def read(file):
    """Yield the records of a file."""
    while True:
        try:
            yield pickle.load(file)
        except EOFError:
            return


def compare(one, other):
    """Yield (key, farthest distance, bound, what differs or None) of two files of records."""
    with open(one, "rb") as first, open(other, "rb") as second:
        for mine, theirs in zip(read(first), read(second), strict=True):
            if mine[0] != theirs[0]:
                raise RuntimeError(f"levels: got calls {mine[0]} and {theirs[0]}, expected the same ones")
            key, sizes, results = mine
            yield (key, *level_bounds.judge(key, sizes, results, theirs[2]))


def hunt(words, levels, folder):
    """Return [(levels, key, distance, bound, sentence)] of the calls that words of the worker's choose."""
    files = {level: pathlib.Path(folder) / f"{level}-{'-'.join(words[-4:])}".replace("/", "_") for level in levels}
    for level, file in files.items():
        run_worker(level, file, words)
    found = []
    for level in levels[:-1]:
        found += [((level, levels[-1]), *rest) for rest in compare(files[level], files[levels[-1]])]
    for file in files.values():
        file.unlink()
    return found


def summarize(found):
    """Return lines that tell for each operator how far levels were apart at most."""
    worst = collections.defaultdict(lambda: (-1.0, None, None))
    for levels, key, distance, bound, _ in found:
        family, name, dtype, how, title = key
        place = family, name, dtype, how
        if distance > worst[place][0]:
            worst[place] = distance, bound, title
    return [f"{'/'.join(place)}: {distance:.3g} ({bound}) {title[:120]}"
            for place, (distance, bound, title) in sorted(worst.items()) if distance > 0]


def main():
    """Compare all levels that are here."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--family", action="append", default=[])
    parser.add_argument("--only", help="a pattern of names")
    parser.add_argument("--dtypes", choices=("all", "first"), default="all")
    parser.add_argument("--edges", type=int, default=2, help="calls at edges of so many samples of each row")
    parser.add_argument("--compiled", action="store_true", help="the same calls amid a graph, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--summary", type=pathlib.Path, help="a file for the farthest distances")
    options = parser.parse_args()
    levels, left_out = list_levels()
    for level, why in left_out.items():
        print(f"levels: {level} is left out: {why}")
    if len(levels) < 2:
        raise SystemExit("levels: got fewer than two levels here, expected some to compare: compile with "
                         "-DDRAGON_CPU_LEVELS='v2;v3'")
    words = [word for family in options.family for word in ("--family", family)]
    words += ["--only", options.only] if options.only else []
    words += ["--dtypes", options.dtypes, "--edges", str(options.edges)] + ["--compiled"] * options.compiled
    found = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for part in pool.map(lambda start: hunt([*words, "--every", str(PARTS), "--start", str(start)], levels,
                                                folder), range(PARTS)):
            found += part
            for apart, key, distance, bound, sentence in part:
                if sentence:
                    print(f"{' and '.join(apart)}: {key}: {sentence}", flush=True)
    wrong = sum(sentence is not None for *_, sentence in found)
    if options.summary:
        options.summary.write_text("\n".join(summarize(found)) + "\n", encoding="utf-8")
    print(f"== {len(found)} calls of {' and '.join(levels)}, {wrong} too far apart")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    numpy.seterr(all="ignore")
    main()
