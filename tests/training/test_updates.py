"""Optimizer updates against torch.optim: eight steps of odd-sized, strided and mixed parameters, states included."""
import numpy
import pytest
import torch

import dragon
from harness.subresults import each

ops = dragon.ops
SHAPES = [(0,), (1,), (7,), (33, 5), (16, 4, 3, 3), (17001,), ()]
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
# Eight steps of rounding, relative to numbers around 1; PyTorch rounds 16-bit states after every operation, we once.
NEAR = {torch.float32: 3e-5, torch.float64: 1e-12, torch.bfloat16: 0.3, torch.float16: 0.1}


def ours(tensor):
    """Return a tensor of ours with the numbers of one of theirs."""
    wide = tensor.detach().float() if tensor.dtype == torch.bfloat16 else tensor.detach()
    made = dragon.from_numpy(numpy.array(wide.numpy()))
    return ops.cast(made, getattr(dragon, str(tensor.dtype).split(".")[1]))


def numbers(tensor):
    """Return a tensor of either kind as a NumPy array of float64."""
    if isinstance(tensor, torch.Tensor):
        return tensor.detach().double().numpy()
    return numpy.array(ops.cast(tensor, dragon.float64))


class States:
    """What an update keeps between steps, made on first use."""

    def __init__(self, params):
        self.params = params
        self.kept = {}

    def like(self, name, value=0.0):
        return self.kept.setdefault(name, [ops.full_like(p, value) for p in self.params])

    def number(self, name, value=0.0):
        return self.kept.setdefault(name, [ops.full((), value, dtype=dragon.float32) for _ in self.params])


def adam(p, g, s, first, amsgrad=False, **options):
    ops.adam_step(p, g, s.like("exp_avg"), s.like("exp_avg_sq"), s.like("max_exp_avg_sq") if amsgrad else [],
                  s.number("step"), amsgrad=amsgrad, **options)


def two_moments(name, second="exp_avg_sq"):
    def step(p, g, s, first, **options):
        getattr(ops, name)(p, g, s.like("exp_avg"), s.like(second), s.number("step"), **options)
    return step


def nadam(p, g, s, first, **options):
    products = s.number("mu_product", 1.0)
    ops.nadam_step(p, g, s.like("exp_avg"), s.like("exp_avg_sq"), products, s.number("step"), **options)


def sgd(p, g, s, first, momentum=0.0, **options):
    ops.sgd_step(p, g, s.like("momentum_buffer") if momentum else [], first=first, momentum=momentum, **options)


def asgd(p, g, s, first, **options):
    ops.asgd_step(p, g, s.like("ax"), s.number("eta", 0.01), s.number("mu", 1.0), s.number("step"), **options)


def rprop(p, g, s, first, **options):
    ops.rprop_step(p, g, s.like("prev"), s.like("step_size", 0.01), **options)


def rmsprop(p, g, s, first, momentum=0.0, centered=False, **options):
    ops.rmsprop_step(p, g, s.like("square_avg"), s.like("momentum_buffer") if momentum else [],
                     s.like("grad_avg") if centered else [], momentum=momentum, centered=centered, **options)


def adagrad(p, g, s, first, **options):
    ops.adagrad_step(p, g, s.like("sum"), s.number("step"), **options)


def adadelta(p, g, s, first, **options):
    ops.adadelta_step(p, g, s.like("square_avg"), s.like("acc_delta"), **options)


