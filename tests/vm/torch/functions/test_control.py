"""Branches and loops of PyTorch, compiled: one graph that is right for every later call, beside genuine ones."""
import importlib

import numpy
import pytest

genuine = pytest.importorskip("torch")

from dragon.vm import torch  # noqa: E402
from harness.subresults import each  # noqa: E402

W = numpy.linspace(-1, 1, 9).reshape(3, 3)
POSITIVE = numpy.array([[1.0, 2.0, 3.0], [0.5, 0.1, 4.0]])
NEGATIVE = numpy.array([[-1.0, 2.0, -3.0], [0.5, -2.0, 0.25]])
LONG = numpy.linspace(-1, 1, 60).reshape(20, 3)


def cond(t, h, x, w):
    return t.cond(x.sum() > 0, lambda x: (x @ w).sin(), lambda x: x * 2 - w[0], (x,))


def cond_closure(t, h, x, w):
    y = x @ w
    return t.cond(y.sum() > 0, lambda: (y.exp(), x.sum()), lambda: (y * x, w.sum())[:2])


def cond_of_inputs(t, h, x, w):
    made = t.cond(x.sum() > 0, lambda x: x.clone(), lambda x: x * 1, (x,))
    return made * x


def nested(t, h, x, w):
    return t.cond(x.sum() > 0, lambda x: t.cond(x.max() > 3.5, lambda x: x.sin(), lambda x: x.cos(), (x,)),
                  lambda x: t.cond(x.min() < -2.5, lambda x: x * w[0], lambda x: x - w[1], (x,)), (x,))


def detached(t, h, x, w):
    def one(x):
        with t.no_grad():
            fixed = x * w[0]
        return fixed * x + x.detach() * x
    return t.cond(x.sum() > 0, one, lambda x: x.detach() * w[0], (x,))


def written(t, h, x, w):
    def one(x):
        y = x * 2
        y[:, 1:] *= w[0, 1:]
        y.t()[0].add_(x[:, 2])
        return y * y

    def other(x):
        y = (x @ w).t() + 1
        y[1] = x[:, 0] * 3
        return y.t().relu_() * x
    return t.cond(x.sum() > 0, one, other, (x,))


def while_loop(t, h, x, w):
    i, y = h.while_loop(lambda i, y: y.abs().sum() > 0.1, lambda i, y: (i + 1, (y @ w) * 0.5), (t.tensor(0), x))
    return y, i


def while_of_numbers(t, h, x, w):
    n = (x.sum() * 0 + 3).to(t.int64)
    i, y = h.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * w[0] + x), (t.tensor(0), x))
    return y


def loop_of_branches(t, h, x, w):
    i, y = h.while_loop(lambda i, y: (y.sum() < 30) & (i < 20),
                        lambda i, y: (i + 1, t.cond(y.sum() > 0, lambda y: y + x.abs(), lambda y: y * -1, (y,))),
                        (t.tensor(0), x))
    return y


def scan(t, h, x, w):
    last, made = h.scan(lambda c, row: (t.tanh(c @ w + row), c * row), x[0] * 0, x)
    return last, made


def scan_back(t, h, x, w):
    return h.scan(lambda c, row: (c * 0.5 + row["a"], {"b": c - row["a"]}), w[0], {"a": x}, reverse=True)[1]["b"]


def map_rows(t, h, x, w):
    return h.map(lambda row, w: (row @ w).sin(), x, w)


PROGRAMS = {function.__name__: function for function in (
    cond, cond_closure, cond_of_inputs, nested, detached, written, while_loop, while_of_numbers, loop_of_branches,
    scan, scan_back, map_rows)}
OPERATORS = {**dict.fromkeys(("cond", "nested", "detached", "written"), "cond"), "while": "while_loop",
             "loop": "while_loop", "scan": "scan", "map": "scan"}
LOOPED = ("scan", "scan_back", "map_rows")


class Plain:
    """Control flow as Python says it: what genuine PyTorch's operators mean, and differentiate."""

    @staticmethod
    def cond(pred, one, other, operands=()):
        return (one if pred else other)(*operands)

    @staticmethod
    def while_loop(condition, body, state):
        while condition(*state):
            state = body(*state)
        return state

    @staticmethod
    def scan(combine, carried, xs, reverse=False):
        made = []
        rows = xs["a"] if isinstance(xs, dict) else xs
        for place in range(len(rows))[::-1 if reverse else 1]:
            carried, result = combine(carried, {"a": rows[place]} if isinstance(xs, dict) else rows[place])
            made.append(result)
        made = made[::-1] if reverse else made
        if isinstance(made[0], dict):
            return carried, {"b": genuine.stack([item["b"] for item in made])}
        return carried, genuine.stack(made)

    @staticmethod
    def map(function, xs, *args):
        return genuine.stack([function(row, *args) for row in xs])


class PlainTorch:
    cond = staticmethod(Plain.cond)

    def __getattr__(self, name):
        return getattr(genuine, name)


