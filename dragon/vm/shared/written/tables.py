"""Tables from keys to values in functions that are written into files."""
from dragon.core.capture.host_calls import Note, stand_ins
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import int64, string
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.written import texts
from dragon.vm.shared.written.nodes import kind_of, stand_in_of, wrap


class WrittenTable:
    """What a file holds of a table that does not change.

    Parameters
    ----------
    keys, values : Any
        As many of each; texts or numbers.
    key_dtype, value_dtype : DType
        Their dtypes.
    source : Any, optional
        The initializer that reads them from a text file, which goes into the file's folder then.

    """

    def __init__(self, keys, values, key_dtype, value_dtype, source=None):
        self.keys, self.values, self.key_dtype, self.value_dtype = keys, values, key_dtype, value_dtype
        self.source = source

    def lookup(self, keys, default):
        """Return the values of keys, a default for others."""
        keys, default = convert_to_tensor(keys), convert_to_tensor(default, self.value_dtype)
        given = stand_in_of(keys)
        if kind_of(keys) is not self.key_dtype:
            given = ops.cast(given, self.key_dtype.name)
        note = Note("lookup", [given, stand_in_of(default)], table=self)
        engine = "int64" if self.value_dtype is string else self.value_dtype.name
        return wrap(stand_ins(ops, note, [(tuple(keys.shape), engine)])[0], self.value_dtype)


def hashed(keys, count, salt=None):
    """Return which of so many buckets keys fall into by their hash; numbers do as text."""
    keys = convert_to_tensor(keys)
    keys = keys if kind_of(keys) is string else texts.as_string(keys)
    if salt is None:
        return texts.to_hash_bucket_fast(keys, count)
    return texts.to_hash_bucket_strong(keys, count, salt)


def with_buckets(table, keys, count, first):
    """Return the numbers of keys; others get one of so many numbers from a first one on, by their hash."""
    known = table.lookup(keys, convert_to_tensor(-1, int64))
    return ops.where(ops.ne(known, -1), known, ops.add(hashed(keys, count), first))
