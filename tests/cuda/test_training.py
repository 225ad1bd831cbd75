"""Optimizer steps on the device: sizes around chunks and packs, sets that need several launches, odd addresses."""
import numpy
import pytest

import dragon

STEPS = {
    "sgd": (1, False, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True}),
    "adam": (3, True, {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}),
    "radam": (2, True, {"lr": 0.1}),
    "adamax": (2, True, {"lr": 0.1}),
    "lamb": (2, True, {"lr": 0.1, "weight_decay": 0.1}),
    "rprop": (2, False, {}),
    "rmsprop": (3, False, {"lr": 0.1, "momentum": 0.9, "centered": True}),
    "adagrad": (1, True, {"lr": 0.1}),
    "adadelta": (2, False, {"lr": 0.1}),
}
TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "bfloat16": 0.05}


def there(array, dtype, device):
    """Return a tensor of some dtype on a device."""
    return dragon.ops.to_device(dragon.ops.cast(dragon.tensor(array), dtype), device)


def back(x):
    """Return a tensor's numbers."""
    return numpy.array(dragon.ops.cast(dragon.ops.to_device(x, "cpu"), "float64").numpy())


def lists(device, dtype, sizes, states):
    """Return parameters, gradients and states of those sizes; a size of None is a slice at an odd address."""
    random = numpy.random.default_rng(0)

    def some(size, least):
        array = numpy.abs(random.normal(size=9 if size is None else size)) + least
        made = there(array, dtype, device)
        return dragon.ops.slice(made, 0, 1, 8) if size is None else made
    # The first state may be a mean of squares, which is no smaller than the square of a mean.
    return [[some(size, 20 if place == 2 else 0.1) for size in sizes] for place in range(2 + states)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", STEPS)
def test_step(name, dtype):
    """A step gives what the CPU's gives."""
    states, counts, options = STEPS[name]
    sizes = [1, 0, 7, 8192, 8193, None] if dtype == "float32" else [1, 7, None]
    found = []
    for device in ("cpu", "cuda"):
        made = lists(device, dtype, sizes, states)
        steps = [[dragon.tensor(numpy.float32(2)) for _ in sizes]] if counts else []
        getattr(dragon.ops, name + "_step")(*made, *steps, **options)
        found.append([back(x) for some in made for x in some])
    for mine, wanted in zip(found[1], found[0], strict=True):
        numpy.testing.assert_allclose(mine, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_many_tensors():
    """Sets that are longer than a launch's table are split."""
    params, grads = ([there(numpy.full(3, value + i), "float32", "cuda") for i in range(300)] for value in (0.0, 1.0))
    dragon.ops.sgd_step(params, grads, [], lr=0.5)
    for i, param in enumerate(params):
        numpy.testing.assert_array_equal(back(param), numpy.full(3, i - 0.5 * (i + 1)))


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, numpy.inf])
def test_norms(p):
    """Norms of tensors of all sizes, and of those with NaN."""
    random = numpy.random.default_rng(0)
    arrays = [random.normal(size=size) for size in (1, 7, 8192, 20001)]
    arrays.append(numpy.array([1.0, numpy.nan, 3.0]))
    norms = back(dragon.ops.foreach_norm([there(array, "float64", "cuda") for array in arrays], p))
    numpy.testing.assert_allclose(norms[:4], [numpy.linalg.norm(array, p) for array in arrays[:4]], rtol=1e-12)
    assert numpy.isnan(norms[4]) or p == 0


def test_clipping():
    """Gradients on the device are scaled in place by their common norm."""
    grads = [there(numpy.full(5, 3.0), "float32", "cuda"), there(numpy.full(4, 4.0), "float32", "cuda")]
    norm = dragon.ops.clip_grad_norm(grads, 1.0)
    length = numpy.sqrt(5 * 9 + 4 * 16)
    numpy.testing.assert_allclose(back(norm), length, rtol=1e-6)
    numpy.testing.assert_allclose(back(grads[0]), 3 / length, rtol=1e-5)
