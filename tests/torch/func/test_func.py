"""`torch.func` beside genuine PyTorch: each scenario on both shows the same numbers or error class."""
import functools

import pytest
import torch
import torch.func

from dragon.vm import torch as dt

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def plain(value):
    """Return tensors as their shape and numbers, inside structures too."""
    if isinstance(value, (torch.Tensor, dt.Tensor)):
        numbers = value.detach()
        numbers = numbers.double() if not numbers.is_complex() else numbers
        return tuple(value.shape), [round(item, 4) if isinstance(item, float) else item
                                    for item in numbers.reshape(-1).tolist()], value.requires_grad
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value


def make(T, *shape, offset=0.0):
    count = 1
    for size in shape:
        count *= size
    numbers = [((7 * index + 3) % 11 - 5) / 7 + offset for index in range(count)]
    return T.tensor(numbers, dtype=T.float64).reshape(shape)


@scenario
def grad_simple(T):
    return T.func.grad(lambda x: (x.sin() * x).sum())(make(T, 3))


@scenario
def grad_twice(T):
    return T.func.grad(lambda x: T.func.grad(lambda y: y ** 3)(x) * x)(T.tensor(2.0))


@scenario
def grad_thrice(T):
    g = T.func.grad
    return g(g(g(lambda x: x.sin() * x)))(T.tensor(0.5))


@scenario
def grad_argnums(T):
    f = T.func.grad(lambda x, y, z: (x * y).sum() * z.sum(), argnums=(0, 2))
    return f(make(T, 3), make(T, 3, offset=1), make(T, 2, offset=1)), \
        T.func.grad(lambda x, y: (x * y).sum(), argnums=-1)(make(T, 3), make(T, 3, offset=1))


@scenario
def grad_aux(T):
    return T.func.grad(lambda x: ((x ** 2).sum(), {"twice": x * 2}), has_aux=True)(make(T, 3))


@scenario
def grad_value(T):
    return T.func.grad_and_value(lambda x: (x ** 2).sum())(make(T, 3)), \
        T.func.grad_and_value(lambda x: ((x ** 2).sum(), x), has_aux=True)(make(T, 3))


@scenario
def grad_of_tree(T):
    def loss(params, x, scale=1.0):
        return ((x @ params["w"] + params["b"][0]) ** 2).sum() * scale
    params = {"w": make(T, 3, 2), "b": [make(T, 2), make(T, 4)]}
    return T.func.grad(loss)(params, make(T, 4, 3), scale=2.0)


@scenario
def grad_closing_over(T):
    """The result can be differentiated by what the function closes over."""
    w = make(T, 3).requires_grad_()
    found = T.func.grad(lambda x: (x ** 2 * w).sum())(make(T, 3))
    found.sum().backward()
    return found, w.grad


@scenario
def grad_of_what_requires_grad(T):
    x = make(T, 3).requires_grad_()
    found = T.func.grad(lambda y: (y ** 3).sum())(x)
    found.sum().backward()
    return found, x.grad


@scenario
def grad_without_recording(T):
    with T.no_grad():
        return T.func.grad(lambda x: (x ** 2).sum())(make(T, 3))


@scenario
def grad_constant(T):
    return T.func.grad(lambda x: T.ones(3).sum())(make(T, 3))


@scenario
def grad_not_scalar(T):
    return T.func.grad(lambda x: x)(make(T, 3))


@scenario
def grad_not_tensor(T):
    return T.func.grad(lambda x: 3.0)(make(T, 3))


@scenario
def grad_bad_argnums(T):
    return T.func.grad(lambda x: x.sum(), argnums=2)(make(T, 3))


@scenario
def grad_repeated_argnums(T):
    return T.func.grad(lambda x, y: x.sum(), argnums=(0, 0))(make(T, 3), make(T, 3))


@scenario
def grad_of_number(T):
    return T.func.grad(lambda x: x)(3.0)


@scenario
def vjp_simple(T):
    output, pull = T.func.vjp(lambda x, y: (x * y, x.sum()), make(T, 3), make(T, 3, offset=1))
    return output, pull((T.ones(3, dtype=T.float64), T.tensor(2.0, dtype=T.float64)))


@scenario
def vjp_one(T):
    output, pull, aux = T.func.vjp(lambda x: (x.exp(), x * 2), make(T, 3), has_aux=True)
    return output, pull(make(T, 3, offset=2)), pull(make(T, 3)), aux


@scenario
def vjp_wrong_structure(T):
    _, pull = T.func.vjp(lambda x: (x, x), make(T, 3))
    return pull(make(T, 3))


@scenario
def vjp_integers(T):
    return T.func.vjp(lambda x: x > 0, make(T, 3))


@scenario
def jvp_simple(T):
    return T.func.jvp(lambda x, y: (x * y.sin()).sum(0), (make(T, 2, 3), make(T, 3)), (make(T, 2, 3), make(T, 3)))


