"""Random numbers on the device: ranges, moments and distances of distributions, and that the seed alone decides."""
import numpy
import pytest

import dragon

COUNT = 6001
UNIFORM = ["float32", "float64", "float16", "bfloat16"]


def memory(dtype="float32", count=COUNT):
    """Return memory on the device."""
    return dragon.ops.empty([count], dtype=dtype, device="cuda")


def back(x):
    """Return a tensor's numbers."""
    return numpy.array(dragon.ops.cast(dragon.ops.to_device(x, "cpu"), "float64").numpy())


def full(value, count=COUNT):
    """Return one number many times, on the device."""
    return dragon.ops.to_device(dragon.tensor(numpy.full(count, value)), "cuda")


def distance(numbers, distribution):
    """Return the largest difference between the numbers' distribution and a function's."""
    ordered = numpy.sort(numbers)
    steps = numpy.arange(len(ordered) + 1) / len(ordered)
    wanted = distribution(ordered)
    return max(numpy.abs(wanted - steps[1:]).max(), numpy.abs(wanted - steps[:-1]).max())


# Kolmogorov's bound for a chance of one in ten thousand.
FAR = 2.23 / numpy.sqrt(COUNT)


@pytest.mark.parametrize("dtype", UNIFORM)
def test_uniform(dtype):
    """Numbers lie in [low, high) and are spread evenly."""
    numbers = back(dragon.ops.uniform(memory(dtype), 2.0, 3.0))
    assert numbers.min() >= 2 and numbers.max() < 3
    assert distance(numbers, lambda x: x - 2) < FAR + (0.01 if dtype == "bfloat16" else 0.001)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_continuous(dtype):
    """Distribution functions are those of the formulas."""
    exponential = back(dragon.ops.exponential(memory(dtype), 2.0))
    assert exponential.min() > 0 and distance(exponential, lambda x: 1 - numpy.exp(-2 * x)) < FAR
    cauchy = back(dragon.ops.cauchy(memory(dtype), 1.0, 2.0))
    assert distance(cauchy, lambda x: 0.5 + numpy.arctan((x - 1) / 2) / numpy.pi) < FAR
    normal = back(dragon.ops.normal(memory(dtype), 1.0, 2.0))
    assert abs(normal.mean() - 1) < 0.12 and abs(normal.std() - 2) < 0.1
    assert abs(((normal - 1) ** 4).mean() / 16 - 3) < 0.5
    logs = numpy.log(back(dragon.ops.log_normal(memory(dtype), 1.0, 0.5)))
    assert abs(logs.mean() - 1) < 0.03 and abs(logs.std() - 0.5) < 0.03


def test_coins():
    """Coins fall as often as they should; never at 0, always at 1."""
    for p in (0.0, 0.3, 1.0):
        tossed = back(dragon.ops.bernoulli_like(memory(), p))
        assert set(tossed) <= {0.0, 1.0} and abs(tossed.mean() - p) < (0.03 if 0 < p < 1 else 1e-9)
        assert abs(back(dragon.ops.bernoulli(full(p))).mean() - p) < (0.03 if 0 < p < 1 else 1e-9)
    assert abs(back(dragon.ops.geometric(memory(), 0.25)).mean() - 4) < 0.25


def test_integers():
    """All integers of a range come, and no others."""
    small = back(dragon.ops.random(memory("int32"), -3, 9))
    assert set(small) == set(range(-3, 9))
    large = back(dragon.ops.random(memory("int64"), 0, 1 << 60))
    assert large.min() >= 0 and large.max() < 1 << 60 and abs(large.mean() / (1 << 60) - 0.5) < 0.03
    assert set(back(dragon.ops.random(memory("bool")))) == {0.0, 1.0}


def test_rejection():
    """Means and variances of what is drawn by rejection."""
    for rate in (0.5, 4.0, 40.0):
        numbers = back(dragon.ops.poisson(full(rate)))
        assert abs(numbers.mean() - rate) < 5 * numpy.sqrt(rate / COUNT) and abs(numbers.var() / rate - 1) < 0.15
    for shape in (0.3, 1.0, 8.0):
        numbers = back(dragon.ops.standard_gamma(full(shape)))
        assert abs(numbers.mean() - shape) < 5 * numpy.sqrt(shape / COUNT) and numbers.min() > 0
    for count, p in ((10.0, 0.3), (100.0, 0.7)):
        numbers = back(dragon.ops.binomial(full(count), full(p)))
        spread = count * p * (1 - p)
        assert abs(numbers.mean() - count * p) < 5 * numpy.sqrt(spread / COUNT) and numbers.max() <= count
    assert numpy.isnan(back(dragon.ops.poisson(full(-1.0, 3)))).all()


def test_categories():
    """Categories come by their weights; those without weight never do."""
    weights = dragon.ops.to_device(dragon.tensor(numpy.array([[0.0, 1, 2, 0, 5], [3, 0, 0, 0, 1]])), "cuda")
    drawn = dragon.ops.to_device(dragon.ops.multinomial(weights, COUNT, True), "cpu").numpy()
    for row, chances in zip(drawn, ([0, 1 / 8, 2 / 8, 0, 5 / 8], [3 / 4, 0, 0, 0, 1 / 4])):
        shares = numpy.bincount(row, minlength=5) / COUNT
        assert numpy.abs(shares - chances).max() < 0.03 and (shares[numpy.array(chances) == 0] == 0).all()


@pytest.mark.parametrize("count", [0, 1, 2, 2048, 2049, 9001])
def test_permutation(count):
    """Every place comes once, in no order."""
    places = back(dragon.ops.randperm(count, device="cuda"))
    numpy.testing.assert_array_equal(numpy.sort(places), numpy.arange(count))
    assert count < 9 or abs(numpy.corrcoef(places, numpy.arange(count))[0, 1]) < 5 / numpy.sqrt(count)


@pytest.mark.parametrize("dtype", UNIFORM)
def test_dropout(dtype):
    """Mask, result and gradient belong together; what is kept is scaled."""
    x = dragon.ops.uniform(memory(dtype), 1.0, 2.0)
    y, mask = dragon.ops.native_dropout(x, 0.25)
    kept = back(mask) != 0
    assert abs(kept.mean() - 0.75) < 0.03
    numpy.testing.assert_allclose(back(y), back(x) * kept / 0.75, rtol=0.02)
    dx = dragon.ops.native_dropout_backward(x, mask, 2.0)
    numpy.testing.assert_allclose(back(dx), back(x) * kept * 2, rtol=1e-6)


def test_stateless():
    """Streams of a seed are the CPU's, to the bit."""
    seed = dragon.tensor(numpy.array([5, 77]))
    for name, more in (("uniform", {"low": -1.3, "high": 2.7}), ("normal", {"mean": 0.3, "std": 1.7}),
                       ("truncated_normal", {}), ("integers", {"low": -3, "high": 90})):
        op = getattr(dragon.ops, "stateless_" + name)
        found = op(dragon.ops.to_device(seed, "cuda"), [1003], **more)
        numpy.testing.assert_array_equal(back(found), back(op(seed, [1003], **more)), err_msg=name)
