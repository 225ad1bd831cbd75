"""Checkpointing beside genuine PyTorch: values, gradients, how often the function runs, what is refused."""
import importlib
import warnings

import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each

KINDS = [True, False]


def tool(T):
    return importlib.import_module(f"{T.__name__}.utils.checkpoint")


def make(T):
    x = T.tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]], requires_grad=True)
    w = T.tensor([[0.3, 0.1, -0.2], [0.5, 0.7, 0.2], [-0.4, 0.2, 0.1]], requires_grad=True)
    return x, w


def plain(T, reentrant):
    x, w = make(T)
    calls = []

    def block(value, scale=2.0):
        calls.append(T.is_grad_enabled())
        return (value @ w).tanh() * scale, value.sum(), 5
    y, total, five = tool(T).checkpoint(block, x, use_reentrant=reentrant)
    (y.sum() + total).backward()
    return calls, y.tolist(), five, x.grad.tolist(), w.grad.tolist()


def keywords(T, reentrant):
    x, w = make(T)
    y = tool(T).checkpoint(lambda value, scale=2.0: (value @ w).exp() * scale, x, use_reentrant=reentrant, scale=3.0)
    y.sum().backward()
    return x.grad.tolist()


def random(T, reentrant, **options):
    x, w = make(T)
    T.manual_seed(0)
    y = tool(T).checkpoint(lambda value: (value @ w * T.rand(2, 3)).exp(), x, use_reentrant=reentrant, **options)
    after = T.rand(2).tolist()
    y.sum().backward()
    return y.tolist(), x.grad.tolist() if options.get("preserve_rng_state", True) else None, after, T.rand(1).tolist() \
        if options.get("preserve_rng_state", True) else None


def forgetful(T, reentrant):
    return random(T, reentrant, preserve_rng_state=False)


def sequential(T, reentrant):
    x, w = make(T)
    layers = [T.nn.Linear(3, 3), T.nn.Tanh(), T.nn.Linear(3, 3), T.nn.ReLU(), T.nn.Linear(3, 2)]
    with T.no_grad():
        for layer in layers[::2]:
            layer.weight.fill_(0.1), layer.bias.fill_(0.2)
            layer.weight[0] = 0.4
    model = T.nn.Sequential(*layers)
    y = tool(T).checkpoint_sequential(model, 2, x, use_reentrant=reentrant)
    y.pow(2).sum().backward()
    return y.tolist(), x.grad.tolist(), layers[0].weight.grad.tolist()


def nested(T, reentrant):
    x, w = make(T)

    def inner(value):
        return (value @ w).tanh()

    def outer(value):
        return tool(T).checkpoint(inner, value * 2, use_reentrant=reentrant).exp()
    tool(T).checkpoint(outer, x, use_reentrant=reentrant).sum().backward()
    return x.grad.tolist(), w.grad.tolist()


def by_grad(T, reentrant):
    x, w = make(T)
    y = tool(T).checkpoint(lambda value: (value @ w).exp(), x, use_reentrant=reentrant)
    return [item.tolist() for item in T.autograd.grad(y.sum(), [x, w])]


