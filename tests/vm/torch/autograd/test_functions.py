"""`torch.autograd.Function` in its two forms, beside genuine PyTorch."""
import torch

from dragon.vm import torch as dt
from harness.sides import outcome
from harness.subresults import each

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def leaf(T, *numbers):
    return T.tensor(numbers, dtype=T.float64, requires_grad=True)


def make_function(T, forward, backward, **more):
    """Return a Function class of two static methods."""
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward), **more}
    return type("Made", (T.autograd.Function,), body)


def make_cube(T, new_style=False):
    def old(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x ** 3 * scale

    def new(x, scale=2.0):
        return x ** 3 * scale

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.scale = inputs[1]

    def backward(ctx, dy):
        x, = ctx.saved_tensors
        return dy * 3 * x ** 2 * ctx.scale, None
    return make_function(T, new, backward, setup_context=staticmethod(setup)) if new_style else \
        make_function(T, old, backward)


@scenario
def function_old(T):
    x = leaf(T, 2.0, 3.0)
    y = make_cube(T).apply(x, 4.0)
    dx, = T.autograd.grad(y.sum(), x, create_graph=True)
    return y, dx, T.autograd.grad(dx.sum(), x), type(y.grad_fn).__name__, y.grad_fn.scale


@scenario
def function_new(T):
    x = leaf(T, 2.0, 3.0)
    cube = make_cube(T, True)
    y = cube.apply(x) + cube.apply(x, scale=3.0)
    dx, = T.autograd.grad(y.sum(), x, create_graph=True)
    return y, dx, T.autograd.grad(dx.sum(), x)


@scenario
def function_keywords(T):
    return make_cube(T).apply(leaf(T, 1.0), scale=2.0)


@scenario
def function_instance(T):
    return make_cube(T)()(leaf(T, 1.0))


@scenario
def function_saved_on_node(T):
    return make_cube(T).apply(leaf(T, 2.0), 1.0).grad_fn.saved_tensors


@scenario
def function_without_backward(T):
    class Half(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 0.5
    Half.apply(leaf(T, 1.0)).sum().backward()


@scenario
def function_wrong_count(T):
    made = make_function(T, lambda ctx, x, y: x * y, lambda ctx, dy: dy)
    made.apply(leaf(T, 1.0), leaf(T, 1.0)).sum().backward()


@scenario
def function_gradient_of_number(T):
    made = make_function(T, lambda ctx, x, y: x * y, lambda ctx, dy: (dy, dy))
    made.apply(leaf(T, 1.0), 2.0).sum().backward()


@scenario
def function_several(T):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        index = x.argmax()
        ctx.mark_non_differentiable(index)
        return x * 1, x * 2, index

    def backward(ctx, one, two, index):
        seen.append((one is None, two is None, index is None))
        return two * 2
    x = leaf(T, 1.0, 5.0)
    one, two, index = make_function(T, forward, backward).apply(x)
    two.sum().backward()
    return x.grad, seen, index, index.requires_grad, one.requires_grad


@scenario
def function_materializes(T):
    seen = []

    def backward(ctx, one, two):
        seen.append(one)
        return one + two * 2
    x = leaf(T, 1.0, 5.0)
    make_function(T, lambda ctx, x: (x * 1, x * 2), backward).apply(x)[1].sum().backward()
    return x.grad, seen


def increase(ctx, x):
    x.add_(1)
    ctx.mark_dirty(x)
    return x


@scenario
def function_dirty(T):
    x = leaf(T, 1.0)
    y = x * 1
    z = make_function(T, increase, lambda ctx, dy: dy * 7).apply(y)
    z.sum().backward()
    return z is y, z, x.grad


@scenario
def function_dirty_leaf(T):
    make_function(T, increase, lambda ctx, dy: dy).apply(leaf(T, 1.0))


@scenario
def function_needs(T):
    seen = []

    def forward(ctx, x, y, z):
        seen.append(ctx.needs_input_grad)
        return x * y * z
    made = make_function(T, forward, lambda ctx, dy: (dy, dy, None))
    y = made.apply(leaf(T, 1.0), T.ones(1), 3)
    y.sum().backward()
    with T.no_grad():
        quiet = made.apply(leaf(T, 1.0), T.ones(1), 3)
    return seen[:1], y.requires_grad, quiet.requires_grad


@scenario
def function_vjp(T):
    class Half(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 0.5

        @staticmethod
        def vjp(ctx, dy):
            return dy * 0.5
    x = leaf(T, 1.0)
    Half.apply(x).sum().backward()
    return x.grad


@scenario
def function_identity(T):
    x = leaf(T, 1.0)
    y = make_function(T, lambda ctx, x: x, lambda ctx, dy: dy * -3).apply(x)
    y.sum().backward()
    return x.grad, y is x


@scenario
def function_save_text(T):
    make_function(T, lambda ctx, x: ctx.save_for_backward("x") or x, lambda ctx, dy: dy).apply(leaf(T, 1.0))


def once(T, twice=False):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, dy):
        return dy * 2 * ctx.saved_tensors[0]
    x = leaf(T, 3.0)
    made = make_function(T, forward, T.autograd.function.once_differentiable(backward))
    dx, = T.autograd.grad(made.apply(x).sum(), x, create_graph=twice)
    return T.autograd.grad(dx.sum(), x) if twice else dx


@scenario
def once_only(T):
    return once(T)


@scenario
def once_twice(T):
    return once(T, True)


@scenario
def gradients_of_what_has_none(T):
    def forward(ctx, a, b):
        other = b + 1
        ctx.mark_non_differentiable(other)
        return a * 1, other

    def backward(ctx, first, second):
        return first.cos(), second * 0.0 + 2
    a, b = leaf(T, 1.0, 2.0), leaf(T, 1.0, 2.0)
    first, second = make_function(T, forward, backward).apply(a, b)
    return T.autograd.grad(first.sum(), (a, b)), second.requires_grad


@scenario
def function_twice(T):
    y = make_cube(T).apply(leaf(T, 2.0), 1.0).sum()
    y.backward()
    y.backward()


@each("function", SCENARIOS, ids=lambda item: item.__name__)
def test_same_on_both(function):
    assert outcome(function, dt) == outcome(function, torch)
