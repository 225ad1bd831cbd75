"""What compiled programs print is printed at each call; what they do outside of Python is done at each call."""
import datetime
import logging
import sys
import time
import warnings

import pytest

import torch as genuine
from dragon.core.capture import captured_print
from dragon.core.capture.settings import CaptureWarning
from dragon.vm import torch

CALLS = 6


def told(torch, function, capsys, sizes=(3,) * CALLS, wrap=None):
    """Return what calls print, and the last result."""
    capsys.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptureWarning)
        for number, size in enumerate(sizes):
            result = (wrap or function)(torch, torch.arange(size * 1.0) + number)
    said = capsys.readouterr()
    return said.out, said.err, result.tolist()


def constants(torch, x):
    """Print constants of all kinds between two operators."""
    y = x * 2
    print("doubled", 3, 2.5, None, (1, "a"), [1, 2], {"a": 1}, x.dtype, x.device, sep="|", end=";\n")
    print(f"to be {'continued'}", file=sys.stderr)
    print()
    return y + 1


def whole(torch, x):
    """Print tensors as a whole, one of them written afterwards."""
    y = x * 2
    print("y is", y, x.sum())
    y.add_(1)
    print(y)
    return y


def shapes(torch, x):
    """Print a size."""
    print("of size", x.shape[0])
    return x * 2


def looping(torch, x):
    """Print a line in each round."""
    for number in range(3):
        x = x + number
        print("round", number, x)
    return x


@pytest.mark.parametrize("function", [constants, whole, looping])
def test_prints_are_steps_of_the_graph(function, capsys):
    compiled = torch.compile(function)
    found, wanted = told(torch, function, capsys, wrap=compiled), told(genuine, function, capsys)
    assert found == wanted and len(compiled.variants) == 1 and compiled.fallback is None
    assert not captured_print._installed and print.__module__ == "builtins"


@pytest.mark.parametrize("function", [constants, whole, looping])
def test_prints_at_varying_sizes(function, capsys):
    compiled = torch.compile(function)
    sizes = (3, 4, 5, 5, 5, 6, 3)
    assert told(torch, function, capsys, sizes, compiled) == told(genuine, function, capsys, sizes)
    assert len(compiled.variants) == 1


def test_a_size_that_is_printed_has_a_graph(capsys):
    compiled = torch.compile(shapes)
    sizes = (3, 4, 3, 4, 5, 5)
    assert told(torch, shapes, capsys, sizes, compiled) == told(genuine, shapes, capsys, sizes)
    assert len(compiled.variants) == 3


def test_prints_of_what_the_program_finds_are_pythons(capsys):
    def watch(torch, x):
        y = x * 2
        if y.sum() > 20:
            print("large")
        print(f"{y.mean().item():.3f}", x.requires_grad)
        return y
    compiled = torch.compile(watch)
    assert told(torch, watch, capsys, wrap=compiled) == told(genuine, watch, capsys)


def test_tensors_with_a_history_are_printed_as_they_are(capsys):
    weight = torch.ones(3, requires_grad=True)

    def watch(torch, x):
        y = x * weight
        print(y)
        return y
    compiled = torch.compile(watch)
    assert told(torch, watch, capsys, wrap=compiled) == told(torch, watch, capsys)
    assert "grad_fn" in told(torch, watch, capsys, wrap=compiled)[0]


def test_gradients_flow_past_prints(capsys):
    def watch(x):
        y = x.square()
        print("squared")
        return (y * x).sum()
    compiled = torch.compile(watch)
    for _ in range(4):
        x = torch.tensor([2.0, 3.0], requires_grad=True)
        compiled(x).backward()
        assert x.grad.tolist() == [12, 27]
    assert capsys.readouterr().out == "squared\n" * 4 and len(compiled.variants) == 1


@pytest.mark.parametrize("clock", [time.time, lambda: time.perf_counter(), lambda: datetime.datetime.now().timestamp()])
def test_clocks_are_read_at_each_call(clock):
    def act(x):
        return x * clock()
    compiled = torch.compile(act)
    with pytest.warns(CaptureWarning, match="reads a clock") as seen:
        found = [compiled(torch.ones(1, dtype=torch.float64)).item() for _ in range(CALLS)]
    assert len(set(found)) == CALLS and __file__ in compiled.fallback and len(seen) == 1


@pytest.mark.parametrize(("deed", "says"), [
    (lambda path: open(path, "a").write("x"), "opens a file"),
    (lambda path: print("x", file=open(path, "a"), end=""), "opens a file"),
    (lambda path: sys.stdout.write("x"), "writes to a file"), (lambda path: logging.error("x"), "reads a clock")])
def test_what_is_done_outside_is_done_at_each_call(deed, says, tmp_path, capsys, caplog):
    path = tmp_path / "file"
    path.write_text("")

    def act(x):
        deed(path)
        return x * 2 + 1
    compiled = torch.compile(act)
    with pytest.warns(CaptureWarning, match="which is to happen at each call"):
        for _ in range(CALLS):
            assert compiled(torch.ones(1)).item() == 3
    assert len(path.read_text()) + capsys.readouterr().out.count("x") + len(caplog.records) == CALLS
    assert says in compiled.fallback and __file__ in compiled.fallback


def test_what_happens_once_by_itself_is_no_deed():
    def act(x):
        import colorsys
        warnings.warn("careful")
        return x * colorsys.ONE_THIRD
    compiled = torch.compile(act)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("default")
        for _ in range(CALLS):
            compiled(torch.ones(1))
    assert len(compiled.variants) == 1
    assert sys.getprofile() is None


def test_growing_lengths_stop_being_captured():
    def each(x):
        return sum(row * 2 for row in x)
    compiled = torch.compile(each, recompile_limit=4)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for rows in range(1, 16):
            assert compiled(torch.ones(rows, 2)).tolist() == [rows * 2.0] * 2
    assert len(compiled.variants) == 4 and "more than 4 graphs" in compiled.fallback
    assert "number of results" in compiled.fallback
    assert len([one for one in seen if issubclass(one.category, CaptureWarning)]) == 1


@pytest.mark.parametrize("walk", [
    lambda x: sum(x[number] * number for number in range(x.shape[0])),
    lambda x: x.sum(0) * {3: 1, 4: 2, 5: 3}[x.shape[0]]])
def test_sizes_that_are_plain_numbers_are_told_with_their_line(walk):
    compiled = torch.compile(walk)
    for rows in (3, 4, 5, 3, 4):
        assert torch.equal(compiled(torch.ones(rows, 2)), walk(torch.ones(rows, 2)))
    told = [line for line in compiled.explain().splitlines() if "a graph is for one size each" in line]
    assert len(compiled.variants) == 3 and len(told) == 1 and f"plain numbers at {__file__}:" in told[0]


def test_rows_of_two_tensors():
    def pair(x, y):
        return sum(a * b for a, b in zip(x, y))
    compiled = torch.compile(pair)
    for rows in (3, 4, 3, 4, 5):
        assert compiled(torch.ones(rows, 2), torch.ones(rows, 2)).tolist() == [rows] * 2
    assert 0 < len(compiled.variants) <= 3
