"""Matrices of which two of every four numbers are zero: what GPUs multiply in half the time, and nothing else does."""
from dragon.core import warnings
from dragon.vm.torch.core.absent import fill

fill(globals(), "sparse.semi_structured")


def to_sparse_semi_structured(original_tensor, transposed=False, *, alg_id=0):
    """Refuse a tensor: those on CPUs as PyTorch does, as such products are GPUs'.

    Parameters
    ----------
    original_tensor : Tensor
        A matrix.
    transposed : bool, optional, default=False
        Deprecated: only matrices that are contiguous are taken.
    alg_id : int, optional, default=0
        Which algorithm cuSPARSELt uses.

    """
    if transposed:
        warnings.warn("Setting transpose from `to_sparse_semi_structured` is deprecated and will be removed in a "
                      "future release. `SparseSemiStructuredTensor` only support contiguous input tensors.",
                      FutureWarning)
    device = original_tensor.device
    if device.type != "cuda":
        raise RuntimeError(f"Error original_tensor.device= {device} is not supported! Only CUDA tensors are currently "
                           "supported.")
    raise NotImplementedError(f"to_sparse_semi_structured: got a matrix on {device} and alg_id={alg_id}: Dragon has no "
                              "products of such matrices (yet); keep it dense")
