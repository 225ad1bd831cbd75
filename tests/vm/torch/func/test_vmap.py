"""`torch.vmap` beside genuine PyTorch: one call for all slices, or one for each; the numbers are the same."""
import functools

import numpy as np
import pytest
import torch
import torch.func  # noqa: F401

from dragon.vm import torch as dt
from harness.sides import outcome, plain
from harness.subresults import each

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def make(T, *shape, offset=0.0):
    count = 1
    for size in shape:
        count *= size
    numbers = [((7 * index + 3) % 11 - 5) / 7 + offset for index in range(count)]
    return T.tensor(numbers, dtype=T.float64).reshape(shape)


@scenario
def vmap_simple(T):
    return T.func.vmap(lambda x, y: x @ y)(make(T, 4, 3), make(T, 4, 3, offset=1)), T.vmap(T.sin)(make(T, 2, 2))


@scenario
def vmap_ranks(T):
    # As many slices as places: a batch that is taken for one more axis fits as well.
    return T.vmap(lambda x, y: x - y)(make(T, 3, 3), make(T, 3, 3, 3)), T.vmap(T.atan2)(make(T, 2, 2, 2), make(T, 2))


@scenario
def vmap_dims(T):
    f = T.vmap(lambda x, y: x * y.sum(), in_dims=(1, None), out_dims=1)
    return f(make(T, 3, 4), make(T, 5)), T.vmap(lambda x: (x, x.sum()), in_dims=-1, out_dims=(-1, 0))(make(T, 2, 3, 4))


@scenario
def vmap_tree(T):
    f = T.vmap(lambda d, z: {"r": d["x"] * d["y"][0] + z}, in_dims=({"x": 0, "y": [None]}, 0))
    return f({"x": make(T, 3, 2), "y": [make(T, 2)]}, make(T, 3))


@scenario
def vmap_nested(T):
    return T.vmap(T.vmap(lambda x, y: x - y, in_dims=(None, 0)), in_dims=(0, None))(make(T, 3), make(T, 4))


@scenario
def vmap_keywords(T):
    return T.vmap(lambda x, scale=1.0: x * scale)(make(T, 3), scale=5.0)


@scenario
def vmap_of_grad(T):
    w = make(T, 3)
    return T.vmap(T.func.grad(lambda w, x, y: ((w @ x) - y) ** 2), in_dims=(None, 0, 0))(w, make(T, 5, 3), make(T, 5))


@scenario
def grad_of_vmap(T):
    return T.func.grad(lambda w: T.vmap(lambda x: (w * x).sin().sum())(make(T, 4, 3)).sum())(make(T, 3))


@scenario
def vmap_under_backward(T):
    x = make(T, 4, 3).requires_grad_()
    T.vmap(lambda row: row.softmax(0) ** 2)(x).sum().backward()
    return x.grad


@scenario
def vmap_chunks(T):
    return T.vmap(lambda x: x.cumsum(0), chunk_size=2)(make(T, 5, 3))


@scenario
def vmap_writes(T):
    def f(x, y):
        x.add_(y)
        return x * 2
    x = make(T, 3, 2)
    return T.vmap(f)(x, make(T, 3, 2, offset=1)), x


@scenario
def vmap_partial(T):
    return T.vmap(functools.partial(T.mul, make(T, 2)))(make(T, 3, 2))


@scenario
def vmap_index(T):
    return T.vmap(lambda table, index: table[index], in_dims=(None, 0))(make(T, 5, 2), T.tensor([[0, 1], [4, 4]]))


@scenario
def vmap_hessian(T):
    return T.vmap(T.func.hessian(lambda x: (x ** 3).sum()))(make(T, 2, 3))


@scenario
def jacobian_of_batch(T):
    return T.vmap(T.func.jacrev(lambda x: x.outer(x)))(make(T, 2, 3))


@scenario
def vmap_same(T):
    T.manual_seed(0)
    return T.vmap(lambda x: x + T.rand(3, dtype=T.float64), randomness="same")(make(T, 2, 3))


@scenario
def vmap_different(T):
    T.manual_seed(0)
    return T.vmap(lambda x: x + T.rand(3), randomness="different")(make(T, 2, 3))


@scenario
def vmap_random(T):
    return T.vmap(lambda x: x + T.rand(3))(make(T, 2, 3))


