"""What autograd promises, beside PyTorch doing the same: accumulation, hooks, kept graphs, custom functions, modes."""
import gc
import weakref

import numpy as np
import pytest

import dragon

torch = pytest.importorskip("torch", reason="PyTorch is the oracle of autograd's semantics")
pytestmark = pytest.mark.usefixtures("only_new_garbage")


def both(program, *shapes):
    """Run a program of (module, *leaves) on both engines and compare what it returns and the leaves' gradients."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    found = []
    for module in (dragon, torch):
        leaves = [module.tensor(array, dtype=module.float64, requires_grad=True) for array in arrays]
        results = program(module, *leaves)
        found.append([None if value is None else np.asarray(value.detach().numpy())
                      for value in list(results or ()) + [leaf.grad for leaf in leaves]])
    for mine, theirs in zip(*found, strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def grad_of(module, *args, **kwargs):
    """Return the gradients by either engine's function."""
    return (dragon.grad if module is dragon else torch.autograd.grad)(*args, **kwargs)


def test_gradients_accumulate():
    def program(module, x):
        for _ in range(3):
            (x * x).sum().backward()
    both(program, (3, 2))


def test_a_leaf_used_twice_gets_both_shares():
    both(lambda module, x: (x * 2 + x.exp() * x).sum().backward(), (4,))


def test_shares_are_not_added_up_in_memory_that_another_gradient_lies_in():
    """The gradient of a sum goes on as it is to both of its terms, and as a view through `reshape`."""
    def program(module, x, y):
        once, other = x * 1.0, y * 1.0
        first = once * 3.0
        second = once.reshape(6) + other
        ((second * second).sum() + first.sum()).backward()
    both(program, (2, 3), (6,))


def test_a_view_that_is_added_to_itself_gets_both_shares():
    def program(module, x):
        base = x * 1.0
        part = base[1]
        part += part
        (base * base).sum().backward()
    both(program, (3, 2))


def test_retained_graph_runs_again():
    def program(module, x):
        y = (x * x).sum()
        y.backward(retain_graph=True)
        y.backward()
    both(program, (3,))


def test_freed_graph_says_so():
    x = dragon.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_create_graph_through_backward():
    def program(module, x):
        (x ** 3).sum().backward(create_graph=True)
        first = x.grad
        x.grad = None
        (first ** 2).sum().backward()
    both(program, (3,))


def test_third_derivative():
    def program(module, x):
        y = (x ** 5).sum()
        for _ in range(3):
            (y,) = grad_of(module, y, [x], create_graph=True)
            y = y.sum()
        return [y]
    both(program, (3,))


def test_unused_input():
    x, z = (dragon.tensor([1.0], requires_grad=True) for _ in range(2))
    with pytest.raises(RuntimeError, match="grad"):
        dragon.grad((x * 2).sum(), [x, z])
    assert dragon.grad((x * 2).sum(), [x, z], allow_unused=True)[1] is None


def test_what_is_not_wanted_is_not_computed():
    x, w = dragon.ones((2, 3), requires_grad=True), dragon.ones((3, 4), requires_grad=True)
    y = (x @ w).sum()
    dragon._C.start_profile()
    (dx,) = dragon._C.grad(y, [x], retain_graph=True)
    events = dragon._C.stop_profile()
    assert [event[0] for event in events if not event[3]].count("matmul") == 1 and dx.tolist() == [[4] * 3] * 2
    dx, dw = dragon._C.grad(y, [x, w])
    assert dw.tolist() == [[2] * 4] * 3


def test_backward_into_chosen_inputs():
    def program(module, x, y):
        (x * y).sum().backward(inputs=[x])
    both(program, (3,), (3,))


def test_gradient_of_many_elements_needs_a_cotangent():
    x = dragon.ones((2,), requires_grad=True)
    with pytest.raises(RuntimeError, match="grad"):
        (x * 2).backward()
    with pytest.raises((RuntimeError, ValueError), match="shape|\\(3,\\)"):
        (x * 2).backward(dragon.ones((3,)))


def test_tensor_hooks_see_and_replace():
    def program(module, x):
        seen = []
        y = x * 2
        y.register_hook(lambda grad: seen.append(grad.detach()))
        y.register_hook(lambda grad: grad * 10)
        handle = x.register_hook(lambda grad: grad + 1)
        (y * y).sum().backward(retain_graph=True)
        handle.remove()
        (y * y).sum().backward()
        return seen
    both(program, (3,))


def test_retain_grad_keeps_inner_gradients():
    def program(module, x):
        y = x.exp()
        y.retain_grad()
        (y * y).sum().backward()
        return [y.grad]
    both(program, (2, 2))


def test_hook_errors_come_through():
    x = dragon.ones((2,), requires_grad=True)
    x.register_hook(lambda grad: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * 2).sum().backward()


def test_no_grad_records_nothing_and_nests():
    x = dragon.ones((2,), requires_grad=True)
    with dragon.no_grad():
        assert not (x * 2).requires_grad
        with dragon.enable_grad():
            assert (x * 2).requires_grad
        assert not dragon.is_grad_enabled()

    @dragon.no_grad()
    def inner():
        return x * 2
    assert not inner().requires_grad and dragon.is_grad_enabled()
    dragon.set_grad_enabled(False)
    try:
        assert not (x * 2).requires_grad
    finally:
        dragon.set_grad_enabled(True)
    with dragon.set_grad_enabled(False):
        assert not dragon.is_grad_enabled()
    assert dragon.is_grad_enabled()


def test_integers_carry_no_gradient():
    with pytest.raises(RuntimeError, match="float"):
        dragon.tensor([1, 2], requires_grad=True)
    x = dragon.ones((2,), requires_grad=True)
    assert not (x > 0).requires_grad


