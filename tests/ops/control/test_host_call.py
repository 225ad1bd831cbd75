"""Functions of the process within graphs: called whenever these run, in the order of the calls."""
import pytest

import dragon
from dragon.core.capture.host_calls import when_run
from dragon.core.capture.settings import CaptureWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{CaptureWarning.__module__}.{CaptureWarning.__name__}")


def noted(log, name):
    """Return a function that notes the numbers of a tensor."""
    return lambda tensors: log.append((name, *[tensor.tolist() for tensor in tensors]))


def test_calls_whenever_the_graph_runs_and_in_order():
    log = []

    @dragon.function(strict=True)
    def double(x):
        when_run(dragon.ops, noted(log, "before"), [x])
        y = x * 2
        when_run(dragon.ops, noted(log, "after"), [y, x])
        when_run(dragon.ops, noted(log, "end"), [])
        return y
    for number in (1.0, 2.0, 3.0):
        assert double(dragon.tensor(number)).item() == number * 2
    assert log == [entry for x in (1.0, 2.0, 3.0) for entry in (("before", x), ("after", 2 * x, x), ("end",))]
    assert "host_call" in [call.op for call in double.graph.calls]


def test_nothing_is_captured():
    assert when_run(dragon.ops, print, []) is False


def test_errors_end_the_run():
    def check(tensors):
        if tensors[0].item() < 0:
            raise LookupError("below zero")

    @dragon.function(strict=True)
    def checked(x):
        when_run(dragon.ops, check, [x])
        return x + 1
    assert checked(dragon.tensor(1.0)).item() == 2
    for _ in range(2):
        with pytest.raises(LookupError, match="below zero"):
            checked(dragon.tensor(-1.0))
    assert checked(dragon.tensor(2.0)).item() == 3


def test_functions_of_nobody_are_refused():
    with pytest.raises(NotImplementedError, match="function 123456789, expected one of this process"):
        dragon.ops.host_call([], function=123456789)


def test_gradients_flow_past():
    log = []

    @dragon.function(strict=True)
    def square(x):
        when_run(dragon.ops, noted(log, "x"), [x])
        return (x * x).sum()
    for number in (1.0, 3.0):
        x = dragon.tensor([number], requires_grad=True)
        square(x).backward()
        assert x.grad.tolist() == [2 * number]
    assert log == [("x", [1.0]), ("x", [3.0])]