def only_parameters(T, reentrant):
    x, w = make(T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = tool(T).checkpoint(lambda value: (value @ w).exp(), x.detach(), use_reentrant=reentrant)
    y.sum().backward()
    return w.grad.tolist()


def without_grad(T, reentrant):
    x, w = make(T)
    with T.no_grad():
        return tool(T).checkpoint(lambda value: value @ w, x, use_reentrant=reentrant).requires_grad


def twice(T, reentrant):
    x, w = make(T)
    y = tool(T).checkpoint(lambda value: (value @ w).exp().sin(), x, use_reentrant=reentrant)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return x.grad.tolist()


def cast(T, reentrant):
    x, w = make(T)
    seen = []

    def block(value):
        y = value @ w
        seen.append(str(y.dtype))
        return y.float().exp()
    with T.autocast("cpu"):
        y = tool(T).checkpoint(block, x, use_reentrant=reentrant)
    y.sum().backward()
    return seen


def double(T, reentrant):
    x, w = make(T)
    y = tool(T).checkpoint(lambda value: (value @ w).tanh(), x, use_reentrant=reentrant)
    dx, = T.autograd.grad(y.sum(), x, create_graph=True)
    dx.pow(2).sum().backward()
    return w.grad.tolist()


def unlike(T, reentrant):
    x, w = make(T)
    calls = []

    def block(value):
        calls.append(1)
        return (value[:len(calls)] @ w).exp().sum()
    tool(T).checkpoint(block, x, use_reentrant=reentrant, early_stop=False).backward()


SCENARIOS = [plain, keywords, random, forgetful, sequential, nested,
             by_grad, only_parameters, without_grad, twice, cast,
             double]


def run(scenario, T, reentrant):
    try:
        return scenario(T, reentrant)
    except Exception as error:
        return next(kind for kind in (NotImplementedError, TypeError, ValueError, RuntimeError, Exception)
                    if isinstance(error, kind))


def flat(value):
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, (list, tuple)) else [value]


@each("reentrant", KINDS, ids=["reentrant", "not reentrant"])
@each("scenario", SCENARIOS, ids=lambda item: item.__name__)
def test_same_on_both(scenario, reentrant):
    expected, found = flat(run(scenario, torch, reentrant)), flat(run(scenario, dt, reentrant))
    assert len(expected) == len(found)
    for one, other in zip(expected, found):
        assert other == (pytest.approx(one, rel=1e-4, abs=1e-6) if isinstance(one, float) else one)


def test_different_computations():
    for T in (torch, dt):
        with pytest.raises(tool(T).CheckpointError):
            unlike(T, False)


def test_early_stop():
    for T in (torch, dt):
        x, w = make(T)
        reached = []

        def block(value):
            y = (value @ w).exp()
            reached.append(1)
            return y
        tool(T).checkpoint(block, x, use_reentrant=False).sum().backward()
        with tool(T).set_checkpoint_early_stop(False):
            tool(T).checkpoint(block, x, use_reentrant=False).sum().backward()
        assert len(reached) == 3


def test_frees_memory():
    """The graph of a checkpointed block holds its arguments, not what is computed between."""
    x, w = make(dt)
    sizes = []

    def block(value):
        for _ in range(4):
            value = (value @ w).tanh()
        return value
    with dt.autograd.graph.saved_tensors_hooks(lambda kept: sizes.append(1) or kept, lambda kept: kept):
        block(x)
        without = len(sizes)
        dt.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    assert without > 4 and len(sizes) == without


REFUSED = [
    (lambda C, x: C.checkpoint(lambda v: v, x, use_reentrant=True, more=1), ValueError),
    (lambda C, x: C.checkpoint(lambda v: v, x, use_reentrant=True, debug=True), ValueError),
    (lambda C, x: C.checkpoint(lambda v: v, x, use_reentrant=False, determinism_check="x"),
     (ValueError, AssertionError)),
    (lambda C, x: C.checkpoint_sequential([lambda v: v], 1, x, use_reentrant=True, more=1), ValueError),
    (lambda C, x: C.detach_variable([x]), RuntimeError),
]


@pytest.mark.parametrize("index", range(len(REFUSED)))
def test_refusals(index):
    call, kind = REFUSED[index]
    for T in (torch, dt):
        with pytest.raises(kind):
            call(tool(T), make(T)[0])


def test_warns_without_choice():
    for T in (torch, dt):
        with pytest.warns(UserWarning, match="use_reentrant"):
            tool(T).checkpoint(lambda v: v * 1, make(T)[0])


def test_missing_by_name():
    for call in (lambda C: C.set_checkpoint_debug_enabled(True),
                 lambda C: C.checkpoint(lambda v: v, make(dt)[0], use_reentrant=False, debug=True)):
        with pytest.raises(NotImplementedError):
            call(tool(dt))
