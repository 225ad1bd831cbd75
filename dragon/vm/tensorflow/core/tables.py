"""Tables from keys to values: dictionaries of Python behind tensors.

Neither `experimental_is_anonymous` nor `checkpoint` is used: tables are objects of Python, and in no checkpoint.
"""
import os
import types

from dragon.core.capture.host_calls import is_writing
from dragon.vm.shared.errors import FailedPreconditionError, NotFoundError, invalid_argument
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, int64, string
from dragon.vm.shared.written.nodes import is_tensor, is_written
from dragon.vm.shared.written.tables import WrittenTable, with_buckets


class TextFileIndex:
    """The meaning of a column of a file's lines."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """Keys and values that a table begins with.

    Parameters
    ----------
    keys, values : Tensor
        As many of each.
    key_dtype, value_dtype : DType, optional
        Their dtypes.

    """

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        self._keys, self._values = convert_to_tensor(keys, key_dtype), convert_to_tensor(values, value_dtype)
        # Numbers of keys and values that Python means are int32 here, as they are in TensorFlow.
        self.key_dtype, self.value_dtype = self._keys.dtype, self._values.dtype
        if tuple(self._keys.shape) != tuple(self._values.shape):
            raise invalid_argument(f"Expected as many keys as values. Received shapes {self._keys.shape} and "
                                   f"{self._values.shape}")

    def pairs(self):
        """Return (key, value) pairs of Python."""
        return list(zip(_flat(self._keys), _flat(self._values)))


class TextFileInitializer:
    """Keys and values from the lines of a file.

    Parameters
    ----------
    filename : str
        The file.
    key_index, value_index : int
        Columns, or one of TextFileIndex.
    vocab_size : int, optional
        How many lines are read; all by default.
    delimiter : str, optional, default="\\t"
        What stands between columns.
    value_index_offset : int, optional, default=0
        What is added to line numbers that are values.

    """

    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t",
                 name=None, value_index_offset=0):
        path = filename.numpy() if hasattr(filename, "numpy") else filename
        self.path = os.fsdecode(expect(path, (str, bytes, os.PathLike), "TextFileInitializer", "filename"))
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self.columns, self.vocab_size, self.delimiter = (key_index, value_index), vocab_size, expect(
            delimiter, str, "TextFileInitializer", "delimiter").encode()
        self.offset = value_index_offset

    def pairs(self):
        """Return (key, value) pairs of Python."""
        try:
            with open(self.path, "rb") as file:
                lines = [line.rstrip(b"\r\n") for line in file]
        except FileNotFoundError:
            raise NotFoundError(None, None, f"{self.path}; No such file or directory") from None
        if self.vocab_size is not None:
            if len(lines) < self.vocab_size:
                raise invalid_argument(f"Invalid vocab_size in {self.path}: expected {self.vocab_size} but got "
                                       f"{len(lines)}")
            lines = lines[:self.vocab_size]
        key, value = self.columns
        return [(self._pick(line, number, key, self.key_dtype, 0),
                 self._pick(line, number, value, self.value_dtype, self.offset)) for number, line in enumerate(lines)]

    def _pick(self, line, number, column, dtype, offset):
        if column == TextFileIndex.LINE_NUMBER:
            return number + offset
        text = line if column == TextFileIndex.WHOLE_LINE else line.split(self.delimiter)[column]
        return text if dtype is string else float(text) if dtype.is_floating else int(text)


def _flat(tensor):
    """Return a tensor's elements as a list."""
    array = tensor.numpy()
    return array.reshape(-1).tolist() if tensor.ndim else [array if isinstance(array, bytes) else array.item()]


def _check_initializer(initializer, who):
    """Return the dtypes of keys and values, or raise for what is no initializer of tables."""
    if not hasattr(initializer, "pairs"):
        raise TypeError(f"{who}: got initializer={initializer!r}, expected a KeyValueTensorInitializer or a "
                        "TextFileInitializer")
    return initializer.key_dtype, initializer.value_dtype


