"""Functions whose calls run as graphs: equal to plain calls, captured again exactly when something differs."""
import collections
import dataclasses
import random
import threading
import warnings

import numpy as np
import pytest

from dragon.core.capture.function import function
from dragon.core.capture.settings import CaptureWarning, eager, get_level, set_level
from dragon.vm import torch
from dragon.vm.torch import nn
from harness.subresults import each

Point = collections.namedtuple("Point", "x y")
FACTOR = 2.0


@dataclasses.dataclass
class Result:
    loss: object
    note: str = ""


def same(mine, theirs):
    """Assert that two structures hold the same, numbers as they are in the last bit or nearly."""
    assert type(mine) is type(theirs)
    if isinstance(mine, torch.Tensor):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape and mine.requires_grad == theirs.requires_grad
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=1e-6, atol=1e-6)
    elif isinstance(mine, dict):
        assert list(mine) == list(theirs)
        for key in mine:
            same(mine[key], theirs[key])
    elif isinstance(mine, (list, tuple)):
        assert len(mine) == len(theirs)
        for one, other in zip(mine, theirs):
            same(one, other)
    elif dataclasses.is_dataclass(mine):
        same(vars(mine), vars(theirs))
    else:
        assert mine == theirs


STRUCTURES = {
    "tensor": lambda x: x * 2,
    "tuple": lambda x: (x, x + 1),
    "named tuple": lambda x: Point(x.relu(), x.sum()),
    "list in dict": lambda x: {"a": [x * 2, None, 3], "b": x.t()},
    "ordered dict": lambda x: collections.OrderedDict(b=x.exp(), a=1),
    "default dict": lambda x: collections.defaultdict(list, a=x.exp()),
    "dataclass": lambda x: Result(x.mean(), "done"),
    "result of an operator": lambda x: x.max(0),
    "nothing": lambda x: None,
    "number": lambda x: x.shape[0] * FACTOR,
    "twice the same": lambda x: [x.exp()] * 2,
    "views of one": lambda x: (lambda y: (y, y[0], y.t()))(x * 2),
    "written in place": lambda x: (x * 1).add_(1).mul_(2),
    "written through a view": lambda x: write_row(x.clone()),
}


def write_row(y):
    y[0] += 1
    return y


@each("name", STRUCTURES)
def test_results_have_their_structure(name):
    plain = STRUCTURES[name]
    captured = function(plain)
    for seed in range(3):
        torch.manual_seed(seed)
        x = torch.randn(2, 3)
        same(captured(x), plain(x))
    assert len(captured.variants) == 1 and captured.fallback is None


def test_arguments_are_written_and_returned():
    captured = function(lambda x, y: (x.add_(y), y))
    for _ in range(3):
        x, y = torch.ones(3), torch.ones(3)
        one, other = captured(x, y)
        assert one is x and other is y and x.tolist() == [2, 2, 2] and x._version == 1
    assert len(captured.variants) == 1


GAPS = {
    "columns": lambda base: base[:, ::2], "a corner": lambda base: base[1:, :3], "turned": lambda base: base.t()[:, 1:],
    "a row": lambda base: base[1], "turned whole": lambda base: base.t(), "sizes of 1": lambda base: base[:, None, 2:3],
}
WRITES = {
    "all": lambda x: x.add_(1).mul_(2) + 1, "a part": lambda x: x[-1].mul_(3).sum() + x,
    "and read": lambda x: (x.mul_(2), x[..., :1] * 1), "copied": lambda x: x.copy_(x * x).clone(),
}


@pytest.mark.filterwarnings("ignore::dragon.core.capture.settings.CaptureWarning")
@each("write", WRITES)
@each("gaps", GAPS)
def test_arguments_with_gaps_are_written(gaps, write):
    captured = function(WRITES[write])
    for number in range(3):
        bases = [torch.arange(24.).reshape(4, 6) + number for _ in range(2)]
        mine, theirs = captured(GAPS[gaps](bases[0])), WRITES[write](GAPS[gaps](bases[1]))
        assert bases[0].tolist() == bases[1].tolist()
        for got, wanted in zip(mine, theirs):
            assert got.tolist() == wanted.tolist()


def test_arguments_in_all_ways_are_one_graph():
    captured = function(lambda x, y, scale=1: x * scale + y)
    x, y = torch.ones(2), torch.ones(2)
    captured(x, y, 2), captured(x, y=y, scale=2), captured(scale=2, y=y, x=x)
    assert len(captured.variants) == 1
    named = function(lambda **kwargs: list(kwargs))
    assert named(a=1, b=x) == ["a", "b"] and named(b=x, a=1) == ["a", "b"]


