"""Hunts for programs whose graphs differ from eager calls at some sizes: `python tests/fuzz/sizes.py 0 20000`.

With `--look` the programs look at numbers, too, and go on by what they find.

With `DRAGON_ALLOCATOR=guard` a read outside of an operand ends the process at that instruction; the seed is printed
before a program runs where `--tell` is given.
"""
import argparse
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from dragon.vm import torch  # noqa: E402
from harness import look_programs, size_programs  # noqa: E402


def main():
    """Run the programs of a range of seeds; return 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--tell", action="store_true")
    parser.add_argument("--look", action="store_true")
    options = parser.parse_args()
    kind, check = ((look_programs.LookProgram, look_programs.check) if options.look else
                   (size_programs.SizeProgram, size_programs.check))
    found, kinds = 0, collections.Counter()
    for seed in range(options.first, options.first + options.count):
        if options.tell:
            print(seed, flush=True)
        program = kind(seed, torch)
        wrong, compiled = check(program, torch, options.calls, gradient=seed % 3 == 0)
        kinds["differs" if wrong else "plain Python" if compiled.fallback else
              f"{min(len(compiled.graphs), 5)} graphs"] += 1
        kinds["open sizes"] += any(variant.axes for variant in compiled.variants)
        kinds["in parts"] += any(variant.parts for variant in compiled.variants)
        if wrong:
            found += 1
            print(f"seed {seed} {wrong}\n", flush=True)
    print(f"{options.count} programs, {found} differ; {dict(kinds)}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
