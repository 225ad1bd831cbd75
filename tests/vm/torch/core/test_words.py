"""Operators speak PyTorch's tongue: their signatures, docstrings and errors say `input` and `dim`."""
import inspect

import pytest

from dragon.vm import torch
from dragon.vm.torch.core.functions.native import PLACES
from harness.subresults import each

X = torch.ones(2, 3)
# Forms that no signature can tell: they are read by kind, or have a number where the operator has a word.
FREE = {"einsum", "randint", "handle_torch_function", "gru", "lstm", "rnn_tanh", "rnn_relu", *PLACES}
# Names that only refuse: what PyTorch removed, and layouts that there are none of.
REFUSING = {"eig", "lstsq", "matrix_rank", "solve", "symeig"}


@each("function, expected", [
    (torch.cumsum, "(input, dim, *, dtype=None, out=None)"),
    (torch.Tensor.cumsum, "(input, dim, *, dtype=None, out=None)"),
    (X.cumsum, "(dim, *, dtype=None, out=None)"),
    (torch.topk, "(input, k, dim=-1, largest=True, sorted=True, *, out=None)"),
    (torch.sum, "(input, dim=None, keepdim=False, *, dtype=None, out=None)"),
    (torch.addmm, "(input, mat1, mat2, *, beta=1, alpha=1, out=None)"),
    (torch.abs_, "(input)"),
    (torch.transpose, "(input, dim0, dim1)"),
    (torch.special.logit, "(input, eps=None, *, out=None)"),
    (torch.fft.fft, "(input, n=None, dim=-1, norm=None, *, out=None)"),
    (torch.Tensor.uniform_, "(input, from_=0.0, /, to=1.0, *, generator=None)"),  # `from` is a word of Python's
])
def test_signatures_have_the_names_of_pytorch(function, expected):
    assert str(inspect.signature(function)) == expected


def test_every_operator_of_the_engine_has_a_signature():
    from dragon import _C
    from dragon.vm.torch.core.tensor import ops
    for name in _C.op_names():
        assert inspect.signature(getattr(ops, name)).parameters is not None


@pytest.mark.parametrize("space", [torch, torch.nn.functional, torch.linalg, torch.special, torch.fft])
def test_functions_have_signatures(space):
    lacking = []
    for name in dir(space):
        found = getattr(space, name)
        if name.startswith("_") or not callable(found) or inspect.isclass(found) or name in FREE | REFUSING:
            continue
        try:
            parameters = list(inspect.signature(found).parameters.values())
        except ValueError:
            parameters = None
        if parameters is None or parameters and str(parameters[0]) == "*args":
            lacking.append(name)
    # `detach` is of the compiled tensor and takes nothing; `set_vital` takes anything, in PyTorch as well.
    assert not set(lacking) - {"detach", "set_vital"}


@pytest.mark.parametrize("call, text", [
    (lambda: torch.cumsum(X, 4), "cumsum: got dim 4, expected -2 to 1 for 2 dims"),
    (lambda: torch.cumsum(X, dim="a"), "cumsum: got 'str' for argument 'dim', expected int"),
    (lambda: torch.full((2,), "x"), "full: got 'str' for argument 'fill_value', expected a number"),
    (lambda: torch.flip(X, (4,)), "flip: got dim 4, expected -2 to 1 for 2 dims"),
    (lambda: torch.bmm(X, X), "bmm: got shape (2, 3) for argument input, expected 3 dims"),
    (lambda: torch.nn.functional.glu(torch.ones(3)), "glu: got size 3 along dim 0, expected an even size"),
    (lambda: X.stride(5), "stride: Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
])
def test_errors_name_what_the_user_wrote(call, text):
    with pytest.raises(Exception) as caught:
        call()
    assert str(caught.value).startswith(text)  # what PyTorch says follows


def test_what_a_user_wrote_is_told_as_it_was():
    with pytest.raises(ValueError) as caught:
        torch.einsum("axis->y", X)
    assert '"axis"' in str(caught.value)


def test_docstrings_have_the_names_of_pytorch():
    assert torch.lerp.__doc__.startswith("input + weight * (end - input).\n\nParameters\n----------\ninput : Tensor\n")
    assert "\nend : Tensor\n    Where to end.\n" in torch.lerp.__doc__
    assert "along a dim" in torch.cumsum.__doc__ and "axis" not in torch.cumsum.__doc__
    assert repr(torch.flip) == "<operator flip(Tensor input, int[1] dims) -> Tensor>"


def test_the_engine_speaks_its_own_tongue_elsewhere():
    import dragon
    with pytest.raises(IndexError, match="got axis 4, expected -2 to 1 for 2 axes"):
        dragon.ops.cumsum(dragon.ones((2, 3)), 4)
    assert str(inspect.signature(dragon.ops.cumsum)) == "(x, axis, *, dtype=None, out=None)"