def test_detached_memory_is_shared():
    x = dragon.ones((2,), requires_grad=True)
    y = x.detach()
    y[0] = 5
    assert x.tolist() == [5.0, 1.0] and not y.requires_grad and y.is_leaf


@pytest.mark.long("the garbage collector looks through all that the tests before have made")
def test_graphs_do_not_outlive_their_tensors():
    x = dragon.ones((1000,), requires_grad=True)
    gc.collect()
    before = dragon.memory_stats()["current"]
    for _ in range(10):
        y = (x.exp() * x).tanh()
        y.sum().backward()
    del y
    x.grad = None
    gc.collect()
    assert dragon.memory_stats()["current"] <= before + 256


class Cube(dragon.Function):
    """x ** 3 by hand."""

    @staticmethod
    def forward(ctx, x, scale):
        """Save the input and the result."""
        y = x * x * x * scale
        ctx.scale = scale
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, dy):
        """Differentiable itself."""
        x, _ = ctx.saved_tensors
        return dy * 3 * x * x * ctx.scale, None


def test_custom_function_of_any_order():
    x = dragon.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = Cube.apply(x, 2.0)
    (g,) = dragon.grad(y.sum(), x, create_graph=True)
    (h,) = dragon.grad(g.sum(), x, create_graph=True)
    (k,) = dragon.grad(h.sum(), x)
    assert (g.tolist(), h.tolist(), k.tolist()) == ([6, 24, 54], [12, 24, 36], [12, 12, 12])


def test_custom_function_with_saved_result():
    class Exp(dragon.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, dy):
            return dy * ctx.saved_tensors[0]
    x = dragon.tensor([0.0, 1.0], requires_grad=True)
    y = Exp.apply(x)
    (g,) = dragon.grad(y.sum(), x, create_graph=True)
    (h,) = dragon.grad(g.sum(), x)
    np.testing.assert_allclose(h.tolist(), np.exp([0, 1]), rtol=1e-6)


def test_custom_function_with_many_results():
    class Split(dragon.Function):
        @staticmethod
        def forward(ctx, x, y):
            low = x < y
            ctx.mark_non_differentiable(low)
            return x + y, x - y, low

        @staticmethod
        def backward(ctx, plus, minus, low):
            assert ctx.needs_input_grad == (True, True) and low.tolist() == [False, False]
            return plus + minus, plus - minus
    x, y = (dragon.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    first, second, low = Split.apply(x, y)
    assert not low.requires_grad
    (first * 3).sum().backward()  # nothing flows through `second`: backward sees zeros
    assert x.grad.tolist() == [3, 3] and y.grad.tolist() == [3, 3] and second.requires_grad


def test_custom_function_in_place():
    class Double(dragon.Function):
        @staticmethod
        def forward(ctx, x):
            dragon.ops.mul(x, 2, out=x)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, dy):
            return dy * 2
    x = dragon.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = Double.apply(y)
    assert z is y
    (z * z).sum().backward()
    assert x.grad.tolist() == [8, 16]


def test_custom_function_errors_name_it():
    class Wrong(dragon.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, dy):
            return dy
    x = dragon.ones((2,), requires_grad=True)
    with pytest.raises(RuntimeError, match="Wrong"):
        Wrong.apply(x, x).sum().backward()


def test_custom_function_frees_itself():
    class Keep(dragon.Function):
        @staticmethod
        def forward(ctx, x, note):
            y = x * 2
            ctx.save_for_backward(x, y)
            ctx.note = note
            return y

        @staticmethod
        def backward(ctx, dy):
            return dy * 2, None

    class Note:
        """Something to watch."""
    note = Note()
    watch = weakref.ref(note)
    y = Keep.apply(dragon.ones((2,), requires_grad=True), note)
    del note, y
    gc.collect()
    assert watch() is None


def test_custom_function_lets_go_of_what_it_saved():
    x = dragon.tensor([2.0], requires_grad=True)
    y = Cube.apply(x * 1, 1.0)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 24
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_anomaly_mode_names_the_line():
    x = dragon.tensor([-1.0, 1.0], requires_grad=True)
    with dragon.detect_anomaly():
        y = x.sqrt()  # the culprit
        with pytest.raises(RuntimeError) as caught:
            y.sum().backward()
    assert "sqrt" in str(caught.value) and "test_autograd" in str(caught.value)
    assert "the culprit" in str(caught.value)


def test_deep_graphs_do_not_overflow_the_stack():
    x = dragon.ones((1,), requires_grad=True)
    y = x
    for _ in range(50000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1
    del y


@pytest.mark.parametrize("persistent", [False, True])
def test_tape(persistent):
    x, c = dragon.tensor(3.0), dragon.tensor(2.0)
    with dragon.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = x * x * c
    assert tape.gradient(y, x).item() == 12
    assert not x.requires_grad
    if persistent:
        assert [g if g is None else g.item() for g in tape.gradient(y, [x, c])] == [12, None]
    else:
        with pytest.raises(RuntimeError, match="persistent"):
            tape.gradient(y, x)


def test_tapes_nest():
    x = dragon.tensor(3.0)
    with dragon.GradientTape() as outer:
        outer.watch(x)
        with dragon.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    assert first.item() == 27 and outer.gradient(first, x).item() == 18


def test_a_tensor_can_forget_its_history():
    x = dragon.ones(2, requires_grad=True)
    y = x * 2
    address = y.data_ptr()
    dragon._C.forget(y)
    assert not y.requires_grad and y.grad_fn is None and y.is_leaf and y.data_ptr() == address
    (y * x).sum().backward()
    assert x.grad.tolist() == [2, 2]
