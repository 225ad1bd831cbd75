"""Indices outside their axis: refused, and counted from the end only where genuine PyTorch counts so."""
import numpy as np

from dragon.vm import torch as dragon_torch
from harness.answers import Raised
from harness.subresults import each
from harness.twin import on_genuine, rows

# `x` and `w` (3, 4), I(...) a tensor of integers; `i` is the index that may lie outside.
CALLS = """
F.embedding(I(i), w)
F.embedding_bag(I(i, 0), w, I(0))
F.embedding_bag(I(i, 0), w, I(0), mode='sum')
F.embedding_bag(I(i, 0), w, I(0), mode='max')
torch.gather(x, 0, I(i, 0, 0, 0)[None])
torch.gather(x, 1, I(i, 0, 0).int().long()[:, None])
x.index_select(0, I(i))
x.index_select(0, I(i).int())
x.index_add(0, I(i), x[:1])
x.index_copy(0, I(i), x[:1])
x.index_fill(0, I(i), 9.)
x.index_fill(1, I(i), 9.)
x.index_reduce(0, I(i), x[:1], 'prod')
x.index_reduce(0, I(i), x[:1], 'amax')
x.index_reduce(0, I(i), x[:1], 'mean')
x.scatter(0, I(i, 0, 0, 0)[None], x)
x.scatter(0, I(i, 0, 0, 0)[None], 5.)
x.scatter(0, I(i, 0, 0, 0)[None], x, reduce='add')
x.scatter_add(0, I(i, 0, 0, 0)[None], x)
x.scatter_reduce(0, I(i, 0, 0, 0)[None], x, 'sum')
x.scatter_reduce(0, I(i, 0, 0, 0)[None], x, 'amax')
x.scatter_reduce(0, I(i, 0, 0, 0)[None], x, 'mean')
torch.take_along_dim(x, I(i, 0, 0, 0)[None], 0)
torch.take_along_dim(x, I(i))
torch.take(x, I(i))
x.clone().put_(I(i), I(5.))
x.clone().put_(I(i), I(5.), accumulate=True)
x[I(i)]
x[:, I(i)]
x[I(i), I(i)]
x.index_put((I(i),), I(5.))
x.index_put((I(i), I(0)), I(5.), accumulate=True)
x.select(0, i)
x[i]
F.one_hot(I(i), 3)
F.nll_loss(x, I(i, 0, 0))
F.cross_entropy(x, I(i, 0, 0))
F.cross_entropy(x, I(i, 0, 0), label_smoothing=0.1)
F.cross_entropy(x, I(i, 0, 0), weight=x[0])
F.multi_margin_loss(x, I(i, 0, 0))
F.multilabel_margin_loss(x, I(i, 0, 0, 0)[None].expand(3, 4))
F.max_unpool1d(x[None], I(i, 0, 1, 5).expand(1, 3, 4), 2)
torch.searchsorted(x[0], x[0], sorter=I(i, 0, 1, 2))
"""
INDICES = (-1, -2, -3, -4, -5, -12, -13, 2, 3, 4, 7, 8, 11, 12, 2 ** 31, -2 ** 63)
GRADIENTS = """
torch.gather(x, 0, I(i, 0, 0, 0)[None])
torch.take_along_dim(x, I(i, 0, 0, 0)[None], 0)
torch.take(x, I(i))
x[I(i)]
x.index_select(0, I(i))
x.index_fill(0, I(i), 9.)
x.scatter(0, I(i, 0, 0, 0)[None], 5.)
x.scatter_reduce(0, I(i, 0, 0, 0)[None], w, 'prod')
F.embedding(I(i), x)
F.cross_entropy(x, I(i, 0, 0))
"""


def _on_genuine(module, run, code):
    return [run(code, module, index) for index in INDICES]


def _names(module, index):
    x = module.arange(12.).reshape(3, 4)
    return {"torch": module, "F": module.nn.functional, "I": lambda *numbers: module.tensor(numbers), "i": index,
            "x": x, "w": x + 1}


def _result(code, module, index):
    try:
        return eval(code, _names(module, index)).tolist()
    except (IndexError, RuntimeError, ValueError) as error:
        return error


def _gradient(code, module, index):
    names = _names(module, index)
    names["x"].requires_grad_()
    try:
        (eval(code, names) ** 2).sum().backward()
    except (IndexError, RuntimeError, ValueError) as error:
        return error
    return names["x"].grad.tolist()


def _compare(run, code):
    for index, genuine in zip(INDICES, on_genuine(_on_genuine, run, code), strict=True):
        mine = run(code, dragon_torch, index)
        said = f"i = {index}: genuine {genuine!r}, Dragon {mine!r}"
        if "take_along_dim" in code and not -3 <= index < 3 and isinstance(mine, IndexError):
            continue  # PyTorch takes these modulo the size; NumPy and Dragon refuse them
        assert isinstance(genuine, Exception) == isinstance(mine, Exception), said
        if isinstance(genuine, Raised) and genuine.is_a(IndexError):
            assert isinstance(mine, IndexError), said
        elif not isinstance(genuine, Exception):
            assert np.allclose(mine, genuine, rtol=1e-5), said


@each("code", rows(CALLS))
def test_the_value_or_a_refusal(code):
    _compare(_result, code)


@each("code", rows(GRADIENTS))
def test_the_gradient_or_a_refusal(code):
    _compare(_gradient, code)
