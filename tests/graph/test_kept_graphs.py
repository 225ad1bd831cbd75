"""Graphs that are kept hold for other sizes as the program does, or refuse them by name."""
import warnings

import numpy
import pytest

import dragon
from dragon import _C
from dragon.core.capture.export import capture_graph, result_of
from dragon.core.capture.probes import Bounds, Probes
from dragon.vm import torch
from dragon.vm.torch import nn
from harness.size_programs import SizeProgram, check_kept
from harness.subresults import each

F = nn.functional


def keep(function, *shapes):
    """Return the graph of a function as a file would have it."""
    return dragon.Graph.from_bytes(capture_graph(function, tuple(map(torch.ones, shapes)))[0].to_bytes())


def at_shapes(graph, *shapes):
    """Return a kept graph with numbers for its symbols, as tensors of these shapes say."""
    sizes = {symbol: shape[axis] for value, shape in zip(graph.inputs, shapes)
             for axis, symbol in graph.value(value).symbolic.items() if symbol in graph.symbols}
    return graph.at(**sizes)


def hold(function, graph, *shapes):
    """Hold a kept graph to the program at some shapes."""
    inputs = [torch.randn(shape) for shape in shapes]
    mine = result_of(graph, at_shapes(graph, *shapes).compile().run(inputs))
    wanted = function(*inputs)
    for one, other in zip(*([given] if isinstance(given, torch.Tensor) else given for given in (mine, wanted))):
        assert tuple(one.shape) == tuple(other.shape)
        numpy.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