OPTIM = torch.optim
EPS = {"eps": 1e-3}  # 16-bit squares vanish: a larger eps keeps the comparison about formulas
CASES = [
    (OPTIM.SGD, sgd, [{"lr": 0.1}, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}, {"lr": 0.05, "momentum": 0.9},
                      {"lr": 0.05, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1},
                      {"lr": 0.05, "momentum": 0.9, "nesterov": True}]),
    (OPTIM.Adam, adam, [EPS, {"lr": 0.01, "weight_decay": 0.1, "amsgrad": True, **EPS}, {"maximize": True, **EPS}]),
    (OPTIM.AdamW, adam, [{"lr": 0.01, "weight_decay": 0.1, **EPS}]),
    (OPTIM.NAdam, nadam, [EPS, {"weight_decay": 0.1, **EPS}]),
    (OPTIM.RAdam, two_moments("radam_step"), [EPS, {"lr": 0.01, "weight_decay": 0.1, **EPS}]),
    (OPTIM.Adamax, two_moments("adamax_step", "exp_inf"), [EPS, {"weight_decay": 0.1, "maximize": True, **EPS}]),
    (OPTIM.RMSprop, rmsprop, [EPS, {"momentum": 0.9, "weight_decay": 0.1, **EPS},
                              {"momentum": 0.9, "centered": True, **EPS}, {"centered": True, **EPS}]),
    (OPTIM.Adagrad, adagrad, [EPS, {"lr_decay": 0.1, "weight_decay": 0.1, **EPS}]),
    (OPTIM.Adadelta, adadelta, [EPS, {"lr": 0.5, "weight_decay": 0.1, "maximize": True, **EPS}]),
    (OPTIM.Rprop, rprop, [{}, {"maximize": True}]),
    (OPTIM.ASGD, asgd, [{}, {"t0": 3.0, "weight_decay": 0.1}]),
]
FLAT = [pytest.param(theirs, mine, options, id=f"{theirs.__name__} {options}")
        for theirs, mine, several in CASES for options in several]


@each("dtype", DTYPES, ids=str)
@each("theirs, mine, options", FLAT)
def test_steps_agree_with_torch(theirs, mine, options, dtype):
    random = torch.Generator().manual_seed(0)
    start = [torch.randn(shape, generator=random).to(dtype) for shape in SHAPES]
    start[4] = start[4].to(memory_format=torch.channels_last)
    params = [torch.nn.Parameter(p.clone()) for p in start]
    optimizer = theirs(params, foreach=False, **options)
    copies = [ours(p) for p in start]
    states = States(copies)
    extra = {"decoupled": True} if theirs is OPTIM.AdamW else {}
    defaults = {"lr": optimizer.defaults["lr"]} if "lr" not in options and theirs is not OPTIM.Rprop else {}
    for step in range(8):
        grads = [(torch.randn(shape, generator=random) * 10 ** (step % 3 - 1)).to(dtype) for shape in SHAPES]
        for param, grad in zip(params, grads):
            param.grad = grad.clone()
        optimizer.step()
        mine(copies, [ours(grad) for grad in grads], states, step == 0, **defaults, **options, **extra)
    near = NEAR[dtype]
    if theirs in (OPTIM.NAdam, OPTIM.ASGD):
        near = max(near, 1e-7)  # both keep a factor of theirs in float32
    for param, copy in zip(params, copies):
        numpy.testing.assert_allclose(numbers(copy), numbers(param), rtol=near, atol=near)
    for name, kept in states.kept.items():
        for param, state in zip(params, kept):
            if dtype in (torch.float32, torch.float64):
                wanted = numbers(optimizer.state[param][name])
                numpy.testing.assert_allclose(numbers(state), wanted, rtol=near, atol=near)


def test_lamb_scales_adam_by_norms():
    random = numpy.random.default_rng(0)
    start = [random.standard_normal(shape) for shape in [(20000,), (7,), (5, 5)]]
    params = [dragon.from_numpy(p.copy()) for p in start]
    m, v = [ops.zeros_like(p) for p in params], [ops.zeros_like(p) for p in params]
    count = [ops.zeros(())]
    wanted, means, squares = start, [0] * 3, [0] * 3
    for step in range(1, 5):
        grads = [random.standard_normal(p.shape) for p in start]
        ops.lamb_step(params, [dragon.from_numpy(g) for g in grads], m, v, count, lr=0.1, weight_decay=0.01)
        for i, (p, g) in enumerate(zip(wanted, grads)):
            means[i] = 0.9 * means[i] + 0.1 * g
            squares[i] = 0.999 * squares[i] + 0.001 * g * g
            update = means[i] / (1 - 0.9 ** step) / (numpy.sqrt(squares[i] / (1 - 0.999 ** step)) + 1e-6) + 0.01 * p
            wanted[i] = p - 0.1 * numpy.linalg.norm(p) / numpy.linalg.norm(update) * update
    for mine, right in zip(params, wanted):
        numpy.testing.assert_allclose(numbers(mine), right, rtol=1e-10)
    assert float(numbers(count[0])) == 4