def test_gradients_go_through():
    weight = torch.randn(3, 3, requires_grad=True)
    plain = lambda x: (x @ weight).tanh().sum()  # noqa: E731
    captured = function(plain)
    for seed in range(3):
        torch.manual_seed(seed)
        mine = torch.randn(2, 3, requires_grad=True)
        theirs = mine.detach().clone().requires_grad_()
        weight.grad = None
        captured(mine).backward()
        found, weight.grad = weight.grad, None
        plain(theirs).backward()
        same(mine.grad, theirs.grad)
        same(found, weight.grad)
    assert len(captured.variants) == 1


@pytest.mark.parametrize("kind", ["SGD", "SGD with momentum", "Adam", "AdamW"])
def test_training_steps(kind):
    def make():
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
        options = {"momentum": 0.9} if "momentum" in kind else {}
        return net, getattr(torch.optim, kind.split()[0])(net.parameters(), lr=0.05, **options)

    def step_of(net, optimizer):
        def step(x, y):
            optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss
        return step
    (mine, my_optimizer), (theirs, their_optimizer) = make(), make()
    captured, plain = function(step_of(mine, my_optimizer), effects="retry"), step_of(theirs, their_optimizer)
    for seed in range(10):
        torch.manual_seed(seed)
        x, y = torch.randn(6, 4), torch.randn(6, 1)
        same(captured(x, y), plain(x, y))
    same(dict(mine.state_dict()), dict(theirs.state_dict()))
    assert len(captured.variants) == 1 and captured.fallback is None, captured.explain()
    with pytest.raises(RuntimeError, match="backward"):
        captured(x, y).backward()


def test_gradients_accumulate():
    net = nn.Linear(2, 1)

    def step(x):
        loss = net(x).sum()
        loss.backward()
        return loss.detach()
    captured = function(step)
    for count in range(1, 5):
        captured(torch.ones(1, 2))
        assert net.bias.grad.tolist() == [count]
    assert len(captured.variants) == 2 and "grad was None, now there" in captured.retraces[0]


def test_random_numbers_go_on():
    captured = function(lambda x: nn.functional.dropout(x, 0.5) + torch.rand(4))
    x = torch.ones(4)
    torch.manual_seed(3)
    mine = [captured(x) for _ in range(4)]
    torch.manual_seed(3)
    with eager():
        same(mine, [captured(x) for _ in range(4)])
    assert len(captured.variants) == 1


