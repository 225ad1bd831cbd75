"""What scheduled functions return, and what each worker has its own of."""
import threading

from dragon.vm.shared import nest
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import Base, ops


class RemoteValue:
    """What a scheduled function will have returned; `ClusterCoordinator.schedule` makes it."""

    def __init__(self, coordinator):
        self._coordinator, self._done = coordinator, threading.Event()
        self._value = self._error = None

    def _finish(self, value=None, error=None):
        if not self._done.is_set():
            self._value, self._error = value, error
            self._done.set()

    def _wait(self):
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def get(self):
        """Wait for the value, and return it as tensors.

        Returns
        -------
        Any
            What the function returned.

        """
        found = self._wait()
        self._coordinator._catch_up()
        return found

    def fetch(self):
        """Wait for the value, and return it as NumPy arrays.

        Returns
        -------
        Any
            What the function returned.

        """
        return nest.map_structure(lambda value: value.numpy() if isinstance(value, Base) else value, self.get())


class PerWorkerValues:
    """Values of which each worker has its own, told by how they are made.

    Parameters
    ----------
    make : Callable[[], Any]
        Called by each worker.

    """

    def __init__(self, make):
        self._make = make

    def _stand_in(self):
        """Return what stands for a worker's value where functions are only looked at."""
        return self._make()


class PerWorkerDataset(PerWorkerValues):
    """A dataset of each worker's own; functions get an iterator over it."""

    def __iter__(self):
        return PerWorkerIterator(self)

    @property
    def element_spec(self):
        """The structure of specs that the elements have."""
        return self._here().element_spec

    def _here(self):
        if not hasattr(self, "_dataset"):
            self._dataset = self._make()
        return self._dataset


class PerWorkerIterator(PerWorkerValues):
    """An iterator of each worker's own over a dataset of its own.

    Parameters
    ----------
    dataset : PerWorkerDataset
        The dataset.

    """

    def __init__(self, dataset):
        make = dataset._make
        super().__init__(lambda: iter(make()))
        self._dataset = dataset

    element_spec = property(lambda self: self._dataset.element_spec,
                            doc="The structure of specs that the elements have.")

    def __iter__(self):
        return self

    def __next__(self):
        raise NotImplementedError("next: got an iterator of workers, expected one of this process: scheduled functions "
                                  "are given their worker's own")

    def get_next(self):
        """Refuse, as `next` does."""
        return next(self)

    def _stand_in(self):
        return StandIn(self.element_spec)


class StandIn:
    """An iterator without elements, where a function runs for shapes alone."""

    def __init__(self, spec):
        self.element_spec = spec

    def __iter__(self):
        return self

    def __next__(self):
        return nest.map_structure(_sample, self.element_spec)

    def get_next(self):
        """Return the same."""
        return next(self)


def _sample(spec):
    """Return a tensor that a spec describes; sizes that are open are one."""
    return ops.zeros([1 if size is None else int(size) for size in spec.shape], dtype=spec.dtype)


def plain(value):
    """Return results as they travel: variables as tensors."""
    return nest.map_structure(lambda item: convert_to_tensor(item) if isinstance(item, Base) else item, value)
