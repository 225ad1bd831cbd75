"""Sparse tensors as text: of each its places, its values and its sizes, as `TensorProto` messages."""
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.files.tensor_proto import parse as _parse, serialize as _serialize
from dragon.vm.shared.sparse.tensor import SparseTensor as _SparseTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor as _convert
from dragon.vm.shared.tensors.dtypes import as_dtype as _as_dtype, int64 as _int64, string as _string
from dragon.vm.shared.tensors.tensor import ops as _ops


def _check(sp_input, out_type, who):
    if not isinstance(sp_input, _SparseTensor):
        raise TypeError(f"{who}: Input must be a SparseTensor. Received: {sp_input!r}")
    if _as_dtype(out_type) is not _string:
        raise NotImplementedError(f"{who}: got out_type={out_type!r}, expected tf.string: there are no variants")
    return sp_input


def _texts(sp):
    return [_serialize(part) for part in (sp.indices, sp.values, sp.dense_shape)]


def serialize_sparse(sp_input, out_type="string", name=None):
    """Return a sparse tensor as three texts: its places, its values and its sizes.

    Parameters
    ----------
    sp_input : SparseTensor
        The tensor.
    out_type : DType, optional, default="string"
        Must be that.

    Returns
    -------
    Tensor
        Three texts.

    """
    return _convert(_texts(_check(sp_input, out_type, "tf.io.serialize_sparse")), _string)


def serialize_many_sparse(sp_input, out_type="string", name=None):
    """Return the entries along the first axis of a sparse tensor, each as three texts.

    Parameters
    ----------
    sp_input : SparseTensor
        The tensor, of two axes or more.
    out_type : DType, optional, default="string"
        Must be that.

    Returns
    -------
    Tensor
        Three texts for each entry.

    """
    sp = _check(sp_input, out_type, "tf.io.serialize_many_sparse")
    places, sizes = sp.indices.numpy(), sp.dense_shape.numpy()
    if len(sizes) < 2:
        raise invalid_argument(f"Rank of input SparseTensor should be > 1, but saw rank: {len(sizes)}")
    rows = []
    for number in range(int(sizes[0])):
        chosen = (places[:, 0] == number).nonzero()[0]
        values = _ops.index_select(sp.values, 0, _convert(chosen)) if sp.values.dtype is not _string else \
            _convert(sp.values.numpy()[chosen], _string)
        rows.append(_texts(_SparseTensor(_convert(places[chosen, 1:]), values, _convert(sizes[1:]))))
    return _convert(rows, _string)


def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """Return sparse tensors, each three texts, put together along a first axis.

    Parameters
    ----------
    serialized_sparse : Tensor
        Three texts for each tensor.
    dtype : DType
        Of their values.
    rank : int, optional
        How many axes each has.

    Returns
    -------
    SparseTensor
        With an axis more.

    """
    import numpy as np
    rows, dtype = _convert(serialized_sparse, _string).numpy(), _as_dtype(dtype)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise invalid_argument(f"Serialized sparse tensors should be a matrix with 3 columns but received shape "
                               f"{list(rows.shape)}")
    places, values, sizes = [], [], []
    for number, row in enumerate(rows):
        own, numbers, size = (_parse(text) for text in row)
        if own.dtype is not _int64 or size.dtype is not _int64 or (own.ndim, numbers.ndim, size.ndim) != (2, 1, 1) \
                or tuple(own.shape) != (numbers.shape[0], size.shape[0]):
            raise invalid_argument(
                f"Expected serialized_sparse[{number}] to be int64 places [values, axes], [values] and int64 sizes "
                f"[axes]. Received: {own.dtype.name} {tuple(own.shape)}, {tuple(numbers.shape)}, {size.dtype.name} "
                f"{tuple(size.shape)}")
        if numbers.dtype != dtype:
            raise invalid_argument(f"Requested SparseTensor of type {dtype.name} but SparseTensor[{number}]"
                                   f".values.dtype() == {numbers.dtype.name}")
        if rank is not None and own.shape[-1] not in (rank, rank - 1):
            raise invalid_argument(f"Expected sparse tensors of rank {rank} or {rank - 1}, got {own.shape[-1]}")
        places.append(np.concatenate([np.full((own.shape[0], 1), number), own.numpy()], -1))
        values.append(numbers.numpy())
        sizes.append(size.numpy())
    if not sizes:
        raise invalid_argument("Must have at least 1 serialized SparseTensor, input matrix has 0 rows")
    if len({len(size) for size in sizes}) > 1:
        raise invalid_argument(f"Inconsistent rank across SparseTensors: {sorted({len(size) for size in sizes})}")
    joint = [len(sizes), *np.max(sizes, axis=0).tolist()]
    return _SparseTensor(_convert(np.concatenate(places).astype(np.int64)), _convert(np.concatenate(values), dtype),
                         _convert(joint, _int64))
