"""`torch.func` beside genuine PyTorch: each scenario on both shows the same numbers or error class."""
import torch
import torch.func  # noqa: F401

from dragon.vm import torch as dt
from harness.sides import outcome
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


@each("function", SCENARIOS, ids=lambda item: item.__name__)
def test_same_on_both(function):
    assert outcome(function, dt, 4, True) == outcome(function, torch, 4, True)


def test_no_history_is_left():
    """Without anything outside, results do not hold the graph."""
    x = make(dt, 3)
    assert not dt.func.grad(lambda y: (y ** 2).sum())(x).requires_grad and not x.requires_grad
    assert dt.func.debug_unwrap(x) is x
    assert (dt.func.functionalize(lambda y: y.clone().mul_(2))(x) == 2 * x).all()
