"""Arguments of the wrong kind are TypeErrors that name them; those that change while they are read do no harm."""
import numpy
import pytest

from dragon.vm import torch
from harness.subresults import each

WRONG = {
    "a bool for a tensor": (lambda: torch.imag(True), "imag: got 'bool' for argument 'self', expected a tensor"),
    "an array for a tensor": (lambda: torch.special.airy_ai(numpy.zeros(2)), r"airy_ai: got \(ndarray\)"),
    "a tuple for a destination": (lambda: torch.zeros(2, out=(1, 2)), "zeros: got 'tuple' for argument 'out'"),
    "a word for a memory format": (lambda: torch.ones(2).clone(memory_format="x"), "got 'str' .* 'memory_format'"),
    "a tensor for a memory format": (lambda: torch.ones(2).is_contiguous(torch.ones(2)), "got 'Tensor' .*_format'"),
    "a number for a storage": (lambda: torch.FloatStorage(wrap_storage=3), "FloatStorage: got 'int' .* 'wrap_storage'"),
    "a number to copy": (lambda: torch.ones(2).untyped_storage().copy_(3), "copy_: got 'int' for argument 'source'"),
    "a number to copy in elements": (lambda: torch.FloatStorage().copy_(3), "copy_: got 'int' for argument 'source'"),
    "a number to show": (lambda: torch.Tensor.__repr__(1j), "__repr__: got 'complex' for argument 'self'"),
    "a list for a variable": (lambda: torch.autograd.Variable([1]), "Variable: got list, expected a tensor"),
    "a dictionary for results": (lambda: torch.fft.fftfreq(2, out={}), "fftfreq: got 'dict' for argument 'out'"),
    "a number for a pattern": (lambda: torch.func.rearrange(torch.ones(2), 3), "rearrange: got 'int' for .* 'pattern'"),
    "a number for a future": (lambda: torch.jit.wait(3), "wait: got int, expected a future"),
    "a number for a place": (lambda: torch.serialization.default_restore_location(None, 3), "got 'int' .* 'location'"),
    "a number for a step": (lambda: torch.autograd.graph.Node(3), "Node: got int, expected a step"),
    "no bounds": (torch.distributions.constraints.interval, "missing 2 required positional arguments"),
    "a word for a dtype": (lambda: torch.frombuffer(b"1234", dtype=""), "frombuffer: got 'str' for argument 'dtype'"),
    "a tensor for a memo": (lambda: torch.FloatStorage().__deepcopy__(torch.ones(2)), "__deepcopy__: got Tensor"),
    "numbers that are written": (lambda: torch.autograd.graph.increment_version({1}), "increment_version: got .*'int'"),
    "a slice in a sequence": (lambda: torch.nn.utils.rnn.pad_sequence([torch.ones(2), slice(3)]), "pad_sequence: got"),
    "words to gather": (lambda: torch.nn.parallel.gather(["a", "b"], None), "gather: got str"),
    "very many layers of none": (lambda: torch.nn.TransformerEncoder(None, 2**31), "got NoneType for a layer"),
    "a tensor for a name": (lambda: torch.nn.ReLU().get_buffer(torch.ones(2)), "got Tensor for a target"),
    "a word for a hook": (lambda: torch.nn.ReLU().register_state_dict_post_hook("x"), "got str, expected a function"),
    "a tensor for a triangle": (lambda: torch.linalg.eigh(torch.ones(2, 2), torch.ones(2)), "'Tensor' .* 'UPLO'"),
    "nowhere to cut": (lambda: torch.ones(3, 3).vsplit(), "vsplit: got 0 of"),
    "a number with axes": (lambda: torch.Tensor.dim(3), "dim: got 'int' for argument 'self', expected a tensor"),
    "a set with gradients": (lambda: torch.Tensor.requires_grad_({1}), "requires_grad_: got 'set' for argument 'self'"),
    "no bound": (lambda: torch.ones(2).clamp_min(), "clamp_min: got no bound"),
    "an array of times": (lambda: torch.tensor(numpy.zeros(2, "m8[s]")), "tensor: got a 'numpy.ndarray'"),
}


OTHERS = {
    "lent memory with a gradient": (
        lambda: torch.frombuffer(torch.ones(2, requires_grad=True), dtype=torch.float32), ValueError),
    "a device without a module": (lambda: torch.get_device_module("meta"), RuntimeError),
    "an axis of a number": (lambda: torch.gradient(torch.tensor(1.0), dim=-3), IndexError),
    "a word for a window's dtype": (lambda: torch.signal.windows.hamming(3, dtype="x"), ValueError),
    "an end without a start": (lambda: torch.serialization.safe_globals([]).__exit__(), IndexError),
    "a batch of no gradients": (lambda: torch.autograd.grad(
        [torch.ones(2, requires_grad=True) * 2], [], [None], is_grads_batched=True), RuntimeError),
    "points of very many numbers": (
        lambda: torch.histogramdd(torch.ones((), device="meta").expand(2**20, 2**20), 2), RuntimeError),
    "a number to freeze": (lambda: torch.jit.freeze(3), RuntimeError),
}


@pytest.mark.parametrize("call, kind", OTHERS.values(), ids=OTHERS)
def test_the_class_of_a_refusal(call, kind):
    with pytest.raises(kind):
        call()


@each("call, words", WRONG.values(), ids=WRONG)
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


@each("place", (0, 1, 2))
@each("change", CHANGES.values(), ids=CHANGES)
@each("read", READERS.values(), ids=READERS)
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