class _Table:
    """The base of tables: looking up."""

    __iter__ = None  # Python would look up one number after the other otherwise

    def _check_keys(self, keys):
        keys = convert_to_tensor(keys) if not isinstance(keys, (int, list, tuple)) else convert_to_tensor(
            keys, self.key_dtype)
        if keys.dtype is not self.key_dtype and not (keys.dtype.is_integer and self.key_dtype.is_integer):
            raise TypeError(f"Dtype of argument `keys` must be {self.key_dtype!r}, received: {keys.dtype!r}")
        return keys

    def _answer(self, keys, function, dtype):
        import numpy as np
        found = [function(key) for key in _flat(keys)]
        array = np.empty(len(found), object if dtype is string else dtype.as_numpy_dtype)
        array[:] = found
        shape = tuple(keys.shape)
        return convert_to_tensor(array.reshape(shape) if shape else array.reshape(shape)[()], dtype)

    def _checkpoint_parts(self):
        return {}

    def written(self):
        """Return what a file holds of the table; tables that change are not written."""
        raise NotImplementedError(f"saved_model.save: got a {type(self).__name__}, expected tables that do not change, "
                                  "such as tf.lookup.StaticHashTable")

    def lookup(self, keys, name=None):
        """Return the values of keys."""
        if hasattr(keys, "with_flat_values"):
            return keys.with_flat_values(self.lookup(keys.flat_values))
        if hasattr(keys, "dense_shape") and hasattr(keys, "indices"):
            return type(keys)(keys.indices, self.lookup(keys.values), keys.dense_shape)
        if is_writing() and (is_written(keys) or is_tensor(keys)):
            return self._find_written(keys)
        return self._answer(self._check_keys(keys), self._find, self.value_dtype)

    def _find_written(self, keys):
        """Return the values of keys that come when a file's function runs."""
        return self.written().lookup(keys, self.default_value)

    def __getitem__(self, keys):
        return self.lookup(keys)

    def size(self, name=None):
        """Return how many keys there are."""
        return convert_to_tensor(len(self._entries), int64)

    def export(self, name=None):
        """Return all keys and all values."""
        import numpy as np
        keys, values = list(self._entries), list(self._entries.values())

        def pack(items, dtype):
            array = np.empty(len(items), object if dtype is string else dtype.as_numpy_dtype)
            array[:] = items
            return convert_to_tensor(array, dtype)
        return pack(keys, self.key_dtype), pack(values, self.value_dtype)


class _StaticTable(_Table):
    """A table that does not change."""

    _source = _kept = None  # the text file that it is read from; what files hold of it

    def written(self):
        """Return what a file holds of the table."""
        if self._kept is None:
            self._kept = WrittenTable(list(self._entries), list(self._entries.values()), self.key_dtype,
                                      self.value_dtype, self._source)
        return self._kept


class StaticHashTable(_StaticTable):
    """A table that does not change.

    Parameters
    ----------
    initializer : Union[KeyValueTensorInitializer, TextFileInitializer]
        Its keys and values.

    """

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        self.key_dtype, self.value_dtype = _check_initializer(initializer, "StaticHashTable")
        self._entries = {}
        for key, value in initializer.pairs():
            if self._entries.setdefault(key, value) != value:
                raise FailedPreconditionError(None, None, "HashTable has different value for same key. Key "
                                              f"{key!r} has {self._entries[key]!r} and trying to add value {value!r}")
        self.default_value = convert_to_tensor(default_value, self.value_dtype)
        self._default = _flat(self.default_value)[0]
        self._source = initializer if isinstance(initializer, TextFileInitializer) else None

    def _find(self, key):
        return self._entries.get(key, self._default)


class StaticVocabularyTable(_StaticTable):
    """A table from text to numbers; unknown text is spread over further numbers by its hash.

    Parameters
    ----------
    initializer : Optional[Union[KeyValueTensorInitializer, TextFileInitializer]]
        Keys and their numbers from 0.
    num_oov_buckets : int
        How many further numbers there are.
    lookup_key_dtype : DType, optional
        Of keys.

    """

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None,
                 experimental_is_anonymous=False):
        if num_oov_buckets <= 0:
            raise ValueError(f"`num_oov_buckets` must be > 0; use StaticHashTable. Received: {num_oov_buckets}")
        if initializer is not None and _check_initializer(initializer, "StaticVocabularyTable")[1] is not int64:
            raise TypeError(f"Invalid `value_dtype`, expected {int64!r} but got {initializer.value_dtype!r}.")
        self.key_dtype = as_dtype(lookup_key_dtype) if lookup_key_dtype else (
            initializer.key_dtype if initializer is not None else string)
        self.value_dtype, self._buckets = int64, num_oov_buckets
        self._entries = dict(initializer.pairs()) if initializer is not None else {}
        self._source = initializer if isinstance(initializer, TextFileInitializer) else None

    def _find_written(self, keys):
        return with_buckets(self.written(), keys, self._buckets, len(self._entries))

    def _find(self, key):
        found = self._entries.get(key)
        if found is not None:
            return found
        from dragon.vm.shared.hashing import fingerprint64
        text = key if isinstance(key, bytes) else str(key).encode()
        return len(self._entries) + int(fingerprint64([text])[0]) % self._buckets

    def size(self, name=None):
        """Return how many numbers there are, those of unknown text included."""
        return convert_to_tensor(len(self._entries) + self._buckets, int64)


class MutableHashTable(_Table):
    """A table that changes. ..."""

    def __init__(self, key_dtype, value_dtype, default_value, name="MutableHashTable", checkpoint=True,
                 experimental_is_anonymous=False):
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self._entries = {}
        self._default = convert_to_tensor(default_value, self.value_dtype)
        if self._default.ndim:
            raise NotImplementedError(f"tf.lookup: values are single ones. Received: default_value={default_value!r}")
        self._default = _flat(self._default)[0]

    def _find(self, key):
        return self._entries.get(key, self._default)

    def insert(self, keys, values, name=None):
        """Add keys, or give them other values."""
        self._entries.update(zip(_flat(self._check_keys(keys)), _flat(convert_to_tensor(values, self.value_dtype))))

    def remove(self, keys, name=None):
        """Take keys out."""
        for key in _flat(self._check_keys(keys)):
            self._entries.pop(key, None)

    erase = remove


experimental = types.SimpleNamespace(MutableHashTable=MutableHashTable)
