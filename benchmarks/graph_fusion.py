"""Fused chains beside one pass over the same memory, and beside their calls one by one.

    python benchmarks/graph_fusion.py --rounds 9
"""
import argparse
import statistics
import time

import numpy as np

import dragon
from dragon import _C

CHEAP = (("add", 1.5), ("mul", 0.9), ("relu",), ("neg",), ("abs",), ("add", 1.5), ("mul", 0.9), ("square",),
         ("relu",), ("add", 1.5))
PAIRS = (("add", None), ("mul", None), ("relu",), ("sub", None), ("abs",), ("add", None), ("mul", None),
         ("maximum", None), ("relu",), ("neg",))
# Of each case: the number of inputs, the calls (a number is a constant, None the second input), a reduction at last.
CASES = {
    "1 cheap": (1, CHEAP[:1], None),
    "5 cheap": (1, CHEAP[:5], None),
    "10 cheap": (1, CHEAP, None),
    "10 cheap of two inputs": (2, PAIRS, None),
    "10, one of them exp": (1, (*CHEAP[:4], ("exp",), *CHEAP[5:]), None),
    "10, one of them tanh": (1, (*CHEAP[:4], ("tanh",), *CHEAP[5:]), None),
    "10, five of them tanh": (1, (*CHEAP[:5], *[("tanh",)] * 5), None),
    "5 cheap, sum of all": (1, CHEAP[:5], {}),
    "5 cheap, sums of rows": (1, CHEAP[:5], {"axis": [1]}),
    "5 cheap, sums of columns": (1, CHEAP[:5], {"axis": [0]}),
}
ROW = 1000


def graph_of(inputs, calls, reduction, count):
    """Return the graph of a case over float32 matrices of `count` numbers."""
    graph = _C.Graph("chain")
    values = [graph.add_input([count // ROW, ROW]) for _ in range(inputs)]
    made = values[0]
    for op, *rest in calls:
        operands = [made]
        if rest:
            number = dragon.tensor(np.float32(rest[0] or 0))
            operands.append(values[1] if rest[0] is None else graph.add_constant(number))
        made, = graph.add_call(op, operands)
    if reduction is not None:
        made, = graph.add_call("sum", [made], **reduction)
    graph.outputs = [made]
    return graph


def seconds(function, calls=3):
    """Return the time of one call."""
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - begin) / calls


def measure(name, count, rounds):
    """Return the medians (one pass, fused, one by one) of a case, taken in turns."""
    inputs, calls, reduction = CASES[name]
    graph = graph_of(inputs, calls, reduction, count)
    feeds = [dragon.tensor(np.random.default_rng(i).normal(size=(count // ROW, ROW)).astype("float32"))
             for i in range(inputs)]
    plans = [_C.Plan(graph, 3), _C.Plan(graph, 1)]
    assert plans[0].run(feeds)[0].shape == plans[1].run(feeds)[0].shape
    # The pass over memory: a copy that reads and writes as many bytes as the case does, or a sum that reads as many.
    moved = count * (inputs + 1)
    source = dragon.tensor(np.ones(moved // 2, "float32"))
    target = dragon.tensor(np.zeros(moved // 2, "float32"))
    once = (lambda: dragon.ops.copy(source, out=target)) if reduction is None else lambda: dragon.ops.sum(feeds[0])
    runs = [once, lambda: plans[0].run(feeds), lambda: plans[1].run(feeds)]
    times = [[] for _ in runs]
    for run in runs:
        run()
    for _ in range(rounds):
        for run, taken in zip(runs, times):
            taken.append(seconds(run))
    return [statistics.median(taken) for taken in times]


def main():
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000_000, help="numbers in each input")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print("| calls | one pass over memory | fused | one by one | fused / one pass | one by one / fused |")
    print("|---|---|---|---|---|---|")
    for name in CASES:
        once, fused, single = measure(name, options.count, options.rounds)
        print(f"| {name} | {once * 1e3:.2f} ms | {fused * 1e3:.2f} ms | {single * 1e3:.2f} ms | {fused / once:.2f} "
              f"| {single / fused:.1f} |", flush=True)


if __name__ == "__main__":
    main()
