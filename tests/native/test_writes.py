"""Writes in place and through views, beside PyTorch: values, gradients, versions, stale values."""
import numpy as np
import pytest

import dragon
from harness.subresults import each

torch = pytest.importorskip("torch", reason="PyTorch is the oracle of in-place semantics")


def write_a_view(module, x):
    """Write into a row of a computed tensor."""
    y = x * 1
    y[0] *= 3
    return y * y


def write_a_view_of_a_view(module, x):
    """Write through two views at once."""
    y = x * 1
    y[1:][:, 0] += x[0, 0]
    return y * y


def write_the_base(module, x):
    """A view made earlier sees what is written to its base."""
    y = x * 1
    view = y[0]
    y *= 2
    return view * view


def write_after_use(module, x):
    """What was computed before a write keeps its gradient."""
    y = x * 1
    before = y + 2
    y += 5
    return before * y


def write_a_transposed_view(module, x):
    """Strides of the view differ from the base's."""
    y = x * 1
    t = y.t()
    t[0] = x[0, 1] * 4
    return y.exp()


def write_where_it_came_from(module, x):
    """A tensor written with something computed from itself."""
    y = x * 1
    y[0] = y[1] * 2
    y[1] = (y[0] + 1).exp()
    return y


def write_numbers(module, x):
    """Writing constants cuts the gradient of what was there."""
    y = x * 1
    y[0] = 7.0
    return y * y


def write_a_masked_part(module, x):
    """Boolean masks write too."""
    y = x * 1
    y[x.detach() > 0] = 0.5
    return y * x


def write_an_expanded_source(module, x):
    """The source is broadcast."""
    y = x * 1
    y[:, :2] = x[0, 0]
    return y * y


def write_many_times(module, x):
    """A loop that fills rows, as recurrent code does."""
    y = module.zeros((3, 3), dtype=module.float64)
    for row in range(3):
        y[row] = x[row] * (row + 1) + (y[row - 1] if row else 0)
    return y


def add_in_place(module, x):
    """The result of an operator that needs no values may be written."""
    y = x + 1
    y += x
    return y.exp()


def relu_in_place(module, x):
    """An operator that saves its result, written over its input."""
    y = x * 2
    module.relu_(y) if module is torch else y.relu_()
    return y * x


PROGRAMS = [write_a_view, write_a_view_of_a_view, write_the_base, write_after_use, write_a_transposed_view,
            write_where_it_came_from, write_numbers, write_a_masked_part, write_an_expanded_source, write_many_times,
            add_in_place, relu_in_place]


@each("program", PROGRAMS, ids=lambda program: program.__name__)
def test_values_and_gradients(program):
    array = np.random.default_rng(3).standard_normal((3, 3))
    found = []
    for module in (dragon, torch):
        x = module.tensor(array, dtype=module.float64, requires_grad=True)
        y = program(module, x)
        y.sum().backward()
        found.append((y.detach().numpy(), x.grad.numpy()))
    for mine, theirs in zip(*found):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("operator", ["mul", "exp", "tanh", "div", "pow", "sigmoid"])
def test_stale_values_are_an_error(operator):
    x = dragon.tensor([0.5, 2.0], requires_grad=True)
    y = x * 1
    z = getattr(dragon.ops, operator)(y, *([y] if operator in ("mul", "div", "pow") else []))
    target = z if operator in ("exp", "tanh", "sigmoid") else y
    target += 1
    with pytest.raises(RuntimeError, match=operator) as caught:
        z.sum().backward()
    assert "written" in str(caught.value)


def test_stale_values_of_functions_are_an_error():
    class Square(dragon.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, dy):
            return dy * 2 * ctx.saved_tensors[0]
    x = dragon.tensor([1.0], requires_grad=True)
    y = x * 1
    z = Square.apply(y)
    y += 1
    with pytest.raises(RuntimeError, match="written"):
        z.backward()