ERRORS = {
    "sizes": lambda T: T.vmap(lambda x, y: x)(make(T, 2), make(T, 3)), "nothing": lambda T: T.vmap(lambda: 1)(),
    "no tensor": lambda T: T.vmap(lambda x: x)(3), "too deep": lambda T: T.vmap(lambda x: x, in_dims=3)(make(T, 2)),
    "no axis": lambda T: T.vmap(lambda x: x)(T.tensor(1.0)), "none": lambda T: T.vmap(T.sin, in_dims=None)(make(T, 2)),
    "all none": lambda T: T.vmap(T.mul, in_dims=(None, None))(make(T, 2), make(T, 2)),
    "structure": lambda T: T.vmap(T.mul, in_dims=(0,))(make(T, 2), make(T, 2)),
    "output": lambda T: T.vmap(lambda x: 3)(make(T, 2)), "dims": lambda T: T.vmap(T.sin, in_dims="x")(make(T, 2)),
    "out structure": lambda T: T.vmap(lambda x: (x, x), out_dims=(0, 0, 0))(make(T, 2)),
    "out kind": lambda T: T.vmap(T.sin, out_dims="x")(make(T, 2)),
    "randomness": lambda T: T.vmap(T.sin, randomness="some")(make(T, 2)),
    "chunk": lambda T: T.vmap(T.sin, chunk_size=0)(make(T, 2)),
}
for _name, _call in ERRORS.items():
    _call.__name__ = "vmap refuses " + _name
    scenario(_call)


@each("function", SCENARIOS, ids=lambda item: item.__name__)
def test_same_on_both(function):
    assert outcome(function, dt, 4, True) == outcome(function, torch, 4, True)


def test_empty_batches():
    for T in (torch, dt):
        assert tuple(T.vmap(lambda x: x.sin(), out_dims=1)(T.zeros(0, 3)).shape) == (3, 0)


shown = functools.partial(plain, digits=4, whole=True)


def numbers(T, *shape):
    count = 1
    for size in shape:
        count *= size
    return ((T.arange(count, dtype=T.float64) * 7) % 11 - 5).reshape(shape) / 3


def make_scale(T):
    class Scale(T.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, w):
            return x * w

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, dy):
            x, w = ctx.saved_tensors
            return dy * w, dy * x
    return Scale.apply


def gradient_through(T, make):
    """The gradient of a closed-over parameter and of the batch, through vmap."""
    w, x = numbers(T, 4).requires_grad_(), numbers(T, 5, 4).requires_grad_()
    T.vmap(make(T, w))(x).sum().backward()
    return w.grad, x.grad


def mask(T):
    def visible(batch, query, key):
        allowed = query.new_ones((), dtype=T.bool)
        return allowed & (key <= query) & (key > query - 3).to(allowed.device) & (batch >= 0)
    call = visible
    for dims in ((None, None, 0), (None, 0, None), (0, None, None)):
        call = T.vmap(call, in_dims=dims)
    return call(T.arange(2), T.arange(4), T.arange(6))


# Functions, and whether they are called once for the whole batch.
ONCE = {
    "pointwise": (lambda T: lambda x: (x.sin() * x + 1).relu(), True), "sum": (lambda T: lambda x: x.sum(), True),
    "sum of axis": (lambda T: lambda x: x.sum(0), True), "mean": (lambda T: lambda x: x.mean((0, 1), True), True),
    "softmax": (lambda T: lambda x: x.softmax(-1), True), "log_softmax": (lambda T: lambda x: x.log_softmax(0), True),
    "amax": (lambda T: lambda x: x.amax(1, keepdim=True), True), "cumsum": (lambda T: lambda x: x.cumsum(0), True),
    "where": (lambda T: lambda x: T.where(x > 0, x, x[0]), True), "first": (lambda T: lambda x: x[0, 1:], True),
    "places": (lambda T: lambda x: x[T.tensor([0, 2])], True), "new axis": (lambda T: lambda x: x[..., None], True),
    "reshape": (lambda T: lambda x: x.reshape(2, 6) * 2, True), "float": (lambda T: lambda x: (x > 0).float(), True),
    "promotion": (lambda T: lambda x: x[0, 0] + T.ones(2), True),
    "several": (lambda T: lambda x: (x * 2, x.sum(), T.ones(2)), True),
    "numbers": (lambda T: lambda x: 2 - x / 3 ** x, True), "norm": (lambda T: lambda x: (x @ x.t()).trace(), True),
    "stack": (lambda T: lambda x: T.stack([x, x]), True), "in place": (lambda T: lambda x: (x * 1).relu_(), False),
    "iadd": (lambda T: lambda x: add_in_place(x * 2), False), "item": (lambda T: lambda x: set_item(x.clone()), False),
    "clamp": (lambda T: lambda x: x.clamp(min=0).masked_fill(x > 1, 9.0), True),
    "keyword": (lambda T: lambda x: x[0].clamp(min=T.tensor([[0.0], [0.5]], dtype=T.float64)), True),
    "max": (lambda T: lambda x: T.maximum(x, x[0]).exp(), True), "sort": (lambda T: lambda x: x.sort(0)[0], True),
    "linear": (lambda T: lambda x: T.nn.functional.linear(x, x[:2], x[0, :2]), True),
    "composition": (lambda T: lambda x: T.nn.functional.layer_norm(x, (4,)).diff(dim=0).norm(), True),
    "apart": (lambda T: lambda x: T.searchsorted(x[0].sort()[0], x), True),
    "own vmap": (lambda T: lambda x: T.vmap(lambda row: row.cumsum(0).amax())(x), True),
    "mask": (lambda T: lambda x: x * (x > 0).any().to(x.dtype), True),
    "device": (lambda T: lambda x: x + T.zeros(4, device=x.device, dtype=x.dtype), True),
    "detached": (lambda T: lambda x: x.detach() * x, True),
}


