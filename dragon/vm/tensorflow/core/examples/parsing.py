"""Examples as dicts of tensors: what `tf.io.parse_example` and its kin do with the bytes of `tf.train.Example`."""
import math
import struct
from collections import namedtuple

from dragon import _C
from dragon.core.wire import BYTES, read_fields, write_field
from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of, string_scalar, wrap_array
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.tensors.tensor import Tensor

NUMBERS = {"string": 1, "float32": 2, "int64": 3}  # the dtype of a list of values, and its field in a Feature
ONE, FLOAT = (1).to_bytes(8, "little"), struct.Struct("<f")  # a count of one value, and a value
MISSING, BROKEN = -1, -3  # what the engine says in place of a number of values


class FixedLenFeature(namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature that has the same shape in all examples.

    Parameters
    ----------
    shape : Sequence[int]
        Its shape.
    dtype : DType
        Its dtype: int64, float32 or string.
    default_value : Any, optional
        What examples without it have; none may be without it by default.

    """

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class VarLenFeature(namedtuple("VarLenFeature", ["dtype"])):
    """A feature whose length differs, as a sparse tensor.

    Parameters
    ----------
    dtype : DType
        Its dtype: int64, float32 or string.

    """


class FixedLenSequenceFeature(namedtuple("FixedLenSequenceFeature",
                                         ["shape", "dtype", "allow_missing", "default_value"])):
    """A feature of several steps of one shape; fewer steps are filled up.

    Parameters
    ----------
    shape : Sequence[int]
        The shape of a step.
    dtype : DType
        Its dtype.
    allow_missing : bool, optional, default=False
        Whether examples may be without it.
    default_value : Any, optional
        What fills up.

    """

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class RaggedFeature(namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"])):
    """A feature whose length differs, as a ragged tensor.

    Parameters
    ----------
    dtype : DType
        Its dtype.
    value_key : str, optional
        The name of the feature with the values; its own by default.
    partitions : Sequence, optional
        How the values are cut further; not supported.
    row_splits_dtype : DType, optional, default=int32
        The dtype of the places where rows end.
    validate : bool, optional, default=False
        Whether partitions are checked.

    """

    def __new__(cls, dtype, value_key=None, partitions=(), row_splits_dtype="int32", validate=False):
        if partitions:
            raise NotImplementedError(f"RaggedFeature: partitions are not supported. Received: {partitions!r}")
        return super().__new__(cls, dtype, value_key, tuple(partitions), as_dtype(row_splits_dtype), validate)


class SparseFeature(namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])):
    """Two features, of places and of values, as one sparse tensor.

    Parameters
    ----------
    index_key : Union[str, Sequence[str]]
        The feature of the places.
    value_key : str
        The feature of the values.
    dtype : DType
        The dtype of the values.
    size : Union[int, Sequence[int]]
        The size of the box.
    already_sorted : bool, optional, default=False
        Whether places are in order.

    """

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


def read_features(data, found):
    """Add {name: bytes of what it holds} of a map of features."""
    for number, wire, entry in read_fields(data):
        if number == 1 and wire == BYTES:
            key, value = b"", b""
            for part, _, content in read_fields(entry):
                if part == 1:
                    key = content
                else:
                    value = content
            found[key.decode()] = value


def _check_features(features):
    if not features:
        raise ValueError("Missing: features was {features!r}.".format(features=features))
    for name, feature in expect(features, dict, "parse_example", "features").items():
        if not isinstance(feature, (FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, RaggedFeature,
                                    SparseFeature)):
            raise ValueError(f"Invalid feature {name}:{feature}.")


def as_records(serialized, who):
    """Return (a list of bytes, the shape) of a tensor of strings."""
    tensor = serialized if isinstance(serialized, StringTensor) else convert_to_tensor(serialized)
    if tensor.dtype.name != "string":
        raise TypeError(f"{who}: serialized must be a tensor of strings. Received: {serialized!r}")
    array = array_of(tensor)
    return array.reshape(-1).tolist(), list(array.shape)


def parse_single(serialized, features, example_names=None):
    """Return {name: tensor} of the bytes of one Example."""
    _check_features(features)
    records, shape = as_records(serialized, "parse_single_example")
    if shape:
        raise errors.InvalidArgumentError(None, None,
                                          f"parse_single_example: serialized must be a scalar. Received: shape {shape}")
    return {name: READERS[type(feature)](records, name, feature, True) for name, feature in features.items()}


def parse_many(serialized, features, example_names=None):
    """Return {name: tensor} of the bytes of several Examples, one row for each."""
    _check_features(features)
    records, shape = as_records(serialized, "parse_example")
    if not shape:
        return parse_single(serialized, features)
    if len(shape) > 1:
        raise NotImplementedError(f"parse_example: serialized must be a vector. Received: shape {shape}")
    return {name: READERS[type(feature)](records, name, feature, False) for name, feature in features.items()}


def read_column(records, name, dtype):
    """Return (how many values each record has, -1 without the feature; all values) as arrays."""
    import numpy as np
    dtype = as_dtype(dtype).name
    if dtype not in NUMBERS:
        raise ValueError(f"Feature {name}: dtype must be int64, float32 or string. Received: {dtype}")
    counts, values = _C.example_column(records, name, NUMBERS[dtype])
    counts = np.frombuffer(counts, np.int64)
    if len(counts) and counts.min() < MISSING:
        if counts.min() == BROKEN:
            raise errors.InvalidArgumentError(None, None, f"Could not parse example input, value of example "
                                              f"{int(counts.argmin())}")
        raise errors.InvalidArgumentError(None, None, f"Key: {name}.  Data types don't match. Expected type: {dtype}")
    if dtype != "string":
        return counts, np.frombuffer(values, dtype)
    array = np.empty(len(values), object)
    array[:] = values
    return counts, array


def _wrap(array):
    # What is over the bytes of a record may not be written into by whoever gets the tensor's memory.
    return wrap_array(array if array.dtype == object or array.flags.writeable else array.copy())


def _quick(record, name, feature):
    """Return a single value of a record, or None where there is more to look at."""
    dtype = as_dtype(feature.dtype)
    number = NUMBERS.get(dtype.name)
    if number is None:
        return None
    counts, values = _C.example_column((record,), name, number)
    if counts != ONE:
        return None
    if number == NUMBERS["string"]:
        return string_scalar(values[0])
    value = int.from_bytes(values, "little", signed=True) if number == NUMBERS["int64"] else FLOAT.unpack(values)[0]
    return _C.tensor(value, dtype, None, Tensor)


def _fixed(records, name, feature, single):
    """Return a feature of one shape."""
    if single and not len(feature.shape):
        found = _quick(records[0], name, feature)
        if found is not None:
            return found
    import numpy as np
    shape = [int(size) for size in feature.shape]
    counts, values = read_column(records, name, feature.dtype)
    wanted = math.prod(shape)
    if (counts != wanted).any():
        if ((counts != wanted) & (counts != MISSING)).any():
            raise errors.InvalidArgumentError(
                None, None, f"Key: {name}.  Number of {as_dtype(feature.dtype).name} values != expected.  Values size: "
                f"{counts[counts != wanted][0]} but output shape: {shape}")
        if feature.default_value is None:
            raise errors.InvalidArgumentError(
                None, None, f"Feature: {name} (data type: {as_dtype(feature.dtype).name}) is required but could not be "
                "found.")
        default = array_of(convert_to_tensor(feature.default_value, dtype=as_dtype(feature.dtype)))
        default = np.broadcast_to(default, shape) if default.size == 1 else default.reshape(shape)
        filled = np.empty([len(records), *shape], values.dtype)
        filled[:] = default
        filled[counts == wanted] = values.reshape([-1, *shape])
        values = filled
    return _wrap(values.reshape(shape if single else [len(records), *shape]))


def _steps(records, name, feature, single):
    """Return a feature of several steps, fewer ones filled up."""
    import numpy as np
    counts, values = read_column(records, name, feature.dtype)
    if not feature.allow_missing and (counts == MISSING).any():
        raise errors.InvalidArgumentError(None, None, f"Feature: {name} is required but could not be found.")
    shape, counts = list(feature.shape), counts.clip(0)
    if single:
        return _wrap(values.reshape([-1, *shape]))
    default = (b"" if values.dtype == object else 0) if feature.default_value is None else feature.default_value
    filled = np.empty([len(records), int(counts.max(initial=0))], values.dtype)
    filled[...] = default.encode() if isinstance(default, str) else default
    filled[np.arange(filled.shape[1]) < counts[:, None]] = values
    return _wrap(filled.reshape([len(records), -1, *shape]))


def _variable(records, name, feature, single):
    """Return a feature whose length differs as a sparse tensor."""
    import numpy as np
    from dragon.vm.shared.sparse.tensor import SparseTensor
    counts, values = read_column(records, name, feature.dtype)
    if single:
        places = np.arange(len(values), dtype=np.int64)[:, None]
        return SparseTensor(wrap_array(places), _wrap(values), [len(values)])
    return _sparse_rows(counts.clip(0), values)


def _sparse_rows(counts, values):
    """Return rows of these lengths as a sparse matrix."""
    import numpy as np
    from dragon.vm.shared.sparse.tensor import SparseTensor
    within = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.stack([np.repeat(np.arange(len(counts)), counts), within], 1).astype(np.int64)
    return SparseTensor(wrap_array(places), _wrap(values), [len(counts), int(counts.max(initial=0))])


def _ragged(records, name, feature, single):
    """Return a feature whose length differs as a ragged tensor, that of one record as a vector."""
    from dragon.vm.shared.ragged.making import _from_lengths
    counts, values = read_column(records, feature.value_key or name, feature.dtype)
    values = _wrap(values)
    return values if single else _from_lengths(values, counts.clip(0), feature.row_splits_dtype)


def _sparse(records, name, feature, single):
    """Return two features, of places and of values, as a sparse tensor."""
    import numpy as np
    from dragon.vm.shared.sparse.math import reorder
    from dragon.vm.shared.sparse.tensor import SparseTensor
    keys = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
    sizes = [feature.size] if isinstance(feature.size, int) else list(feature.size)
    counts, values = read_column(records, feature.value_key, feature.dtype)
    columns = [read_column(records, key, "int64") for key in keys]
    if any((one.clip(0) != counts.clip(0)).any() for one, _ in columns):
        raise errors.InvalidArgumentError(None, None, f"Feature {name}: expected as many places as values. Received: "
                                          f"{[one.tolist() for one, _ in columns]} and {counts.tolist()}")
    places = [places for _, places in columns]
    if not single:
        places, sizes = [np.repeat(np.arange(len(records)), counts.clip(0)), *places], [len(records), *sizes]
    made = SparseTensor(wrap_array(np.stack(places, 1).astype(np.int64)), _wrap(values), sizes)
    return made if feature.already_sorted else reorder(made)


READERS = {FixedLenFeature: _fixed, FixedLenSequenceFeature: _steps, VarLenFeature: _variable, RaggedFeature: _ragged,
           SparseFeature: _sparse}


def _example_of(features):
    """Return the bytes of an Example of the bytes of a map of features."""
    return write_field(1, BYTES, features)


def _rows_of(steps, name, dtype):
    """Return the values of the features of a list, each as the only feature of an example."""
    def entry(feature):
        return _example_of(write_field(1, BYTES, write_field(1, BYTES, b"x") + write_field(2, BYTES, feature)))
    return read_column([entry(feature) for feature in steps], "x", dtype)


def parse_sequences(serialized, context_features=None, sequence_features=None, example_names=None):
    """Return (context, steps, lengths) of the bytes of several SequenceExamples, one row for each."""
    import numpy as np
    from dragon.vm.shared.ragged.making import stack_dense
    from dragon.vm.shared.tensors.tensor import ops
    records, shape = as_records(serialized, "parse_sequence_example")
    if not shape:
        return (*parse_sequence(serialized, context_features, sequence_features), {})
    for name, feature in (sequence_features or {}).items():
        if not isinstance(feature, FixedLenSequenceFeature):
            raise NotImplementedError(f"parse_sequence_example: steps are FixedLenSequenceFeature only. Received: "
                                      f"{name}: {feature}")
    found = [parse_sequence(string_scalar(record), {}, sequence_features)[1] if sequence_features else {}
             for record in records]
    contexts = [_example_of(b"".join(content for number, _, content in read_fields(record) if number == 1))
                for record in records]
    context = {name: READERS[type(feature)](contexts, name, feature, False)
               for name, feature in (context_features or {}).items()}
    steps, lengths = {}, {}
    for name in sequence_features or {}:
        parts = [one[name] for one in found]
        sizes = np.array([int(part.shape[0]) for part in parts], np.int64)
        lengths[name] = wrap_array(sizes)
        longest = int(sizes.max(initial=0))
        if parts[0].dtype.name == "string":
            steps[name] = stack_dense(parts, "int64").to_tensor()
            continue
        steps[name] = ops.stack([ops.cat([part, ops.zeros([longest - int(part.shape[0]), *part.shape[1:]],
                                                          dtype=part.dtype)], 0) for part in parts])
    return context, steps, lengths


def parse_sequence(serialized, context_features=None, sequence_features=None, example_name=None):
    """Return ({name: tensor} of the context, {name: tensor} of the steps) of the bytes of one SequenceExample."""
    from dragon.vm.shared.ragged.making import _from_lengths
    if not context_features and not sequence_features:
        raise ValueError("Missing features: both `context_features` and `sequence_features` are None. "
                         "At least one should have values.")
    records, shape = as_records(serialized, "parse_single_sequence_example")
    if shape:
        raise errors.InvalidArgumentError(None, None, "parse_single_sequence_example: serialized must be a scalar. "
                                          f"Received: shape {shape}")
    context, lists = b"", {}
    for number, _, content in read_fields(records[0]):
        if number == 1:
            context += content
        else:
            read_features(content, lists)
    made = {}
    for name, feature in (sequence_features or {}).items():
        if name not in lists and not getattr(feature, "allow_missing", True):
            raise errors.InvalidArgumentError(None, None, f"Feature list '{name}' is required but could not be found.")
        steps = [value for _, _, value in read_fields(lists.get(name, b""))]
        counts, values = _rows_of(steps, name, feature.dtype)
        counts = counts.clip(0)
        if isinstance(feature, FixedLenSequenceFeature):
            made[name] = _wrap(values.reshape([len(counts), *feature.shape]))
        elif isinstance(feature, RaggedFeature):
            made[name] = _from_lengths(_wrap(values), counts, feature.row_splits_dtype)
        else:
            made[name] = _sparse_rows(counts, values)
    records = [_example_of(context)]
    return {name: READERS[type(feature)](records, name, feature, True)
            for name, feature in (context_features or {}).items()}, made
