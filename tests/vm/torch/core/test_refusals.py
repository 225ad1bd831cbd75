"""Arguments of the wrong kind are TypeErrors that name them; those that change while they are read do no harm."""
import numpy
import pytest

from dragon.vm import torch

WRONG = {
    "a bool for a tensor": (lambda: torch.imag(True), "imag: got 'bool' for argument 'self', expected a tensor"),
    "an array for a tensor": (lambda: torch.special.airy_ai(numpy.zeros(2)), r"airy_ai: got \(ndarray\)"),
    "a tuple for a destination": (lambda: torch.zeros(2, out=(1, 2)), "zeros: got 'tuple' for argument 'out'"),
    "a word for a memory format": (lambda: torch.ones(2).clone(memory_format="x"), "got 'str' .* 'memory_format'"),
    "a tensor for a memory format": (lambda: torch.ones(2).is_contiguous(torch.ones(2)), "got 'Tensor' .*_format'"),
    "a number for a storage": (lambda: torch.FloatStorage(wrap_storage=3), "FloatStorage: got 'int' .* 'wrap_storage'"),
    "a number to copy": (lambda: torch.ones(2).untyped_storage().copy_(3), "copy_: got 'int' for argument 'source'"),
    "nowhere to cut": (lambda: torch.ones(3, 3).vsplit(), "vsplit: got 0 of"),
    "a number with axes": (lambda: torch.Tensor.dim(3), "dim: got 'int' for argument 'self', expected a tensor"),
    "a set with gradients": (lambda: torch.Tensor.requires_grad_({1}), "requires_grad_: got 'set' for argument 'self'"),
    "no bound": (lambda: torch.ones(2).clamp_min(), "clamp_min: got no bound"),
    "an array of times": (lambda: torch.tensor(numpy.zeros(2, "m8[s]")), "tensor: got a 'numpy.ndarray'"),
}


@pytest.mark.parametrize("call, words", WRONG.values(), ids=WRONG)
def test_an_argument_of_the_wrong_kind_is_named(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_errors_of_the_callers_own_code_come_through():
    def ask(x):
        return x.nothing
    for call in (lambda: torch.func.vmap(ask)(torch.ones(2)), lambda: torch.ones(2).apply_(ask),
                 lambda: torch.ones(2).nothing):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            call()


class Changing:
    """An index that changes the list it stands in."""

    def __init__(self, home, change):
        self.home, self.change = home, change

    def __index__(self):
        self.change(self.home)
        return 1

    def __float__(self):
        return float(self.__index__())


CHANGES = {"emptied": list.clear, "grown": lambda home: home.extend([1] * 1000), "shortened": lambda home: home.pop()}
READERS = {
    "tensor": torch.tensor, "nested": lambda home: torch.tensor([home, [1, 2, 3]]),
    "index": torch.arange(9).__getitem__, "indices": lambda home: torch.ones(5, 5)[home, 1], "stack": torch.stack,
    "dims": lambda home: torch.ones(2, 2, 2).permute(home),
}


@pytest.mark.parametrize("place", (0, 1, 2))
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_lists_that_change_while_they_are_read(read, change, place):
    home = [0, 1]
    home.insert(place, Changing(home, change))
    with pytest.raises((ValueError, TypeError, IndexError, RuntimeError)):
        read(home)


@pytest.mark.parametrize("place", (0, 1, 2))
def test_sizes_end_where_their_list_is_emptied(place):
    home = [0, 1]
    wanted = (*home[:place], 1)
    home.insert(place, Changing(home, list.clear))
    assert torch.ones(1).expand(home).shape == wanted


def test_device_numbers_that_no_device_has_are_refused():
    for name in ("cpu:99999", "cpu:99999999999999999999"):
        with pytest.raises((ValueError, RuntimeError), match="empty: got"):
            torch.empty(2, device=name)
