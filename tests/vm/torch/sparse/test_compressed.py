"""The compressed layouts beside genuine PyTorch."""
import warnings

import pytest
import torch
from harness.sparse import coordinates, outcome, same, strided
from harness.subresults import each

from dragon.vm import torch as dt

CALLS = """c | c.to_dense() | c.values() | c @ b | b.t() @ c.t() | c.mv(b[:, 0]) | c.t() | c.sum() | c.to_sparse() |
c.abs() | c + c2 | c * c2 | c * 2 | d + c | c[0] | c[:, 1] | -c | c.clone().mul_(3) | c._nnz() | c.layout.__repr__() |
c.is_sparse | c.is_sparse_csr | c.sin() | c.to(t.float32) | t.zeros_like(c) | t.ones_like(c) |
c.sum(1, keepdim=True) | c.requires_grad | c.sum(0, keepdim=True) | d.sparse_mask(c) | c.to_sparse_csr() |
c.to_sparse_csc() | c.to_sparse_bsr((2, 5)) | c.numel() | c.to_sparse_bsc((4, 1)) | t.addmm(d @ b, c, b, beta=2) |
c.transpose(0, 1) | t.sparse.sampled_addmm(c, d @ b, b.t()) | c.stride() | c.cos() |
c.to_sparse(layout=t.sparse_bsr, blocksize=(1, 5)) | c @ c.t() | c * d | c.sparse_dim() | c.dense_dim()"""


@each("dtype", ["float64", "float32", "int64", "complex128"])
@each("count", [0, 7, 20])
@each("layout", ["csr", "csc", "bsr", "bsc"])
@pytest.mark.long("every function is called of tensors of four layouts, by genuine PyTorch as well")
def test_functions_agree_with_genuine(layout, count, dtype):
    wrong = []
    for call in CALLS.replace("\n", " ").split("|"):
        pair = []
        for t in (dt, torch):
            block = ((2, 1),) if layout in ("bsr", "bsc") else ()
            made = [getattr(coordinates(t, seed, (4, 5), count, 0, dtype), "to_sparse_" + layout)(*block)
                    for seed in (1, 3)]
            names = {"t": t, "c": made[0], "c2": made[1], "b": strided(t, 7, (5, 3), dtype),
                     "d": strided(t, 9, (4, 5), dtype)}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                pair.append(outcome(lambda: eval(call.strip(), {}, names)))
        if pair[1] != "refused" and not same(*pair):
            wrong.append((call, *pair))
    assert not wrong


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_products_reduced_otherwise(reduce):
    made = []
    for t in (dt, torch):
        x = coordinates(t, 1, (4, 5), 7).to_sparse_csr()
        made.append(outcome(lambda: t.sparse.mm(x, strided(t, 2, (5, 3)), reduce)))
    assert same(*made)


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_batches_and_dense_dims(layout):
    for t in (dt, torch):
        x = t.arange(24.).reshape(2, 3, 4) + 1
        batched = getattr(x, "to_sparse_" + layout)()
        assert batched.shape == (2, 3, 4) and batched._nnz() == 12 and t.equal(batched.to_dense(), x)
        assert batched.transpose(1, 2).to_dense().tolist() == x.transpose(1, 2).tolist()
        hybrid = getattr(x, "to_sparse_" + layout)(dense_dim=1)
        assert hybrid.dense_dim() == 1 and t.equal(hybrid.to_dense(), x)
        with pytest.raises(RuntimeError):
            getattr(t.tensor([[[0., 1.]], [[1., 1.]]]), "to_sparse_" + layout)()


def test_making_and_looking_at_invariants():
    for t in (dt, torch):
        x = t.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [1., 2., 3.])
        assert x.shape == (2, 3) and x.crow_indices().tolist() == [0, 1, 3] and x.col_indices().tolist() == [2, 0, 2]
        assert t.sparse_bsc_tensor([0, 1, 2], [0, 1], t.ones(2, 2, 3)).shape == (4, 6)
        wrong = [([0, 3], [2, 0, 2]), ([1, 1, 3], [2, 0, 2]), ([0, 1, 2], [2, 0, 2]), ([0, 1, 3], [3, 0, 2]),
                 ([0, 1, 3], [2, 2, 0]), ([0, 4, 3], [2, 0, 2]), ([0., 1., 3.], [2., 0., 2.]), ([0, 1, 3], [-1, 0, 2])]
        for starts, places in wrong:
            with pytest.raises(RuntimeError):
                t.sparse_csr_tensor(starts, places, [1., 2., 3.], (2, 3), check_invariants=True)
        with t.sparse.check_sparse_tensor_invariants(), pytest.raises(RuntimeError):
            t.sparse_coo_tensor([[-1], [0]], [1.], (2, 2))
        assert not t.sparse.check_sparse_tensor_invariants.is_enabled()
        with pytest.raises(RuntimeError):
            t.sparse_coo_tensor([[0, 0], [0, 0]], [1., 1.], (2, 2), is_coalesced=True, check_invariants=True)
        for indices, values, size in (([[0, 1]], [1.], (2,)), ([[0], [1]], [1.], (2,)), ([0], [1.], (2,)),
                                      ([[0]], [[1.]], (2, 2))):
            with pytest.raises(RuntimeError):
                t.sparse_coo_tensor(indices, values, size)
        with pytest.raises(RuntimeError):
            t.sparse_coo_tensor([[0, -1]], [1., 2.])


def test_indices_converted_alone():
    for t in (dt, torch):
        rows = t.tensor([0, 1, 1])
        assert t._convert_indices_from_coo_to_csr(rows, 3).tolist() == [0, 1, 3, 3]
        assert t._convert_indices_from_coo_to_csr(rows, 3, out_int32=True).dtype is t.int32
        starts, columns = t.tensor([0, 1, 3]), t.tensor([1, 0, 2])
        assert t._convert_indices_from_csr_to_coo(starts, columns).tolist() == [[0, 1, 1], [1, 0, 2]]
        assert t._convert_indices_from_csr_to_coo(starts, columns, transpose=True).tolist() == [[1, 0, 2], [0, 1, 1]]


def test_diagonals():
    for t in (dt, torch):
        rows = t.arange(6.).reshape(2, 3)
        assert t.sparse.spdiags(rows, t.tensor([0, 1]), (3, 3)).to_dense().tolist() == [[0, 4, 0], [0, 1, 5], [0, 0, 2]]
        made = t.sparse.spdiags(rows, t.tensor([0, -1]), (3, 4), layout=t.sparse_csr)
        assert made.layout is t.sparse_csr and made.to_dense().tolist() == [[0, 0, 0, 0], [3, 1, 0, 0], [0, 4, 2, 0]]
        with pytest.raises(RuntimeError):
            t.sparse.spdiags(rows, t.tensor([1, 1]), (3, 3))
