"""Datasets of what is already there: tensors, numbers, names of files."""
import glob
import os

from dragon import _C
from dragon.vm.shared import errors
from dragon.vm.shared.data import kinds
from dragon.vm.shared.data.dataset import Dataset, INFINITE
from dragon.vm.shared.data.rows import Rows, wrap_array
from dragon.vm.shared.data.seeds import Seeded
from dragon.vm.shared.data.specs import TensorSpec, spec_of, unbatch_spec
from dragon.vm.shared.data.structure import flatten, is_component, map_structure, to_element
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.placing import on_host
from dragon.vm.shared.tensors.tensor import Tensor


class TensorSlices(Dataset):
    """The slices of tensors along their first axis."""

    def __init__(self, tensors):
        super().__init__()
        with on_host():
            self._table = to_element(tensors)
        leaves = flatten(self._table)
        if any(leaf is None for leaf in leaves):
            raise ValueError(f"from_tensor_slices: None has no slices. Received: {tensors!r}")
        if not leaves:
            raise ValueError("from_tensor_slices: at least one tensor is needed. Received: an empty structure")
        sizes = []
        for leaf in leaves:
            if len(leaf.shape) == 0:
                raise ValueError("from_tensor_slices: a scalar has no slices. Received: tensors of shapes "
                                 f"{[tuple(leaf.shape) for leaf in leaves]}")
            sizes.append(int(leaf.shape[0]))
        if len(set(sizes)) > 1:
            raise ValueError("from_tensor_slices: all tensors must have the same first dimension. Received: tensors "
                             f"of shapes {[tuple(leaf.shape) for leaf in leaves]}")
        self._size = sizes[0]
        # Ragged and sparse tensors have slices, but no table to gather rows from at once.
        self._plain = None if any(is_component(leaf) for leaf in leaves) else Rows(self._table)

    def _rows(self):
        return self._plain

    def _positions(self):
        return range(self._size)

    def _iterate(self):
        if self._plain is not None:
            return map(self._plain.item, range(self._size))
        return (map_structure(lambda leaf: leaf[position], self._table) for position in range(self._size))

    def _ragged_rows(self):
        return any(hasattr(leaf, "ragged_rank") for leaf in flatten(self._table))

    def _make_spec(self):
        return unbatch_spec(spec_of(self._table))

    def _count(self):
        return self._size


class OneElement(Dataset):
    """A single element."""

    def __init__(self, tensors):
        super().__init__()
        with on_host():
            self._element = to_element(tensors)

    def _iterate(self):
        return iter((self._element,))

    def _make_spec(self):
        return spec_of(self._element)

    def _count(self):
        return 1


class Listed(Dataset):
    """Elements in a list."""

    def __init__(self, elements, spec):
        super().__init__()
        self._elements, self._spec = elements, (spec,)

    def _iterate(self):
        return iter(self._elements)

    def _count(self):
        return len(self._elements)


class Range(Dataset):
    """Evenly spaced integers."""

    def __init__(self, *args, output_type="int64", name=None):
        super().__init__()
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Dataset.range: 1 to 3 numbers are needed, as for `range`. Received: {args}")
        self._dtype = as_dtype(output_type)
        self._numbers = range(*(int(number) for number in args))
        self._table = None

    def _rows(self):
        if self._table is None:
            import numpy as np
            numbers = self._numbers
            array = np.arange(numbers.start, numbers.stop, numbers.step)
            self._table = Rows(convert_to_tensor(array.astype(self._dtype.as_numpy_dtype)))
        return self._table

    def _positions(self):
        return range(len(self._numbers))

    def _iterate(self):
        return self._open_behind(0)

    def _open_behind(self, count):
        # A long range need not become a table for its numbers to be counted.
        return map(self._make_number(), self._numbers[count:])

    def _make_number(self):
        """Return a function from a number to a tensor."""
        make, dtype = _C.tensor, self._dtype
        return lambda number: make(number, dtype, None, Tensor)

    def _make_spec(self):
        return TensorSpec([], self._dtype)

    def _count(self):
        return len(self._numbers)


class Counter(Dataset):
    """Numbers without an end."""

    def __init__(self, start, step, dtype):
        super().__init__()
        self._start, self._step, self._dtype = int(start), int(step), as_dtype(dtype)

    def _iterate(self):
        number = self._start
        while True:
            yield _C.tensor(number, self._dtype, None, Tensor)
            number += self._step

    def _make_spec(self):
        return TensorSpec([], self._dtype)

    def _count(self):
        return INFINITE


class RandomNumbers(Seeded, Dataset):
    """Random 32-bit numbers without an end."""

    def __init__(self, seed=None, rerandomize=None):
        super().__init__()
        self._set_seeds(seed, rerandomize)

    def _iterate(self):
        draws = self._draws()
        while True:
            yield _C.tensor(draws.next(), as_dtype("int64"), None, Tensor)

    def _make_spec(self):
        return TensorSpec([], as_dtype("int64"))

    def _count(self):
        return INFINITE


class Files(Dataset):
    """The names of files that match patterns."""

    def __init__(self, pattern, shuffle=None, seed=None):
        super().__init__()
        patterns = convert_to_tensor(pattern).numpy()
        patterns = [patterns] if isinstance(patterns, bytes) else list(patterns.ravel())
        self._names = sorted(os.fsencode(name) for one in patterns for name in glob.glob(os.fsdecode(one)))
        if not self._names:
            raise errors.InvalidArgumentError(None, None, f"list_files: no file matches. Received: {pattern!r}")
        self._order = None
        if shuffle is None or shuffle:
            self._order = kinds.Shuffle(Range(len(self._names)), len(self._names), seed)
            self._sources = (self._order,)

    def _rows(self):
        if getattr(self, "_table", None) is None:
            import numpy as np
            self._table = Rows(wrap_array(np.array(self._names, dtype=object)))
        return self._table

    def _positions(self):
        return range(len(self._names)) if self._order is None else self._order._positions()

    def _make_spec(self):
        return TensorSpec([], as_dtype("string"))

    def _count(self):
        return len(self._names)


class EmptyLike(Dataset):
    """No element, of the specs of another dataset."""

    def _iterate(self):
        return iter(())

    def _count(self):
        return 0
