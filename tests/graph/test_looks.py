"""Programs that look at numbers of tensors: graphs in parts, and nobody may see a difference from eager calls."""
import sys
import threading
import warnings

import numpy
import pytest

import dragon
from dragon.core.capture.suppress_output import SuppressOutput, _Stream
from dragon.core.capture.settings import CaptureWarning
from dragon.vm import torch
from harness.look_programs import LookProgram, check

PROGRAMS, PER_TEST, CALLS = 80, 10, 16


@pytest.mark.parametrize("first", range(0, PROGRAMS, PER_TEST))
def test_random_programs_that_look(first):
    for seed in range(first, first + PER_TEST):
        wrong, _ = check(LookProgram(seed, torch), torch, CALLS, gradient=seed % 3 == 0)
        assert wrong is None, f"seed {seed} {wrong}"


def test_most_programs_that_look_are_graphs():
    compiled = [check(LookProgram(seed, torch), torch, CALLS, gradient=False)[1] for seed in range(1000, 1030)]
    assert sum(function.fallback is None for function in compiled) > 15
    assert any(variant.parts for function in compiled for variant in function.variants)


def calls(function, *arguments):
    """Call a function and its plain self with each of the arguments; return the compiled one."""
    compiled = dragon.function(function)
    for given in arguments:
        mine, wanted = compiled(given.clone()), function(given.clone())
        assert torch.equal(mine, wanted) if isinstance(wanted, torch.Tensor) else mine == wanted
    return compiled


def random(*shape, seed=0):
    return torch.from_numpy(numpy.random.default_rng(seed).standard_normal(shape).astype("float32"))


def test_a_decision_is_a_graph_each_way():
    def choose(x):
        y = torch.relu(x * 2 + 1)
        if y.sum() > 30:  # which way
            return y * 3 - 1
        return (y - 5) * 2
    compiled = calls(choose, *(random(4, 5, seed=seed) for seed in range(12)))
    assert len(compiled.variants) == 2 and compiled.fallback is None
    assert "if y.sum() > 30:  # which way" in compiled.explain() and "part 1, forward" in compiled.explain()
    assert "what the program found in tensors" in compiled.retraces[0]


def test_numbers_go_on_into_operators_and_results():
    def scaled(x):
        largest = x.abs().max().item()
        return (x * 2 + 1) / largest, largest, round(1.5) + x.sum().item() * 2
    compiled = dragon.function(scaled)
    for seed in range(6):
        x = random(3, 4, seed=seed)
        mine, wanted = compiled(x), scaled(x)
        assert torch.allclose(mine[0], wanted[0]) and mine[1:] == wanted[1:]
        assert [type(value) for value in mine[1:]] == [float, float]
    assert len(compiled.variants) == 1 and len(compiled.variants[0].parts.plans) <= 2


def test_sizes_that_depend_on_numbers():
    def picked(x):
        y = x.exp() + 1
        z = y[y > 2]
        return (z * 2 + 1).sum() / z.shape[0] + torch.nonzero(x > 0).sum(), z.shape[0]
    compiled = dragon.function(picked)
    for seed in range(10):
        x = random(4, 5, seed=seed)
        mine, wanted = compiled(x), picked(x)
        assert torch.allclose(mine[0], wanted[0]) and mine[1] == wanted[1] and type(mine[1]) is int
    assert len(compiled.variants) == 1


def test_short_lists_of_numbers_are_followed():
    def split(x, lengths):
        return [part.sum() * 2 + 1 for part in x.split(lengths.tolist())], lengths.reshape(1, -1).tolist()
    compiled = dragon.function(split)
    for lengths in ([2, 3, 1], [1, 1, 4], [0, 6, 0], [3, 0, 3]):
        mine, wanted = (function(torch.arange(6.0), torch.tensor(lengths)) for function in (compiled, split))
        assert mine[0] == wanted[0] and mine[1] == wanted[1] == [lengths]
    assert compiled.fallback is None and len(compiled.variants) == 1


def test_sizes_of_arguments_vary_as_well():
    compiled = dragon.function(lambda x: x * 2 + 1 if x.sum() > 0 else x)
    for size in range(1, 9):
        for _ in range(3):
            assert compiled(torch.ones(size)).tolist() == [3.0] * size
            assert compiled(-torch.ones(size)).tolist() == [-1.0] * size
    assert len(compiled.variants) == 2 and all(variant.axes for variant in compiled.variants)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e30, 0.0])
def test_extreme_numbers(value):
    def told(x):
        if torch.isfinite(x).all():
            return x * x.sum().item()
        return torch.nan_to_num(x) * 2
    calls(told, torch.tensor([1.0, 2.0]), torch.tensor([1.0, value]), torch.tensor([2.0, 2.0]))


def test_gradients_flow_through_the_parts():
    layer = torch.nn.Linear(5, 5)

    def masked(x):
        y = layer(x).relu()
        if (y > 0.5).any():
            y = y[y.sum(1) > 0.1] * 2
        return (y * y).sum()
    compiled = dragon.function(masked)
    for seed in range(8):
        found = []
        for function in (compiled, masked):
            layer.zero_grad()
            x = random(4, 5, seed=seed).requires_grad_()
            function(x).backward()
            found.append((x.grad, layer.weight.grad.clone()))
        assert all(torch.allclose(*pair) for pair in zip(*found))
    assert compiled.fallback is None


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.body = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5),
                                        torch.nn.ReLU(), torch.nn.Linear(8, 2))

    def forward(self, x):
        y = self.body(x)
        if y.max() > 1.2:
            y = y / y.max().item()
        return y


