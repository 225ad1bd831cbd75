"""Random subscripts, read and written, as PyTorch has them; slices of negative step as NumPy has them."""
import random

import numpy
import pytest

import dragon
from harness.oracle import need_torch

ROUNDS = 60


class Subscript:
    """A random subscript for a shape, once for the engine and once for PyTorch."""

    def __init__(self, seed):
        self.choose = random.Random(seed)
        self.numbers = numpy.random.default_rng(seed)
        self.shape = [self.choose.choice((0, 1, 2, 3, 4, 5)) for _ in range(self.choose.randint(0, 4))]
        self.axis, self.ours, self.theirs, self.repeats = 0, [], [], False
        kinds = ["integer", "slice", "slice", "none", "ellipsis"]
        if self.choose.random() < 0.6:
            kinds += ["tensor", "scalar", "mask", "bool", "list"]
        self.common = self.choose.choice(((2,), (3,), (2, 3), (1,)))
        for _ in range(self.choose.randint(1, 5)):
            self.add(self.choose.choice(kinds))

    def both(self, ours, theirs=None):
        """Append an item for either side."""
        self.ours.append(ours)
        self.theirs.append(ours if theirs is None else theirs)

    def arrays(self, array):
        """Append an index as a tensor of either side."""
        self.repeats = True
        self.both(dragon.from_numpy(array), need_torch().from_numpy(array))

    def size(self):
        """Return the size of the axis that the next item is about."""
        return self.shape[self.axis] if self.axis < len(self.shape) else 2

    def add(self, kind):
        """Append a random item."""
        size = self.size()
        if kind == "none":
            self.ours.append(None)
            self.theirs.append(None)
            return
        if kind == "ellipsis" or kind == "bool":
            if kind == "bool" or Ellipsis not in [item for item in self.ours if item is Ellipsis]:
                self.both(Ellipsis if kind == "ellipsis" else self.choose.random() < 0.7)
            self.repeats |= kind == "bool"
            return
        if kind == "integer":
            self.both(self.choose.randint(-size - 1, size))
        elif kind == "slice":
            bounds = [self.choose.choice((None, self.choose.randint(-6, 6))) for _ in range(2)]
            self.both(slice(*bounds, self.choose.choice((None, 1, 2, 3))))
        elif kind == "mask":
            axes = self.choose.choice((1, 1, 2))
            sizes = [self.shape[a] if a < len(self.shape) else 2 for a in range(self.axis, self.axis + axes)]
            self.arrays(self.numbers.random(sizes) < 0.5)
            self.axis += axes - 1
        else:
            shape = () if kind == "scalar" else self.choose.choice((self.common, self.common[-1:]))
            places = self.numbers.integers(-max(size, 1), max(size, 1), shape)
            if kind == "list":
                self.repeats = True
                self.both(places.tolist())
            else:
                self.arrays(places.astype(self.choose.choice(("int64", "int32"))))
        self.axis += 1


def attempt(function):
    """Return (result, error)."""
    try:
        return function(), None
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        return None, error


def same(ours, theirs):
    """Whether a tensor holds what one of PyTorch's does."""
    return tuple(ours.shape) == tuple(theirs.shape) and numpy.array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("first", range(0, 1200, ROUNDS))
def test_as_in_pytorch(first):
    torch = need_torch()
    for seed in range(first, first + ROUNDS):
        key = Subscript(seed)
        array = key.numbers.standard_normal(key.shape)
        x, oracle = dragon.from_numpy(array.copy()), torch.from_numpy(array.copy())
        wanted, refused = attempt(lambda: oracle[tuple(key.theirs)])
        got, error = attempt(lambda: x[tuple(key.ours)])
        if refused is None and isinstance(error, IndexError) and wanted.numel() == 0:
            continue  # PyTorch leaves indices of empty results unchecked
        assert (refused is None) == (error is None), (seed, key.shape, key.theirs, refused, error)
        if refused is not None:
            continue
        assert same(got, wanted), (seed, key.shape, key.theirs)
        # Where indices may repeat, one number everywhere: which of several wins is left open.
        value = key.numbers.standard_normal(() if key.repeats else wanted.shape)
        oracle[tuple(key.theirs)] = torch.from_numpy(numpy.array(value))
        x[tuple(key.ours)] = dragon.from_numpy(numpy.array(value))
        assert same(x, oracle), (seed, key.shape, key.theirs)


