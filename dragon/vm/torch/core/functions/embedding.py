"""Tables of `torch.nn.functional`: rows by index, bags of rows, and `max_norm=`, which shrinks rows before use."""

from dragon.core import warnings
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.sparse.tables import SparseBags, SparseRows
from dragon.vm.torch.core.tensor import ops

_embedding = ops.embedding


def shrink_rows(weight, index, max_norm, norm_type):
    """Scale, in place and off the tape, the rows of a table that are used and longer than `max_norm`."""
    table = weight.detach()
    used = ops.unique(index)[0]
    rows = ops.index_select(table, 0, used)
    norms = ops.norm(rows, norm_type, 1, True)
    scale = ops.where(norms > max_norm, max_norm / (norms + 1e-7), ops.ones_like(norms))
    ops.index_copy_(table, 0, used, rows * scale)


@overridable
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Return rows of a table by index.

    Parameters
    ----------
    input : Tensor
        Indices.
    weight : Tensor
        The table.
    padding_idx : int, optional
        A row that takes no part in the gradient.
    max_norm : float, optional
        Longer rows are scaled down to this norm, in place.
    norm_type : float, optional, default=2.0
        Which norm.
    scale_grad_by_freq : bool, optional, default=False
        Whether a row's gradient is divided by how often it is used.
    sparse : bool, optional, default=False
        Whether the table's gradient is sparse: a row for each index.

    Returns
    -------
    Tensor
        The rows, in the shape of the indices and one axis more.

    """
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise AssertionError(f"embedding: got padding_idx {padding_idx}, expected {-rows} to {rows - 1}")
        padding_idx %= rows
    if max_norm is not None:
        shrink_rows(weight, input, max_norm, norm_type)
    if sparse:
        return look_up_sparse("embedding", weight, input, padding_idx, scale_grad_by_freq)
    return _embedding(weight, input, padding_idx, scale_grad_by_freq)


def look_up_sparse(who, weight, input, padding_idx, scale_grad_by_freq):
    """Return rows of a table whose gradient is sparse."""
    if scale_grad_by_freq:
        raise RuntimeError(f"{who}: got scale_grad_by_freq with sparse=True, expected one of them: it is not supported "
                           "with sparse gradients")
    return SparseRows.apply(weight, input, padding_idx)


@overridable
def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Return sums, means or maxima of bags of rows of a table.

    Parameters
    ----------
    input : Tensor
        Indices: one bag per row, or all bags one after the other.
    weight : Tensor
        The table.
    offsets : Tensor, optional
        Where the bags start, for indices with one axis.
    max_norm, norm_type, scale_grad_by_freq, sparse : optional
        As for `embedding`.
    mode : str, optional, default="mean"
        "sum", "mean" or "max".
    per_sample_weights : Tensor, optional
        Factors of the rows, for sums alone.
    include_last_offset : bool, optional, default=False
        Whether the last offset is the number of indices.
    padding_idx : int, optional
        A row that counts nothing.

    Returns
    -------
    Tensor
        One row for each bag.

    """
    if not weight.dtype.is_floating_point and input.dtype.is_floating_point:
        warnings.warn("embedding_bag: got the table first, expected the indices first")
        weight, input = input, weight
    if per_sample_weights is not None and tuple(input.shape) != tuple(per_sample_weights.shape):
        raise ValueError(f"embedding_bag: got per_sample_weights of {per_sample_weights.shape}, expected that of the "
                         f"indices, {input.shape}")
    if weight.ndim != 2:
        raise ValueError(f"embedding_bag: got weight of {weight.shape}, expected 2 dims")
    check_bag(mode, scale_grad_by_freq, sparse, per_sample_weights)
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError("embedding_bag: if input is 2D, then offsets has to be None, as input is treated is a "
                             f"mini-batch of fixed length sequences. However, found offsets of type {type(offsets)}")
        include_last_offset = False
        offsets = ops.arange(0, input.shape[0], dtype=OBJECTS["int64"], device=input.device) * input.shape[1]
        input = ops.reshape(input, (-1,))
        per_sample_weights = None if per_sample_weights is None else ops.reshape(per_sample_weights, (-1,))
    elif input.ndim != 1:
        raise ValueError(f"embedding_bag: got indices of {input.shape}, expected 1 or 2 dims")
    elif offsets is None or offsets.ndim != 1:
        raise ValueError("embedding_bag: offsets has to be a 1D Tensor but got "
                         f"{offsets if offsets is None else offsets.shape}")
    if max_norm is not None:
        shrink_rows(weight, input, max_norm, norm_type)
    if sparse:
        padding_idx = None if padding_idx is None else padding_idx % weight.shape[0]
        return SparseBags.apply(weight, input, offsets, per_sample_weights, mode, include_last_offset, padding_idx)
    return ops.embedding_bag(weight, input, offsets, per_sample_weights, scale_grad_by_freq, mode,
                             include_last_offset, padding_idx)[0]


def check_bag(mode, scale_grad_by_freq, sparse, per_sample_weights):
    """Raise for what the modes of bags exclude."""
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"embedding_bag: got mode {mode!r}, expected 'sum', 'mean' or 'max'")
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise ValueError("embedding_bag: got scale_grad_by_freq or sparse, expected neither for mode='max'")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(f"embedding_bag: got per_sample_weights for mode={mode!r}, expected mode='sum'")
    if sparse and scale_grad_by_freq:
        raise RuntimeError("embedding_bag: got scale_grad_by_freq with sparse=True, expected one of them: it is not "
                           "supported with sparse gradients")
