"""Matrices of which two of every four numbers are zero: refused on CPUs, as by genuine PyTorch."""
import pytest
import torch

from dragon.vm import torch as dt


@pytest.mark.parametrize("T", [dt, torch])
def test_refused_on_cpus(T):
    matrix = T.eye(32).half()
    with pytest.raises(RuntimeError, match="original_tensor.device= cpu is not supported! Only CUDA tensors"):
        T.sparse.to_sparse_semi_structured(matrix)
    with pytest.raises(RuntimeError), pytest.warns(FutureWarning, match="is deprecated and will be removed"):
        T.sparse.to_sparse_semi_structured(matrix, transposed=True)
    assert not isinstance(matrix, T.sparse.SparseSemiStructuredTensor)
