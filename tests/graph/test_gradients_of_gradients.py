"""Gradients of the gradients of compiled calls, beside the same function called as it stands."""
import gc
import types
import weakref

import numpy as np
import pytest

import dragon
from dragon.vm import tensorflow as tf
from dragon.vm import torch
from harness.subresults import each

pytestmark = pytest.mark.usefixtures("only_new_garbage")

PROGRAMS = {
    "polynomial": lambda x, y, w: (x ** 3 * y).sum() + (x @ w).tanh().sum(),
    "network": lambda x, y, w: torch.nn.functional.gelu(x @ w).square().mean() * y.sum(),
    "norm": lambda x, y, w: torch.nn.functional.layer_norm(x * y, (4,)).sigmoid().sum(),
    "several": lambda x, y, w: ((x * y).exp(), x.sin().sum(0), w * 2),
    "cut": lambda x, y, w: (x.detach() * x * y).sum() + (x[1:] * x[:-1]).sum(),
    "views": lambda x, y, w: x.t().reshape(-1)[2:7].cumsum(0).pow(2).sum() + y.view(2, -1).prod(1).sum(),
    "unused": lambda x, y, w: (x ** 2).sum(),
    "written": lambda x, y, w: (x * 1).mul_(y).add_(x).pow(3).sum(),
}


def tensors(count=5, seed=0):
    """Return leaves that want gradients."""
    states = np.random.RandomState(seed)
    return [torch.tensor(states.randn(*shape).astype("float32"), requires_grad=True)
            for shape in ((count, 4), (count, 4), (4, 3))]


def flat(results):
    return [results] if isinstance(results, torch.Tensor) else list(results)


def second_of(function, leaves, given):
    """Return first and second gradients."""
    results = [result for result in flat(function(*given)) if result.requires_grad]
    slopes = [torch.full_like(result, 0.5 + number) for number, result in enumerate(results)]
    first = torch.autograd.grad(results, leaves, slopes, create_graph=True, allow_unused=True)
    total = sum((grad * (number + 1)).square().sum() for number, grad in enumerate(first) if grad is not None)
    if not total.requires_grad:
        return [*first]
    return [*first, *torch.autograd.grad(total, leaves, allow_unused=True)]


