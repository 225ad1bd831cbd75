"""Times products of sparse matrices beside PyTorch: with sparse ones, and with a dense one, added up or the largest.

    OMP_NUM_THREADS=1 python benchmarks/torch_sparse.py [--sizes 2000,20000] [--numbers 10] [--width 64] [--rounds 9]

The two sides take turns; a ratio is that of the medians.
"""
import argparse
import statistics
import time
import warnings

import numpy as np
import torch

from dragon.vm import torch as dragon

REDUCTIONS = ("sum", "mean", "amax", "amin")


def matrices(t, places, numbers, rows, width):
    """Return a matrix of coordinates, the same in compressed rows, and a dense one."""
    held = t.sparse_coo_tensor(t.tensor(places), t.tensor(numbers), (rows, rows)).coalesce()
    return held, held.to_sparse_csr(), t.ones(rows, width)


def cases(t, given):
    """Return {name: call}."""
    held, compressed, dense = given
    made = {"coordinates @ coordinates": lambda: t.sparse.mm(held, held),
            "rows @ rows": lambda: t.mm(compressed, compressed)}
    made.update({f"rows @ dense, {how}": lambda how=how: t.sparse.mm(compressed, dense, how) for how in REDUCTIONS})
    return made


def main():
    """Print a line for each size and product."""
    warnings.simplefilter("ignore")  # PyTorch's, that compressed rows are young
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="2000,20000")
    for name, usual in (("numbers", 10), ("width", 64), ("rounds", 9)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    args = parser.parse_args()
    draw = np.random.default_rng(0)
    for rows in map(int, args.sizes.split(",")):
        places = draw.integers(0, rows, (2, rows * args.numbers))
        numbers = draw.standard_normal(rows * args.numbers).astype(np.float32)
        sides = [cases(t, matrices(t, places, numbers, rows, args.width)) for t in (dragon, torch)]
        for name in sides[0]:
            taken = [[], []]
            for _ in range(args.rounds):
                for side, times in zip(sides, taken):
                    start = time.perf_counter()
                    side[name]()
                    times.append(time.perf_counter() - start)
            mine, theirs = map(statistics.median, taken)
            print(f"{rows:7d} rows, {name:26s} {mine * 1e3:8.2f} ms, PyTorch {theirs * 1e3:8.2f} ms, "
                  f"ratio {mine / theirs:.2f}")


if __name__ == "__main__":
    main()