def gradients(framework, function, x):
    """Return the results and the gradients of both arguments, as arrays."""
    x, w = (framework.tensor(numbers, requires_grad=True) for numbers in (x, W))
    made = function(x, w)
    made = made if isinstance(made, tuple) else (made,)
    sum((y * y).sum() for y in made if y.is_floating_point()).backward()
    return [y.detach().numpy() for y in made] + [
        numpy.zeros(t.shape) if t.grad is None else t.grad.numpy() for t in (x, w)]


def operators_in(graph):
    """Return the names of a graph's calls, and of those of the graphs in them."""
    from dragon import _C
    names = set()
    for call in graph.calls:
        names.add(call.op)
        for value in call.attrs.values():
            if isinstance(value, _C.GraphBody):
                names |= operators_in(value.graph)
    return names


@each("name", PROGRAMS)
def test_one_graph_for_every_way(name):
    program = PROGRAMS[name]
    compiled = torch.compile(lambda x, w: program(torch, torch._higher_order_ops, x, w), fullgraph=True)
    inputs = [POSITIVE, NEGATIVE, POSITIVE * 3, NEGATIVE * 5] if name not in LOOPED else [LONG, -LONG]
    for x in inputs:
        wanted = gradients(genuine, lambda x, w: program(PlainTorch(), Plain, x, w), x)
        for mine, theirs in zip(gradients(torch, compiled, x), wanted, strict=True):
            numpy.testing.assert_allclose(mine, theirs, 1e-9, 1e-12)
        plain = gradients(torch, lambda x, w: program(torch, torch._higher_order_ops, x, w), x)
        for mine, theirs in zip(plain, wanted, strict=True):
            numpy.testing.assert_allclose(mine, theirs, 1e-9, 1e-12)


@each("name", PROGRAMS)
def test_the_graph_has_the_operator(name):
    import dragon
    program = PROGRAMS[name]
    traced = dragon.function(lambda x, w: program(torch, torch._higher_order_ops, x, w), strict=True)
    for x in (POSITIVE, NEGATIVE, POSITIVE) if name not in LOOPED else (LONG, -LONG):
        traced(torch.tensor(x), torch.tensor(W))
    assert len(traced.graphs) == 1
    assert OPERATORS[name.split("_")[0]] in operators_in(traced.graphs[0])


def test_genuine_operators_say_the_same():
    """Genuine PyTorch's own operators, where they run eagerly."""
    def program(t, h, x):
        return t.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))
    for x in (POSITIVE, NEGATIVE):
        numpy.testing.assert_allclose(program(torch, None, torch.tensor(x)).numpy(),
                                      program(genuine, None, genuine.tensor(x)).numpy())
    theirs = genuine._higher_order_ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2),
                                                  (genuine.tensor(0), genuine.tensor(POSITIVE)))
    mine = torch._higher_order_ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2),
                                              (torch.tensor(0), torch.tensor(POSITIVE)))
    for one, other in zip(mine, theirs, strict=True):
        numpy.testing.assert_allclose(one.numpy(), other.numpy())


RECORDED = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
REFUSED = {
    "other shapes": (lambda x: torch.cond(x.sum() > 0, lambda x: x, lambda x: x[0], (x,)),
                     r"torch.cond: cond: got branches whose result 0 is float64 of shape \(2, 3\), or float64 of"),
    "other structures": (lambda x: torch.cond(x.sum() > 0, lambda x: (x, x), lambda x: x, (x,)),
                         "different structures"),
    "a look": (lambda x: torch.cond(x.sum() > 0, lambda x: x * x.sum().item(), lambda x: x, (x,)),
               "looks at a tensor"),
    "a write with gradients": (lambda x: torch.cond(x.sum() > 0, lambda x: (x * 1).mul_(2) + x.mul_(RECORDED),
                                                    lambda x: x * 3, (x,)).detach(), "a write that gradients flow"),
    "a loop that grows": (lambda x: torch.while_loop(lambda x: x.sum() < 9, lambda x: (torch.cat([x, x]),), (x,))[0],
                          r"got a body that makes float64 of shape \(4, 3\)"),
    "an error": (lambda x: torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x @ x, (x,)), "torch.cond: "),
}