@pytest.mark.parametrize("key", [
    numpy.s_[::-1], numpy.s_[:, ::-2], numpy.s_[3:0:-1, 1], numpy.s_[-1:-9:-2, None, ::-1], numpy.s_[0:3:-1],
    numpy.s_[::-1, [0, 2]], numpy.s_[[1, 0], ::-1]], ids=str)
def test_negative_steps_as_in_numpy(key):
    array = numpy.arange(20.0).reshape(4, 5)
    x = dragon.from_numpy(array.copy())
    assert numpy.array_equal(x[key].numpy(), array[key])
    value = numpy.arange(array[key].size, dtype=float).reshape(array[key].shape) + 100
    x[key] = dragon.from_numpy(value)
    array[key] = value
    assert numpy.array_equal(x.numpy(), array)


def test_views_alias_and_carry_gradients():
    x = dragon.from_numpy(numpy.arange(12.0).reshape(3, 4))
    x[1, 1:3] = 0.0
    x[:, 0][2] = -1.0
    assert x.numpy()[1].tolist() == [4.0, 0.0, 0.0, 7.0] and x.numpy()[2, 0] == -1.0
    x.requires_grad = True
    y = x * 2.0
    y[0] = 5.0
    y[:, [1, 3]] = x[:, [0, 2]]
    gradient, = dragon.grad([y], [x], [dragon.from_numpy(numpy.ones((3, 4)))])
    assert gradient.numpy().tolist() == [[1.0, 0.0, 1.0, 0.0], [3.0, 0.0, 3.0, 0.0], [3.0, 0.0, 3.0, 0.0]]


@pytest.mark.parametrize("key, same", [
    ([[0], [1]], ([0], [1])), ([[0, 1], [1, 2]], ([0, 1], [1, 2])), (range(2), [0, 1]),
    ([slice(0, 2), 1], (slice(0, 2), 1))], ids=str)
def test_lists_of_more_than_numbers_are_tuples(key, same):
    x = dragon.from_numpy(numpy.arange(12.0).reshape(3, 4))
    assert x[key].tolist() == x[same].tolist()


@pytest.mark.parametrize("key, error, says", [
    (5, IndexError, ["5", "size 3"]), ((0, 0, 0), IndexError, ["at most 2"]), ((..., ...), IndexError, ["ellipses"]),
    (slice(None, None, 0), ValueError, ["step"]), ("a", TypeError, ["str"]), (1.5, TypeError, ["float"]),
    (2 ** 70, IndexError, []), ([[0, 1], [0, 1, 2]], IndexError, ["(2", "(3"]),
    ([[[0], [1, 2]]], (TypeError, ValueError), []), ([0, 3], IndexError, ["3", "size 3"]),
    ([True, False], IndexError, ["mask", "(2,)"])], ids=str)
def test_errors(key, error, says):
    x = dragon.from_numpy(numpy.zeros((3, 4)))
    for act in (lambda: x[key], lambda: x.__setitem__(key, 1.0)):
        with pytest.raises(error) as caught:
            act()
        assert all(word in str(caught.value) for word in says)


def test_values_that_do_not_fit():
    x = dragon.from_numpy(numpy.zeros((3, 4)))
    for key in (0, slice(0, 2), [0, 1]):
        with pytest.raises(ValueError):
            x[key] = numpy.zeros(3)
    with pytest.raises(TypeError):
        del x[0]
    x[0] = numpy.ones((1, 1, 4), "float32")  # axes of size 1 in front do not matter, and dtypes meet
    assert x.numpy()[0].tolist() == [1.0] * 4
