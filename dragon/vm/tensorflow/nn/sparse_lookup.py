"""Rows of a table by sparse numbers, joined for each sample."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.data.rows import array_of, wrap_array
from dragon.vm.shared.sparse.tensor import SparseTensor
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.nn.lookup import embedding_lookup


def _parts(sparse):
    """Return (values, number of the row of each, number of rows) of sparse or ragged numbers."""
    if isinstance(sparse, SparseTensor):
        places = sparse._places()
        return sparse.values, places[:, 0], sparse._sizes[0]
    return sparse.values, array_of(sparse.value_rowids()), int(sparse.nrows())


def _count_rows(rows):
    """Return the number of rows as TensorFlow tells it: empty rows at the end do not count."""
    return int(rows[-1]) + 1 if len(rows) else 0


def _sum(values, rows, count):
    return ops.index_add(ops.zeros((count, *tuple(values.shape)[1:]), dtype=values.dtype), 0, wrap_array(
        rows.astype("int64")), values)


def embedding_lookup_sparse(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None,
                            allow_fast_lookup=False):
    """Return for each row of sparse numbers the rows of a table, joined.

    Parameters
    ----------
    params : Union[Tensor, Sequence[Tensor]]
        The table, or parts of it that take turns.
    sp_ids : Union[SparseTensor, RaggedTensor]
        Numbers of the table's rows.
    sp_weights : Union[SparseTensor, RaggedTensor, None]
        A weight for each number; 1 without them.
    combiner : str, optional, default="mean"
        "sum", "mean" (over the sum of weights) or "sqrtn" (over the root of the sum of their squares).
    max_norm : float, optional
        Longer rows are scaled to this length first.
    name, allow_fast_lookup : Any, optional
        Accepted.

    Returns
    -------
    Tensor
        One row for each row of numbers; zeros where there is none.

    """
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum'. Received: combiner={combiner!r}")
    if not hasattr(sp_ids, "values"):
        raise TypeError(f"sp_ids must be SparseTensor or RaggedTensor, got {type(sp_ids)}")
    if sp_weights is not None and type(sp_weights) is not type(sp_ids):
        raise TypeError(f"sp_ids and sp_weights must be of the same type. Received: {type(sp_ids).__name__} and "
                        f"{type(sp_weights).__name__}")
    ids, rows, count = _parts(sp_ids)
    count = _count_rows(rows) if isinstance(sp_ids, SparseTensor) else count
    found = embedding_lookup(params, ids, max_norm=max_norm)
    shape = (-1, *(1,) * (found.ndim - 1))
    weights = ops.ones((found.shape[0],), dtype=found.dtype) if sp_weights is None else ops.cast(
        take(sp_weights.values), found.dtype)
    total = _sum(ops.mul(found, ops.reshape(weights, shape)), rows, count)
    if combiner == "sum":
        return total
    size = _sum(weights if combiner == "mean" else ops.square(weights), rows, count)
    size = size if combiner == "mean" else ops.sqrt(size)
    size = ops.reshape(size, shape)
    there = ops.ne(size, 0.0)
    return ops.where(there, ops.div(total, ops.where(there, size, ops.ones_like(size))), ops.zeros_like(total))


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
                                 max_norm=None, name=None, allow_fast_lookup=False):
    """Return what `embedding_lookup_sparse` does, where numbers below 0 and weights of 0 do not count.

    Parameters
    ----------
    embedding_weights, sparse_ids, sparse_weights, combiner, max_norm : Any
        As there; numbers may have more than two axes, of which the last is joined.
    default_id : int, optional
        The number that rows without any have; by default such rows are zeros.
    name, allow_fast_lookup : Any, optional
        Accepted.

    """
    import numpy as np

    from dragon.vm.shared.sparse import math as sparse_math
    if not isinstance(sparse_ids, SparseTensor):
        raise NotImplementedError("safe_embedding_lookup_sparse: numbers are a SparseTensor; ragged.to_sparse() makes "
                                  f"one. Received: {type(sparse_ids).__name__}")
    sizes = list(sparse_ids._sizes)
    outer, last = sizes[:-1], sizes[-1]
    rows = int(np.prod(outer))
    flat = sparse_math.reshape(sparse_ids, [rows, last])
    weights = None if sparse_weights is None else sparse_math.reshape(sparse_weights, [rows, last])
    kept = array_of(flat.values) >= 0
    if weights is not None and combiner != "sum":
        kept &= array_of(weights.values) > 0
    kept = np.flatnonzero(kept)
    flat, weights = flat._take(kept), None if weights is None else weights._take(kept)
    empty = np.setdiff1d(np.arange(rows), flat._places()[:, 0])
    places = np.concatenate([flat._places(), np.stack([empty, np.zeros_like(empty)], 1)]).astype("int64")
    order = np.lexsort((places[:, 1], places[:, 0]))
    filler = ops.full((len(empty),), 0 if default_id is None else int(default_id), dtype=flat.dtype)
    joined = SparseTensor(wrap_array(places), ops.cat([flat.values, filler]), [rows, last])._take(order)
    if weights is not None:
        ones = ops.ones((len(empty),), dtype=weights.dtype)
        weights = SparseTensor(wrap_array(places), ops.cat([weights.values, ones]), [rows, last])._take(order)
    found = embedding_lookup_sparse(embedding_weights, joined, weights, combiner, max_norm)
    if default_id is None and len(empty):
        mask = np.zeros(rows, bool)
        mask[empty] = True
        mask = ops.reshape(wrap_array(mask), (-1, *(1,) * (found.ndim - 1)))
        found = ops.where(mask, ops.zeros_like(found), found)
    return ops.reshape(found, (*outer, *tuple(found.shape)[1:]))
