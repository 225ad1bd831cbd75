"""Attention with scores and masks of one's own beside genuine PyTorch, which has no gradients of it on CPUs."""
import importlib
import math

import numpy
import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each

SIZES = {"query": (2, 4, 12, 8), "key": (2, 4, 12, 8), "value": (2, 4, 12, 8)}
SCORES = {
    "plain": lambda T: None, "causal": lambda T: lambda s, b, h, q, k: T.where(q >= k, s, -math.inf),
    "relative": lambda T: lambda s, b, h, q, k: s + (q - k),
    "capped": lambda T: lambda s, b, h, q, k: 5 * T.tanh(s / 5),
    "by_head": lambda T: lambda s, b, h, q, k: s * T.linspace(1, 2, 4)[h] + b,
}
MASKS = {
    "causal": lambda T, M: lambda b, h, q, k: q >= k, "documents": lambda T, M: lambda b, h, q, k: q // 5 == k // 5,
    "both": lambda T, M: M.and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: (q - k).abs() <= 3),
    "either": lambda T, M: M.or_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: k < 2),
    "by_head": lambda T, M: lambda b, h, q, k: k < 3 * h + b, "nothing": lambda T, M: lambda b, h, q, k: q < 0 * k,
}


def face(T):
    module = importlib.import_module(f"{T.__name__}.nn.attention.flex_attention")
    module._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True  # genuine PyTorch would compile each call
    return module


def operands(T, grad=False, **sizes):
    return [T.tensor(numpy.sin(numpy.arange(math.prod(size)) * step).reshape(size), dtype=T.float32, requires_grad=grad)
            for size, step in zip({**SIZES, **sizes}.values(), (0.7, 1.3, 2.1))]


def block_mask(T, name, size=4, **lengths):
    return face(T).create_block_mask(MASKS[name](T, face(T)), 2, 4, lengths.get("rows", 12), lengths.get("columns", 12),
                                     device="cpu", BLOCK_SIZE=size)


def close(ours, theirs):
    numpy.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("score", SCORES)
def test_scores(score):
    close(*(face(T).flex_attention(*operands(T), score_mod=SCORES[score](T)) for T in (dt, torch)))


@each("size", [4, (2, 8), 128])
@each("mask", MASKS)
def test_masks(mask, size):
    made, masks = [], [block_mask(T, mask, size) for T in (dt, torch)]
    for T, one in zip((dt, torch), masks):
        made.append(face(T).flex_attention(*operands(T), block_mask=one, scale=0.4,
                                           return_aux=face(T).AuxRequest(lse=True)))
    close(made[0][0], made[1][0])
    close(made[0][1].lse, made[1][1].lse)
    assert str(masks[0]) == str(masks[1]) and masks[0].shape == masks[1].shape
    assert masks[0].to_string(2, limit=1) == masks[1].to_string(2, limit=1)
    assert masks[0].sparsity() == pytest.approx(masks[1].sparsity())


@pytest.mark.parametrize("score", SCORES)
def test_gradients(score):
    """Those of the same attention written out in genuine PyTorch."""
    ours = operands(dt, True)
    made = face(dt).flex_attention(*ours, score_mod=SCORES[score](dt), block_mask=block_mask(dt, "either"))
    query, key, value = theirs = operands(torch, True)
    b, h, q, k = torch.meshgrid(*(torch.arange(size) for size in (2, 4, 12, 12)), indexing="ij")
    scores = query @ key.transpose(-2, -1) / math.sqrt(8)
    change = SCORES[score](torch)
    scores = scores if change is None else change(scores, b, h, q, k)
    shown = MASKS["either"](torch, face(torch))(b, h, q, k)
    expected = scores.masked_fill(~shown, -math.inf).softmax(-1) @ value
    close(made, expected)
    made.square().sum().backward()
    expected.square().sum().backward()
    for one, other in zip(ours, theirs):
        close(one.grad, other.grad)


def test_fewer_heads_of_keys():
    few = {"key": (2, 2, 12, 8), "value": (2, 2, 12, 8)}
    close(*(face(T).flex_attention(*operands(T, **few), enable_gqa=True) for T in (dt, torch)))


@pytest.mark.parametrize("index", [0, (0, 1), (slice(0, 1), slice(0, 1), slice(0, 2)), (0, 0, -1), (slice(None), [1])])
def test_parts_of_masks(index):
    ours, theirs = (block_mask(T, "by_head")[index] for T in (dt, torch))
    assert ours.shape == theirs.shape and str(ours) == str(theirs)
    for T, part in ((dt, ours), (torch, theirs)):
        with pytest.raises(RuntimeError, match="Cannot use mask_mod from a sliced BlockMask"):
            face(T).flex_attention(*operands(T), block_mask=part)


def test_adjusted_masks():
    ours, theirs = (block_mask(T, "both", rows=16, columns=16)._adjust(12, 12) for T in (dt, torch))
    assert ours.shape == theirs.shape and str(ours) == str(theirs)
    close(*(face(T).flex_attention(*operands(T), block_mask=mask) for T, mask in ((dt, ours), (torch, theirs))))


REFUSED = {
    "heads": lambda T, F: F.flex_attention(*operands(T, key=(2, 2, 12, 8), value=(2, 2, 12, 8))),
    "groups": lambda T, F: F.flex_attention(*operands(T, key=(2, 3, 12, 8), value=(2, 3, 12, 8)), enable_gqa=True),
    "batches": lambda T, F: F.flex_attention(*operands(T, key=(1, 4, 12, 8), value=(1, 4, 12, 8))),
    "sizes": lambda T, F: F.flex_attention(*operands(T, key=(2, 4, 12, 4))),
    "dims": lambda T, F: F.flex_attention(*(x[0] for x in operands(T))),
    "short mask": lambda T, F: F.flex_attention(*operands(T), block_mask=block_mask(T, "causal", rows=8)),
    "long mask": lambda T, F: F.flex_attention(*operands(T), block_mask=block_mask(T, "causal", columns=16)),
    "two ways": lambda T, F: F.flex_attention(*operands(T), return_lse=True, return_aux=F.AuxRequest()),
    "no mask": lambda T, F: F.and_masks(3),
}


@each("call", REFUSED)
def test_refusals(call):
    errors = []
    for T in (dt, torch):
        with pytest.raises(Exception) as caught:
            REFUSED[call](T, face(T))
        errors.append(caught.value)
    assert isinstance(errors[0], type(errors[1]))
    assert str(errors[1]).split(" you can")[0] in str(errors[0])


def test_operator():
    made = []
    for T in (dt, torch):
        operator = importlib.import_module(f"{T.__name__}._higher_order_ops.flex_attention").flex_attention
        made.append(operator(*operands(T), lambda s, b, h, q, k, t: s + t[1], block_mask(T, "causal").as_tuple(), 0.3,
                             {}, (T.arange(3.0),)))
    for one, other in zip(*made):
        close(one, other)
