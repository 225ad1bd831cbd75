"""Calls that are nearly right, beside genuine PyTorch: what it takes, what it refuses, and what comes out."""
import warnings

import pytest

import torch as genuine

from dragon.vm import torch as mine
from harness.subresults import each

LOSS = "torch.nn.functional.binary_cross_entropy_with_logits(row, row, "
NAN = "float('nan')"


def names(torch):
    """Return what the calls name."""
    return {"torch": torch, "row": torch.arange(3.0), "x": torch.arange(9.0).reshape(3, 3), "i": torch.tensor([1])}


@each("code", (
    "row.index_copy(0, i, torch.tensor(5.0))", "torch.index_copy(row, 0, i, torch.tensor(5.0))",
    "row.index_copy_(0, i, torch.tensor(5.0))", "torch.tensor(2.0 + 3.0j).adjoint().resolve_conj()",
    "torch.adjoint(torch.tensor(2.0))", "torch.adjoint(x)", f"torch.nn.functional.hardtanh(row, 0.0, {NAN})",
    f"torch.nn.functional.hardtanh(row, {NAN}, 1.0, inplace=True)", "torch.norm_except_dim(row, 2, 0)",
    "torch.norm_except_dim(x, 2, 1)", "torch.masked.cumsum(row.to(torch.uint8), 0)",
    "torch.masked.cumprod(row.to(torch.int16), 0)", "torch.normal(0.0, 0.0, (3,), out=torch.ones(0))",
    "torch.bernoulli(torch.ones(3), out=torch.zeros(0))",
    "torch.select_scatter(x, row, 0, 1)", "torch.slice_scatter(x, x[:1] + 1, 0, 1, 2)",
    LOSS + "weight=torch.ones(1))", LOSS + "pos_weight=torch.ones(3) * 2)"))
def test_what_is_taken_gives_the_same(code):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = (eval(code, names(torch)) for torch in (genuine, mine))
    assert str(theirs.dtype) == str(ours.dtype)
    genuine.testing.assert_close(genuine.tensor(ours.tolist(), dtype=theirs.dtype), theirs, equal_nan=True)


@each("code", (
    "x.index_copy(0, i, torch.tensor(5.0))", "row.index_copy(0, i, 5.0)", "torch.select_scatter(x, row[:1], 0, 1)",
    "torch.slice_scatter(x, x[:1], 0, 1, 3)", "torch.meshgrid([])", "torch.dist(row, row, None)",
    "torch.unique_consecutive(torch.tensor(1.0), dim=0)", LOSS + "weight=torch.ones(2, 3))",
    LOSS + "weight=torch.ones(1, 3))", LOSS + "pos_weight=torch.ones(2, 3))"))
def test_what_is_refused(code):
    for torch in (genuine, mine):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises((TypeError, RuntimeError, IndexError)):
                eval(code, names(torch))


@pytest.mark.parametrize("name", ("logical_and_", "logical_or_", "logical_xor_", "logical_not_"))
def test_logical_functions_in_place_leave_the_history(name):
    found = []
    for torch in (genuine, mine):
        others = [] if name == "logical_not_" else [torch.tensor([0.0, 1.0])]
        leaf = torch.tensor([0.0, 2.0], requires_grad=True)
        computed = leaf * 3
        getattr(computed, name)(*others)
        computed.sum().backward()
        before = leaf._version
        assert getattr(leaf, name)(*others) is leaf and leaf.requires_grad and leaf.is_leaf and leaf._version > before
        found.append([computed.tolist(), leaf.tolist(), leaf.grad.tolist()])
    assert found[0] == found[1]
