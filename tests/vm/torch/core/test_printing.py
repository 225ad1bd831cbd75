"""Tensors look as genuine PyTorch's do."""
import pytest
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each

EXAMPLES = {
    "scalar": lambda t: t.tensor(1.5),
    "whole": lambda t: t.tensor([1., 2.]),
    "wide": lambda t: t.tensor([[1.5, 2], [3, 1000.]]),
    "scientific": lambda t: t.tensor([1e-5, 1.]),
    "huge": lambda t: t.tensor([1e10, 1]),
    "integers": lambda t: t.tensor([1, 2, 300]),
    "bools": lambda t: t.tensor([True, False]),
    "empty": lambda t: t.tensor([]),
    "empty matrix": lambda t: t.zeros(0, 3),
    "empty integers": lambda t: t.zeros(0, dtype=t.int64),
    "summary": lambda t: t.arange(2000),
    "summary of a matrix": lambda t: t.arange(2000.).reshape(40, 50),
    "summary of a cube": lambda t: t.arange(8000.).reshape(20, 20, 20),
    "complex": lambda t: t.tensor([1 + 2j, 3 - 1j]),
    "not finite": lambda t: t.tensor([float("nan"), 1., float("inf")]),
    "double": lambda t: t.zeros(3, dtype=t.float64),
    "bfloat16": lambda t: t.ones(2, 2, dtype=t.bfloat16),
    "leaf": lambda t: t.ones(2, requires_grad=True),
    "product": lambda t: t.ones(2, requires_grad=True) * 2,
    "meta": lambda t: t.ones(2, 3, device="meta"),
    "lines": lambda t: t.arange(30) * 1.5,
    "blocks": lambda t: t.zeros(2, 2, 2),
    "negative": lambda t: t.tensor([-1.5, 2]),
    "long note": lambda t: t.ones(40, 3, requires_grad=True).softmax(-1),
    "size": lambda t: t.zeros(2, 3).shape,
    "device": lambda t: t.device("cuda:1"),
    "cpu": lambda t: t.device("cpu"),
    "dtype": lambda t: [t.float32, t.long, t.bool, t.complex64, t.uint16, t.strided, t.channels_last],
    "finfo": lambda t: [t.finfo(t.float16), t.finfo(t.bfloat16), t.finfo(t.float32), t.finfo(t.complex128)],
    "iinfo": lambda t: [t.iinfo(t.int8), t.iinfo(t.uint8), t.iinfo(t.int64)],
    "old classes": lambda t: [t.FloatTensor([1.5]), t.LongTensor([3]), t.Tensor([1, 2]), t.Tensor(2, 0)],
}


@each("name", EXAMPLES)
def test_looks_the_same(name):
    assert repr(EXAMPLES[name](dragon_torch)) == repr(EXAMPLES[name](torch))


@pytest.mark.parametrize("options", [{"precision": 2}, {"sci_mode": True}, {"linewidth": 40}, {"profile": "short"},
                                     {"precision": 5, "profile": "long"}, {"profile": "long"},
                                     {"threshold": 5, "edgeitems": 2}], ids=str)
def test_options(options):
    shown = []
    for t in (torch, dragon_torch):
        t.set_printoptions(**options)
        try:
            shown.append(repr(t.arange(20.).reshape(4, 5) / 7))
        finally:
            t.set_printoptions(profile="default", sci_mode=None)
    assert shown[0] == shown[1]


def test_format_of_a_number():
    assert f"{dragon_torch.tensor(1.23456):.2f}" == "1.23"
    assert f"{dragon_torch.tensor([1, 2])}" == "tensor([1, 2])"
