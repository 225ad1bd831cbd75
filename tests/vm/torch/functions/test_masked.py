"""Reductions under a mask give what genuine PyTorch's give."""

from harness.subresults import each
from harness.twin import rows, same, same_gradients

MASKED = """
torch.masked.sum(x, 1, mask=q)
torch.masked.sum(i, mask=q)
torch.masked.prod(x, (0, 1), mask=q, keepdim=True)
torch.masked.amax(x, 1, mask=q)
torch.masked.amin(i, 0, mask=q)
torch.masked.amax(q, 1)
torch.masked.argmax(x, 1, mask=q)
torch.masked.argmin(x, mask=q)
torch.masked.mean(x, 1, mask=q)
torch.masked.mean(i)
torch.masked.median(x, mask=q)
torch.masked.logsumexp(x, 1, mask=q)
torch.masked.logaddexp(x, y, input_mask=q)
torch.masked.norm(x, 3, 1, mask=q)
torch.masked.norm(x, -inf, mask=q)
torch.masked.var(x, 1, mask=q)
torch.masked.var(z, 1, mask=q)
torch.masked.std(x, 1, False, mask=q)
torch.masked.softmax(x, 1, mask=q)
torch.masked.log_softmax(x, 0, mask=q)
torch.masked.softmin(x, 0)
torch.masked.normalize(x, 2, 1, mask=q)
torch.masked.cumsum(x, 1, mask=q)
torch.masked.cumprod(i, 0, mask=q)
torch.masked.sum(v, mask=q)
"""


@each("code", rows(MASKED))
def test_the_same_as_genuine(code):
    same(code)


def test_gradients():
    same_gradients("torch.masked.mean(x, 1, mask=q[0] | True)", "x")
    same_gradients("torch.masked.std(x, 1)", "x")
