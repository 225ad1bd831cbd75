"""Tiny tensors: the time of a call is the framework's own."""
import numpy as np

from harness import Case


def _operands(e, grad=False):
    values = np.random.default_rng(0).standard_normal((8, 8), dtype=np.float32)
    return e.array(values, grad), e.array(values + 1, grad), e.array(values[0], grad)


def _case(name, body, aim, grad=False):
    def make(e):
        a, b, bias = _operands(e, grad)
        return body(e, a, b, bias)
    return Case(name + (", recorded" if grad else ""), make, aim)


OPERATORS = {
    "a + b": lambda e, a, b, bias: lambda: a + b,
    "a * 2": lambda e, a, b, bias: lambda: a * 2,
    "x.sum()": lambda e, a, b, bias: lambda: a.sum(),
    "relu(x)": lambda e, a, b, bias: lambda relu=e.relu: relu(a),
    "softmax(x, -1)": lambda e, a, b, bias: lambda softmax=e.softmax: softmax(a, -1),
    "cat([a, b], 0)": lambda e, a, b, bias: lambda cat=e.cat: cat([a, b], 0),
    "a @ b": lambda e, a, b, bias: lambda: a @ b,
    "linear(x, w, b)": lambda e, a, b, bias: lambda linear=e.linear: linear(a, b, bias),
}
VIEWS = {
    "x.view(4, 16)": lambda e, a, b, bias: lambda: a.view(4, 16),
    "x[2]": lambda e, a, b, bias: lambda: a[2],
    "x[2, 3]": lambda e, a, b, bias: lambda: a[2, 3],
    "x[1:5]": lambda e, a, b, bias: lambda: a[1:5],
    "x[:, 1:5]": lambda e, a, b, bias: lambda: a[:, 1:5],
    "x.transpose(0, 1)": lambda e, a, b, bias: lambda: a.transpose(0, 1),
}

CASES = [_case(name, body, aim, grad)
         for grad in (False, True)
         for table, aim in ((OPERATORS, "≤ 0.5 × PyTorch"), (VIEWS, "≤ 0.3 × PyTorch"))
         for name, body in table.items()]
