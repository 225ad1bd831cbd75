"""Traces beside PyTorch: several methods, gradients of gradients, what is refused and what is warned of."""
import io
import warnings

import pytest

PROGRAM = """
import NAME as torch
from NAME import Tensor, nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.conv = nn.Conv1d(1, 2, 2)
        for number, parameter in enumerate(self.parameters()):
            parameter.data = torch.linspace(-1.0, 0.5 + number, parameter.numel()).reshape(parameter.shape).sin()
    def forward(self, x: Tensor):
        y = torch.tanh(self.linear(x))
        return y.sum() + torch.softmax(x, 1)[:, 0].sum() + self.conv(x[:, None]).pow(2).mean()
    def scaled(self, x: Tensor, y: Tensor):
        return self.linear(x) * y, x + y
"""


@pytest.fixture(scope="module")
def programs(both_rooms):
    """Return {"here" or "there": the program as a module}."""
    return both_rooms("traces", PROGRAM)


@pytest.fixture(autouse=True)
def quiet():
    """Let PyTorch say that its own module is old."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def near(found):
    """Return numbers to compare with."""
    return pytest.approx(found, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("writer, reader", [("here", "there"), ("there", "here"), ("here", "here")])
def test_archives_hold_all_methods_that_were_traced(programs, writer, reader):
    room, other = programs[writer], programs[reader].torch
    module, x = room.Net(), room.torch.ones(2, 3)
    traced = room.torch.jit.trace_module(module, {"forward": (x,), "scaled": (x, x[:, :1])})
    buffer = io.BytesIO()
    room.torch.jit.save(traced, buffer)
    buffer.seek(0)
    again, y = other.jit.load(buffer), other.ones(2, 3)
    assert again(y).item() == near(module(x).item())
    for one, two in zip(again.scaled(y, y[:, :1] * 2), module.scaled(x, x[:, :1] * 2), strict=True):
        assert one.flatten().tolist() == near(two.flatten().tolist())
    assert sorted(again.state_dict()) == sorted(module.state_dict())


def penalty(torch, model, parameters, x):
    """Return what a penalty on a gradient gives, the gradients of the parameters by it, and two derivatives more."""
    x = torch.tensor(x, requires_grad=True)
    first, = torch.autograd.grad(model(x), x, create_graph=True)
    found = (first.norm(2, dim=1) - 1).pow(2).mean()
    slopes = torch.autograd.grad(found, [x, *parameters], allow_unused=True, retain_graph=True)
    second, = torch.autograd.grad(first.pow(2).sum(), x, create_graph=True)
    third, = torch.autograd.grad(second.sum(), x)
    return [None if part is None else near(part.flatten().tolist()) for part in (
        first, found.reshape(1), *slopes, second, third)]


@pytest.mark.parametrize("form", ["script", "trace", "loaded"])
def test_gradients_of_gradients(programs, form):
    x, found = [[0.1, 0.2, -0.3], [1.0, 2.0, 3.0]], {}
    for side, room in programs.items():
        torch, module = room.torch, room.Net()
        made = torch.jit.script(module) if form == "script" else torch.jit.trace(module, torch.tensor(x))
        if form == "loaded":
            buffer = io.BytesIO()
            torch.jit.save(made, buffer)
            buffer.seek(0)
            made = torch.jit.load(buffer)
        parameters = [dict(made.named_parameters())[name] for name, _ in module.named_parameters()]
        found[side] = penalty(torch, made, parameters, x)
    for one, other in zip(found["here"], found["there"], strict=True):
        assert (one is None) == (other is None) and (one is None or one.expected == other)


@pytest.mark.parametrize("function, words", [
    (lambda x: {"a": x}, "Encountering a dict at the output"), (lambda x: (x, {"a": x}), "Encountering a dict at"),
    (lambda x: "text", "Only tensors, lists, tuples of tensors"), (lambda x: (x, 3), "Only tensors, lists, tuples")])
def test_results_that_are_no_tensors_are_refused(programs, function, words):
    for room in programs.values():
        with pytest.raises(RuntimeError, match=words):
            room.torch.jit.trace(function, room.torch.ones(2))


def test_results_in_containers_unless_it_is_strict(programs):
    for room in programs.values():
        traced = room.torch.jit.trace(lambda x: {"a": x * 2}, room.torch.ones(2), strict=False)
        assert traced(room.torch.ones(2))["a"].tolist() == [2, 2]
        assert room.torch.jit.trace(lambda x: (x, [x * 2]), room.torch.ones(2))(room.torch.ones(2))[1][0].sum() == 4


def test_random_numbers_are_warned_of(programs):
    for room in programs.values():
        torch = room.torch
        with pytest.warns(torch.jit.TracerWarning, match="nondeterministic nodes"):
            torch.jit.trace(lambda x: x + torch.rand(2), torch.ones(2))


@pytest.mark.parametrize("code", [
    "x.roll(1, 0)", "x.roll(1)", "x.roll((1, 2), (0, 1))", "x.permute(1, 0)", "x.view(3, 2)", "x.reshape(6)",
    "x.expand(4, 2, 3)", "x.repeat(2, 1)", "x.flip(0, 1)", "x.tile(2, 2)", "x.amax(1)", "x.squeeze(0)",
    "x.movedim(0, 1)", "x.sum_to_size(1, 3)", "x.div(2) > x.true_divide(4)", "torch.concat([x, x]).absolute()",
    "2 // (x + 1)", "2 % (x + 1)", "2 ** x", "2 - x", "2 / (x + 1)", "2 << x.int()", "16 >> x.int()", "x.int() << 2",
    "x.int() >> x.int()", "5 & x.int()", "5 | x.int()", "5 ^ x.int()", "7 // (x.int() + 1)", "2.5 // (x + 1)"])
def test_numbers_behind_each_other_are_sizes_where_an_operator_takes_those(programs, code):
    torch, other = programs["here"].torch, programs["there"].torch
    traced = torch.jit.trace(eval("lambda x: " + code, {"torch": torch}), torch.ones(2, 3))
    buffer = io.BytesIO()
    torch.jit.save(traced, buffer)
    again = other.jit.load(io.BytesIO(buffer.getvalue()))
    x = other.arange(6.0).reshape(2, 3)
    found, wanted = again(x), eval(code, {"torch": other, "x": x})
    assert found.tolist() == wanted.tolist() and found.dtype == wanted.dtype


def test_views_of_another_dtype_are_not_written(programs):
    """A script would take the number that a dtype is for a size; PyTorch does not even trace them."""
    torch = programs["here"].torch
    traced = torch.jit.trace(lambda x: x.view(torch.int32), torch.ones(2, 3))
    assert traced(torch.zeros(1)).dtype == torch.int32
    with pytest.raises(NotImplementedError, match=r"torch.jit.save: got a trace with a call of view\(dtype\)"):
        torch.jit.save(traced, io.BytesIO())
