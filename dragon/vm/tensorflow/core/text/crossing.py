"""Features crossed with one another: for each row, every choice of one value of each column, as text or as a hash."""
import itertools

import numpy as np

from dragon import _C
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.hashing import CROSS_KEY, concatenated, fingerprint64
from dragon.vm.shared.letters import expect
from dragon.vm.shared.ragged.tensor import RaggedTensor
from dragon.vm.shared.sparse.tensor import SparseTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import int64, string

SIGNED = (1 << 63) - 1


def _is_text(values):
    return values.dtype.kind in "OSUT"


def _rows_of_dense(x):
    array = convert_to_tensor(x).numpy()
    if array.ndim != 2:
        raise invalid_argument(f"Dense inputs should be a matrix but received shape {list(array.shape)}")
    return [list(row) for row in array], array


def _rows_of_sparse(x):
    values, places = x.values.numpy(), x.indices.numpy()
    if places.shape[-1] != 2:
        raise invalid_argument(f"Input indices should be a matrix with 2 columns but received shape {places.shape}")
    rows = [[] for _ in range(int(x.dense_shape.numpy()[0]))]
    for (row, _), value in zip(places, values):
        rows[row].append(value)
    return rows, values


def _rows_of_ragged(x):
    values, splits = x.values, x.row_splits.numpy()
    if isinstance(values, RaggedTensor):
        raise ValueError("tf.ragged.cross only supports inputs with rank=2.")
    values = values.numpy()
    return [list(values[begin:end]) for begin, end in zip(splits, splits[1:])], values


def _read(inputs, kinds, who):
    """Return for each input its rows of values, as numbers where it is of numbers, and how many rows there are."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"{who}: Inputs must be a list. Received: {inputs!r}")
    columns = []
    for x in inputs:
        is_tensor = isinstance(x, _C.Tensor) or getattr(type(x), "is_string_tensor", False)
        if not is_tensor and not isinstance(x, kinds):
            raise TypeError(f"{who}: All inputs must be Tensor, SparseTensor or RaggedTensor. Received: {x!r}")
        read = _rows_of_sparse if isinstance(x, SparseTensor) else \
            _rows_of_ragged if isinstance(x, RaggedTensor) else _rows_of_dense
        rows, values = read(x)
        columns.append((rows, _is_text(values)))
    counts = {len(rows) for rows, _ in columns}
    if len(counts) > 1:
        raise invalid_argument(f"{who}: inputs must all have the same batch dimension size. Received: {sorted(counts)}")
    return columns, counts.pop() if counts else 0


def _sparse_first(inputs):
    """Return the inputs as TensorFlow goes through them: dense ones come after sparse ones."""
    if not isinstance(inputs, (list, tuple)):
        return inputs
    return sorted(inputs, key=lambda x: not isinstance(x, SparseTensor))


def _crossed(columns, count, make):
    """Return the rows of what is made of every choice of values."""
    rows = []
    for number in range(count):
        rows.append([make(choice) for choice in itertools.product(*(parts[number] for parts in columns))])
    return rows


def _texts(columns, count, separator):
    turned = [[[value if text else str(int(value)).encode() for value in row] for row in rows]
              for rows, text in columns]
    return _crossed(turned, count, separator.join)


def _hashes(columns, count, num_buckets, hash_key, who):
    if num_buckets < 0:
        raise invalid_argument(f"{who}: got num_buckets={num_buckets}, expected none or more")
    turned = []
    for rows, text in columns:
        flat = [value for row in rows for value in row]
        numbers = fingerprint64(flat) if text else np.asarray(flat, np.int64).view(np.uint64)
        ends = np.cumsum([0, *map(len, rows)])
        turned.append([numbers[begin:end] for begin, end in zip(ends, ends[1:])])

    def hashed(choice):
        # The key is where the chain of hashes begins.
        made = np.int64(hash_key or CROSS_KEY).astype(np.uint64)
        for number in choice:
            made = concatenated(made, number)
        return int(made) % (num_buckets or SIGNED)
    return _crossed(turned, count, hashed)


def _as_sparse(rows, dtype):
    places = [(number, place) for number, row in enumerate(rows) for place in range(len(row))]
    values = np.array([value for row in rows for value in row], object if dtype is string else np.int64)
    return SparseTensor(convert_to_tensor(np.array(places, np.int64).reshape(-1, 2)), convert_to_tensor(values, dtype),
                        convert_to_tensor([len(rows), max(map(len, rows), default=0)], int64))


def _as_ragged(rows, dtype):
    values = np.array([value for row in rows for value in row], object if dtype is string else np.int64)
    splits = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return RaggedTensor.from_row_splits(convert_to_tensor(values, dtype), convert_to_tensor(splits))


def cross_sparse(inputs, name=None, separator=None):
    """Return every choice of one value of each column, row by row, joined to a text.

    Parameters
    ----------
    inputs : Sequence[Union[Tensor, SparseTensor]]
        Matrices of text or of whole numbers.
    separator : str, optional, default="_X_"
        What stands between the values.

    Returns
    -------
    SparseTensor
        Of text.

    """
    columns, count = _read(_sparse_first(inputs), (SparseTensor,), "tf.sparse.cross")
    joint = "_X_" if separator is None else expect(separator, (str, bytes), "tf.sparse.cross", "separator")
    return _as_sparse(_texts(columns, count, joint if isinstance(joint, bytes) else joint.encode()), string)


def cross_sparse_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """Return every choice of one value of each column, row by row, as the number of a bucket.

    Parameters
    ----------
    inputs : Sequence[Union[Tensor, SparseTensor]]
        Matrices of text or of whole numbers.
    num_buckets : int, optional, default=0
        How many buckets there are; 0 leaves the hash as it is.
    hash_key : int, optional
        Where the chain of hashes begins.

    Returns
    -------
    SparseTensor
        Of int64.

    """
    columns, count = _read(_sparse_first(inputs), (SparseTensor,), "tf.sparse.cross_hashed")
    return _as_sparse(_hashes(columns, count, num_buckets, hash_key, "tf.sparse.cross_hashed"), int64)


def cross_ragged(inputs, name=None):
    """Return every choice of one value of each column, row by row, joined to a text by "_X_".

    Parameters
    ----------
    inputs : Sequence[Union[RaggedTensor, Tensor, SparseTensor]]
        Rows of text or of whole numbers.

    Returns
    -------
    RaggedTensor
        Of text.

    """
    columns, count = _read(inputs, (SparseTensor, RaggedTensor), "tf.ragged.cross")
    return _as_ragged(_texts(columns, count, b"_X_"), string)


def cross_ragged_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """Return every choice of one value of each column, row by row, as the number of a bucket.

    Parameters
    ----------
    inputs : Sequence[Union[RaggedTensor, Tensor, SparseTensor]]
        Rows of text or of whole numbers.
    num_buckets : int, optional, default=0
        How many buckets there are; 0 leaves the hash as it is.
    hash_key : int, optional
        Where the chain of hashes begins.

    Returns
    -------
    RaggedTensor
        Of int64.

    """
    columns, count = _read(inputs, (SparseTensor, RaggedTensor), "tf.ragged.cross_hashed")
    return _as_ragged(_hashes(columns, count, num_buckets, hash_key, "tf.ragged.cross_hashed"), int64)
