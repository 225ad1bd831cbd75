"""Hunts for saved graphs that differ from their programs at some sizes: `python tests/fuzz/kept_graphs.py 0 1000`.

Each program becomes a graph at one size, goes through the bytes of a file, and is given numbers for its symbols at
others. It may refuse them, or say that they are out of bounds; what it returns must be what the program returns.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from dragon.vm import torch  # noqa: E402
from harness.size_programs import SizeProgram, check_kept  # noqa: E402


def main():
    """Run the programs of a range of seeds; return 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--calls", type=int, default=12)
    options = parser.parse_args()
    found, open_graphs, ran, refused = 0, 0, 0, 0
    for seed in range(options.first, options.first + options.count):
        wrong, graph, served = check_kept(SizeProgram(seed, torch), torch, options.calls)
        open_graphs += bool(graph.symbols)
        ran, refused = ran + served, refused + options.calls - served
        if wrong:
            found += 1
            print(f"seed {seed} {wrong}\n", flush=True)
    print(f"{options.count} programs, {found} differ; {open_graphs} with open sizes; {ran} calls ran, "
          f"{refused} refused")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
