"""Functions of nested tensors beside PyTorch's: the same results, the same refusals."""
import pytest

from dragon.vm import torch as dt
from harness.nested import SHAPES, agree, outcome, samples
from harness.twin import on_genuine

# Computed of `x`, a nested tensor, and `w`, as wide as its last dim.
POINTWISE = [
    "x + x", "x * 2", "2 - x", "x - w", "w - x", "x / 2", "x ** 2", "-x", "abs(x)", "x > 0", "x == x", "~(x > 0)",
    "x.abs()", "x.clamp(-1, 1)", "t.where(x > 0, x, x * 2)", "x.masked_fill(x > 0, 0)", "t.maximum(x, x * 2)",
    "t.isnan(x)", "x.logical_and(x)", "F.relu(x)", "x.clone().add_(1)", "x.clone().mul_(x)", "x.clone().zero_()",
    "x.clone().fill_(3)", "t.zeros_like(x)", "t.ones_like(x)", "t.full_like(x, 2)", "x.add(x, alpha=2)", "x % 3",
    "x * t.ones(x.size(0), 1, 1)", "x + t.ones(2, 2, 2, 2, 2)", "x + t.ones(7, 1, 1)", "x + t.ones(1, 1, 1)",
    "x.sign()", "x.square()", "x.neg()", "x.to(t.float32) + x", "x + y", "x.float().sqrt()"]
FLOATS = [
    "F.gelu(x)", "F.silu(x)", "x.exp()", "x.sigmoid()", "x.tanh()", "t.softmax(x, -1)", "t.softmax(x, 1)",
    "t.log_softmax(x, -1)", "t.log_softmax(x, 1)", "x.softmax(0)", "F.layer_norm(x, w.shape)",
    "F.layer_norm(x, w.shape, w, w)", "F.layer_norm(x, x.shape)", "F.layer_norm(x, x.shape[1:])",
    "F.rms_norm(x, w.shape)", "F.dropout(x, 0.0)", "F.dropout(x, 1.0)", "x @ x",
    "F.linear(x, t.stack([w, w]).to(x.dtype))", "x @ t.stack([w, w]).T.to(x.dtype)",
    "x @ t.ones(x.size(0), w.shape[0], 2, dtype=x.dtype)", "x @ x.transpose(-1, -2)", "x.transpose(1, 2) @ x",
    "t.bmm(x, x)", "F.leaky_relu(x, 0.2)", "F.softplus(x)"]
REDUCED = [f"x.{name}({args})" for name in ("sum", "mean", "prod", "amax", "amin", "max", "min", "argmax", "argmin",
                                            "any", "all")
           for args in ("", "-1", "1", "0", "-1, True", "1, keepdim=True", "(0, 1)", "(1, -1)", "(0, 1), True")
           if not args.startswith("(") or name not in ("prod", "max", "min", "argmax", "argmin")]
SHAPED = [
    "x.shape", "x.size()", "x.size(0)", "x.size(-1)", "x.size(9)", "x.dim()", "x.numel()", "x.stride()", "len(x)",
    "x.layout", "x.is_nested", "x.nbytes", "x[0]", "x[-1]", "x[9]", "x[0, 1]", "x[0, ...]", "x[True]", "x[1.5]",
    "x[..., 0]", "x[..., :1]", "x[0:1]", "x[:, 0]", "x.unbind()", "x.unbind(1)",
    "x.transpose(1, 2)", "x.transpose(0, 1)", "x.transpose(0, 2)", "x.mT",
    "x.unsqueeze(-1)", "x.unsqueeze(1)", "x.unsqueeze(0)", "x.squeeze(-1)", "x.squeeze(1)", "x.flatten(1)",
    "x.flatten(2)", "x.unflatten(-1, [1, -1])", "x.unsqueeze(-1).flatten(2)", "x.chunk(2, -1)", "x.chunk(2, 0)",
    "x.chunk(2, 1)", "x.split(1, -1)", "x.split([1, w.shape[0] - 1], -1)", "x.narrow(-1, 0, 1)", "x.narrow(1, 0, 1)",
    "x.select(-1, 1)", "x.select(0, 1)", "t.cat([x, x], -1)", "t.cat([x, x], 0)", "t.cat([x, x], 1)",
    "t.stack([x, x], -1)", "t.stack([x, x])", "x.permute(0, 2, 1)", "x.permute(1, 0, 2)", "x.permute(0, 1)",
    "x.permute(0, 1, 1)", "x.movedim(1, -1)", "x.movedim(0, 1)", "x.view_as(x)", "x.reshape_as(x)",
    "x.swapaxes(1, 2)", "x.reshape(x.size(0), -1, w.shape[0], 1)", "x.view(-1, 2)",
    "x.view(x.size(0), -1, *x.shape[2:])", "x.expand(x.size(0), -1, *x.shape[2:])", "x.expand(1, 2, 3)",
    "x.to_padded_tensor(0)", "x.to_padded_tensor(7, (3, 9, *x.shape[2:]))", "x.cumsum(1)", "x.sort()", "x.nonzero()",
    "x.new_zeros(2)", "x.item()", "bool(x)", "x.numpy()", "x.tolist()", "x.T", "x.is_same_size(y)",
    "x.is_same_size(x * 2)", "x.is_contiguous()", "x.transpose(1, 2).is_contiguous()", "x.contiguous()", "x.clone()",
    "x.detach()", "x.double()", "x.to('cpu', t.float32)", "x.half().dtype", "x.clone().copy_(x * 2)", "x.values()",
    "x.offsets()", "x.lengths()", "x.data", "x.type_as(w)", "x.shape == x.abs().shape", "x.shape[1] == y.shape[1]",
    "x.shape[1] > 1", "x.shape[1] > 3", "x.shape[1] * 2", "x.shape[1] == 2", "t.zeros(x.shape)",
    "x.masked_select(x > 0)"]