@each("function", [
    lambda x: x[:, :50] * 2, lambda x: x[:, -30:] * 2, lambda x: x[:, 10:-5].sum(1), lambda x: x[3:, ::7] + 1,
    lambda x: x[:, 40:60] * 2, lambda x: x.sum(1) / x.shape[1], lambda x: x.reshape(-1) * x.shape[0],
    lambda x: x.reshape(-1)[:x.shape[0] ** 2] + 1, lambda x: x[:, :x.shape[1] // 2] + x[:, -(x.shape[1] // 2):],
    lambda x: (x[:, :50], x + 1), lambda x: x.reshape(x.shape[0], -1, 1).expand(-1, -1, 3) * 2,
    lambda x: F.avg_pool1d(x[:, None], 3, 2, padding=1).flatten(1), lambda x: x[:, x.shape[1] - 1:] * 2,
    lambda x: F.max_pool2d(x[None, None], 2, ceil_mode=True)[0, 0], lambda x: F.pad(x, (0, x.shape[1] % 3)),
    lambda x: F.interpolate(x[None], scale_factor=2)[0], lambda x: torch.arange(x.shape[1]) * x,
    lambda x: x.narrow(1, 2, 4) * 2, lambda x: x.chunk(2, 1)[0] * 2, lambda x: x.new_ones(x.shape[1], 2) * x[0, 0]])
def test_a_graph_of_one_size_is_the_program_at_others(function):
    graph = keep(function, (4, 8))
    taken = 0
    for shape in ((4, 8), (5, 9), (7, 20), (2, 49), (6, 50), (3, 51), (9, 60), (1, 64), (3, 333), (16, 7), (1, 1)):
        try:
            at_shapes(graph, shape)
        except ValueError:
            continue
        if all(symbol in graph.symbols for symbol in ("batch", "size1_of_input0")) or shape == (4, 8):
            hold(function, graph, shape)
            taken += 1
    assert taken >= 2 or len(graph.symbols) < 2


class Waves(nn.Module):
    """Seven convolutions that each take every few places."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        steps = ((10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2))
        self.layers = nn.Sequential(*(nn.Conv1d(1, 1, kernel, step) for kernel, step in steps))

    def forward(self, x):
        return self.layers(x[:, None]).flatten(1)


def test_quotients_of_quotients():
    net = Waves().eval()
    graph, outside, _ = capture_graph(net, (torch.ones(2, 1600),))
    assert list(graph.symbols) == ["batch", "size1_of_input0"] and graph.bounds["size1_of_input0"] == (400, None, 1)
    with pytest.raises(ValueError, match="got 399 for 'size1_of_input0', expected 400 and more"):
        graph.at(batch=1, size1_of_input0=399)
    for shape in ((1, 400), (3, 719), (2, 720), (1, 4001)):
        x = torch.randn(shape)
        kept = graph.at(batch=shape[0], size1_of_input0=shape[1])
        mine, = kept.compile().run([outside.get(place, x) for place in range(len(kept.inputs))])
        numpy.testing.assert_allclose(mine.numpy(), net(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_decisions_are_bounds_and_conditions():
    graph = keep(lambda x: x * 2 if x.shape[0] <= 6 else x + 1, (4, 8))
    assert graph.bounds["batch"][1] == 6
    with pytest.raises(ValueError, match="got 7 for 'batch', expected .*6"):
        graph.at(batch=7, size1_of_input0=8)
    graph = keep(lambda x, y: x.sum() + y if x.shape[0] == y.shape[0] * 3 else x.sum() - y, (4, 8), (5, 2))
    hold(lambda x, y: x.sum() - y, graph, (9, 8), (5, 2))
    with pytest.raises(ValueError, match="is for sizes of which .* != "):
        at_shapes(graph, (12, 8), (4, 2))
    assert "3*" in str(graph) and "!=" in str(graph)
    graph = keep(lambda x: F.pad(x, (0, -x.shape[1] % 8)) if x.shape[1] % 8 else x * 2, (2, 16))
    assert graph.bounds["size1_of_input0"][2] == 8
    with pytest.raises(ValueError, match="multiples of 8"):
        graph.at(batch=2, size1_of_input0=20)


def test_bounds_are_found_by_asking():
    def bounds(holds, size):
        found = Probes(lambda sizes: "" if holds(sizes["n"]) else "no", {"n": size}).bounds["n"]
        return found.low, found.high, found.multiple
    assert bounds(lambda size: True, 5) == (0, None, 1)
    assert bounds(lambda size: 3 <= size < 1000, 5) == (3, 999, 1)
    assert bounds(lambda size: size % 32 == 0 and size > 32, 224) == (64, None, 32)
    assert bounds(lambda size: size == 7, 7)[:2] == (7, 7)
    assert bounds(lambda size: size >= 1, 1) == (1, None, 1)
    found = Bounds(2, 9, 1, [])
    assert {2, 9} <= set(found.near(4, (1, 100))) and 4 not in found.near(4, (1, 100)) and found.ends == (2, 9)


def test_wrong_bounds_and_symbols_are_told():
    graph = keep(lambda x: x * 2, (4, 8))
    for wrong in ({"low": -1}, {"low": 5, "high": 4}, {"multiple": 0}):
        with pytest.raises(ValueError, match="expected sizes of which there is one"):
            graph.bound("batch", **wrong)
    with pytest.raises(ValueError, match="expected a symbol"):
        graph.bound("length", 2)
    graph.bound("batch", 2, 10, 2)
    assert "batch: 2 to 10, multiples of 2" in str(graph)
    for size in (0, 5, 12):
        with pytest.raises(ValueError, match=f"got {size} for 'batch', expected 2 to 10, multiples of 2"):
            graph.at(batch=size, size1_of_input0=3)
    with pytest.raises(ValueError):
        graph.at(batch=4, size1_of_input0=2 ** 62)
    for samples in ([("=", True, [1], [2])], [("==", True, [1], [2])]):
        with pytest.raises(ValueError, match="unify: got"):
            _C.unify([], [], samples)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_programs_as_kept_graphs(first):
    for seed in range(first, first + 20):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong, _, _ = check_kept(SizeProgram(seed, torch), torch, 8)
        assert wrong is None, f"seed {seed} {wrong}"
