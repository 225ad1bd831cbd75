"""Operands without elements: the numbers, and the running statistics, that genuine PyTorch leaves."""
import numpy as np
import pytest
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each

NORMS = [("batch_norm", shape) for shape in ((0, 3), (2, 3, 0), (0, 3, 4), (0, 3, 2, 2))] + [
    ("instance_norm", (2, 3, 0)), ("instance_norm", (2, 3, 0, 4))]


def normalised(t, name, shape, training, second):
    """Return a result, the statistics and the gradients."""
    numbers = np.arange(3.0) + 1
    mean, variance, weight, bias = (t.tensor(numbers) for _ in range(4))
    x = t.zeros(shape, dtype=t.float64)
    leaves = [leaf.requires_grad_() for leaf in (x, weight, bias)]
    y = getattr(t.nn.functional, name)(x, mean, variance, weight, bias, training)
    grads = t.autograd.grad(y.sum(), leaves, create_graph=second)
    return [value.detach().numpy() for value in (y, mean, variance, *grads)]


@each("second", [False, True])
@each("training", [False, True])
@each("name, shape", NORMS)
def test_statistics_stay(name, shape, training, second):
    genuine = normalised(torch, name, shape, training, False)
    for mine, expected in zip(normalised(dragon_torch, name, shape, training, second), genuine):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 1)])
def test_one_value_per_channel_is_refused_even_of_no_samples(shape):
    for t in (torch, dragon_torch):
        with pytest.raises(ValueError):
            t.nn.functional.instance_norm(t.zeros(shape))


@each("shape", [(0,), (2, 0), (0, 2), (1, 0, 3)])
@each("of", [(5,), (2, 3), ()])
def test_gather_of_no_places(shape, of):
    for t in (torch, dragon_torch):
        x = t.ones(of, requires_grad=True)
        made = t.gather(x, 0, t.zeros(shape, dtype=t.int64))
        made.sum().backward()
        assert tuple(made.shape) == shape and x.grad.eq(0).all()


@each("arguments", [{}, {"range": (0.0, 0.0)}, {"range": (-1.0, 1.0)}, {"density": True}])
@each("count", [0, 1, 9])
def test_histogram(count, arguments):
    numbers = np.random.default_rng(0).standard_normal(count)
    for mine, genuine in zip(dragon_torch.histogram(dragon_torch.tensor(numbers), 4, **arguments),
                             torch.histogram(torch.tensor(numbers), 4, **arguments)):
        np.testing.assert_allclose(mine.numpy(), genuine.numpy(), 1e-12, 1e-12)


REFUSED = [
    lambda t: t.histogramdd(t.tensor([[1.0, float("nan")], [0, 1]]), [3, 3]),
    lambda t: t.histogramdd(t.tensor([[1.0, 2], [0, 1]]), [3, 3], range=[1.0, 0.0, 0.0, 1.0]),
    lambda t: t.histogramdd(t.tensor([[1.0, 2], [0, 1]]), [3, 3], range=[1.0, 0.0]),
    lambda t: t.histogramdd(t.tensor([[1.0, 2], [0, 1]]), [3, 0]),
    lambda t: t.histogramdd(t.tensor([[1, 2], [0, 1]]), [3, 2]),
    lambda t: t.histogramdd(t.tensor([[0.0], [0.5]]), [2], weight=t.ones(3)),
    lambda t: t.histogram(t.tensor([0.0, float("inf")]), 3),
    lambda t: t.histogram(t.tensor([0.0, 1.0]), 3, range=(1.0, 0.0)),
]


@pytest.mark.parametrize("call", REFUSED, ids=range(len(REFUSED)))
def test_histograms_refuse_what_genuine_refuses(call):
    for t in (torch, dragon_torch):
        with pytest.raises(RuntimeError):
            call(t)