@scenario
def jvp_aux(T):
    return T.func.jvp(lambda x: ({"a": x * x, "b": T.ones(2)}, x), (make(T, 3),), (make(T, 3, offset=1),), has_aux=True)


@scenario
def jvp_not_tuple(T):
    return T.func.jvp(lambda x: x, make(T, 3), make(T, 3))


@scenario
def jvp_strict(T):
    return T.func.jvp(lambda x: T.ones(3), (make(T, 3),), (make(T, 3),), strict=True)


@scenario
def jvp_of_grad(T):
    """A product with the Hessian."""
    return T.func.jvp(T.func.grad(lambda x: (x ** 3).sum()), (make(T, 3),), (make(T, 3, offset=1),))


@scenario
def grad_of_jvp(T):
    return T.func.grad(lambda x: T.func.jvp(lambda y: (y ** 3).sum(), (x,), (T.ones(3, dtype=T.float64),))[1])(
        make(T, 3))


@scenario
def linearized(T):
    output, push = T.func.linearize(lambda x: x.sin() * 2, make(T, 3))
    return output, push(make(T, 3)), push(make(T, 3, offset=1))


@scenario
def jacobians(T):
    def f(x, y):
        return x.outer(y), {"s": (x * 2).sum()}
    x, y = make(T, 2), make(T, 3, offset=1)
    return [kind(f, argnums=which)(x, y) for kind in (T.func.jacrev, T.func.jacfwd) for which in (0, 1, (0, 1))]


@scenario
def jacobian_aux(T):
    return T.func.jacrev(lambda x: (x ** 2, x.sum()), has_aux=True, chunk_size=2)(make(T, 3)), \
        T.func.jacfwd(lambda x: (x ** 2, x.sum()), has_aux=True)(make(T, 3))


@scenario
def jacobian_complex(T):
    return T.func.jacrev(lambda x: x * 2)(T.ones(2, dtype=T.complex64))


@scenario
def hessians(T):
    return T.func.hessian(lambda x: (x ** 3).sum() + x.prod())(make(T, 3)), \
        T.func.hessian(lambda x, y: (x ** 2 * y).sum(), argnums=(0, 1))(make(T, 2), make(T, 2, offset=1))


@scenario
def jacobian_of_chunks(T):
    return T.func.jacrev(lambda x: x, chunk_size=0)


@scenario
def vmap_simple(T):
    return T.func.vmap(lambda x, y: x @ y)(make(T, 4, 3), make(T, 4, 3, offset=1)), T.vmap(T.sin)(make(T, 2, 2))


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


def model(T, scale=1.0):
    net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 1)).double()
    with T.no_grad():
        for index, param in enumerate(net.parameters()):
            param.copy_(make(T, *param.shape, offset=0.1 * index) * scale)
    return net


@scenario
def called(T):
    net = model(T)
    params = {name: param.detach() * 2 for name, param in net.named_parameters()}
    x = make(T, 5, 3)
    first, second = dict(list(params.items())[:2]), dict(list(params.items())[2:])
    return T.func.functional_call(net, params, x), T.func.functional_call(net, (first, second), (x,)), net(x).detach()


@scenario
def per_sample_gradients(T):
    net = model(T)
    params = {name: param.detach() for name, param in net.named_parameters()}

    def loss(params, x, y):
        return ((T.func.functional_call(net, params, (x[None],))[0] - y) ** 2).sum()
    return T.vmap(T.func.grad(loss), in_dims=(None, 0, 0))(params, make(T, 4, 3), make(T, 4, 1))


@scenario
def ensembles(T):
    nets = [model(T, scale) for scale in (1.0, 0.5, 2.0)]
    params, buffers = T.func.stack_module_state(nets)

    def run(params, buffers, x):
        return T.func.functional_call(nets[0], (params, buffers), (x,))
    return T.vmap(run, in_dims=(0, 0, None))(params, buffers, make(T, 2, 3)), params, buffers


@scenario
def stack_nothing(T):
    return T.func.stack_module_state([])


@scenario
def stack_unlike(T):
    return T.func.stack_module_state([model(T), T.nn.Linear(1, 1)])


@scenario
def call_twice_named(T):
    params = dict(model(T).named_parameters())
    return T.func.functional_call(model(T), (params, params), make(T, 1, 3))


@scenario
def norms_replaced(T):
    net = T.func.replace_all_batch_norm_modules_(T.nn.Sequential(T.nn.BatchNorm1d(3)))
    return net[0].running_mean, net[0].track_running_stats


@scenario
def inner_step(T):
    """MAML: a step inside the function whose gradient is taken."""
    def adapted(params, x):
        grads = T.func.grad(lambda p: ((x * p["a"]).sin() * p["b"]).sum())(params)
        params = {name: value - 0.1 * grads[name] for name, value in params.items()}
        return ((x * params["a"]).sin() * params["b"]).sum() ** 2
    return T.func.grad(adapted)({"a": make(T, 3), "b": make(T, 3, offset=1)}, make(T, 3))


