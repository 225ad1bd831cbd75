"""Examples as dicts of tensors: what `tf.io.parse_example` and its kin do with the bytes of `tf.train.Example`."""
from collections import namedtuple

from dragon.vm.tensorflow.core import errors
from dragon.vm.tensorflow.core.convert import convert_to_tensor
from dragon.vm.tensorflow.core.data.rows import array_of, wrap_array
from dragon.vm.tensorflow.core.dtypes import as_dtype
from dragon.vm.tensorflow.core.protobuf import DecodeError, read_fields, read_varint, signed

KINDS = {1: "string", 2: "float32", 3: "int64"}  # the field of a Feature, and the dtype of its list
BYTES = 2
FEW = 16  # numbers up to which a loop is quicker than NumPy


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


def read_example(data):
    """Return {name: bytes of the Feature} of the bytes of an Example."""
    found = {}
    for number, wire, features in read_fields(data):
        if number == 1 and wire == BYTES:
            read_features(features, found)
    return found


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


def read_values(feature, name, wanted):
    """Return the values of a feature as an array of a dtype; None where it holds none of any kind."""
    import numpy as np
    for number, _, content in read_fields(feature):
        kind = KINDS.get(number)
        if kind != wanted:
            raise errors.InvalidArgumentError(None, None, f"Key: {name}.  Data types don't match. Data type: {kind} "
                                              f"but expected type: {wanted}")
        if kind == "string":
            values = [value for _, _, value in read_fields(content)]
            array = np.empty(len(values), object)
            array[:] = values
            return array
        pieces = [_read_floats(wire, value) if kind == "float32" else _read_integers(wire, value)
                  for _, wire, value in read_fields(content)]
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate(pieces) if pieces else np.empty(0, kind)
    return None


def _read_floats(wire, value):
    import numpy as np
    return np.frombuffer(value, "<f4")


def _read_integers(wire, value):
    """Return the int64 numbers of a packed list, or a single one."""
    import numpy as np
    if wire != BYTES:
        return np.array([signed(value)], np.int64)
    if len(value) <= FEW:
        numbers, place = [], 0
        while place < len(value):
            number, place = read_varint(value, place)
            numbers.append(signed(number))
        return np.array(numbers, np.int64)
    octets = np.frombuffer(value, np.uint8)
    if octets.max() < 128:
        return octets.astype(np.int64)
    last = octets < 128
    # Each number is the sum of its groups of seven bits, moved by their places within it.
    ends = np.flatnonzero(last)
    starts = np.concatenate([[0], ends[:-1] + 1])
    within = np.arange(len(octets)) - np.repeat(starts, ends - starts + 1)
    parts = (octets & 127).astype(np.uint64) << (7 * within).astype(np.uint64)
    return np.add.reduceat(parts, starts).view(np.int64)


def _check_features(features):
    if not features:
        raise ValueError("Missing: features was {features!r}.".format(features=features))
    for name, feature in features.items():
        if not isinstance(feature, (FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, RaggedFeature,
                                    SparseFeature)):
            raise ValueError(f"Invalid feature {name}:{feature}.")


def as_records(serialized, who):
    """Return (a list of bytes, the shape) of a tensor of strings."""
    tensor = convert_to_tensor(serialized)
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
    found = _read(records[0])
    return {name: _single(found, name, feature) for name, feature in features.items()}


def _read(record):
    try:
        return read_example(record)
    except (DecodeError, UnicodeDecodeError, TypeError) as error:
        raise errors.InvalidArgumentError(None, None, f"Could not parse example input: {error}") from None


def _wrap(array):
    # What is over the bytes of a record may not be written into by whoever gets the tensor's memory.
    return wrap_array(array if array.dtype == object or array.flags.writeable else array.copy())


def _values(found, name, dtype):
    feature = found.get(name)
    return None if feature is None else read_values(feature, name, as_dtype(dtype).name)


def fixed(found, name, feature):
    """Return the array of a feature of one shape."""
    import numpy as np
    shape = [int(size) for size in feature.shape]
    values = _values(found, name, feature.dtype)
    if values is None:
        if feature.default_value is None:
            raise errors.InvalidArgumentError(
                None, None, f"Feature: {name} (data type: {as_dtype(feature.dtype).name}) is required but could not be "
                "found.")
        default = array_of(convert_to_tensor(feature.default_value, dtype=as_dtype(feature.dtype)))
        return np.broadcast_to(default, shape).copy() if default.size == 1 else default.reshape(shape).copy()
    if values.size != int(np.prod(shape)):
        raise errors.InvalidArgumentError(
            None, None, f"Key: {name}.  Number of {as_dtype(feature.dtype).name} values != expected.  Values size: "
            f"{values.size} but output shape: {shape}")
    return values.reshape(shape)


def _any(found, name, dtype):
    """Return the values of a feature that may be missing."""
    import numpy as np
    values = _values(found, name, dtype)
    return np.empty(0, as_dtype(dtype).as_numpy_dtype) if values is None else values


def steps(found, name, feature):
    """Return the array of a feature of several steps."""
    values = _any(found, name, feature.dtype)
    if not values.size and not feature.allow_missing and name not in found:
        raise errors.InvalidArgumentError(None, None, f"Feature: {name} is required but could not be found.")
    return values.reshape([-1, *feature.shape])