def add_in_place(x):
    x += 1
    return x


def set_item(x):
    x[0] = 5.0
    return x


@each("name", ONCE)
def test_called_once(name):
    make, expected = ONCE[name]
    calls = []

    def count(function):
        def counted(x):
            calls.append(1)
            return function(x)
        return counted
    found = shown(dt.vmap(count(make(dt)))(numbers(dt, 5, 3, 4)))
    once = len(calls) == 1
    assert found == shown(torch.vmap(make(torch))(numbers(torch, 5, 3, 4)))
    assert once == expected


@each("second", [(2,), (2, 4)], ids=str)
@each("first", [(2,), (3, 2)], ids=str)
@each("dims", [(0, 0), (0, None), (None, 0)], ids=str)
def test_products(first, second, dims):
    found = []
    for T in (torch, dt):
        shapes = [shape if dim is None else (5, *shape) for dim, shape in zip(dims, (first, second))]
        found.append(shown(T.vmap(lambda x, y: x @ y, in_dims=dims)(*(numbers(T, *shape) for shape in shapes))))
    assert found[0] == found[1]


GRADIENTS = {
    "pointwise": lambda T, w: lambda x: (x * w).sin(), "product": lambda T, w: lambda x: (x @ w).exp(),
    "function": lambda T, w: lambda x: make_scale(T)(x, w), "inner grad": lambda T, w: T.func.grad(
        lambda x: (x ** 2 * w).sum()), "sum": lambda T, w: lambda x: (x * w).softmax(0).sum() * x[0],
    "lookup": lambda T, w: lambda x: w[T.tensor([0, 0, 1, 3])] * x,
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_through(name):
    assert shown(gradient_through(dt, GRADIENTS[name])) == shown(gradient_through(torch, GRADIENTS[name]))


def test_masks():
    assert shown(mask(dt)) == shown(mask(torch))


def test_checks_of_slices():
    """A check of numbers sees those of all slices."""
    for T in (torch, dt):
        loss = T.vmap(lambda x, var: T.nn.functional.gaussian_nll_loss(x, x, var))
        with pytest.raises((ValueError, RuntimeError)):
            loss(T.zeros(2, 2), T.tensor([[1.0, 2.0], [1.0, -2.0]]))
    loss = dt.vmap(lambda x, var: dt.nn.functional.gaussian_nll_loss(x, x, var))
    assert loss(dt.zeros(2, 2), dt.ones(2, 2)).shape == (2,)


def test_autocast_inside_and_outside():
    x, w = numbers(dt, 5, 3, 4).float(), numbers(dt, 4, 2).float()

    def multiply(row):
        with dt.autocast("cpu"):
            return row @ w
    with dt.autocast("cpu"):
        outside = dt.vmap(lambda row: row @ w)(x)
    inside = dt.vmap(multiply)(x)
    assert outside.dtype == inside.dtype == dt.bfloat16
    assert shown(outside.float()) == shown(inside.float())


def test_what_depends_on_numbers():
    """It is done for every slice, whose numbers there are."""
    x = numbers(dt, 5, 3)
    for function in (lambda x: x * x.sum().item(), lambda x: x[x > 0].sum()):
        assert shown(dt.vmap(function)(x)) == shown(dt.stack([function(row) for row in x]))


def test_stand_ins_that_leak():
    """What a function keeps of a slice is a tensor without numbers afterwards, not somebody else's memory."""
    kept = []
    dt.vmap(lambda x: kept.append(x) or x * 2)(numbers(dt, 5, 3))
    with pytest.raises(Exception, match="meta"):
        kept[0].tolist()
    with pytest.raises(ValueError, match="meta"):
        dt.ones(3, dtype=dt.float64) + kept[0]


def test_compiled():
    def normed(x):
        return dt.vmap(lambda row: row.softmax(0) * row.norm())(x)
    x = numbers(dt, 5, 3)
    assert shown(dt.compile(normed)(x)) == shown(normed(x))


@each("in_dims", [0, 1])
@each("function", [
    lambda x: x * x.stride(0), lambda x: x.t() if x.is_contiguous() else x * 2, lambda x: x * x.t().stride(0),
    lambda x: (x + 1) * (x + 1).stride(1), lambda x: x * 2 if x.device.type == "cpu" and not x.is_meta else x],
    ids=["stride", "contiguous", "transposed", "computed", "device"])
def test_a_function_that_looks_at_a_slice_sees_one(function, in_dims):
    values = np.arange(60, dtype="float32").reshape(3, 4, 5)
    expected = torch.vmap(function, in_dims)(torch.tensor(values))
    found = dt.vmap(function, in_dims)(dt.tensor(values))
    assert tuple(found.shape) == tuple(expected.shape) and found.tolist() == expected.tolist()
