"""Sizes beyond the blocks that kernels work in, values and gradients beside those of PyTorch."""
import numpy
import pytest
import torch as genuine

from dragon.vm import torch


def numbers(*shape, dtype="float64"):
    """Return numbers that are distinct, in no order."""
    count = int(numpy.prod(shape))
    drawn = numpy.random.default_rng(count).permutation(count)
    return ((drawn - count // 2) / (count / 6 if dtype.startswith("float") else 1)).astype(dtype).reshape(shape)


def classes(*shape, count=3):
    """Return numbers of classes."""
    return numpy.arange(numpy.prod(shape)).reshape(shape) * 7 % count


def of(x):
    """Return nn.functional of the module whose tensor this is."""
    return (torch if isinstance(x, torch.Tensor) else genuine).nn.functional


def module(x):
    """Return the module whose tensor this is."""
    return torch if isinstance(x, torch.Tensor) else genuine


def parted(x):
    """Return the numbers above a bound, chosen in three ways."""
    mask = x.detach() > 0.5
    return x[mask], mask.nonzero(), x.masked_scatter(mask, x.flip(0)), x.masked_fill(mask, 2.0)


CASES = {
    "softmax": (lambda x: (x.softmax(1), x.log_softmax(1)), numbers(2, 40, 1100)),
    "softmax of long rows": (lambda x: (x.softmax(-1), x.log_softmax(-1)), numbers(2, 5000)),
    "cross_entropy": (lambda x, y: (of(x).cross_entropy(x, y), of(x).cross_entropy(x, y, label_smoothing=0.2)),
                      numbers(2, 3, 300), classes(2, 300)),
    "nll_loss": (lambda x, y: of(x).nll_loss(x, y), numbers(2, 3, 300), classes(2, 300)),
    "moments": (lambda x: (*module(x).var_mean(x, 0), x.std(0, unbiased=False), x.var(1), x.norm(dim=0)),
                numbers(300, 600)),
    "logsumexp": (lambda x: (x.logsumexp(0), x.logsumexp(1)), numbers(300, 600)),
    "sums": (lambda x: (x.sum(0), x.mean(1), x.sum(), x.sum((0, 2)), x.prod(1)), numbers(150, 3, 300)),
    "extremes": (lambda x: (x.amax(0), x.amin(2), *x.max(0), *x.min(2), x.argmax(0), x.argmin(1), x.argmax()),
                 numbers(300, 2, 300)),
    "extremes of integers": (lambda x: (*x.max(0), *x.min(1), x.argmax(0)), numbers(300, 300, dtype="int32") % 97),
    "scans": (lambda x: (x.cumsum(1), x.cumsum(0), *x.cummax(1), x.logcumsumexp(1)), numbers(2, 3, 530)),
    "chosen": (parted, numbers(3, 20000)),
    "sorted": (lambda x: (*x.sort(dim=-1, stable=True), *x.sort(dim=-1, descending=True), *x.topk(70),
                          x.kthvalue(900)[0], *x.median(-1)), numbers(2, 3000)),
    "sorted integers": (lambda x: (*x.sort(dim=-1, stable=True),
                                   *x.unique(return_inverse=True, return_counts=True)),
                        numbers(3000, dtype="int64") * 4321 % 100003),
    "layer_norm": (lambda x, w, b: of(x).layer_norm(x, (7,), w, b), numbers(150, 7), numbers(7), numbers(7)),
    "group_norm": (lambda x, w, b: of(x).group_norm(x, 2, w, b), numbers(70, 4, 30), numbers(4), numbers(4)),
    "batch_norm": (lambda x, w, b: of(x).batch_norm(x, None, None, w, b, True), numbers(70, 70, 9), numbers(70),
                   numbers(70)),
    "attention": (lambda q, k, v: of(q).scaled_dot_product_attention(q, k, v), numbers(1, 2, 130, 5),
                  numbers(1, 2, 300, 5), numbers(1, 2, 300, 3)),
    "attention to the past": (lambda q, k, v: of(q).scaled_dot_product_attention(q, k, v, is_causal=True),
                              numbers(1, 2, 300, 5), numbers(1, 2, 300, 5), numbers(1, 2, 300, 3)),
    "matmul": (lambda x, y: x @ y, numbers(200, 300), numbers(300, 1600)),
    "conv2d": (lambda x, w: of(x).conv2d(x, w, padding=1, stride=(1, 2)), numbers(1, 2, 60, 45), numbers(3, 2, 3, 3)),
    "pools": (lambda x: (of(x).max_pool2d(x, 3, 2), of(x).avg_pool2d(x, 2)), numbers(1, 300, 9, 8)),
    "pools of channels": (lambda x: (of(x).max_pool2d(x.permute(0, 3, 1, 2), 3, 2), of(x).avg_pool2d(
        x.permute(0, 3, 1, 2), 2)), numbers(1, 9, 8, 300)),
    "norms": (lambda x: (x.norm(), module(x).linalg.vector_norm(x, 3), x.norm(float("inf"))), numbers(40000)),
    "strided": (lambda x: (x.t() * 2 + x.t().exp(), x[:, ::2] + x[:, 1::2], x.t().contiguous()), numbers(300, 620)),
}


def follow(T, function, arrays):
    """Return results, and the gradients of what they weigh together."""
    leaves = [T.tensor(array, requires_grad=array.dtype.kind == "f") for array in arrays]
    found = function(*leaves)
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    smooth = [result for result in found if result.requires_grad]
    if smooth:
        weights = [T.cos(T.arange(result.numel(), dtype=result.dtype)).reshape(result.shape) for result in smooth]
        sum([(result * weight).sum() for result, weight in zip(smooth, weights)]).backward()
    return [result.detach().numpy() for result in found] + [leaf.grad.numpy() for leaf in leaves
                                                            if leaf.grad is not None]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_beyond_a_block(name, dtype):
    function, *arrays = CASES[name]
    arrays = [array.astype(dtype) if array.dtype.kind == "f" else array for array in arrays]
    close = {"float64": (1e-9, 1e-9), "float32": (2e-4, 2e-4)}[dtype]
    for mine, theirs in zip(follow(torch, function, arrays), follow(genuine, function, arrays), strict=True):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
        numpy.testing.assert_allclose(mine, theirs, *close)