def test_loops_write_to_tensors_from_outside():
    import dragon

    def add_up(x):
        return torch.while_loop(lambda y: y.sum() < 90, lambda y: (y + x.add_(1).abs(),), (x * 1,))[0] + x
    traced = dragon.function(add_up, strict=True)
    for x in (POSITIVE, NEGATIVE, POSITIVE):
        mine, theirs = torch.tensor(x), torch.tensor(x)
        numpy.testing.assert_array_equal(traced(mine).numpy(), add_up(theirs).numpy())
        numpy.testing.assert_array_equal(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_operator_runs_as_python_and_says_why(name):
    import dragon
    function, words = REFUSED[name]
    with pytest.raises(RuntimeError, match=words):
        dragon.function(function, strict=True)(torch.tensor(POSITIVE))
    with pytest.warns(UserWarning):
        traced = dragon.function(function)
        traced(torch.tensor(POSITIVE))
    assert traced.fallback
    for x in (POSITIVE, NEGATIVE) if name not in ("an error", "a loop that grows") else (POSITIVE,):
        for one, other in zip(traced(torch.tensor(x)), function(torch.tensor(x)), strict=True):
            numpy.testing.assert_array_equal(one.detach().numpy(), other.detach().numpy())


@pytest.mark.parametrize("training", [True, False])
def test_what_a_branch_writes_is_written_behind_it(training):
    import dragon

    def make(t):
        state = {"norm": t.nn.BatchNorm1d(3).double().train(training), "count": t.zeros(4, dtype=t.float64)}

        def one(x):
            state["count"][1:3].add_(x.sum())
            return state["norm"](x)

        def other(x):
            state["count"].mul_(2)
            x.add_(1)
            return x * state["count"][1]
        cond = t.cond if t is torch else Plain.cond
        return state, lambda x: cond(x.sum() > 0, one, other, (x,))
    (mine, function), (theirs, plain) = make(torch), make(genuine)
    traced = dragon.function(function, strict=True)
    for numbers in (POSITIVE, NEGATIVE, POSITIVE * 2, NEGATIVE, NEGATIVE):
        x, y = torch.tensor(numbers), genuine.tensor(numbers)
        numpy.testing.assert_allclose(traced(x).detach().numpy(), plain(y).detach().numpy(), 1e-9)
        numpy.testing.assert_allclose(x.numpy(), y.numpy())
        numpy.testing.assert_allclose(mine["count"].numpy(), theirs["count"].numpy())
        for own, other in zip(mine["norm"].buffers(), theirs["norm"].buffers(), strict=True):
            numpy.testing.assert_allclose(own.numpy(), other.numpy())
    assert len(traced.graphs) == 1


def test_a_gradient_of_ones_own_in_a_branch_is_not_a_graph():
    import dragon

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 100

    def function(x):
        return torch.cond(x.sum() > 0, lambda x: Double.apply(x), lambda x: x * 3, (x,))
    with pytest.warns(UserWarning, match="not that of the calls"):
        traced = dragon.function(function)
        x = torch.tensor(POSITIVE, requires_grad=True)
        traced(x).sum().backward()
    assert traced.fallback and x.grad.unique().tolist() == [100.0]


def test_what_a_branch_made_is_of_no_use_outside():
    import dragon
    kept = []

    def leaks(x):
        made = torch.cond(x.sum() > 0, lambda x: kept.append(x * 2) or x * 3, lambda x: x * 4, (x,))
        return made + kept[-1]
    with pytest.raises(RuntimeError, match="add: got a tensor that was made within a branch or loop while that was"):
        dragon.function(leaks)(torch.tensor(POSITIVE))


def test_hooks_and_gradient_slots_in_branches_are_python():
    import dragon
    weight = torch.tensor(W, requires_grad=True)

    def hooked(x):
        y = x * weight[0]
        y.register_hook(lambda grad: grad * 100)
        return y

    def steps(x):
        (x * weight[0]).sum().backward()
        return x * 1
    for branch, words in ((hooked, "a hook on a gradient"), (steps, "gradient")):
        with pytest.raises(RuntimeError, match=words):
            dragon.function(lambda x: torch.cond(x.sum() > 0, branch, lambda x: x * 2, (x,)), strict=True)(
                torch.tensor(POSITIVE))


def test_dropout_in_a_branch_draws_at_every_run():
    import dragon
    function = dragon.function(lambda x: torch.cond(
        x.sum() > 0, lambda x: torch.nn.functional.dropout(x), lambda x: x * 2, (x,)), strict=True)
    x = torch.ones(1000)
    found = [function(x) for _ in range(3)]
    assert len(function.graphs) == 1 and not torch.equal(found[1], found[2])
    torch.manual_seed(3)
    one = function(x)
    torch.manual_seed(3)
    assert torch.equal(one, torch.nn.functional.dropout(x))


@pytest.mark.parametrize("size", [0, 1, 5, 40])
def test_associative_scan(size):
    x = torch.tensor(numpy.linspace(-1, 2, 2 * size).reshape(size, 2))
    for reverse in (False, True):
        found = torch._higher_order_ops.associative_scan(torch.add, x, 0, reverse)
        wanted = x.flip(0).cumsum(0).flip(0) if reverse else x.cumsum(0)
        numpy.testing.assert_allclose(found.numpy(), wanted.numpy())
    found = torch._higher_order_ops.associative_scan(lambda a, b: {"a": a["a"] * b["a"]}, {"a": x.T}, 1)["a"]
    numpy.testing.assert_allclose(found.numpy(), x.T.cumprod(1).numpy())


def test_every_function_has_a_module_of_its_name():
    """As packages import them; the package's names are the functions, also afterwards, as PyTorch's are."""
    for name in ("associative_scan", "cond", "map", "scan", "while_loop"):
        module = importlib.import_module(f"dragon.vm.torch._higher_order_ops.{name}")
        assert getattr(module, name) is getattr(torch._higher_order_ops, name)
        assert callable(getattr(importlib.import_module(f"torch._higher_order_ops.{name}"), name))
