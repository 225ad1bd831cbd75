"""Run one call of an operator as a pipeline of one sample."""
import numpy as np

from dragon.vm import dali
from dragon.vm.dali import fn, math, types  # noqa: F401: expressions name them


def run_call(make, value, layout=""):
    """Return what a pipeline makes of one sample."""
    pipe = dali.Pipeline(1, 1, None)
    with pipe:
        pipe.set_outputs(make(fn.external_source(lambda: [value], layout=layout or None)))
    return pipe.run()[0]


def run_text(expression, value, layout=""):
    """Return what a pipeline makes of one sample by an expression of `x`."""
    names = {"fn": fn, "types": types, "math": math, "dali": dali, "np": np}
    return run_call(lambda x: eval(expression, {**names, "x": x}), value, layout)
