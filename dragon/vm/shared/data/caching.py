"""Datasets that keep what their first iteration gave."""
import os
import threading

from dragon.io.stages.caching import kept
from dragon.vm.shared.data.dataset import OneEach
from dragon.vm.shared.data.rows import Rows
from dragon.vm.shared.data.structure import flatten
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.tensors.tensor import Tensor


class Cache(OneEach):
    """Elements kept in memory or in a file."""

    def __init__(self, source, filename=""):
        super().__init__(source)
        filename = filename.numpy() if hasattr(filename, "numpy") else filename
        self._filename = os.fsdecode(filename)
        self._kept = self._table = None
        self._lock = threading.Lock()

    def _rows(self):
        """Return the kept elements as a table: a shuffle of them, and their batches, then handle row numbers."""
        source = self._sources[0]
        if not self._filename and source._rows() is not None and isinstance(source._positions(), range):
            return source._rows()
        if self._kept is not None and self._table is None:
            self._table = _as_table(self._kept) or False
            if self._table:
                self._kept = []
        return self._table or None

    def _positions(self):
        if self._table:
            return range(self._table.size)
        return self._sources[0]._positions()

    def _iterate(self):
        if self._rows() is not None:
            return super()._iterate()
        if self._kept is not None:
            return iter(self._kept)
        return self._in_file() if self._filename else self._in_memory()

    def _in_memory(self):
        def keep(elements):
            with self._lock:
                if self._kept is None:
                    self._kept = elements
        return kept(self._sources[0]._open(), keep)

    def _in_file(self):
        from dragon.vm.shared.data.saving import read_elements, write_elements
        path = self._filename + ".index"
        if os.path.exists(path):
            return read_elements(path, self._sources[0].element_spec)
        return write_elements(self._sources[0]._open(), path)


def _as_table(elements):
    """Return elements as a table, or None where their components differ in shape or are no dense tensors."""
    from dragon.vm.shared.data.batching import stack_elements
    if not elements:
        return None
    shapes = None
    for element in elements:
        leaves = flatten(element)
        if not all(type(leaf) is Tensor or isinstance(leaf, StringTensor) for leaf in leaves):
            return None
        own = [leaf.shape for leaf in leaves]
        if shapes is None:
            shapes = own
        elif own != shapes:
            return None
    return Rows(stack_elements(elements))
