"""Operators whose arguments are graphs, called as they are: values, gradients, corners, and what they refuse."""
import subprocess
import sys

import numpy
import pytest

import dragon
from dragon import _C

ops = dragon.ops


def graph_of(forms, build):
    """Return a graph as an argument: `build(graph, inputs)` returns its outputs."""
    graph = dragon.Graph()
    inputs = [graph.add_input(shape, dtype) for shape, dtype in forms]
    made = build(graph, inputs)
    graph.outputs = made
    return _C.GraphBody(graph)


def call(name, *inputs, **attrs):
    """Return what builds one call of an operator over the first inputs."""
    return lambda graph, given: graph.add_call(name, given[:1] if not inputs else [given[i] for i in inputs], **attrs)


def tensor(numbers, dtype="float64", requires_grad=False):
    return dragon.tensor(numbers, dtype=getattr(dragon, dtype), requires_grad=requires_grad)


VECTOR = ((3,), "float64")
SQUARE, EXP = graph_of([VECTOR], call("mul", 0, 0)), graph_of([VECTOR], call("exp"))


@pytest.mark.parametrize("predicate, holds", [
    (True, True), (False, False), (2.5, True), (0.0, False), (-0.0, False), (float("nan"), True), (0, False),
    (-7, True), ([True], True), ([[0.0]], False), (1j, True), (0j, False), (-0j, False)])
def test_cond_takes_the_branch_of_its_predicate(predicate, holds):
    x = tensor([1.0, 2.0, 3.0], requires_grad=True)
    y, = ops.cond(dragon.tensor(predicate), [x], then=SQUARE, otherwise=EXP)
    wanted = x.detach().numpy() ** 2 if holds else numpy.exp(x.detach().numpy())
    # NumPy's exponentials differ in the last digit between processors.
    numpy.testing.assert_allclose(y.detach().numpy(), wanted, 1e-15)
    y.sum().backward()
    numpy.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy() if holds else wanted)


def test_gradients_of_cond_have_gradients():
    x = tensor([1.0, 2.0, 3.0], requires_grad=True)
    cube = graph_of([VECTOR], lambda g, i: g.add_call("mul", [i[0], g.add_call("mul", [i[0], i[0]])[0]]))
    y, = ops.cond(dragon.tensor(True), [x], then=cube, otherwise=EXP)
    first, = dragon.grad(y.sum(), [x], create_graph=True)
    second, = dragon.grad(first.sum(), [x], create_graph=True)
    third, = dragon.grad(second.sum(), [x])
    for found, wanted in ((first, 3 * x * x), (second, 6 * x), (third, 6 + 0 * x)):
        numpy.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy())


def test_a_branch_may_give_its_operands_and_constants():
    def swap(graph, inputs):
        return [inputs[1], inputs[0], graph.add_constant(tensor([5.0]))]

    def keep(graph, inputs):
        return [inputs[0], inputs[0], graph.add_constant(tensor([6.0]))]
    x, y = tensor([1.0, 2.0, 3.0], requires_grad=True), tensor([4.0, 5.0, 6.0], requires_grad=True)
    bodies = {"then": graph_of([VECTOR] * 2, swap), "otherwise": graph_of([VECTOR] * 2, keep)}
    a, b, c = ops.cond(dragon.tensor(True), [x, y], **bodies)
    assert a.tolist() == y.tolist() and b.tolist() == x.tolist() and c.tolist() == [5.0]
    (a * 2 + b * 3).sum().backward()
    assert x.grad.tolist() == [3.0] * 3 and y.grad.tolist() == [2.0] * 3
    a, b, c = ops.cond(dragon.tensor(False), [x, y], **bodies)
    a += 1  # memory of its own
    assert x.tolist() == [1.0, 2.0, 3.0] and b.tolist() == x.tolist() and c.tolist() == [6.0]


def test_operands_may_lie_in_any_order():
    x = tensor(numpy.arange(6.0).reshape(2, 3).tolist()).transpose(0, 1)
    body = graph_of([((3, 2), "float64")], call("exp"))
    y, = ops.cond(dragon.tensor(True), [x], then=body, otherwise=body)
    numpy.testing.assert_allclose(y.numpy(), numpy.exp(x.numpy()))


