"""`tf.data.Dataset`: what every dataset can do, whatever kind it is."""
from itertools import islice

from dragon.io.stages import counting, taking
from dragon.vm.shared.data import kinds
from dragon.vm.shared.data.combining import Combining
from dragon.vm.shared.data.making import Making
from dragon.vm.shared.data.transforming import Transforming
from dragon.vm.shared.naming import known_as

INFINITE = -1
UNKNOWN = -2
# What TensorFlow's users see kinds called, where they have other names.
SHOWN = {"TensorSlices": "TensorSlice", "OneElement": "Tensor", "FromGenerator": "FlatMap",
         "WithOptions": "Options", "RandomNumbers": "Random", "Files": "Shuffle", "Saved": "Load",
         "Choose": "DirectedInterleave"}


@known_as("tensorflow.data")
class Dataset(Making, Transforming, Combining):
    """A sequence of elements, made anew each time it is iterated over.

    A kind of dataset tells how to iterate (`_iterate`), of what its elements are (`_make_spec`) and how many there
    are (`_count`). Where elements are rows of tables in memory (`_rows`), it tells their numbers (`_positions`)
    instead: what shuffles, cuts or repeats then handles numbers, and a batch is gathered at once.

    """

    def __init__(self, *inputs):
        self._sources = inputs
        self._spec = None

    # What kinds tell.

    def _iterate(self):
        """Return a fresh iterator over the elements."""
        return map(self._rows().item, self._positions())

    def _open(self):
        """Return a fresh iterator over the elements, which is counted if somebody watches."""
        elements = self._iterate()
        return counting.counted(elements, type(self).__name__) if counting.watchers else elements

    def _open_behind(self, count):
        """Return what `_open` does without the first elements; kinds that need not make these do not."""
        rows = self._rows()
        if rows is not None:
            return map(rows.item, taking.rest(self._positions(), count))
        elements = self._open()
        for _ in islice(elements, count):
            pass
        return elements

    def _rows(self):
        """Return the table whose rows are the elements, or None where there is no such table."""
        return None

    def _positions(self):
        """Return a fresh iterator over the rows' numbers; a `range` where they are consecutive."""
        raise NotImplementedError(f"{type(self).__name__}: got no table, expected one")

    def _texts(self):
        """Return a fresh iterator over the elements as bytes where they are single strings, or None."""
        return None

    def _make_spec(self):
        """Return the structure of specs; the input's where a kind changes no element."""
        return self._sources[0].element_spec

    def _count(self):
        """Return the number of elements; INFINITE and UNKNOWN are negative."""
        return UNKNOWN

    def _ragged_rows(self):
        """Return whether components are rows of ragged tensors, which batches put together as such."""
        return any(source._ragged_rows() for source in self._sources)

    # What users see.

    @property
    def element_spec(self):
        """The structure of `tf.TypeSpec`s that the elements have."""
        if self._spec is None:
            self._spec = (self._make_spec(),)
        return self._spec[0]

    @property
    def _type_spec(self):
        return kinds.DatasetSpec(self.element_spec)

    def __iter__(self):
        from dragon.vm.shared.data.iterator import Iterator
        return Iterator(self)

    def __bool__(self):
        return True

    __nonzero__ = __bool__

    def __len__(self):
        count = self._count()
        if count == INFINITE:
            raise TypeError("len: the dataset is infinite.")
        if count == UNKNOWN:
            raise TypeError("len: the dataset's length is unknown.")
        return count

    def __repr__(self):
        name = type(self).__name__
        name = name if name.endswith("Dataset") else f"_{SHOWN.get(name, name)}Dataset"
        return f"<{name} element_spec={self.element_spec}>"

    def as_numpy_iterator(self):
        """Return an iterator whose elements hold NumPy arrays."""
        from dragon.vm.shared.data.iterator import NumpyIterator
        return NumpyIterator(self)

    def cardinality(self):
        """Return the number of elements as an int64 scalar; -1 says infinite, -2 unknown."""
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        return convert_to_tensor(self._count(), dtype="int64")

    def get_single_element(self, name=None):
        """Return the element of a dataset that has one."""
        from dragon.vm.shared import errors
        iterator = self._iterate()
        found = [element for element, _ in zip(iterator, range(2))]
        if len(found) != 1:
            raise errors.InvalidArgumentError(
                None, None, "get_single_element: the dataset must have exactly one element. Received: "
                + ("an empty dataset" if not found else "a dataset of more than one"))
        return found[0]

    def options(self):
        """Return the options that hold for this dataset and those it is made of."""
        merged = kinds.Options()
        for source in self._sources:
            merged = merged.merge(source.options())
        return merged

    def fingerprint(self):
        """Return a number for what the dataset is made of: the same in each run of a program; not TensorFlow's."""
        from dragon.vm.shared.data.fingerprints import fingerprint
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        number = fingerprint(self)
        if number is None:
            raise NotImplementedError("Dataset.fingerprint: got a dataset that is made of more than numbers, tensors "
                                      "and functions of such, of which nobody knows whether they are the same again")
        return convert_to_tensor(number, "uint64")


class OneEach(Dataset):
    """A dataset of an element for each one of its input."""

    def _count(self):
        return self._sources[0]._count()