def trained(compile):
    """Return losses, parameters and statistics after some steps that take either way."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(x):
        optimizer.zero_grad()
        loss = (net(x) ** 2).mean()
        if torch.isnan(loss):
            return None
        loss.backward()
        optimizer.step()
        return loss.item()
    step = compile(step)
    losses = [step(random(16, 6, seed=seed) * (1 + 3 * (seed % 2))) for seed in range(12)]
    return losses, [value.clone() for value in net.state_dict().values()], step


def test_a_training_step_takes_back_what_it_did_before_it_went_another_way():
    losses, state, compiled = trained(dragon.function)
    wanted, wanted_state, _ = trained(lambda step: step)
    assert numpy.allclose(losses, wanted, 1e-5) and compiled.fallback is None and len(compiled.variants) == 2
    for mine, theirs in zip(state, wanted_state):
        assert torch.allclose(mine, theirs, 1e-4, 1e-5)


def test_what_is_changed_before_a_decision_must_be_little():
    large = torch.zeros(1 << 19)

    def keep(x):
        large.add_(1)
        return x * 2 + 1 if x.sum() > 0 else x
    compiled = dragon.function(keep)
    with pytest.warns(CaptureWarning, match="written more than can be taken back"):
        assert compiled(torch.ones(2)).tolist() == [3, 3]
    assert compiled(-torch.ones(2)).tolist() == [-1, -1] and large[0] == 2


def test_too_many_ways_are_left_to_python():
    compiled = dragon.function(lambda x: x * int(x.sum()))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for number in range(14):
            assert compiled(torch.tensor([float(number)])).item() == number * number
    assert "in more than 8 ways" in compiled.fallback and len(seen) == 1


def test_a_program_that_looks_very_often_is_left_to_python():
    def loop(x):
        total = 0.0
        for _ in range(300):
            total += x.sum().item()
        return x * total
    compiled = dragon.function(loop)
    with pytest.warns(CaptureWarning, match="looks at a tensor's numbers"):
        assert compiled(torch.ones(2)).tolist() == [600, 600]


@pytest.mark.parametrize("look", [
    lambda x: x * torch.cat([x] * 65).tolist()[0], lambda x: x * float(x), lambda x: x * int(x.numpy()[0]),
    lambda x: x * len(str(x)), lambda x: (x, f"{x.item():.2f}")[0] * 2,
    lambda x: x * [1, 2, 3][0] if x.item() in {1.0} else x])
def test_what_becomes_of_a_number_outside_is_left_to_python(look):
    compiled = dragon.function(look)
    for value in (2.0, 3.0):
        x = torch.tensor([value])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            assert torch.equal(compiled(x), look(x))
    assert not compiled.variants and compiled.fallback


def test_what_is_printed_on_one_way_is_printed_at_each_call(capsys):
    def watch(x):
        y = x * 2 + 1
        if y.sum() > 100:
            print("large")
        return y
    compiled = dragon.function(watch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptureWarning)
        for value in (1.0, 100.0, 1.0, 100.0, 100.0, 2.0):
            assert compiled(torch.tensor([value])).item() == value * 2 + 1
    assert capsys.readouterr().out == "large\n" * 3 and len(compiled.variants) == 1


def test_nothing_is_said_twice_while_a_call_is_written_down(capsys):
    def tell(x):
        print("called")
        return x[:4] * 2
    compiled = dragon.function(tell)
    for size in (5, 6, 7):
        compiled(torch.ones(size))
    assert capsys.readouterr().out == "called\n" * 2 and len(compiled.variants) == 1


def test_strict_functions_say_where_they_look():
    with pytest.raises(RuntimeError, match="numbers.*test_looks"):
        dragon.function(lambda x: x * 2 if x.sum() > 0 else x, strict=True)(torch.ones(2))


def test_errors_come_as_they_would():
    def take(x):
        y = x * 2 + 1
        return y[int(x.sum())] - 1
    compiled = dragon.function(take)
    assert [compiled(torch.tensor([0.0, 1.0])).item(), compiled(torch.tensor([1.0, 0.0])).item()] == [2, 0]
    with pytest.raises(IndexError):
        compiled(torch.tensor([1.0, 1.0]))
    assert compiled(torch.tensor([0.0, 1.0])).item() == 2


def test_threads_are_hushed_one_by_one(capsys):
    inside, over = threading.Event(), threading.Event()

    def other():
        with SuppressOutput() as hushed:
            inside.set()
            over.wait(10)
            print("quiet")
        told.append(hushed.wanted)
    told = []
    thread = threading.Thread(target=other)
    with SuppressOutput() as hushed:
        thread.start()
        assert inside.wait(10)
    print("loud")
    over.set()
    thread.join(10)
    print("loud again")
    assert capsys.readouterr().out == "loud\nloud again\n" and told == [True] and not hushed.wanted
    assert not isinstance(sys.stdout, _Stream)
