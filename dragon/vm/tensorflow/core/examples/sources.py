"""Datasets of data bases, sparse batches, files of records, datasets filled up."""
import math
import pathlib
import re
import sqlite3

import numpy as np

from dragon.vm.shared import errors
from dragon.vm.shared.arrays.array import reshape
from dragon.vm.shared.arrays.creation import zeros
from dragon.vm.shared.arrays.joining import concat
from dragon.vm.shared.data.dataset import Dataset
from dragon.vm.shared.files.records import TFRecordOptions
from dragon.vm.shared.files.records import TFRecordWriter as _Writer
from dragon.vm.shared.nest import flatten, pack_sequence_as
from dragon.vm.shared.sparse.tensor import SparseTensor, SparseTensorSpec
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, bool_, int64, string
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.type_spec import TensorSpec

COLUMNS = "string int8 int16 int32 int64 uint8 uint16 bool float64".split()
# What SQLite reads of a text as a number: as much of its beginning as is one.
WHOLE = re.compile(rb"[ \t-\r]*([+-]?\d+)")
REAL = re.compile(rb"[ \t-\r]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")


class TFRecordWriter:
    """Write a dataset of strings into a file of records.

    Parameters
    ----------
    filename : str
        The file.
    compression_type : str, optional
        "ZLIB", "GZIP" or none.

    """

    def __init__(self, filename, compression_type=None):
        self._filename, self._compression = filename, compression_type or ""

    def write(self, dataset):
        """Write all elements, each a record.

        Parameters
        ----------
        dataset : Dataset
            Of single strings.

        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype is not string or spec.shape.rank not in (None, 0):
            raise TypeError(f"Invalid `dataset`. Expected a dataset of single strings but got elements of {spec}.")
        with _Writer(self._filename, TFRecordOptions(self._compression)) as writer:
            for record in dataset.as_numpy_iterator():
                writer.write(record)


class SqlDataset(Dataset):
    """The rows that a query to a data base gives.

    Parameters
    ----------
    driver_name : str
        "sqlite".
    data_source_name : str
        The file.
    query : str
        The query.
    output_types : Tuple[DType, ...]
        The dtypes of the columns.

    """

    def __init__(self, driver_name, data_source_name, query, output_types):
        super().__init__()
        driver, self._file, self._query = map(_text, (driver_name, data_source_name, query))
        if driver != "sqlite":
            raise errors.invalid_argument(f"The database type, {driver}, is not supported by SqlDataset. The set of "
                                          "supported databases is: {'sqlite'}.")
        self._types = tuple(as_dtype(dtype) for dtype in output_types)
        if any(dtype.name not in COLUMNS for dtype in self._types):
            raise errors.invalid_argument(f"Each element of `output_types_` must be one of {', '.join(COLUMNS)}. "
                                          f"Received: {[dtype.name for dtype in self._types]}")

    def _make_spec(self):
        return tuple(TensorSpec([], dtype) for dtype in self._types)

    def _iterate(self):
        try:
            # The address of a file keeps what would mean something in one, such as the mark before "mode".
            connection = sqlite3.connect(f"{pathlib.Path(self._file).absolute().as_uri()}?mode=ro", uri=True)
            connection.text_factory = bytes  # text of a data base need not be UTF-8
            try:
                rows = connection.execute(self._query)
                if len(rows.description or ()) != len(self._types):
                    raise errors.invalid_argument(
                        f"The number of columns in query ({len(rows.description or ())}) must match the number of "
                        f"elements in output_types ({len(self._types)})")
                for row in rows:
                    yield tuple(_cell(value, dtype) for value, dtype in zip(row, self._types))
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise errors.UnknownError(None, None, f"{error}: {self._query}") from None


def _text(value):
    value = value.numpy() if hasattr(value, "numpy") else value
    return value.decode() if isinstance(value, bytes) else str(value)


def _cell(value, dtype):
    """Return a cell as a tensor, as SQLite turns it; what is not there is 0 or an empty string."""
    if dtype is string:
        return convert_to_tensor(_as_text(value), dtype)
    if isinstance(value, bytes):
        found = (REAL if dtype.is_floating else WHOLE).match(value)
        value = (float if dtype.is_floating else int)(found[1]) if found else 0
    if dtype.is_floating:
        return convert_to_tensor(float(value or 0), dtype)
    # Numbers beyond 64 bits are the last of those; of narrower integers the low bits stay, as in C.
    limits = np.iinfo(np.int64)
    whole = np.int64(int(min(max(value or 0, limits.min), limits.max)))
    return convert_to_tensor(whole != 0 if dtype is bool_ else whole.astype(dtype.as_numpy_dtype), dtype)


def _as_text(value):
    """Return a cell as text; real numbers have a point, and fifteen digits at most."""
    if isinstance(value, float):
        digits, mark, power = f"{value:.15g}".partition("e")
        value = digits.title() if math.isinf(value) else f"{digits}{'' if '.' in digits else '.0'}{mark}{power}"
    return b"" if value is None else value if isinstance(value, bytes) else str(value).encode()


class _SparseBatches(Dataset):
    """Batches of elements of different sizes as sparse tensors."""

    def __init__(self, source, size, row_shape):
        super().__init__(source)
        self._size, self._shape = int(size), TensorShape(row_shape)
        if self._size < 1:
            raise errors.invalid_argument(f"batch_size must be greater than zero. Received: {size}")

    def _make_spec(self):
        spec = self._sources[0].element_spec
        if not isinstance(spec, TensorSpec):
            raise TypeError("`dense_to_sparse_batch()` requires an input dataset whose elements have a single "
                            f"component, but the given dataset has the following component types: {spec}.")
        return SparseTensorSpec([None, *self._shape], spec.dtype)

    def _iterate(self):
        self._make_spec()
        batch = []
        for element in self._sources[0]._open():
            batch.append(element)
            if len(batch) == self._size:
                yield self._joined(batch)
                batch = []
        if batch:
            yield self._joined(batch)

    def _joined(self, batch):
        sizes = list(self._shape)
        for row in batch:
            if len(row.shape) != len(sizes) or any(known is not None and size > known
                                                   for size, known in zip(row.shape, sizes)):
                raise errors.DataLossError(None, None, f"Input element had shape ({list(row.shape)}) that is larger "
                                           f"than the row shape ({sizes}).")
        sizes = [max(row.shape[axis] for row in batch) if size is None else size for axis, size in enumerate(sizes)]
        places = []
        for number, row in enumerate(batch):
            own = ops.argwhere(ops.ones(tuple(row.shape), dtype="bool"))
            places.append(ops.pad(own, [1, 0], "constant", number))
        values = concat([reshape(row, (-1,)) for row in batch], 0)
        return SparseTensor(ops.cast(ops.cat(places, 0), int64), values, convert_to_tensor([len(batch), *sizes], int64))


def dense_to_sparse_batch(batch_size, row_shape):
    """Return a function for `dataset.apply` that puts elements of different sizes into sparse batches.

    Parameters
    ----------
    batch_size : int
        How many elements make a batch.
    row_shape : TensorShape
        The greatest sizes; None where that of a batch's greatest element will do.

    Returns
    -------
    Callable
        The function.

    """
    return lambda dataset: _SparseBatches(dataset, batch_size, row_shape)


def pad_to_cardinality(cardinality, mask_key="valid"):
    """Return a function for `dataset.apply` that adds elements of zeros or empty texts, and tells which are true ones.

    Parameters
    ----------
    cardinality : int
        How many elements there shall be.
    mask_key : str, optional, default="valid"
        Under which name elements, which are dictionaries, say whether they are true ones.

    Returns
    -------
    Callable
        The function.

    """
    def apply(dataset):
        if not isinstance(dataset.element_spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        count = dataset._count()
        if count < 0:
            raise ValueError("The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has "
                             f"cardinality {count}")
        if count > cardinality:
            raise ValueError("The dataset passed into `pad_to_cardinality` must have a cardinalty less than the target "
                             f"cardinality ({cardinality}), but has cardinality {count}")
        marked = dataset.map(lambda element: {**element, mask_key: convert_to_tensor(True)})
        if count == cardinality:
            return marked
        spec = dataset.element_spec
        blank = pack_sequence_as(spec, [zeros([size or 0 for size in part.shape], part.dtype)
                                        for part in flatten(spec)])
        filling = Dataset.from_tensors({**blank, mask_key: convert_to_tensor(False)}).repeat(cardinality - count)
        return marked.concatenate(filling)
    return apply
