"""The optimizer classes: every one finds the minimum of a bowl, saves and restores its state, and refuses bad input."""
import numpy
import pytest

import dragon
from dragon import optimizers
from harness.subresults import each

CLASSES = [optimizers.SGD, optimizers.ASGD, optimizers.Rprop, optimizers.Adam, optimizers.AdamW, optimizers.NAdam,
           optimizers.RAdam, optimizers.Adamax, optimizers.LAMB, optimizers.RMSprop, optimizers.Adagrad,
           optimizers.Adadelta]
MORE = [(optimizers.SGD, {"momentum": 0.9, "dampening": 0.1}), (optimizers.SGD, {"momentum": 0.9, "nesterov": True}),
        (optimizers.Adam, {"amsgrad": True}), (optimizers.RMSprop, {"momentum": 0.5, "centered": True})]
ALL = [(kind, {}) for kind in CLASSES] + MORE


def make(kind, options):
    """Return three parameters, of which the last never gets a gradient, and their optimizer."""
    params = [dragon.tensor(numpy.full(shape, 2.0, "float32"), requires_grad=True) for shape in ((3,), (2, 2), (4,))]
    return params, kind(params, lr=0.05, **options)


def loss_of(params):
    """Return the sum of squares of the first two parameters."""
    return sum(dragon.math.sum(param * param) for param in params[:2])


def step(params, optimizer):
    optimizer.zero_grad()
    loss = loss_of(params)
    loss.backward()
    optimizer.step()
    return loss.item()


@each("kind, options", ALL, ids=lambda value: getattr(value, "__name__", str(value)))
def test_the_loss_falls(kind, options):
    params, optimizer = make(kind, options)
    losses = [step(params, optimizer) for _ in range(60)]
    assert losses[-1] < losses[0] * (0.999 if kind is optimizers.Adadelta else 0.9)
    assert numpy.array_equal(numpy.asarray(params[2].detach()), numpy.full(4, 2.0))


@each("kind, options", ALL, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_restored_optimizer_goes_on_alike(kind, options):
    params, optimizer = make(kind, options)
    for _ in range(3):
        step(params, optimizer)
    twins, other = make(kind, options)
    for twin, param in zip(twins, params):
        dragon.ops.copy(param.detach(), out=twin.detach())
    other.load_state_dict(optimizer.state_dict())
    for _ in range(3):
        assert step(params, optimizer) == step(twins, other)


def test_the_rate_may_change():
    params, optimizer = make(optimizers.SGD, {})
    optimizer.lr = 0.0
    assert step(params, optimizer) == step(params, optimizer)


def test_gradients_are_clipped():
    params, _ = make(optimizers.SGD, {})
    loss_of(params).backward()
    assert optimizers.clip_grad_norm(params, 1.0).item() == pytest.approx(numpy.sqrt(7 * 16), rel=1e-6)
    total = sum(float((numpy.asarray(param.grad) ** 2).sum()) for param in params[:2])
    assert total == pytest.approx(1.0, rel=1e-5)
    optimizers.clip_grad_value(params, 0.1)
    assert float(numpy.asarray(params[0].grad).max()) == pytest.approx(0.1)


def test_bad_arguments():
    leaf = dragon.tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match="SGD: got no parameters"):
        optimizers.SGD([])
    with pytest.raises(ValueError, match=r"Adam: got Tensor as params\[0\], expected a leaf"):
        optimizers.Adam([leaf * 2])
    with pytest.raises(ValueError, match="lr = -1"):
        optimizers.Adam([leaf], lr=-1)
    with pytest.raises(ValueError, match="3 parameters"):
        optimizers.Adam([leaf]).load_state_dict(make(optimizers.Adam, {})[1].state_dict())