# Of layout torch.strided, of which PyTorch computes far less.
STRIDED = [
    "x + x", "x * 2", "x - x", "x / 2", "-x", "x + 1", "x + w", "x == x", "x > 0", "x >= 0", "abs(x)", "x.abs()",
    "F.relu(x)", "F.gelu(x)", "F.silu(x)", "x.tanh()", "x.sqrt()", "x.clone().add_(1)", "x.clone().mul_(x)",
    "x.clone().fill_(2)", "x.clone().zero_()", "x.masked_fill(x > 0, 0)", "t.zeros_like(x)", "t.ones_like(x)",
    "x.sum(-1, keepdim=True)", "x.sum(-1)", "x.sum(1)", "x.sum()", "x.sum((0, 1))", "x.mean()", "x.max()", "x.shape",
    "x.size()", "x.size(0)", "x.size(-1)", "x.size(1)", "x.stride()", "len(x)", "list(x)", "x.dim()", "x.numel()",
    "x.layout", "x.is_nested", "x.is_contiguous()", "x[0]", "x[-1]", "x[9]", "x[0, 1]", "x[..., 0]", "x[0:1]",
    "x.unbind()", "x.unbind(1)", "x.transpose(1, 2)", "x.transpose(0, 1)", "x.permute(0, 2, 1)", "x.unsqueeze(-1)",
    "x.unsqueeze(1)", "x.unsqueeze(0)", "x.squeeze(-1)", "x.flatten(2)", "x.flatten(1)", "x.chunk(1, -1)",
    "x.chunk(2, 0)", "x.chunk(9, -1)", "x.split([1, w.shape[0] - 1], -1)", "x.split(1, -1)", "x.narrow(0, 0, 1)",
    "x.narrow(1, 0, 1)", "t.cat([x.detach(), x.detach()], -1)", "t.stack([x, x])",
    "t.cat([x.detach(), x.detach()], 0)", "t.softmax(x, -1)", "t.softmax(x, 1)", "t.softmax(x, 0)",
    "F.layer_norm(x, w.shape)", "F.layer_norm(x, w.shape, w, w)", "F.dropout(x, 0.0)",
    "F.linear(x, t.stack([w, w]).to(x.dtype))", "x @ x.transpose(-1, -2)", "x @ w", "t.bmm(x, x.transpose(1, 2))",
    "x.reshape(x.size(0), -1, w.shape[0], 1)", "x.view(9, 9, 9)", "x.to_padded_tensor(0)",
    "x.to_padded_tensor(1, (9, 9, *[9] * (x.dim() - 2)))", "x.to_padded_tensor(0, (1, 1, 1))", "x.clone()",
    "x.detach()", "x.double()", "x.half().dtype", "x.clone().copy_(x * 2)", "x.is_same_size(x * 2)", "x.values()",
    "x.offsets()", "repr(x)", "x.numpy()", "x.tolist()", "bool(x)", "x.item()", "x.cumsum(1)", "t.maximum(x, x)",
    "x.exp()", "x.T", "x.mT", "2 - x", "x.sign()", "x.square()", "x.conj()", "x.divide(2)", "x.absolute()",
    "x.negative()", "x.subtract(x)", "x.clone().multiply_(2)", "(x > 0).logical_not_()", "x.clone().normal_(2, 0)"]


def compute(t, texts, shapes, dtype, wanted, layout):
    """Return what expressions come to, each with tensors of its own."""
    return [compute_one(t, text, shapes, dtype, wanted, layout) for text in texts]


def compute_one(t, text, shapes, dtype, wanted, layout):
    x = t.nested.nested_tensor(samples(t, shapes, dtype), layout=getattr(t, layout), requires_grad=wanted)
    y = t.nested.nested_tensor(samples(t, shapes, dtype, 1), layout=getattr(t, layout))
    w = samples(t, [shapes[0][-1:]], "float64" if dtype != "float32" else dtype, 2)[0]
    return outcome(eval, text, {"t": t, "F": t.nn.functional, "x": x, "y": y, "w": w})


def compare(texts, shapes, dtype, wanted, layout="jagged"):
    wrong, asked = [], (texts, SHAPES[shapes], dtype, wanted, layout)
    for text, mine, genuine in zip(texts, compute(dt, *asked), on_genuine(compute, *asked), strict=True):
        if not agree(mine, genuine):
            wrong.append(f"{text}\n  here     {mine}\n  PyTorch  {genuine}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("wanted", [False, True])
@pytest.mark.parametrize("shapes", list(SHAPES))
def test_floats_agree_with_genuine(shapes, wanted):
    compare(POINTWISE + FLOATS + REDUCED + SHAPED, shapes, "float64", wanted)


@pytest.mark.parametrize("shapes", list(SHAPES))
def test_integers_agree_with_genuine(shapes):
    compare(POINTWISE + REDUCED + SHAPED, shapes, "int64", False)


@pytest.mark.parametrize("wanted", [False, True])
@pytest.mark.parametrize("shapes", list(SHAPES))
def test_strided_ones_agree_with_genuine(shapes, wanted):
    compare(STRIDED, shapes, "float32", wanted, "strided")
