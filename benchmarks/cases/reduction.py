"""Reductions and normalisations over the last and over the first axis, forward and backward."""
import numpy as np

from harness import Case

ROWS, COLUMNS = 10_000, 1_000
SIZE = 4 * ROWS * COLUMNS
AIM = "< PyTorch"


def _values():
    return np.random.default_rng(0).standard_normal((ROWS, COLUMNS), dtype=np.float32)


def _reduce(name, axis):
    def make(e):
        x, function = e.array(_values()), getattr(e, name)
        return lambda: function(x, axis)
    return Case(f"{name}, {'last' if axis else 'first'} axis", make, AIM, 0, SIZE)


def _softmax(axis):
    def make(e):
        x = e.array(_values())
        return lambda softmax=e.softmax: softmax(x, axis)
    return Case(f"softmax, {'last' if axis else 'first'} axis", make, AIM, 0, 2 * SIZE)


def _layer_norm(e):
    x, weight = e.array(_values()), e.array(np.ones(COLUMNS, np.float32))
    return lambda layer_norm=e.layer_norm: layer_norm(x, (COLUMNS,), weight, weight)


def _backward(name, forward, traffic):
    """Forward and backward together; the gradient that arrives is a given tensor."""
    def make(e):
        x = e.array(_values(), grad=True)
        weight = e.array(np.ones(COLUMNS, np.float32), grad=True)
        run = forward(e, x, weight)
        dy = e.array(np.ones(tuple(run().shape), np.float32))

        def call():
            run().backward(dy)
            x.grad = weight.grad = None
        return call
    return Case(name + ", forward and backward", make, AIM, 0, traffic * SIZE)


CASES = [_reduce(name, axis) for name in ("sum", "mean", "var", "amax") for axis in (-1, 0)]
CASES += [_softmax(-1), _softmax(0), Case("layer_norm", _layer_norm, AIM, 0, 2 * SIZE)]
CASES += [
    _backward(f"{name}, {'last' if axis else 'first'} axis",
              lambda e, x, w, name=name, axis=axis: lambda function=getattr(e, name): function(x, axis), traffic)
    for name, traffic in (("sum", 2), ("mean", 2), ("var", 3), ("amax", 3), ("softmax", 5)) for axis in (-1, 0)
]
CASES.append(_backward("layer_norm", lambda e, x, w: lambda: e.layer_norm(x, (COLUMNS,), w, w), 5))