def caught(call):
    """Return a call's result, and the texts of its warnings of this kind."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = call()
    return result, [str(one.message) for one in seen if issubclass(one.category, CaptureWarning)]


def test_code_that_takes_numbers_for_its_own_runs_plainly():
    def choose(x):
        if float(x.sum()) > 0:  # this line
            return x * 2
        return x * 3
    captured = function(choose)
    results, said = caught(lambda: [captured(torch.tensor([value])).item() for value in (1.0, -1.0, 2.0)])
    assert results == [2, -3, 4] and len(said) == 1 and not captured.variants
    assert "if float(x.sum()) > 0:  # this line" in said[0] and __file__ in said[0]
    assert "numbers" in captured.fallback and captured.fallback in captured.explain()
    with pytest.raises(RuntimeError, match="numbers"):
        function(choose, strict=True)(torch.ones(1))
    with pytest.raises(RuntimeError, match="plain Python"):
        captured.graph


@pytest.mark.parametrize(("look", "is_graph"), [
    (lambda x: x * x.item(), True), (lambda x: x * x.tolist()[0], True), (lambda x: x * float(x), False),
    (lambda x: x[x > 0], True), (lambda x: x.nonzero(), True), (lambda x: x * int(x.numpy()[0]), False),
    (lambda x: x * len(str(x)), False), (lambda x: torch.unique(x), True)])
def test_all_ways_of_looking(look, is_graph):
    captured = function(look)
    for value in (2.0, 3.0):
        x = torch.tensor([value])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            same(captured(x), look(x))
    assert bool(captured.variants) == is_graph


def test_side_effects_happen_while_captured():
    seen = []
    captured = function(lambda x: (seen.append(1), x * 2)[1])
    _, said = caught(lambda: [captured(torch.ones(2)) for _ in range(3)])
    assert len(seen) == 1 and len(said) == 1 and "seen: had 0 entries, now 1" in said[0]
    assert len(captured.variants) == 1


def test_side_effects_keep_a_function_plain():
    class Counter:
        count = 0

    counter = Counter()

    def step(x):
        counter.count += 1
        return x * counter.count
    captured = function(step, effects="retry")
    results, said = caught(lambda: [captured(torch.ones(1)).item() for _ in range(6)])
    assert results == [1, 2, 3, 4, 5, 6] and len(said) == 1 and "counter.count" in said[0] and not captured.variants


def test_lazily_made_state_is_waited_for():
    net = nn.Linear(2, 2)

    def forward(x):
        if not hasattr(net, "scale"):
            net.scale = 3.0
        return net(x) * net.scale
    captured = function(forward, effects="retry")
    _, said = caught(lambda: [captured(torch.ones(1, 2)) for _ in range(4)])
    assert not said and len(captured.variants) == 1


@pytest.mark.parametrize("draw", [lambda x: x * random.random(), lambda x: x * float(np.random.rand())])
def test_foreign_random_numbers_are_not_frozen(draw):
    captured = function(draw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptureWarning)
        assert len({captured(torch.ones(1)).item() for _ in range(4)}) == 4
    assert "random" in captured.fallback


def test_errors_leave_nothing_behind():
    def fail(x, bad):
        y = x + 1
        if bad:
            raise KeyError("mine")
        return y
    captured = function(fail)
    for bad in (True, False, True):
        if bad:
            with pytest.raises(KeyError, match="mine"):
                captured(torch.ones(1), True)
        else:
            assert captured(torch.ones(1), False).item() == 2
    assert len(captured.variants) == 1


def test_functions_within_functions():
    inner = function(lambda x: x * 2)
    outer = function(lambda x: inner(x) + inner(x + 1))
    assert [outer(torch.ones(1)).item() for _ in range(2)] == [6, 6]
    assert not inner.variants and len(outer.variants) == 1

    @function
    def countdown(x, n):
        return x if n == 0 else countdown(x * 2, n - 1)
    assert countdown(torch.ones(1), 3).item() == 8 == countdown(torch.ones(1), 3).item()


def test_methods_have_their_own_graphs():
    class Scaler:
        def __init__(self, factor):
            self.factor = factor

        @function
        def scale(self, x):
            return x * self.factor

        @staticmethod
        @function
        def double(x):
            return x * 2
    a, b = Scaler(2), Scaler(3)
    x = torch.ones(1)
    assert [a.scale(x).item(), b.scale(x).item(), a.scale(x).item(), a.double(x).item()] == [2, 3, 2, 2]
    a.factor = 5
    assert a.scale(x).item() == 5 and len(Scaler.scale.variants) == 3


def test_threads():
    captured = function(lambda x: (x * 2).sum())
    found = []

    def work(value):
        found.extend(captured(torch.full((8,), float(value))).item() == 16 * value for _ in range(20))
    threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80 and all(found)


@pytest.mark.parametrize("kind", ["generator", "coroutine", "asynchronous generator"])
def test_what_never_returns_is_refused(kind):
    def generator(x):
        yield x

    async def coroutine(x):
        return x

    async def asynchronous(x):
        yield x
    chosen = {"generator": generator, "coroutine": coroutine, "asynchronous generator": asynchronous}[kind]
    with pytest.raises(TypeError, match=f"got the {kind} .*{chosen.__name__}"):
        function(chosen)


@pytest.mark.parametrize("options, error", [({"level": 4}, ValueError), ({"level": True}, ValueError),
                                            ({"effects": "never"}, ValueError), ({"fn": 3}, TypeError)])
def test_wrong_options(options, error):
    with pytest.raises(error, match="dragon.function"):
        function(**{"fn": abs, **options})


def test_levels():
    before = get_level()
    try:
        captured = function(lambda x: (x + 1) * 2)
        for level in range(4):
            set_level(level)
            assert captured(torch.ones(1)).item() == 4 and len(captured.variants) == 1
    finally:
        set_level(before)
    with pytest.raises(ValueError, match="set_level: got 5"):
        set_level(5)


def test_explain_and_clear():
    captured = function(lambda x: x * 2, name="doubling")
    captured(torch.ones(2)), captured(torch.ones(2)), captured(torch.ones(3, 1))
    text = captured.explain()
    for part in ("doubling", "2 graphs", "capture 2 was made because of args[0]: shape was (2,), now (3, 1)",
                 "guards", "steps; memory", "run 1 times"):
        assert part in text, text
    assert captured.graph is not None and len(captured.graphs) == 2
    captured.clear()
    assert not captured.variants and not captured.retraces


def test_many_variants_are_told_of():
    captured = function(lambda x, n: x * n, limit=3)
    _, said = caught(lambda: [captured(torch.ones(1), n) for n in range(6)])
    assert len(captured.variants) == 3 and len(said) == 1 and "was 2, now 3" in said[0]


@each("kind", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adadelta", "Adamax"])
def test_schedules_cause_no_retrace(kind):
    def make():
        torch.manual_seed(0)
        net = nn.Linear(3, 1)
        return net, getattr(torch.optim, kind)(net.parameters(), lr=0.05, weight_decay=0.01)

    def step_of(net, optimizer):
        def step(x):
            optimizer.zero_grad()
            loss = (net(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss
        return step
    (mine, my_optimizer), (theirs, their_optimizer) = make(), make()
    captured, plain = function(step_of(mine, my_optimizer), effects="retry"), step_of(theirs, their_optimizer)
    schedules = [torch.optim.lr_scheduler.ExponentialLR(one, 0.8) for one in (my_optimizer, their_optimizer)]
    x = torch.randn(4, 3)
    for _ in range(8):
        same(captured(x), plain(x))
        for schedule in schedules:
            schedule.step()
    same(dict(mine.state_dict()), dict(theirs.state_dict()))
    assert len(captured.variants) == 1 and captured.fallback is None, captured.explain()


def test_numbers_that_are_looked_at_are_guarded():
    from dragon.core.capture.recording import symbol
    options = {"rate": 2.0, "scale": 3.0}
    captured = function(lambda x: x * (symbol(options, "rate") + 1) if symbol(options, "scale") > 2 else x)
    x = torch.ones(1)
    assert [captured(x).item(), captured(x).item()] == [3, 3]
    options["rate"] = 4.0
    assert captured(x).item() == 5
    options["scale"] = 1.0
    assert captured(x).item() == 1


BATCHES = {
    "pointwise": lambda x: (x * 2 + 1).relu(),
    "reshape": lambda x: x.reshape(x.shape[0], -1).t() @ x.reshape(x.shape[0] * 2, -1)[:x.shape[0]],
    "layers": lambda x: NET(x.reshape(x.shape[0], 1, 2, 2)),
    "several results": lambda x: (x[1:], {"first": x[0], "all": x.expand(2, *x.shape)}),
    "attention": lambda x: nn.functional.scaled_dot_product_attention(*[x.reshape(-1, 1, 2, 2)] * 3),
}
NET = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))


@each("name", BATCHES)
@each("recorded", [False, True])
def test_one_graph_for_all_sizes(name, recorded):
    calls = []
    plain = BATCHES[name]

    def counted(x):
        calls  # noqa: B018: not written, so that it is no side effect
        return plain(x)
    captured = function(counted)
    torch.manual_seed(0)
    for size in (4, 6, 3, 9, 2, 6, 17):
        x = torch.randn(size, 4, requires_grad=recorded)
        other = x.detach().clone().requires_grad_(recorded)
        NET.eval()
        mine, theirs = captured(x), plain(other)
        same(mine, theirs)
        if recorded and name != "several results":
            mine.sum().backward(), theirs.sum().backward()
            same(x.grad, other.grad)
    assert len(captured.variants) == 1 and len(captured.retraces) == 1, captured.explain()
    assert captured.variants[0].sized.sizes


@pytest.mark.parametrize("plain", [
    lambda x: x * x.shape[0], lambda x: x.reshape(x.shape[0] // 2, -1) if x.shape[0] % 2 == 0 else x,
    lambda x: x.sum() / len(x) ** 2, lambda x: (x, len(x)), lambda x: torch.arange(len(x) ** 2) * x.sum(),
    lambda x: x[:len(x) // 2] if len(x) > 5 else x * 2])
def test_what_does_not_follow_the_size_is_captured_again(plain):
    captured = function(plain)
    for size in (4, 6, 3, 8, 5, 10):
        x = torch.randn(size, 4)
        same(captured(x), plain(x))


def test_decisions_on_sizes_bound_the_graph():
    def plain(x):
        return x * 2 if x.shape[0] > 5 else x * 3
    captured = function(plain)
    for size in (8, 6, 9, 4, 3, 5, 7, 2, 12):
        x = torch.randn(size, 2)
        same(captured(x), plain(x))
    assert len(captured.variants) == 2, captured.explain()  # one for all above 5, one for all others
    assert all(variant.sized for variant in captured.variants)


def test_sizes_of_one_are_captured_by_themselves():
    captured = function(lambda x, y: x + y)
    y = torch.ones(4, 3)
    for size in (4, 1):
        same(captured(torch.ones(size, 3), y), torch.ones(size, 3) + y)
    with pytest.raises(ValueError):
        captured(torch.ones(3, 3), y)


def test_batch_statistics_of_all_sizes():
    mine, theirs = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    captured = function(lambda x: mine(x))
    for size in (4, 6, 3, 9):
        x = torch.randn(size, 3)
        same(captured(x), theirs(x))
    same(dict(mine.state_dict()), dict(theirs.state_dict()))
    assert len(captured.variants) == 1
