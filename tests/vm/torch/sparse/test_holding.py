"""Sparse tensors printed, copied, in files and in modules."""
import copy
import io
import pickle

import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each


def kinds(t):
    x = t.sparse_coo_tensor([[0, 1, 1, 0], [2, 0, 2, 2]], [3., 4., 5., 1.], (2, 3))
    return [x, x.coalesce(), x.double(), x.int(), x.coalesce().to_sparse_csr(), x.coalesce().to_sparse_csc(),
            t.ones(2, 4).to_sparse_bsr((1, 2)), t.ones(2, 4).to_sparse_bsc((2, 2)), t.sparse_coo_tensor((2, 3)),
            t.sparse_csr_tensor([[0, 1], [0, 1]], [[0], [1]], [[1.], [2.]], (2, 1, 3)), x.bool(), x.to(t.complex64),
            t.sparse_coo_tensor([[0, 1]], t.arange(4.).reshape(2, 2), (2, 2)), t.ones(2000, 2).to_sparse()]


@each("index", range(14))
def test_printed_as_genuine(index):
    assert repr(kinds(dt)[index]) == repr(kinds(torch)[index])


@each("index", range(13))
def test_files_go_both_ways(index):
    for writer, reader in ((dt, torch), (torch, dt), (dt, dt)):
        file = io.BytesIO()
        writer.save({"x": kinds(writer)[index]}, file)
        file.seek(0)
        found = reader.load(file)["x"]
        assert repr(found) == repr(kinds(reader)[index])


def test_files_with_indices_outside_are_refused():
    file = io.BytesIO()
    torch.save(torch.sparse_coo_tensor([[7]], [1.], (2,), check_invariants=False), file)
    file.seek(0)
    with pytest.raises(Exception, match="got index 7 for dim 0, expected 0 to 1"):
        dt.load(file)


def test_copies():
    for x in kinds(dt)[:9]:
        for made in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x), x.clone(), dt.tensor(x)):
            assert repr(made) == repr(x) and isinstance(made, dt.Tensor)
    x = kinds(dt)[1].requires_grad_()
    assert copy.deepcopy(x).requires_grad
    with pytest.raises(RuntimeError, match="deepcopy"):
        copy.deepcopy(x * 2)


def test_buffers_and_parameters():
    for t in (dt, torch):
        module, x = t.nn.Module(), kinds(t)[1]
        module.register_buffer("adjacency", x)
        module.weight = t.nn.Parameter(x.clone())
        assert isinstance(module.weight, t.nn.Parameter) and len(list(module.parameters())) == 1
        state = {name: value * 2 for name, value in module.state_dict().items()}
        module.load_state_dict(state)
        assert module.adjacency.to_dense().tolist() == [[0, 0, 8], [8, 0, 10]] and module.double().adjacency.dtype is (
            t.float64)


def test_old_constructors():
    for t in (dt, torch):
        indices, values = t.tensor([[0, 1], [1, 0]]), t.tensor([1., 2.])
        made = t.sparse.FloatTensor(indices, values, t.Size([2, 2]))
        assert made.to_dense().tolist() == [[0, 1], [2, 0]] and isinstance(made, t.sparse.FloatTensor)
        assert not isinstance(values, t.sparse.FloatTensor) and not isinstance(made, t.sparse.LongTensor)
        assert t.sparse.FloatTensor(2, 3).shape == (2, 3) and made.type() == "torch.sparse.FloatTensor"
        assert made.new_zeros(2, 2).is_sparse and t.zeros(2, 3, layout=t.sparse_coo)._nnz() == 0
        assert t.zeros(2, 3, layout=t.sparse_csr).crow_indices().tolist() == [0, 0, 0]
        assert t.dsmm(made, t.ones(2, 1)).tolist() == t.spmm(made, t.ones(2, 1)).tolist() == [[1.], [2.]]
        assert t.spmm(t.ones(2, 2), t.ones(2, 1)).tolist() == [[2.], [2.]]


def test_closeness():
    for t in (dt, torch):
        x = kinds(t)[1]
        t.testing.assert_close(x, x.clone())
        t.testing.assert_close(x, x.to_dense(), check_layout=False)
        for other, words in ((x * 2, "Sparse COO values"), (x.to_dense(), "'layout'"), (x.double(), "'dtype'")):
            with pytest.raises(AssertionError, match=words):
                t.testing.assert_close(x, other)
        with pytest.raises(AssertionError, match="Sparse CSR"):
            t.testing.assert_close(x.to_sparse_csr(), (x * 2).to_sparse_csr())


def test_strided_tensors_refuse_what_is_for_sparse_ones():
    for name in ("coalesce", "is_coalesced", "indices", "values", "_nnz", "crow_indices", "ccol_indices", "_indices"):
        with pytest.raises(RuntimeError, match=rf"^{name}: got a tensor of layout torch.strided, expected torch."):
            getattr(dt.ones(2), name)()
    with pytest.raises(TypeError, match="use Tensor.to_dense"):
        kinds(dt)[0].numpy()
    with pytest.raises(RuntimeError, match="sparse.mm: got torch.strided and torch.strided, expected a sparse"):
        dt.sparse.mm(dt.ones(2, 2), dt.ones(2, 2))
