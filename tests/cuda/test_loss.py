"""Losses on the device: many classes, classes that are not the last axis, smoothing, weights and wrong targets."""
import numpy
import pytest

import dragon
from harness import engine


def tensor(array, dtype, device):
    """Return a tensor on a device, floats in that dtype."""
    made = dragon.from_numpy(array)
    if array.dtype.kind == "f":
        made = dragon.ops.cast(made, getattr(dragon, dtype))
    return dragon.ops.to_device(made, device)


def run(device, dtype, function, *arrays):
    """Return a function's results on a device as arrays, and its first input's gradient."""
    x, *others = [None if item is None else tensor(item, dtype, device) for item in arrays]
    x.requires_grad = True
    y = function(x, *others)
    dx, = engine.grad([y], [x], [tensor(numpy.ones(tuple(y.shape)), dtype, device)])
    return [engine.array(dragon.ops.to_device(item.detach(), "cpu")).astype("float64") for item in (y, dx)]


def compared(function, dtype, *arrays, room):
    """Assert that values and gradients are the CPU's."""
    for mine, theirs in zip(run("cuda", dtype, function, *arrays), run("cpu", dtype, function, *arrays), strict=True):
        most = max(1.0, float(numpy.abs(theirs[numpy.isfinite(theirs)]).max(initial=0)))
        numpy.testing.assert_allclose(mine, theirs, rtol=0, atol=room * most)


@pytest.mark.parametrize("dtype, room", [("float32", 3e-6), ("float64", 1e-13), ("bfloat16", 2e-2)])
@pytest.mark.parametrize("shape", [(5, 10), (3, 1500), (2, 40004), (2, 7, 33), (2, 600, 4)])
@pytest.mark.parametrize("smoothing, weighted", [(0.0, False), (0.1, True)])
def test_cross_entropy(device, dtype, room, shape, smoothing, weighted):
    """Rows of classes for a warp and for a block, and columns of them; one target is ignored."""
    rng = numpy.random.default_rng(0)
    x, weight = 3 * rng.standard_normal(shape), rng.random(shape[1]) + 0.5
    target = rng.integers(0, shape[1], (shape[0], *shape[2:]))
    target[(0,) * target.ndim] = -100

    def loss(x, target, weight):
        return dragon.ops.cross_entropy(x, target, weight, reduction="none", label_smoothing=smoothing)
    compared(loss, dtype, x, target, weight if weighted else None, room=room)


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
def test_wrong_targets(device, name):
    """A target that is no class makes the loss at its place NaN; nothing else is touched."""
    x = numpy.random.default_rng(0).standard_normal((4, 6))
    target = numpy.array([1, 6, -3, 2])
    y, dx = run(device, "float32", lambda x, target: getattr(dragon.ops, name)(x, target, reduction="none"), x, target)
    assert numpy.isnan(y).tolist() == [False, True, True, False]
    assert numpy.isfinite(dx[[0, 3]]).all()


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.5, numpy.inf])
def test_cdist(device, p):
    """Tiles of pairs and their edges, for every kind of distance."""
    rng = numpy.random.default_rng(0)
    a, b = rng.standard_normal((2, 19, 70)), rng.standard_normal((2, 17, 70))
    compared(lambda a, b: dragon.ops.cdist(a, b, p), "float32", a, b, room=1e-5)


@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize("blank", [0, 4])
def test_ctc(device, zero_infinity, blank):
    """Samples of several lengths, with repeated labels, the blank among them, and one too long for its time."""
    rng = numpy.random.default_rng(0)
    logits = rng.standard_normal((12, 3, 5))
    log_probs = logits - numpy.log(numpy.exp(logits).sum(-1, keepdims=True))
    targets, times, lengths = numpy.array([1, 1, 2, 3, 4, 2, 4, 3, 3, 3, 3]), [12, 9, 5], [4, 3, 4]
    results = []
    for place in (device, "cpu"):
        x, labels, inputs, outputs, dy = [tensor(numpy.array(item), "float32", place)
                                          for item in (log_probs, targets, times, lengths, [1.0, 0.5, 2.0])]
        _, loss, alpha = dragon.ops.ctc_loss_terms(x, labels, inputs, outputs, blank, False)
        dx = dragon.ops.ctc_loss_backward(dy, loss, alpha, x, labels, inputs, outputs, blank, zero_infinity)
        results.append([engine.array(dragon.ops.to_device(item, "cpu")) for item in (loss, dx)])
    for mine, theirs in zip(*results, strict=True):
        numpy.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)