def test_leaves_may_not_be_written_while_recording():
    x = dragon.ones((2,), requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        x += 1
    with pytest.raises(RuntimeError, match="leaf"):
        x[0] = 3
    with dragon.no_grad():
        x += 1
    assert x.tolist() == [2, 2]


def test_versions_count_writes_through_every_alias():
    x = dragon.zeros((4,))
    view, alias = x[1:], x.detach()
    before = x._version
    x += 1
    view *= 2
    alias[0] = 9
    assert x._version == view._version == alias._version == before + 3


def test_values_do_not_stale_by_reading():
    x = dragon.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    np.asarray(y.detach())
    y.detach().tolist()
    y.sum().backward()
    assert x.grad is not None


def test_writes_to_one_place_twice_are_refused():
    x = dragon.zeros((4,))
    with pytest.raises((RuntimeError, ValueError), match="add: .*destination"):
        dragon.ops.add(dragon.ones((3,)), 1, out=dragon.ops.expand(x[:1], (3,)))


@pytest.mark.parametrize("operator", ["neg", "cumsum", "copy"])
@pytest.mark.parametrize("size", [5, 100000])
def test_overlapping_results_are_as_if_they_did_not_overlap(operator, size):
    arguments = [0] if operator == "cumsum" else []
    x = dragon.arange(float(size)) % 7
    function = getattr(dragon.ops, operator)
    wanted = function(x[:-1].clone(), *arguments)
    function(x[:-1], *arguments, out=x[1:])
    assert x[1:].tolist() == wanted.tolist()


def test_out_of_the_wrong_dtype_is_refused():
    with pytest.raises((RuntimeError, TypeError, ValueError), match="add"):
        dragon.ops.add(dragon.ones((2,)), 1, out=dragon.zeros((2,), dtype=dragon.int64))
    wide = dragon.zeros((2,), dtype=dragon.float64)
    assert dragon.ops.add(dragon.ones((2,)), 1, out=wide) is wide and wide.tolist() == [2, 2]


@pytest.mark.parametrize("function", [
    lambda x: x ** 2, lambda x: 2 / x, lambda x: x / (x + 1), lambda x: dragon.ops.relu6(x),
    lambda x: dragon.ops.hardtanh(x), lambda x: dragon.ops.erfinv(x), lambda x: dragon.ops.addcmul(x, x, x)])
def test_results_may_be_written_before_backward(function):
    x = dragon.tensor([0.25, 0.5], requires_grad=True)
    function(x).sum().backward()
    expected, x.grad = x.grad * 2, None
    y = function(x)
    y *= 2
    y.sum().backward()
    assert x.grad.tolist() == expected.tolist()


def test_factors_without_gradient_are_not_kept():
    x, c = dragon.ones(3, requires_grad=True), dragon.ones(3)
    y = dragon.ops.addcmul(x * 1, c, c)
    c *= 0
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", ["divide", "div"])
def test_a_composition_in_place_keeps_what_its_parts_saved(name):
    x = dragon.tensor([1.0, 2.0, 3.0], requires_grad=True)
    divisor = dragon.tensor([2.0, 4.0, 8.0], requires_grad=True)
    y = x * 1
    getattr(dragon.ops, name + "_")(y, divisor)
    y.sum().backward()
    assert x.grad.tolist() == [0.5, 0.25, 0.125]
    assert divisor.grad.tolist() == [-0.25, -0.125, -3 / 64]


OVER = {
    "sum": lambda ops, x, out: ops.sum(x, 0, True, out=out), "prod": lambda ops, x, out: ops.prod(x, 0, True, out=out),
    "amax": lambda ops, x, out: ops.amax(x, 0, True, out=out), "sqrt": lambda ops, x, out: ops.sqrt(x, out=out),
    "norm": lambda ops, x, out: ops.norm(x, 3, 0, True, out=out), "mul": lambda ops, x, out: ops.mul(x, x, out=out),
    "cumprod": lambda ops, x, out: ops.cumprod(x, 0, out=out),
    "softmax": lambda ops, x, out: ops.softmax(x, 0, out=out),
    "matmul": lambda ops, x, out: ops.matmul(x, dragon.ones((1, 1)), out=out),
    "gather": lambda ops, x, out: ops.gather(x, 0, dragon.zeros((1,), dtype="int64"), out=out),
}


@each("call", OVER.values(), ids=OVER)
def test_nothing_flows_to_what_a_constant_was_written_over(call):
    """Of inputs that want no gradient nothing is saved, so nothing may be asked for."""
    leaf = dragon.ones((1,), requires_grad=True)
    out = dragon.ops.clone(leaf)
    call(dragon.ops, dragon.ones((1,)), out)
    dragon.backward(out, dragon.ones((1,)))
    assert leaf.grad is None or leaf.grad.tolist() == [0]


def test_a_value_with_an_element_elsewhere_has_no_gaps():
    """`write_view` counts in the memory of its result: what x lies in, if x has gaps, is not the result's to write."""
    whole = dragon.from_numpy(np.arange(24, dtype="float32").reshape(2, 3, 4))
    gapped, value = whole[:, :1], dragon.ones([2, 2])
    wanted = np.arange(24, dtype="float32").reshape(2, 3, 4)[:, :1].copy()
    wanted.reshape(-1)[[0, 1, 4, 5]] = 1
    got = dragon.ops.write_view(gapped, value, [2, 2], [4, 1], 0)
    np.testing.assert_array_equal(got.numpy(), wanted)
    for reach in ([12, 1], [4, 4]):
        with pytest.raises(ValueError, match="places within x"):
            dragon.ops.write_view(gapped, value, [2, 2], reach, 0)
    turned = whole[0].transpose(1, 0)
    got = dragon.ops.write_view(turned, value, [2, 2], [4, 1], 0).numpy()
    wanted = np.arange(12, dtype="float32").reshape(3, 4)
    wanted[:2, :2] = 1
    np.testing.assert_array_equal(got, wanted.T)
