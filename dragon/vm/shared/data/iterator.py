"""Iterators over datasets: `tf.data.Iterator`, and the one that gives NumPy arrays."""
import threading
from itertools import islice

from dragon.core.capture import control
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared import errors
from dragon.vm.shared.data import kinds
from dragon.vm.shared.data.seeds import seeded
from dragon.vm.shared.data.structure import map_structure
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.placing import on_host

REFUSAL = "it takes the next element of a dataset's iterator"


def _refuse_to_be_traced():
    """Say to whoever writes the program down as a graph that there is none: each run takes another element."""
    if control.part() is not None:
        raise control.NoGraph(REFUSAL)
    if is_capturing():
        control.give_up(REFUSAL)


@known_as("tensorflow.data")
class Iterator:
    """An iterator over a dataset's elements, made by `iter(dataset)`."""

    def __init__(self, dataset):
        if not hasattr(dataset, "_iterate"):
            raise TypeError(f"{type(self).__name__}: got {dataset!r}, expected a tf.data.Dataset")
        self._dataset = dataset
        self._elements = dataset._open()
        self._lock = threading.Lock()
        # How many elements were taken, the states of all shuffles when the first one was, and what checkpoints know.
        self._taken, self._states, self._saved, self._noted = 0, None, None, None

    def __iter__(self):
        return self

    def __next__(self):
        _refuse_to_be_traced()
        with self._lock:
            with on_host():
                return self._take()

    def _take(self):
        """Return the next element, of the place that a checkpoint says if one was restored."""
        if self._saved is not None and (wanted := self._saved.numpy().tolist()) != self._noted:
            self._go_to(wanted)
        if self._states is None:
            self._states = self._read_states()
        element = next(self._elements)
        self._taken += 1
        return element

    def _read_states(self):
        """Return what the order of an iteration that begins now follows from."""
        return [number for dataset in seeded(self._dataset) for number in dataset._get_state()]

    def _go_to(self, place):
        """Begin again as a checkpoint says: with shuffles as they were, behind the elements that were taken."""
        self._noted, (self._taken, *words) = place, place
        self._states = [word % 2 ** 64 for word in words]
        states = iter(self._states)
        for dataset in seeded(self._dataset):
            dataset._set_state(*islice(states, 3))
        self._elements = self._dataset._open_behind(self._taken)

    def _checkpoint_parts(self):
        """Return what a checkpoint saves: how many elements were taken, and the shuffles' states, as one variable."""
        from dragon.vm.shared.tensors.variable import Variable
        begun = self._read_states() if self._states is None else self._states
        now = [self._taken, *((word + 2 ** 63) % 2 ** 64 - 2 ** 63 for word in begun)]  # as signed numbers
        if self._saved is None:
            self._saved = Variable(now, dtype="int64", trainable=False, name="place")
            self._noted = now
        elif self._saved.numpy().tolist() == self._noted:  # what was restored, and is still to be gone to, stays
            self._noted = now
            self._saved.assign(now)
        return {"place": self._saved}

    def next(self):
        """Return the next element; StopIteration tells the end."""
        return self.__next__()

    def get_next(self, name=None):
        """Return the next element; `tf.errors.OutOfRangeError` tells the end."""
        try:
            return self.__next__()
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence") from None

    def get_next_as_optional(self):
        """Return the next element as an optional, which is empty at the end."""
        _refuse_to_be_traced()
        with self._lock:
            try:
                element = self._take()
            except StopIteration:
                return kinds.Optional.empty(self.element_spec)
        return kinds.Optional.from_value(element)

    element_spec = property(lambda self: self._dataset.element_spec, doc="The structure of specs of the elements.")

    @property
    def _type_spec(self):
        return kinds.IteratorSpec(self.element_spec)

    def __repr__(self):
        return f"<tf.data.Iterator element_spec={self.element_spec}>"


def to_numpy(component):
    """Return a component as NumPy's, those that NumPy has no class for as tuples of arrays or as themselves."""
    if component is None:
        return None
    if isinstance(component, kinds.Dataset):
        return component.as_numpy_iterator()
    convert = getattr(type(component), "_as_numpy_component", None)
    if convert is not None:
        return convert(component)
    return component.numpy()


@known_as("tensorflow.data")
class NumpyIterator:
    """An iterator over a dataset's elements as NumPy arrays, made by `dataset.as_numpy_iterator()`."""

    def __init__(self, dataset):
        self._elements = Iterator(dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return map_structure(to_numpy, next(self._elements))

    def next(self):
        """Return the next element; StopIteration tells the end."""
        return self.__next__()

    def __repr__(self):
        return "<tf.data.NumpyIterator>"
