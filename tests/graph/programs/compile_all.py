"""Run a script with its nets and optimizers compiled, unedited: outermost calls of modules, and optimizers' steps.

    dragon run tests/graph/programs/compile_all.py script.py [arguments ...]

What was compiled is told on the standard error in the end: functions, graphs, and why calls ran as plain Python.
"""
import functools
import runpy
import sys
import warnings

import torch

STEPPING = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adamax", "NAdam")
compiled, state = [], {"inside": False}


def compiled_for(holder, call):
    """Return a compiled function that calls something with its holder first; made once for each holder."""
    if "_compiled_for_test" not in holder.__dict__:
        def run(*args, **kwargs):
            return call(holder, *args, **kwargs)
        holder.__dict__["_compiled_for_test"] = torch.compile(run)
        compiled.append(holder.__dict__["_compiled_for_test"])
    return holder.__dict__["_compiled_for_test"]


def outermost(plain):
    """Return a method that is compiled where a script calls it itself, and left alone inside of such calls."""
    @functools.wraps(plain)
    def call(holder, *args, **kwargs):
        if state["inside"] or isinstance(holder, torch.nn.modules.loss._Loss):
            return plain(holder, *args, **kwargs)
        state["inside"] = True
        try:
            return compiled_for(holder, plain)(*args, **kwargs)
        finally:
            state["inside"] = False
    return call


def main():
    """Run the script, then tell what was compiled."""
    torch.nn.Module.__call__ = outermost(torch.nn.Module.__call__)
    for name in STEPPING:
        kind = getattr(torch.optim, name)
        kind.step = outermost(kind.step)
    sys.argv = sys.argv[1:]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runpy.run_path(sys.argv[0], run_name="__main__")
    graphs = [len(function.graphs) for function in compiled]
    print(f"compiled: {len([count for count in graphs if count])} functions, {sum(graphs)} graphs", file=sys.stderr)
    for warning in caught:
        if "Capture" in warning.category.__name__:
            print(f"plain: {warning.message}", file=sys.stderr)


if __name__ == "__main__":
    main()
