"""Hunts for ONNX models that differ from their programs at some sizes: `python tests/fuzz/exported.py 0 1000`.

Each program is exported at one choice of sizes, every axis dynamic, and runs under ONNX Runtime at others. A model may
say that it does not hold for them; what it returns must be what PyTorch returns.
"""
import argparse
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import torch as genuine  # noqa: E402

from dragon.vm import torch  # noqa: E402
from harness.exported_programs import ExportedProgram, check_exported  # noqa: E402


def main():
    """Run the programs of a range of seeds; return 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--why", action="store_true", help="say why programs are no models")
    options = parser.parse_args()
    differ, models, calls = 0, 0, collections.Counter()
    for seed in range(options.first, options.first + options.count):
        program = ExportedProgram(seed, torch)
        wrong, refused, became = check_exported(program, torch, genuine, options.calls)
        calls.update(became)
        models += not refused
        if refused and options.why:
            print(f"seed {seed} {refused}\n{program.text}\n", flush=True)
        if wrong:
            differ += 1
            print(f"seed {seed} {wrong}\n", flush=True)
    print(f"{options.count} programs, {models} models, {differ} differ; calls: "
          + ", ".join(f"{count} {name}" for name, count in sorted(calls.items())))
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
