"""A gradient that Python code returns has to fit: it is refused where PyTorch refuses it, and summed where it sums."""
import pytest
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each

SHAPES = [((3,), (2,)), ((3,), (1,)), ((3,), ()), ((3,), (3,)), ((3,), (2, 3)), ((3,), (1, 3)), ((2, 3), (3,)),
          ((2, 3), (6,)), ((1, 3), (3,)), ((1, 3), (2, 3)), ((), (1,)), ((), (3,)), ((1,), ()), ((3,), (0,)),
          ((0,), (1,)), ((2, 3), (3, 2)), ((2, 1), (2, 5))]


def by_function(t, x, made):
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return made

    return Double.apply(x)


def by_hook(t, x, made):
    y = x * 1
    y.register_hook(lambda grad: made)
    return y * 2


def by_leaf_hook(t, x, made):
    x.register_hook(lambda grad: made)
    return x * 2


def by_prehook(t, x, made):
    y = x * 1
    y.grad_fn.register_prehook(lambda grads: (made,))
    return y * 2


def by_posthook(t, x, made):
    y = (x * 1).abs()
    y.grad_fn.register_hook(lambda inputs, outputs: (made,))
    return y


def by_module_hook(t, x, made):
    module = t.nn.Identity()
    module.register_full_backward_hook(lambda module, inputs, outputs: (made,))
    return module(x * 1)


WAYS = [by_function, by_hook, by_leaf_hook, by_prehook, by_posthook, by_module_hook]


def outcome(t, way, shape, made):
    """Return the gradient that comes out, or the kind of error."""
    x = t.zeros(shape, requires_grad=True)
    try:
        way(t, x, made(t)).sum().backward()
    except RuntimeError:
        return RuntimeError
    return str(x.grad.dtype), x.grad.tolist()


@pytest.mark.parametrize("way", WAYS)
def test_shapes(way):
    for shape, given in SHAPES:
        mine, genuine = (outcome(t, way, shape, lambda t: t.ones(given)) for t in (dragon_torch, torch))
        assert mine == genuine, (shape, given)


@each("dtype", ["float64", "int64", "complex64"])
@each("way", WAYS)
def test_dtypes(way, dtype):
    mine, genuine = (outcome(t, way, (3,), lambda t: t.ones(3, dtype=getattr(t, dtype))) for t in (dragon_torch, torch))
    assert mine == genuine
