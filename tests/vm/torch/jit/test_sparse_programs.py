"""Sparse matrices in scripts: made and multiplied as in PyTorch, and again out of an archive."""
import io

import numpy as np
import pytest

import dragon.vm.torch as dt
from harness.subresults import each

torch = pytest.importorskip("torch")
CALLS = {
    "mm": "torch.sparse.mm(a, x)",
    "sum by name": "torch.sparse.mm(a.to_sparse_csr(), x, 'sum')",
    "mean": "torch.sparse.mm(a.to_sparse_csr(), x, 'mean')", "amax": "torch.sparse.mm(a.to_sparse_csr(), x, 'amax')",
    "addmm": "torch.sparse.addmm(x, a, x, beta=2, alpha=3)", "total": "torch.sparse.sum(a)",
    "softmax": "torch.sparse.softmax(a, 1).to_dense()", "log": "torch.sparse.log_softmax(a, 0).to_dense()",
    "sampled": "torch.sparse.sampled_addmm(a.to_sparse_csr(), x, x).to_dense()",
    "made": "torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), x[0], [2, 2]).to_dense()",
    "rows": "torch.sparse_csr_tensor(torch.tensor([0, 1, 2]), torch.tensor([1, 0]), x[0], [2, 2]).to_dense()",
    "mask": "x.sparse_mask(a).to_dense()", "axes": "torch.tensor(a.sparse_dim())"}


def run(room, call):
    """Return what a call gives in a script, and in that script out of an archive."""
    torch = room  # noqa: F841: what the text names
    function = room.jit.CompilationUnit(f"def f(a, x):\n    return {call}\n").f
    a = room.sparse_coo_tensor([[0, 0, 1], [0, 1, 1]], [1.0, 2.0, -3.0], (2, 2)).coalesce()
    x, file = room.tensor([[1.0, 2.0], [3.0, -1.0]]), io.BytesIO()
    room.jit.save(function, file)
    return [found(a, x) for found in (function, room.jit.load(io.BytesIO(file.getvalue())))]


@pytest.mark.filterwarnings("ignore")
@each("name", CALLS)
def test_scripts_give_what_pytorch_gives(name):
    mine, theirs = (run(room, CALLS[name]) for room in (dt, torch))
    for one, other in zip(mine, theirs):
        assert str(one.dtype) == str(other.dtype)
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


def test_operators_of_products_can_be_called():
    a, x = dt.eye(3).to_sparse_csr(), dt.arange(6.0).reshape(3, 2)
    found, places = dt.ops.aten._sparse_mm_reduce_impl(a, x, "amax")
    assert found.tolist() == x.tolist() and places.dtype == dt.int64
    assert dt.ops.aten._sparse_mm(a, x).tolist() == dt.ops.aten._sparse_mm.reduce(a, x, "mean").tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="foo"):
        dt.ops.aten._sparse_mm.reduce(a, x, "foo")
