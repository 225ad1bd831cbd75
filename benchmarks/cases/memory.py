"""Ten million floats into fresh outputs: bounded by memory, if nothing else stands in the way."""
import numpy as np

from harness import Case

ROWS, COLUMNS = 10_000, 1_000
SIZE = 4 * ROWS * COLUMNS
AIM = "≤ 1.6 × limit"


def _values(seed):
    return np.random.default_rng(seed).standard_normal((ROWS, COLUMNS), dtype=np.float32)


def _unary(name, flops=1):
    def make(e):
        x, function = e.array(_values(0)), getattr(e, name)
        return lambda: function(x)
    return Case(name, make, AIM, flops * ROWS * COLUMNS, 2 * SIZE, "machine")


def _add(e):
    a, b = e.array(_values(0)), e.array(_values(1))
    return lambda: a + b


def _copy(e):
    x = e.array(_values(0))
    return lambda clone=e.clone: clone(x)


def _bias_relu(e):
    x, bias = e.array(_values(0)), e.array(_values(1)[0])
    return lambda relu=e.relu: relu(x + bias)


def _where(e):
    a, b = e.array(_values(0)), e.array(_values(1))
    mask = e.array(_values(2) > 0)
    return lambda where=e.where: where(mask, a, b)


def _cat(e):
    a, b = e.array(_values(0)[:ROWS // 2]), e.array(_values(1)[:ROWS // 2])
    return lambda cat=e.cat: cat([a, b], 0)


def _rounds(e):
    """Return one round of operators that each allocate 40 MB: after the first rounds no page should fault."""
    a, b = e.array(_values(0)), e.array(_values(1))

    def call():
        c = a + b
        d = c * a
        c = e.exp(d - c)
        return (c - b).sum()
    return call


CASES = [
    Case("add", _add, AIM, ROWS * COLUMNS, 3 * SIZE, "machine"),
    Case("copy", _copy, AIM, 0, 2 * SIZE, "machine"),
    _unary("exp"), _unary("tanh"), _unary("gelu"), _unary("sigmoid"),
    Case("bias + relu", _bias_relu, AIM, 0, 2 * SIZE, "machine"),
    Case("where", _where, AIM, 0, 3 * SIZE + SIZE // 4, "machine"),
    Case("cat", _cat, AIM, 0, 2 * SIZE, "machine"),
    Case("five operators on 40 MB tensors", _rounds, "no page fault", 0, 13 * SIZE, "machine"),
]
