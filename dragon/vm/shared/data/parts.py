"""Datasets that leave out, repeat or put side by side the elements of others, and change none."""
from itertools import chain

from dragon.io.stages import taking
from dragon.vm.shared import errors
from dragon.vm.shared.data.dataset import Dataset, INFINITE, OneEach, UNKNOWN
from dragon.vm.shared.data.rows import Rows
from dragon.vm.shared.data.specs import TensorSpec, merge_specs
from dragon.vm.shared.data.structure import map_structure
from dragon.vm.shared.tensors.convert import convert_to_tensor


class Kept(Dataset):
    """A dataset of rows of its input's table, where that has one."""

    def _rows(self):
        return self._sources[0]._rows()

    def _cut(self, items):
        """Return those of the input's elements, or their numbers, that this dataset has."""
        raise NotImplementedError(f"{type(self).__name__}: got no cut, expected one")

    def _positions(self):
        return self._cut(self._sources[0]._positions())

    def _texts(self):
        texts = self._sources[0]._texts()
        return None if texts is None else self._cut(texts)

    def _iterate(self):
        source = self._sources[0]
        if self._rows() is not None:
            return map(self._rows().item, self._positions())
        return self._cut(source._open())


class Take(Kept):
    """The first elements."""

    def __init__(self, source, count):
        super().__init__(source)
        self._limit = int(count)

    def _cut(self, items):
        return taking.first(items, self._limit)

    def _count(self):
        count = self._sources[0]._count()
        if self._limit < 0 or count == UNKNOWN:
            return 0 if self._limit == 0 else count
        return self._limit if count == INFINITE else min(count, self._limit)


class Skip(Kept):
    """All but the first elements."""

    def __init__(self, source, count):
        super().__init__(source)
        self._first = int(count)

    def _cut(self, items):
        return taking.rest(items, self._first)

    def _texts(self):
        return None if self._first < 0 else super()._texts()

    def _iterate(self):
        return iter(()) if self._first < 0 else super()._iterate()

    def _count(self):
        count = self._sources[0]._count()
        if self._first < 0:
            return 0
        return max(count - self._first, 0) if count >= 0 else count


class Shard(Kept):
    """Every n-th element."""

    def __init__(self, source, shards, index):
        super().__init__(source)
        self._shards, self._index = int(shards), int(index)
        if self._shards < 1:
            raise errors.InvalidArgumentError(None, None, f"shard: num_shards must be >= 1. Received: {self._shards}")
        if not 0 <= self._index < self._shards:
            raise errors.InvalidArgumentError(
                None, None, f"shard: index must be between 0 and {self._shards - 1}. Received: {self._index}")

    def _cut(self, items):
        return taking.share(items, self._shards, self._index)

    def _count(self):
        count = self._sources[0]._count()
        return max(-(-(count - self._index) // self._shards), 0) if count >= 0 else count


class WithOptions(Kept, OneEach):
    """A dataset with options."""

    def __init__(self, source, options):
        super().__init__(source)
        self._options = options

    def options(self):
        """Return the options of the input with these over them."""
        return self._sources[0].options().merge(self._options)

    def _cut(self, items):
        return items


class Repeat(Kept):
    """The elements again and again."""

    def __init__(self, source, count=None):
        super().__init__(source)
        self._times = -1 if count is None else int(count)

    def _positions(self):
        return taking.again(self._sources[0]._positions, self._times)

    def _texts(self):
        source = self._sources[0]
        return None if source._texts() is None else taking.again(source._texts, self._times)

    def _iterate(self):
        return super()._iterate() if self._rows() is not None else taking.again(self._sources[0]._open, self._times)

    def _cut(self, items):
        raise NotImplementedError("repeat: got one iterator, expected to make several")

    def _count(self):
        count = self._sources[0]._count()
        if self._times == 0 or count == 0:
            return 0
        if self._times < 0:
            return INFINITE
        return count if count < 0 else count * self._times


class Concatenate(Dataset):
    """The elements of one dataset, then those of another."""

    def __init__(self, first, second):
        super().__init__(first, second)
        if not isinstance(second, Dataset):
            raise TypeError(f"concatenate: the argument must be a Dataset. Received: {second!r}")
        self._spec = (merge_specs(first.element_spec, second.element_spec, "concatenate"),)

    def _iterate(self):
        return chain.from_iterable(source._open() for source in self._sources)

    def _count(self):
        counts = [source._count() for source in self._sources]
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)


class Zip(Dataset):
    """Elements of several datasets side by side."""

    def __init__(self, *args, datasets=None):
        if bool(args) == (datasets is not None):
            raise TypeError("Dataset.zip: give either datasets or the argument `datasets`. Received: "
                            f"{len(args)} positional arguments and datasets={datasets!r}")
        if datasets is None:
            datasets = args[0] if len(args) == 1 and not isinstance(args[0], Dataset) else args
        self._structure, leaves = datasets, []
        map_structure(leaves.append, datasets)
        for leaf in leaves:
            if not isinstance(leaf, Dataset):
                if isinstance(leaf, list):
                    raise TypeError("Dataset.zip: a list is no structure of datasets, use a tuple. "
                                    f"Received: {leaf!r}")
                raise TypeError(f"Dataset.zip: expected a structure of datasets. Received: {leaf!r}")
        super().__init__(*leaves)
        self._table = None

    def _pair_tables(self):
        """Return the inputs' tables, if all are read from the first row on."""
        tables = []
        for source in self._sources:
            table = source._rows()
            positions = source._positions() if table is not None else None
            if not isinstance(positions, range) or positions.start != 0 or positions.step != 1:
                return None
            tables.append((table, len(positions)))
        return tables

    def _rows(self):
        if self._table is None:
            tables = self._pair_tables()
            if tables is None:
                self._table = False
            else:
                count = min(size for _, size in tables)
                parts = iter([table.span(0, count) for table, _ in tables])
                self._table = Rows(map_structure(lambda _: next(parts), self._structure))
        return self._table or None

    def _positions(self):
        return range(self._rows().size)

    def _iterate(self):
        if self._rows() is not None:
            return super()._iterate()
        return self._side_by_side([source._open() for source in self._sources])

    def _open_behind(self, count):
        if self._rows() is not None:
            return super()._open_behind(count)
        return self._side_by_side([source._open_behind(count) for source in self._sources])

    def _side_by_side(self, iterators):
        together = zip(*iterators)
        if type(self._structure) is tuple and len(self._structure) == len(iterators):
            return together
        return (self._assemble(elements) for elements in together)

    def _assemble(self, elements):
        elements = iter(elements)
        return map_structure(lambda _: next(elements), self._structure)

    def _make_spec(self):
        return map_structure(lambda source: source.element_spec, self._structure)

    def _count(self):
        counts = [source._count() for source in self._sources]
        if UNKNOWN in counts:
            return UNKNOWN
        finite = [count for count in counts if count != INFINITE]
        return min(finite) if finite else INFINITE


class Enumerate(OneEach):
    """Elements with their numbers."""

    def __init__(self, source, start=0):
        super().__init__(source)
        self._start = int(start)

    def _iterate(self):
        return self._numbered(self._sources[0]._open(), self._start)

    def _open_behind(self, count):
        return self._numbered(self._sources[0]._open_behind(count), self._start + count)

    def _numbered(self, elements, start):
        from dragon.vm.shared.data.sources import Counter
        return zip(Counter(start, 1, "int64")._iterate(), elements)

    def _make_spec(self):
        return TensorSpec([], convert_to_tensor(0, dtype="int64").dtype), self._sources[0].element_spec