def test_mixed_dtypes_and_strides_in_one_call():
    random = numpy.random.default_rng(0)
    wide = random.standard_normal((6, 8))
    params = [dragon.from_numpy(wide.copy())[:, ::2], dragon.from_numpy(wide.astype("float32")),
              ops.t(dragon.from_numpy(wide.copy()))]
    grads = [ops.ones(p.shape, dtype=p.dtype) for p in params]
    before = [numbers(p) for p in params]
    ops.sgd_step(params, grads, [], lr=0.5)
    for param, old in zip(params, before):
        numpy.testing.assert_allclose(numbers(param), old - 0.5, rtol=1e-6)


@each("p", [2.0, 1.0, 3.0, 0.0, float("inf")])
@each("dtype", [torch.float32, torch.float64], ids=str)
def test_clipping_by_norm(p, dtype):
    random = torch.Generator().manual_seed(0)
    grads = [torch.randn(shape, generator=random).to(dtype) for shape in SHAPES]
    for most in (0.5, 1e6):
        params = [torch.nn.Parameter(torch.zeros_like(g)) for g in grads]
        for param, grad in zip(params, grads):
            param.grad = grad.clone()
        mine = [ours(g) for g in grads]
        near = {"rtol": 1e-5 if dtype == torch.float32 else 1e-12}
        total = torch.nn.utils.clip_grad_norm_([q for q in params if q.numel()], most, p)
        numpy.testing.assert_allclose(numbers(ops.clip_grad_norm(mine, most, p)), numbers(total), **near)
        for param, grad in zip(params, mine):
            numpy.testing.assert_allclose(numbers(grad), numbers(param.grad), **near)
    norms = ops.foreach_norm([ours(g) for g in grads], p)
    wanted = [torch.linalg.vector_norm(g, p) if g.numel() else torch.zeros(()) for g in grads]
    numpy.testing.assert_allclose(numbers(norms), [numbers(w) for w in wanted], **near)


def test_clipping_passes_nan_on():
    grads = [dragon.from_numpy(numpy.array([1.0, float("nan")])), ops.ones((3,), dtype=dragon.float64)]
    assert numpy.isnan(numbers(ops.clip_grad_norm(grads, 1.0)))
    assert numpy.isnan(numbers(grads[1])).all()
    with pytest.raises(RuntimeError, match="clip_grad_norm.*norm is nan"):
        ops.clip_grad_norm(grads, 1.0, 2.0, True)


def test_writes_are_counted():
    param = ops.ones((3,))
    param.requires_grad = True
    loss = ops.sum(ops.sin(param))
    with pytest.raises(RuntimeError, match="sgd_step: got argument 'params' that requires grad"):
        ops.sgd_step([param], [ops.ones((3,))], [], lr=0.1)
    with dragon.no_grad():
        ops.sgd_step([param], [ops.ones((3,))], [], lr=0.1)
    with pytest.raises(RuntimeError, match="sin"):
        dragon.grad(loss, [param])


def test_wrong_lists_say_what_is_wrong():
    p = [ops.ones((3,)), ops.ones((2, 2))]
    with pytest.raises(ValueError, match="sgd_step: got 1 tensors in 'grads', expected 2"):
        ops.sgd_step(p, p[:1], [], lr=0.1)
    with pytest.raises(ValueError, match=r"sgd_step: got grads\[1\] of shape \(3,\)"):
        ops.sgd_step(p, [p[0], p[0]], [], lr=0.1)
    with pytest.raises(ValueError, match="sgd_step: got no momentum_buffers"):
        ops.sgd_step(p, p, [], lr=0.1, momentum=0.9)
    with pytest.raises(ValueError, match="nesterov"):
        ops.sgd_step(p, p, [], lr=0.1, nesterov=True)
    with pytest.raises(TypeError, match=r"adadelta_step: got params\[0\] of int64"):
        ops.adadelta_step([ops.ones((2,), dtype=dragon.int64)], [p[0]], [], [])
    with pytest.raises(ValueError, match=r"adam_step: got steps\[0\] of shape \(2, 2\)"):
        ops.adam_step(p, p, p, p, [], [p[1]])
    with pytest.raises(ValueError, match="adam_step: got no max_exp_avg_sqs"):
        ops.adam_step(p, p, p, p, [], [ops.zeros(())], amsgrad=True)
    with pytest.raises(ValueError, match="clip_grad_norm"):
        ops.clip_grad_norm(p, 1.0, -2.0)
    ops.sgd_step([], [], [], lr=0.1)
    assert float(numbers(ops.clip_grad_norm([], 1.0))) == 0
