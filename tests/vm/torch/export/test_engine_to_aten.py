"""Operator rows in programs that take a gradient, written in PyTorch's operators, beside eager calls."""
import numpy
import pytest

from dragon import _C
from dragon.vm import torch
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.fx.experimental.proxy_tensor import make_fx
from harness import engine
from harness.checks import samples_of
from harness.inputs import bind
from harness.rows import load_rows
from harness.subresults import each

FEW = 2  # samples of a row
MADE = {
    "zeros": lambda x: torch.zeros(3) + x, "ones": lambda x: torch.ones(2, 1) * x, "eye": lambda x: torch.eye(3),
    "full": lambda x: torch.full((2,), 3), "empty": lambda x: torch.empty(2).fill_(1.0),
    "arange": lambda x: torch.arange(4), "reals": lambda x: torch.arange(0, 1, 0.25),
    "window": lambda x: torch.hann_window(4),
    "alike": lambda x: torch.ones_like(torch.ones(2, dtype=torch.int64)), "array": lambda x: torch.tensor([1.0, 2.0])}
REFUSALS = ("the shape of its result depends on numbers", "looks at a tensor's numbers",
            "numbers that are not known yet")


def within(call, *tensors):
    """Return (eager results, those of the graph) of a program that takes a gradient besides calling a function."""
    def program(x, *given):
        slope, = torch.autograd.grad((x * 2).sum(), x)
        found = call(*given)
        return [slope, *(found if isinstance(found, (tuple, list)) else [found])]
    x = torch.ones(2, requires_grad=True)
    shown = []
    for run in (program, make_fx(program)(x, *(tensor.clone() for tensor in tensors))):
        torch.manual_seed(0)
        shown.append([one for one in run(x, *(tensor.clone() for tensor in tensors)) if isinstance(one, Tensor)])
    return shown


def check(mine, theirs):
    """Compare results by dtype, shape and numbers."""
    assert [(one.dtype, one.shape) for one in mine] == [(one.dtype, one.shape) for one in theirs]
    for pair in zip(mine, theirs):
        numbers = [one.detach().to(torch.complex64 if one.is_complex() else torch.float32).numpy() for one in pair]
        numpy.testing.assert_allclose(*numbers, 1e-4, 1e-5)


@each("row", [pytest.param(row, id=str(row)) for row in load_rows() if row.call is None], size=50)
def test_rows(row):
    for index, sample in enumerate(samples_of(row)[:FEW]):
        arguments = bind(row, sample, row.dtypes[0], index)
        tensors = [_C.as_class(engine.tensor(item, False), Tensor) for item in arguments.inputs()]

        def call(*given):
            queue = iter(given)
            args, kwargs = arguments.map(lambda _: next(queue))
            return getattr(ops, row.name)(*args, **kwargs)
        try:
            mine, theirs = within(call, *tensors)
        except RuntimeError as error:  # it asks for numbers
            assert any(text in str(error) for text in REFUSALS)
            continue
        check(mine, theirs)


@each("name", MADE)
def test_made_of_nothing(name):
    check(*within(MADE[name], torch.ones(1)))
