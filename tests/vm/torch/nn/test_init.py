"""`torch.nn.init` beside PyTorch's: the same numbers after the same seed."""
import math
import warnings

import numpy
import pytest

from dragon.vm import torch as mine
from harness.subresults import each

torch = pytest.importorskip("torch")
SHAPES = [(5, 7), (7, 5), (4, 3, 3, 3)]
EXACT = [("uniform_", {}), ("uniform_", {"a": -2.0, "b": 3.0}), ("constant_", {"val": 0.3}), ("ones_", {}),
         ("zeros_", {}),
         ("xavier_uniform_", {}), ("xavier_uniform_", {"gain": 2.0}), ("kaiming_uniform_", {}),
         ("kaiming_uniform_", {"a": math.sqrt(5), "mode": "fan_out"}), ("kaiming_uniform_", {"nonlinearity": "relu"})]
NEARLY = [("normal_", {}), ("normal_", {"mean": 1.0, "std": 0.1}), ("xavier_normal_", {}), ("kaiming_normal_", {}),
          ("kaiming_normal_", {"mode": "fan_out", "nonlinearity": "tanh"}), ("orthogonal_", {"gain": 2.0}),
          ("trunc_normal_", {}), ("trunc_normal_", {"std": 0.02}), ("trunc_normal_", {"a": 0.5, "b": 1.0}),
          ("trunc_normal_", {"mean": 0.1, "std": 0.3, "a": 0.8, "b": 2.0}), ("trunc_normal_", {"a": 2.0, "b": 3.0})]


def fill(guest, name, shape, options, **more):
    """Return a parameter that was filled after a fixed seed, and a number drawn afterwards."""
    guest.manual_seed(5)
    param = guest.nn.Parameter(guest.zeros(shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert getattr(guest.nn.init, name)(param, **options, **more) is param
    assert param.requires_grad and param.is_leaf and param.grad_fn is None
    return param.detach().numpy(), guest.rand(3).numpy()


@each("shape", SHAPES)
@each("name, options", EXACT)
def test_bit_for_bit(name, options, shape):
    """Fill with PyTorch's very numbers, and leave the stream where PyTorch leaves it."""
    for ours, theirs in zip(fill(mine, name, shape, options), fill(torch, name, shape, options)):
        numpy.testing.assert_array_equal(ours, theirs)


@each("shape", SHAPES)
@each("name, options", NEARLY)
def test_nearly(name, options, shape):
    """Fill with PyTorch's numbers up to rounding."""
    ours, theirs = fill(mine, name, shape, options), fill(torch, name, shape, options)
    numpy.testing.assert_allclose(ours[0], theirs[0], rtol=2e-5, atol=2e-6)
    numpy.testing.assert_array_equal(ours[1], theirs[1])


@pytest.mark.parametrize("name, shape, options", [
    ("eye_", (3, 5), {}), ("dirac_", (4, 2, 3), {}), ("dirac_", (4, 2, 3, 3), {"groups": 2}),
    ("dirac_", (2, 2, 3, 3, 3), {}), ("sparse_", (6, 4), {"sparsity": 0.4})])
def test_special(name, shape, options):
    """Fill with patterns."""
    ours, theirs = fill(mine, name, shape, options), fill(torch, name, shape, options)
    numpy.testing.assert_allclose(ours[0], theirs[0], rtol=2e-5, atol=2e-7)


def test_gains_and_fans():
    """Answer as PyTorch does."""
    for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"):
        assert mine.nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
    assert mine.nn.init.calculate_gain("leaky_relu", 0.2) == torch.nn.init.calculate_gain("leaky_relu", 0.2)
    for guest in (mine, torch):
        assert guest.nn.init._calculate_fan_in_and_fan_out(guest.zeros(4, 3, 2, 2)) == (12, 16)


@each("name, shape, options", [
    ("xavier_uniform_", (3,), {}), ("kaiming_normal_", (3,), {}), ("orthogonal_", (3,), {}), ("eye_", (3,), {}),
    ("dirac_", (3, 3), {}), ("dirac_", (3, 3, 3), {"groups": 2}), ("sparse_", (3,), {"sparsity": 0.1}),
    ("kaiming_uniform_", (3, 3), {"mode": "no"}), ("kaiming_uniform_", (3, 3), {"nonlinearity": "no"})])
def test_refusals(name, shape, options):
    """Refuse what PyTorch refuses."""
    for guest in (mine, torch):
        with pytest.raises(ValueError):
            getattr(guest.nn.init, name)(guest.zeros(shape), **options)


def test_generators_and_old_names():
    """Draw from a generator of one's own; warn under the old names."""
    results = []
    for guest in (mine, torch):
        param = guest.empty(3, 4)
        guest.nn.init.kaiming_uniform_(param, generator=guest.Generator().manual_seed(3))
        with pytest.warns(FutureWarning):
            guest.nn.init.constant(param[0], 2.0)
        results.append(param.numpy())
    numpy.testing.assert_array_equal(*results)
