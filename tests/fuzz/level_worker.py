"""Make the calls of the operator table's rows with the kernels of one level, and write down what came, for `levels.py`.

    DRAGON_CPU_LEVEL=v2 python tests/fuzz/level_worker.py FILE --family math --only '^exp$'

The file is a stream of pickled records, in an order that depends on the arguments alone.
"""
import argparse
import os
import pathlib
import pickle
import re
import sys
import warnings

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import dragon  # noqa: E402  (the folder of the harness is known by now)
from dragon.core import config  # noqa: E402
from harness import checks, edge_checks, edges, engine, gradients  # noqa: E402
from harness.inputs import bind  # noqa: E402
from harness.row import COMPLEX, FLOATING  # noqa: E402
from harness.rows import load_rows  # noqa: E402

MEMORY = 2 << 30


def shown(row, results):
    """Return [(dtype, array)] of the results that a row compares."""
    results = checks.chosen(row, results)
    arrays = checks.canonical(row, [engine.array(result) for result in results])
    names = [engine.dtype_name(result) if engine.is_tensor(result) else str(array.dtype)
             for result, array in zip(results, arrays)]
    return list(zip(names, arrays)) if len(names) == len(arrays) else [(str(array.dtype), array) for array in arrays]


def attempt(call):
    """Return what a call gives, or its error as a text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except edge_checks.Lacking:
        return "no graph"
    except edge_checks.FAILURES as error:
        return f"{type(error).__name__}: {error}"


def values(row, arguments):
    """Return the results of a call."""
    return shown(row, checks.call(row, arguments))


def derivatives(row, arguments):
    """Return the gradients of a call."""
    made, results = edge_checks.eager(row, arguments, True)
    found, _ = edge_checks.gradients_of(row, arguments, made, results)
    leaves = [item.dtype for item in arguments.inputs() if gradients.wants_grad(item)]
    return list(zip(leaves, found))


def ways(row, arguments, dtype, twin, finite):
    """Yield (how, results) of the ways to make one call."""
    yield "eager", attempt(lambda: values(row, arguments))
    if twin is not None:
        yield "compiled", attempt(lambda: shown(row, twin(arguments, dtype)[1]))
    if row.differentiable and finite and dtype in FLOATING + COMPLEX:
        yield "gradient", attempt(lambda: derivatives(row, arguments))


def largest(arguments):
    """Return the product of the largest finite number of each tensor, or of 1 where that is less, and the longest."""
    product, count = 1.0, 1
    for item in arguments.inputs():
        if item.array.dtype.kind in "fc" and item.array.size:
            sizes = numpy.abs(item.array.astype(numpy.complex128 if item.array.dtype.kind == "c" else numpy.float64))
            product *= float(sizes[numpy.isfinite(sizes)].max(initial=1.0))
            count = max(count, item.array.size)
    return product, count


def cases(row, dtype, options):
    """Yield (title, arguments, whether gradients mean something) of all that is called, in groups of equal shapes."""
    for index, sample in enumerate(checks.samples_of(row)):
        arguments = attempt(lambda: bind(row, sample, dtype, index))
        if not isinstance(arguments, str):
            yield [(re.sub(r" at 0x[0-9a-f]+", "", str(sample)), arguments, True)]
    if options.edges and not row.random:
        for family in edges.cases(row, dtype, options.edges):
            yield [(re.sub(r" at 0x[0-9a-f]+", "", case.title), case.arguments, case.finite) for case in family]


def write(row, dtype, options, file):
    """Write the records of a row in a dtype."""
    for group in cases(row, dtype, options):
        twin = edge_checks.Compiled(row) if options.compiled and not row.random else None
        for title, arguments, finite in group:
            for how, results in ways(row, arguments, dtype, twin, finite):
                pickle.dump(((row.family, row.name, dtype, how, title), largest(arguments), results), file, 5)


def choose(options):
    """Return [(row, dtype)] of what is to be called."""
    rows = [row for row in load_rows() if re.search(options.only or "", row.name)
            and (not options.family or row.family in options.family)]
    return [(row, dtype) for row in rows for dtype in (row.dtypes if options.dtypes == "all" else row.dtypes[:1])
            ][options.start::options.every]


def parse(words=None):
    """Return the options, and how they are said again."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--family", action="append")
    parser.add_argument("--only", help="a pattern of names")
    parser.add_argument("--dtypes", choices=("all", "first"), default="all")
    parser.add_argument("--edges", type=int, default=0, help="calls at edges of so many samples of each row")
    parser.add_argument("--compiled", action="store_true", help="the same calls amid a graph, too")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="only each so many of rows and dtypes")
    return parser.parse_args(words)


def main():
    """Make the calls."""
    options = parse()
    wish = os.environ.get("DRAGON_CPU_LEVEL")
    if wish and config.cpu_level() != wish:
        raise SystemExit(f"level_worker: got kernels of level {config.cpu_level()}, expected {wish}")
    dragon.set_memory_limit(MEMORY)
    with numpy.errstate(all="ignore"), open(options.file, "wb") as file:
        for row, dtype in choose(options):
            write(row, dtype, options, file)


if __name__ == "__main__":
    main()
