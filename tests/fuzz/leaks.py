"""Do the same thing very often, and look whether memory, files, threads or objects grow.

    python tests/fuzz/leaks.py --jobs 1 --share 1.0 --only 'compiles|threads'

Each program of `leak_programs.py` runs in a process of its own. After a time to warm up it is looked at between rounds,
and a line is laid through what was seen: its slope, over all rounds, must stay below a bound.
"""
import argparse
import concurrent.futures
import ctypes
import gc
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
LOOKS = 24
# What may come together over all rounds of a program, however many they are: of memory what allocators keep apart.
BOUNDS = {"memory": 3 << 20, "tensors": 4 << 10, "files": 2, "threads": 2, "shared": 1, "processes": 1}
# And for each round: objects of Python's, of which a thousandth of one is none.
EACH = {"memory": 200, "objects": 0.05}
LIMIT = 1800  # seconds of one program


def look():
    """Return what a process has of everything that may grow."""
    import dragon
    from leak_programs import collect
    collect()
    dragon.empty_cache()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return {"memory": pages * os.sysconf("SC_PAGE_SIZE"), "tensors": dragon.memory_stats()["current"],
            "files": len(os.listdir("/proc/self/fd")), "threads": len(os.listdir("/proc/self/task")),
            "shared": count_shared(), "processes": len(children), "objects": len(gc.get_objects())}


def count_shared():
    """Return how many pieces of shared memory this process maps, or has left in `/dev/shm`."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        mapped = sum("/dev/shm" in line or "/memfd:" in line for line in file)
    own = [entry for entry in os.scandir("/dev/shm") if entry.name.find(str(os.getpid())) >= 0]
    return mapped + len(own)


def slope(rounds, seen):
    """Return by how much a line through what was seen rises in a round, by least squares."""
    return float(numpy.polyfit(numpy.array(rounds, float), numpy.array(seen, float), 1)[0])


def judge(rounds, looks):
    """Return {what grows: (per round, over all rounds)}."""
    span, found = rounds[-1] - rounds[0], {}
    for what in looks[0]:
        each = slope(rounds, [seen[what] for seen in looks])
        bound = max(BOUNDS.get(what, 0), EACH.get(what, 0) * span)
        if each * span > bound:
            found[what] = each, each * span
    return found


def run(name, count):
    """Do a program's rounds in this process, and return (rounds, looks)."""
    from leak_programs import COUNTS, PROGRAMS
    step = PROGRAMS[name]()
    for _ in range(min(COUNTS[name][1], max(3, count // 4))):
        step()
    rounds, looks = [0], [look()]
    look()  # the first look makes what looks need
    for index in range(1, count + 1):
        step()
        if index * LOOKS // count > (index - 1) * LOOKS // count:
            rounds.append(index)
            looks.append(look())
    return rounds, looks


def hunt(name, count):
    """Return (name, what grows, words of a failure or None) of a program in a process of its own."""
    words = [sys.executable, __file__, "--child", name, "--count", str(count)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, errors="replace",
                          env=dict(os.environ, MALLOC_ARENA_MAX="2", TF_CPP_MIN_LOG_LEVEL="3"))
    told = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not told:
        return name, {}, f"ended with {done.returncode}: {done.stderr[-2000:]}", {}
    report = json.loads(told[-1])
    return name, report["grows"], None, report


def main():
    """Run the programs of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", help="a pattern of programs")
    parser.add_argument("--share", type=float, default=1.0, help="of the rounds of the long hunt")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--child", help="a program to run in this process")
    parser.add_argument("--count", type=int)
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    if options.child:
        rounds, looks = run(options.child, options.count)
        print(json.dumps({"rounds": rounds, "looks": looks, "grows": judge(rounds, looks)}))
        return
    from leak_programs import COUNTS
    chosen = [(name, max(LOOKS, int(count * options.share))) for name, (count, _) in COUNTS.items()
              if re.search(options.only or "", name)]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, grows, failure, report in pool.map(lambda entry: hunt(*entry), chosen):
            wrong += bool(grows or failure)
            seen = report and {what: f"{report['looks'][0][what]:,} to {report['looks'][-1][what]:,}"
                               for what in report["looks"][0]}
            print(f"{name}: {failure or grows or 'flat'}; {seen}", flush=True)
    print(f"== {len(chosen)} programs, {wrong} grow or fail")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