@scenario
def inner_step_of_parameters(T):
    params = [make(T, 3).requires_grad_(), make(T, 3, offset=1).requires_grad_()]
    grads = T.func.grad(lambda ps: (ps[0] ** 2 * ps[1]).sum())(params)
    sum(((p - 0.1 * g) ** 3).sum() for p, g in zip(params, grads)).backward()
    return [param.grad for param in params]


@scenario
def custom_function(T):
    class Cube(T.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x ** 3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, dy):
            return dy * 3 * ctx.saved_tensors[0] ** 2
    return T.vmap(T.func.grad(lambda x: Cube.apply(x).sum()))(make(T, 2, 3)), \
        T.func.grad(T.func.grad(Cube.apply))(T.tensor(2.0))


def run(function, T):
    try:
        return plain(function(T))
    except Exception as error:
        return next(kind for kind in (NotImplementedError, TypeError, ValueError, RuntimeError, Exception)
                    if isinstance(error, kind))


@pytest.mark.parametrize("function", SCENARIOS, ids=lambda item: item.__name__)
def test_same_on_both(function):
    expected, found = run(function, torch), run(function, dt)
    assert found == expected


def test_empty_batches():
    for T in (torch, dt):
        assert tuple(T.vmap(lambda x: x.sin(), out_dims=1)(T.zeros(0, 3)).shape) == (3, 0)


def test_no_history_is_left():
    """Without anything outside, results do not hold the graph."""
    x = make(dt, 3)
    assert not dt.func.grad(lambda y: (y ** 2).sum())(x).requires_grad and not x.requires_grad
    assert dt.func.debug_unwrap(x) is x
    with pytest.raises(NotImplementedError, match="functionalize"):
        dt.func.functionalize(lambda y: y)


def numbers(T, *shape):
    count = 1
    for size in shape:
        count *= size
    return ((T.arange(float(count)) * 7) % 11 - 5).reshape(shape) / 3


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
    "promotion": (lambda T: lambda x: x[0, 0] + T.ones(2, dtype=T.float64), False),
    "several": (lambda T: lambda x: (x * 2, x.sum(), T.ones(2)), True),
    "numbers": (lambda T: lambda x: 2 - x / 3 ** x, True), "norm": (lambda T: lambda x: (x @ x.t()).trace(), False),
    "stack": (lambda T: lambda x: T.stack([x, x]), False), "in place": (lambda T: lambda x: (x * 1).relu_(), False),
    "iadd": (lambda T: lambda x: add_in_place(x * 2), False), "item": (lambda T: lambda x: set_item(x.clone()), False),
    "clamp": (lambda T: lambda x: x.clamp(min=0).masked_fill(x > 1, 9.0), True),
    "keyword": (lambda T: lambda x: x[0].clamp(min=T.tensor([[0.0], [0.5]])), True),
    "max": (lambda T: lambda x: T.maximum(x, x[0]).exp(), True), "sort": (lambda T: lambda x: x.sort(0)[0], False),
}


def add_in_place(x):
    x += 1
    return x


def set_item(x):
    x[0] = 5.0
    return x


@pytest.mark.parametrize("name", ONCE)
def test_called_once(name):
    make, expected = ONCE[name]
    calls = []

    def count(function):
        def counted(x):
            calls.append(1)
            return function(x)
        return counted
    found = plain(dt.vmap(count(make(dt)))(numbers(dt, 5, 3, 4)))
    once = len(calls) == 1
    assert found == plain(torch.vmap(make(torch))(numbers(torch, 5, 3, 4)))
    assert once == expected


@pytest.mark.parametrize("second", [(2,), (2, 4)], ids=str)
@pytest.mark.parametrize("first", [(2,), (3, 2)], ids=str)
@pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 0)], ids=str)
def test_products(first, second, dims):
    found = []
    for T in (torch, dt):
        shapes = [shape if dim is None else (5, *shape) for dim, shape in zip(dims, (first, second))]
        found.append(plain(T.vmap(lambda x, y: x @ y, in_dims=dims)(*(numbers(T, *shape) for shape in shapes))))
    assert found[0] == found[1]


GRADIENTS = {
    "pointwise": lambda T, w: lambda x: (x * w).sin(), "product": lambda T, w: lambda x: (x @ w).exp(),
    "function": lambda T, w: lambda x: make_scale(T)(x, w), "inner grad": lambda T, w: T.func.grad(
        lambda x: (x ** 2 * w).sum()), "sum": lambda T, w: lambda x: (x * w).softmax(0).sum() * x[0],
    "lookup": lambda T, w: lambda x: w[T.tensor([0, 0, 1, 3])] * x,
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_through(name):
    assert plain(gradient_through(dt, GRADIENTS[name])) == plain(gradient_through(torch, GRADIENTS[name]))


def test_masks():
    assert plain(mask(dt)) == plain(mask(torch))