REFUSED = {
    "predicate of another shape": (lambda x: ops.cond(dragon.tensor([True, False]), [x], then=SQUARE, otherwise=EXP),
                                   r"cond: got a predicate of shape \(2,\), expected one element"),
    "operand of another shape": (lambda x: ops.cond(dragon.tensor(True), [x[:2]], then=SQUARE, otherwise=EXP),
                                 r"cond: got tensor 0 for 'then', float64 of shape \(2,\), expected float64 of shape"),
    "operand of another dtype": (
        lambda x: ops.cond(dragon.tensor(True), [ops.cast(x, dragon.float32)], then=SQUARE, otherwise=EXP),
        "float32 of shape"),
    "too many operands": (lambda x: ops.cond(dragon.tensor(True), [x, x], then=SQUARE, otherwise=EXP), "got 2 tensors"),
    "branches of other shapes": (
        lambda x: ops.cond(dragon.tensor(True), [x], then=SQUARE, otherwise=graph_of([VECTOR], call("sum"))),
        r"result 0 is float64 of shape \(3,\), or float64 of shape \(\), expected one shape and one dtype"),
    "branches of other counts": (
        lambda x: ops.cond(dragon.tensor(True), [x], then=SQUARE, otherwise=graph_of([VECTOR], lambda g, i: [])),
        "branches of 1 and 0 results"),
    "no graph": (lambda x: ops.cond(dragon.tensor(True), [x], then=3, otherwise=EXP), "cond"),
    "a generator": (lambda x: ops.cond(dragon.tensor(True), [x], then=_C.default_generator(), otherwise=EXP),
                    "a graph"),
    "a condition of many": (lambda x: ops.while_loop([x], [], condition=SQUARE, body=EXP),
                            r"got a condition of shape \(3,\), expected one element"),
    "a body that changes shape": (
        lambda x: ops.while_loop([x], [], condition=graph_of([VECTOR], call("sum")),
                                 body=graph_of([VECTOR], call("sum"))),
        r"a body that makes float64 of shape \(\) of what is carried as number 0, expected float64 of shape \(3,\)"),
    "a scan of nothing": (lambda x: ops.scan([x], [], [], body=EXP), "neither 'xs' nor 'length'"),
    "a scan of two lengths": (lambda x: ops.scan([], [x, x[:2]], [], body=EXP), "first axes of 3 and 2"),
    "a scan of a number": (lambda x: ops.scan([], [x.sum()], [], body=EXP), "a number among 'xs'"),
    "a scan that changes shape": (
        lambda x: ops.scan([x], [], [], body=graph_of([VECTOR], call("sum")), length=2),
        r"float64 of shape \(\) of what"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_a_letter(case):
    attempt, words = REFUSED[case]
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=words):
        attempt(tensor([1.0, 2.0, 3.0]))


NUMBER = ((), "float64")


def doubling():
    """Return the graphs of: while x < 100: x = x * y."""
    condition = graph_of([NUMBER, NUMBER],
                         lambda g, i: g.add_call("lt", [i[0], g.add_constant(tensor(100.0))]))
    return {"condition": condition, "body": graph_of([NUMBER, NUMBER], call("mul", 0, 1))}


@pytest.mark.parametrize("limit, start", [(None, 3.0), (2, 3.0), (0, 3.0), (None, 200.0), (None, float("nan"))])
def test_while_loop_beside_python(limit, start):
    x, y = tensor(start, requires_grad=True), tensor(2.0, requires_grad=True)
    found, = ops.while_loop([x], [y], limit=limit, **doubling())
    u, v = tensor(start, requires_grad=True), tensor(2.0, requires_grad=True)
    wanted, rounds = u, 0
    while wanted < 100 and (limit is None or rounds < limit):
        wanted, rounds = wanted * v, rounds + 1
    numpy.testing.assert_equal(found.item(), wanted.item())
    found.backward()
    assert wanted.backward() is None
    numpy.testing.assert_equal(x.grad.item(), u.grad.item())
    assert y.grad.item() == (0.0 if v.grad is None else v.grad.item())


def test_second_gradients_of_while_loop_are_refused_by_name():
    x = tensor(3.0, requires_grad=True)
    y, = ops.while_loop([x], [x], **doubling())
    first, = dragon.grad(y, [x], create_graph=True)
    with pytest.raises(NotImplementedError, match="while_loop_backward"):
        dragon.grad(first, [x])


def running():
    """Return the body of: c, x -> c * w + x, with c * x stacked."""
    def build(graph, inputs):
        state, x, weight = inputs
        product = graph.add_call("mul", [state, weight])[0]
        return [graph.add_call("add", [product, x])[0], graph.add_call("mul", [state, x])[0]]
    return graph_of([NUMBER] * 3, build)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("numbers", [[1.0, 2.0, 3.0, 4.0], [5.0], []])
def test_scan_and_its_gradients_beside_python(numbers, reverse):
    def by_python(c, xs, w):
        made = []
        for x in (xs.flip(0) if reverse else xs).unbind(0) if numbers else ():
            made.append(c * x)
            c = c * w + x
        return c, dragon.ops.stack(made[::-1] if reverse else made) if made else xs * 0

    def all_of(function):
        inputs = [tensor(2.0, requires_grad=True), tensor(numbers, requires_grad=True), tensor(0.5, requires_grad=True)]
        last, stacked = function(*inputs)
        total = last * last + (stacked * stacked).sum()
        first = dragon.grad(total, inputs, create_graph=True, allow_unused=True)
        first = [g if g is not None else x * 0 for g, x in zip(first, inputs)]
        second = dragon.grad(sum((g * g).sum() for g in first), inputs, allow_unused=True)
        second = [g if g is not None else x * 0 for g, x in zip(second, inputs)]
        return [value.detach().numpy() for value in (last, stacked, *first, *second)]
    body = running()
    found = all_of(lambda c, xs, w: ops.scan([c], [xs], [w], body=body, reverse=reverse))
    for mine, theirs in zip(found, all_of(by_python)):
        numpy.testing.assert_allclose(mine, theirs, 1e-12)


def test_a_scan_may_carry_nothing_or_go_along_nothing():
    made, = ops.scan([], [tensor([1.0, 2.0])], [], body=graph_of([NUMBER], call("exp")))
    numpy.testing.assert_allclose(made.numpy(), numpy.exp([1.0, 2.0]))
    last, = ops.scan([tensor(1.0)], [], [], body=graph_of([NUMBER], call("add", 0, 0)), length=5)
    assert last.item() == 32.0


def test_a_body_that_draws_has_no_gradient():
    body = graph_of([VECTOR], lambda g, i: g.add_call("mul", [i[0], g.add_call("rand", shape=[3], dtype="float64")[0]]))
    x = tensor([1.0, 2.0, 3.0], requires_grad=True)
    y, = ops.cond(dragon.tensor(True), [x], then=body, otherwise=body)
    with pytest.raises(NotImplementedError, match="draws random numbers"):
        y.sum().backward()


def test_loops_within_loops():
    inner = doubling()

    def outer(graph, inputs):
        grown = graph.add_call("while_loop", [[inputs[0]], [inputs[1]]], **inner)
        return [graph.add_call("sub", [grown[0], graph.add_constant(tensor(90.0))])[0]]
    body = graph_of([NUMBER, NUMBER], outer)
    x, y = tensor(3.0, requires_grad=True), tensor(2.0, requires_grad=True)
    last, = ops.scan([x], [], [y], body=body, length=3)
    wanted, a, b = 3.0, 1.0, 0.0  # and its derivatives
    for _ in range(3):
        while wanted < 100:
            wanted, a, b = wanted * 2.0, a * 2.0, b * 2.0 + wanted
        wanted -= 90.0
    last.backward()
    assert (last.item(), x.grad.item(), y.grad.item()) == (wanted, a, b)


def test_ctrl_c_ends_a_loop():
    program = """if True:
        import signal, threading, os, time
        import dragon
        from dragon import _C
        true, same = dragon.Graph(), dragon.Graph()
        x = true.add_input((), "float32")
        true.outputs = [true.add_constant(dragon.tensor(True))]
        y = same.add_input((), "float32")
        same.outputs = same.add_call("exp", [y])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            dragon.ops.while_loop([dragon.tensor(0.0)], [], condition=_C.GraphBody(true), body=_C.GraphBody(same))
        except KeyboardInterrupt:
            print("ended", (dragon.tensor(1.0) + 1).item())
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd="/")
    assert done.stdout.split() == ["ended", "2.0"], done.stderr
