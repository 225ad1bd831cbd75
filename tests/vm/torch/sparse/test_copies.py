"""Parts of compressed tensors as memory of their own, and old names; answers are genuine PyTorch 2.13's."""
import pytest

from dragon.vm import torch

ROWS, COLUMNS = torch.eye(3).to_sparse_csr(), torch.eye(3).to_sparse_csc()


@pytest.mark.parametrize("name, x, expected", [
    ("crow_indices_copy", ROWS, [0, 1, 2, 3]), ("col_indices_copy", ROWS, [0, 1, 2]), ("values_copy", ROWS, [1, 1, 1]),
    ("ccol_indices_copy", COLUMNS, [0, 1, 2, 3]), ("row_indices_copy", COLUMNS, [0, 1, 2])])
def test_copies_are_memory_of_their_own(name, x, expected):
    copy = getattr(torch, name)(x)
    assert copy.tolist() == expected
    copy.zero_()
    assert getattr(x, name.removesuffix("_copy"))().tolist() == expected
    out = torch.empty_like(copy)
    assert getattr(torch, name)(x, out=out) is out and out.tolist() == expected


@pytest.mark.parametrize("name", ["indices_copy", "values_copy"])
def test_coordinates_have_no_copies(name):
    with pytest.raises(NotImplementedError, match=f"{name}: got a tensor of layout torch.sparse_coo"):
        getattr(torch, name)(torch.eye(3).to_sparse())


@pytest.mark.parametrize("name", ["indices_copy", "crow_indices_copy", "row_indices_copy"])
def test_strided_tensors_have_no_parts(name):
    with pytest.raises(RuntimeError, match="got a tensor of layout torch.strided"):
        getattr(torch, name)(torch.eye(3))


def test_resizing():
    x, like = torch.zeros(2, 2).to_sparse(), torch.eye(3).to_sparse()
    assert torch.resize_as_sparse_(x, like) is x and x.shape == (3, 3) and x._nnz() == 0
    assert like.resize_as_sparse_(x) is like and like._nnz() == 3
    with pytest.raises(RuntimeError, match="torch.strided, expected a sparse one"):
        torch.ones(2).resize_as_sparse_(like)


def test_old_names():
    x = torch.eye(3).to_sparse()
    made = torch.saddmm(x, x, torch.ones(3, 3), beta=2, alpha=3)
    assert made.is_sparse and made.to_dense().tolist() == (2 * torch.eye(3) + 3).tolist()
    with pytest.raises(RuntimeError, match="sspaddmm"):
        torch.saddmm(torch.ones(3, 3), torch.ones(3, 3), torch.ones(3, 3))
