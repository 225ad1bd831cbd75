"""Operators of tables from keys to values."""
from dragon.vm.shared.errors import FailedPreconditionError, invalid_argument
from dragon.vm.tensorflow.core import tables
from dragon.vm.tensorflow.core.saved_model.table import operator
from dragon.vm.tensorflow.core.saved_model.values import tensor, text


class Table:
    """A table of a file, empty until its initializer runs.

    Parameters
    ----------
    key_dtype, value_dtype : DType
        Of keys and values.
    changes : bool
        Whether keys may be added later.
    name : str, optional
        The name under which a program shares it.

    """

    def __init__(self, key_dtype, value_dtype, changes, name=""):
        self.key_dtype, self.value_dtype, self.changes, self.name = key_dtype, value_dtype, changes, name
        self._held = tables.MutableHashTable(key_dtype, value_dtype, _nothing(value_dtype))
        self.is_ready = changes

    shape = property(lambda self: (), doc="tuple: a handle is a scalar.")

    def fill(self, initializer):
        """Take over what an initializer gives."""
        for key, value in initializer.pairs():
            if self._held._entries.setdefault(key, value) != value:
                raise FailedPreconditionError(None, None, "HashTable has different value for same key. Key "
                                              f"{key!r} has {self._held._entries[key]!r} and trying to add value "
                                              f"{value!r}")
        self.is_ready = True

    def held(self):
        """Return the table of `tf.lookup` behind this one."""
        if not self.is_ready:
            raise FailedPreconditionError(None, None, "Table not initialized.")
        return self._held

    def find(self, keys, default):
        """Return the values of keys."""
        held = self.held()
        default = tables._flat(default)
        if len(default) != 1:
            raise invalid_argument(f"LookupTableFindV2: got a default of {len(default)} values, expected one")
        entries = held._entries
        return held._answer(held._check_keys(keys), lambda key: entries.get(key, default[0]), self.value_dtype)

    def lookup(self, keys):
        """Return the values of keys, zeros or empty strings for others."""
        return self.held().lookup(keys)

    def size(self):
        """Return how many keys there are."""
        return self.held().size()

    def export(self):
        """Return all keys and all values."""
        return self.held().export()


def _nothing(dtype):
    return "" if dtype.name == "string" else False if dtype.is_bool else 0


def _table(value, node):
    if not isinstance(value, Table):
        raise invalid_argument(f"{node.op}: got {type(value).__name__}, expected a table. Node: {node.name}")
    return value


@operator("HashTableV2 HashTable AnonymousHashTable")
def _make(node):
    return Table(node.get("key_dtype"), node.get("value_dtype"), False, node.get("shared_name", ""))


@operator("MutableHashTableV2 AnonymousMutableHashTable")
def _make_mutable(node):
    return Table(node.get("key_dtype"), node.get("value_dtype"), True, node.get("shared_name", ""))


@operator("MutableDenseHashTableV2 AnonymousMutableDenseHashTable")
def _make_dense(node, empty_key, deleted_key):
    return Table(node.get("key_dtype"), node.get("value_dtype"), True, node.get("shared_name", ""))


@operator("InitializeTableFromTextFileV2")
def _fill_from_file(node, table, filename):
    table = _table(table, node)
    size = node.get("vocab_size", -1)
    table.fill(tables.TextFileInitializer(
        text(filename), table.key_dtype, node.get("key_index"), table.value_dtype, node.get("value_index"),
        None if size == -1 else size, node.get("delimiter", "\t"), value_index_offset=node.get("offset", 0)))


@operator("InitializeTableV2 LookupTableImportV2")
def _fill(node, table, keys, values):
    table = _table(table, node)
    if table.changes:
        table._held._entries.clear()
    table.fill(tables.KeyValueTensorInitializer(tensor(keys), tensor(values)))


@operator("LookupTableFindV2 LookupTableFind")
def _find(node, table, keys, default):
    return _table(table, node).find(tensor(keys), tensor(default))


@operator("LookupTableInsertV2")
def _insert(node, table, keys, values):
    _table(table, node).held().insert(tensor(keys), tensor(values))


@operator("LookupTableRemoveV2")
def _remove(node, table, keys):
    _table(table, node).held().remove(tensor(keys))


@operator("LookupTableSizeV2")
def _size(node, table):
    return _table(table, node).size()


@operator("LookupTableExportV2", "keys values")
def _export(node, table):
    return tuple(_table(table, node).export())