def _single(found, name, feature):
    import numpy as np
    if isinstance(feature, FixedLenFeature):
        return _wrap(fixed(found, name, feature))
    if isinstance(feature, FixedLenSequenceFeature):
        return _wrap(steps(found, name, feature))
    if isinstance(feature, RaggedFeature):
        return _wrap(_any(found, feature.value_key or name, feature.dtype))
    from dragon.vm.tensorflow.core.sparse import SparseTensor
    if isinstance(feature, VarLenFeature):
        values = _any(found, name, feature.dtype)
        return SparseTensor(wrap_array(np.arange(len(values), dtype=np.int64)[:, None]), _wrap(values), [len(values)])
    return _sparse(found, feature)


def _sparse(found, feature):
    import numpy as np
    from dragon.vm.tensorflow.core.sparse import SparseTensor
    from dragon.vm.tensorflow.core.sparse_math import reorder
    keys = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
    sizes = [feature.size] if isinstance(feature.size, int) else list(feature.size)
    places = np.stack([_any(found, key, "int64") for key in keys], 1)
    made = SparseTensor(wrap_array(places), _wrap(_any(found, feature.value_key, feature.dtype)), sizes)
    return made if feature.already_sorted else reorder(made)


def parse_many(serialized, features, example_names=None):
    """Return {name: tensor} of the bytes of several Examples, one row for each."""
    _check_features(features)
    records, shape = as_records(serialized, "parse_example")
    if not shape:
        return parse_single(serialized, features)
    if len(shape) > 1:
        raise NotImplementedError(f"parse_example: serialized must be a vector. Received: shape {shape}")
    found = [_read(record) for record in records]
    return {name: _many(found, name, feature) for name, feature in features.items()}


def _many(found, name, feature):
    import numpy as np
    from dragon.vm.tensorflow.core.ragged_make import _from_lengths
    from dragon.vm.tensorflow.core.sparse import SparseTensor
    if isinstance(feature, FixedLenFeature):
        rows = [fixed(one, name, feature) for one in found]
        kind = as_dtype(feature.dtype).as_numpy_dtype
        return _wrap(np.stack(rows) if rows else np.empty([0, *feature.shape], kind))
    if isinstance(feature, FixedLenSequenceFeature):
        return _wrap(_fill([steps(one, name, feature) for one in found], feature))
    if isinstance(feature, SparseFeature):
        from dragon.vm.tensorflow.core import sparse_math
        return sparse_math.concat([sparse_math.expand_dims(_sparse(one, feature), 0) for one in found], 0)
    key = getattr(feature, "value_key", None) or name
    rows = [_any(one, key, feature.dtype) for one in found]
    lengths = np.array([len(row) for row in rows], np.int64)
    values = _wrap(np.concatenate(rows))
    if isinstance(feature, RaggedFeature):
        return _from_lengths(values, lengths, feature.row_splits_dtype)
    numbers = np.repeat(np.arange(len(rows)), lengths)
    within = np.concatenate([np.arange(0), *[np.arange(length) for length in lengths]])
    return SparseTensor(wrap_array(np.stack([numbers, within], 1).astype(np.int64)), values,
                        [len(rows), int(lengths.max(initial=0))])


def _fill(rows, feature):
    """Return arrays of different lengths as one, filled up."""
    import numpy as np
    kind = as_dtype(feature.dtype)
    default = (b"" if kind.name == "string" else 0) if feature.default_value is None else feature.default_value
    filled = np.empty([len(rows), max(map(len, rows), default=0), *feature.shape], rows[0].dtype)
    filled[...] = default.encode() if isinstance(default, str) else default
    for number, row in enumerate(rows):
        filled[number, :len(row)] = row
    return filled


def parse_sequence(serialized, context_features=None, sequence_features=None, example_name=None):
    """Return ({name: tensor} of the context, {name: tensor} of the steps) of the bytes of one SequenceExample."""
    import numpy as np
    from dragon.vm.tensorflow.core.ragged_make import _from_lengths
    from dragon.vm.tensorflow.core.sparse import SparseTensor
    if not context_features and not sequence_features:
        raise ValueError("Missing features: both `context_features` and `sequence_features` are None. "
                         "At least one should have values.")
    records, shape = as_records(serialized, "parse_single_sequence_example")
    if shape:
        raise errors.InvalidArgumentError(None, None, "parse_single_sequence_example: serialized must be a scalar. "
                                          f"Received: shape {shape}")
    context, lists = {}, {}
    for number, _, content in read_fields(records[0]):
        read_features(content, context if number == 1 else lists)
    made = {}
    for name, feature in (sequence_features or {}).items():
        known = [value for _, _, value in read_fields(lists.get(name, b""))]
        if name not in lists and not getattr(feature, "allow_missing", True):
            raise errors.InvalidArgumentError(None, None, f"Feature list '{name}' is required but could not be found.")
        rows = [_any({name: value}, name, feature.dtype) for value in known]
        lengths = np.array([len(row) for row in rows], np.int64)
        values = np.concatenate([np.empty(0, as_dtype(feature.dtype).as_numpy_dtype), *rows])
        if isinstance(feature, FixedLenSequenceFeature):
            made[name] = _wrap(values.reshape([len(rows), *feature.shape]))
        elif isinstance(feature, RaggedFeature):
            made[name] = _from_lengths(_wrap(values), lengths, feature.row_splits_dtype)
        else:
            within = np.concatenate([np.arange(0), *[np.arange(length) for length in lengths]])
            places = np.stack([np.repeat(np.arange(len(rows)), lengths), within], 1).astype(np.int64)
            made[name] = SparseTensor(wrap_array(places), _wrap(values), [len(rows), int(lengths.max(initial=0))])
    return {name: _single(context, name, feature) for name, feature in (context_features or {}).items()}, made