def assert_same(found, wanted):
    assert [item is None for item in found] == [item is None for item in wanted]
    for own, other in zip(found, wanted):
        if own is not None:
            np.testing.assert_allclose(own.detach().numpy(), other.detach().numpy(), 2e-5, 2e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    program = PROGRAMS[name]
    compiled = torch.compile(program)
    for seed in range(3):  # captured, from plans
        leaves = tensors(6, seed)
        assert_same(second_of(compiled, leaves, leaves), second_of(program, leaves, leaves))


def under(genuine, function, **names):
    """Return a function of this file whose `torch` is the genuine one."""
    return types.FunctionType(function.__code__, {**globals(), "torch": genuine, **names})


def genuine_second_of(genuine, name, leaves):
    """Return what genuine PyTorch finds."""
    theirs = [genuine.from_numpy(leaf.detach().numpy().copy()).requires_grad_() for leaf in leaves]
    return under(genuine, second_of, flat=under(genuine, flat))(under(genuine, PROGRAMS[name]), theirs, theirs)


@each("numbers", [None, 0.0, -1e30, 1e30, float("nan"), float("inf"), "empty"])
@each("name", PROGRAMS)
def test_programs_beside_genuine_ones(name, numbers):
    genuine = pytest.importorskip("torch")
    compiled = torch.compile(PROGRAMS[name])
    for _ in range(3):
        leaves = tensors(6)
        if numbers == "empty":
            if name == "views":
                return  # elements that are not there
            leaves[:2] = [torch.zeros(0, 4, requires_grad=True) for _ in range(2)]
        elif numbers is not None:
            with torch.no_grad():
                leaves[0][1, 2] = numbers
        if name == "norm" and numbers in (1e30, -1e30):  # the variance is beyond float32: PyTorch has NaN, Dragon zeros
            wanted = second_of(PROGRAMS[name], leaves, leaves)
        else:
            wanted = genuine_second_of(genuine, name, leaves)
        assert_same(second_of(compiled, leaves, leaves), wanted)


@pytest.mark.parametrize("dynamic", [None, True])
def test_sizes_that_vary(dynamic):
    program = PROGRAMS["polynomial"]
    compiled = torch.compile(program, dynamic=dynamic)
    for count in (6, 8, 4, 8, 6, 10, 10):
        leaves = tensors(count, count)
        assert_same(second_of(compiled, leaves, leaves), second_of(program, leaves, leaves))


def test_third_order():
    function = dragon.function(lambda x: (x ** 4 * x.sin()).sum())
    for _ in range(3):
        found = []
        for call in (function, lambda x: (x ** 4 * x.sin()).sum()):
            x = torch.tensor([0.5, -1.5, 2.0], requires_grad=True)
            value = call(x)
            for _ in range(3):
                value, = torch.autograd.grad(value.sum(), x, create_graph=True)
                found.append(value.detach().numpy())
        np.testing.assert_allclose(found[:3], found[3:], 1e-5, 1e-5)


def test_what_operands_owe_to_each_other_counts_once():
    """One operand is made of the other, and of a parameter that the call reads as well."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 4)

    def program(x, y):
        return (layer(x) * y).sin().sum()
    compiled = torch.compile(program)
    for _ in range(3):
        pairs = []
        for call in (compiled, program):
            x = torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
            pairs.append(second_of(lambda x, call=call: call(x, layer(x).tanh()), [x, *layer.parameters()], [x]))
        assert_same(*pairs)


def test_a_tensor_from_outside_with_a_history():
    base = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def make():
        scaled = base * 2

        def call(x):
            return (x * scaled * base).pow(2).sum()
        return call
    for wrap in (torch.compile, lambda function: function):
        call = wrap(make())
        x = torch.tensor([1.0, -1.0, 0.5], requires_grad=True)
        found = second_of(call, [x, base], [x])
        if wrap is torch.compile:
            first = found
    assert_same(first, found)


def test_penalty_of_a_network_trains_alike():
    def train(wrap):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
        critic, losses = wrap(model), []
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        for step in range(8):
            x = torch.randn(10 if step % 3 else 7, 4, requires_grad=True)
            score = critic(x)
            slope, = torch.autograd.grad(score.sum(), x, create_graph=True)
            loss = score.mean() + 10 * (slope.norm(dim=1) - 1).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        return losses
    np.testing.assert_allclose(train(torch.compile), train(lambda model: model), 1e-4, 1e-4)


def test_random_numbers_are_drawn_once():
    def program(x):
        return (torch.nn.functional.dropout(x, 0.5) ** 3).sum() + (x * torch.rand(50)).sin().sum()
    compiled = torch.compile(program)
    for seed in range(3):
        found = []
        for call in (compiled, program):
            torch.manual_seed(seed)
            x = torch.linspace(-1, 1, 50, requires_grad=True)
            found.append([*second_of(call, [x], [x]), torch.rand(3)])
        assert_same(*found)


def test_under_autocast():
    def program(x, w):
        return (x @ w).float().sin().sum()
    compiled, found = torch.compile(program), []
    for call in (compiled, compiled, program):
        x, _, w = tensors(6)
        with torch.autocast("cpu", torch.bfloat16):
            first, = torch.autograd.grad(call(x, w), x, create_graph=True)
        found.append([first, *torch.autograd.grad(first.square().sum(), [x, w])])
    assert_same(found[0], found[2])
    assert_same(found[1], found[2])


def test_programs_that_look():
    def program(x):
        y = (x * x.exp()).sin()
        if y.sum() > 100:
            return y
        z = (y * x).pow(3)
        return (z * float(z.max().item() > 0)).sum() + (x[x > 0] ** 3).sum()
    compiled = torch.compile(program)
    for seed in range(3):
        x = torch.tensor(np.random.RandomState(seed).randn(9).astype("float32"), requires_grad=True)
        assert_same(second_of(compiled, [x], [x]), second_of(program, [x], [x]))


def test_tapes_around_tapes():
    """As in networks that solve differential equations."""
    def network(x, w):
        return tf.reduce_sum(tf.tanh(x @ w) ** 3, 1)
    compiled, found = tf.function(network), []
    for call in (compiled, compiled, network):
        x = tf.Variable(np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3))
        w = tf.Variable(np.linspace(-2, 1, 6, dtype="float32").reshape(3, 2))
        with tf.GradientTape(persistent=True) as outer:
            with tf.GradientTape() as inner:
                y = call(x, w)
            first = inner.gradient(y, x)
            loss = tf.reduce_sum(first ** 2)
        found.append([first, outer.gradient(loss, x), outer.gradient(loss, w)])
    for own, other in zip(found[1], found[2]):
        np.testing.assert_allclose(own.numpy(), other.numpy(), 1e-5, 1e-5)


# --- what cannot be, and what is let go

def test_calls_that_write_are_refused_by_name():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
    compiled = torch.compile(model)
    for _ in range(2):
        x = torch.randn(5, 4, requires_grad=True)
        y = compiled(x).pow(2).sum()
    with pytest.raises(NotImplementedError, match="writes tensors that were there before"):
        torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(compiled(x).sum(), x)


def test_what_was_written_since_is_refused():
    compiled = torch.compile(lambda x: (x * 2 + 1).sum())
    for _ in range(2):
        x = torch.ones(3, requires_grad=True)
        y = x * 1
        z = compiled(y)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="in-place operation"):
        torch.autograd.grad(z, x, create_graph=True)


def test_a_function_that_is_gone_is_named():
    compiled = dragon.function(lambda x: (x ** 3).sum())
    x = torch.ones(3, requires_grad=True)
    compiled(x)
    y = compiled(x)
    del compiled
    gc.collect()
    with pytest.raises(NotImplementedError, match="the function itself is gone"):
        torch.autograd.grad(y, x, create_graph=True)


def test_compiled_functions_are_freed():
    class Scale:
        def __call__(self, x):
            return (x * 3).pow(2).sum()
    scale = Scale()
    compiled = dragon.function(scale)
    for _ in range(3):
        x = torch.ones(3, requires_grad=True)
        first, = torch.autograd.grad(compiled(x), x, create_graph=True)
        first.sum().backward()
    known = weakref.ref(scale)
    del scale, compiled, x, first
    gc.collect()
    assert known() is None


def test_arguments_are_let_go_as_the_gradient_is_found():
    compiled = torch.compile(lambda x: (x * 2).sum())
    for _ in range(2):
        x = torch.ones(1000, requires_grad=True)
        y = x * 1
        z = compiled(y)
        known = weakref.ref(y)
        del y
    z.backward()
    gc.collect()
    assert known() is None


def test_a_buffer_that_was_written_since_the_call():
    """What the call read is looked at, whether or not its own gradient is wanted."""
    scale = torch.tensor([2.0])

    def cubed(x):
        return (x * scale).pow(3).sum()
    compiled = torch.compile(cubed)
    for function in (cubed, compiled, compiled):
        x = torch.tensor([1.0], requires_grad=True)
        scale.fill_(2.0)
        first, = torch.autograd.grad(function(x), x, create_graph=True)
        assert (first.item(), torch.autograd.grad(first, x)[0].item()) == (24, 48)
        y = function(x)
        scale.fill_(3.0)
        with pytest.raises(RuntimeError, match="written|modified by an in-place operation"):
            torch.autograd.grad(y, x, create_graph=True)
