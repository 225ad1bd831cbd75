"""Batches from an object with `__getitem__`, made by several workers ahead of time."""
import itertools
import random

from dragon.core import warnings
from dragon.vm.keras.trainers.data_adapters.adapter import DataAdapter
from dragon.vm.keras.trainers.data_adapters.data import with_class_weight
from dragon.vm.keras.trainers.data_adapters.iterables import to_batch

_DEFAULTS = {"workers": 1, "use_multiprocessing": False, "max_queue_size": 10}


def _setting(name):
    def get(self):
        if f"_{name}" not in self.__dict__:
            warnings.warn("Your `PyDataset` class should call `super().__init__(**kwargs)` in its constructor.")
            setattr(self, f"_{name}", _DEFAULTS[name])
        return self.__dict__[f"_{name}"]

    return property(get, lambda self, value: setattr(self, f"_{name}", value), doc=f"`{name}`, as it was given.")


class PyDataset:
    """Batches by number; a subclass writes `__getitem__`, which returns a batch, and `__len__` or `num_batches`.

    Parameters
    ----------
    workers : int, optional, default=1
        How many make batches at the same time.
    use_multiprocessing : bool, optional, default=False
        Whether workers are processes rather than threads.
    max_queue_size : int, optional, default=10
        How many batches are made ahead of time.

    """

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10):
        self._workers, self._use_multiprocessing, self._max_queue_size = workers, use_multiprocessing, max_queue_size

    workers, use_multiprocessing, max_queue_size = map(_setting, _DEFAULTS)

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__}: expected a `__getitem__` that returns a batch. "
                                  f"Received: index={index}")

    def __iter__(self):
        try:
            count = self.num_batches
        except NotImplementedError:
            count = None
        for index in itertools.count() if count is None else range(count):
            yield self[index]

    @property
    def num_batches(self):
        """Optional[int]: how many batches there are, None where they never end."""
        if hasattr(self, "__len__"):
            return len(self)
        raise NotImplementedError(f"{type(self).__name__}: expected `__len__`, or a property `num_batches`")

    def on_epoch_begin(self):
        """Know that an epoch begins."""

    def on_epoch_end(self):
        """Know that an epoch has ended."""


class PyDatasetAdapter(DataAdapter):
    """Take the batches of a `PyDataset`, in their order or shuffled."""

    def __init__(self, dataset, class_weight=None, shuffle=False):
        self._dataset, self._class_weight, self._shuffle = dataset, class_weight, shuffle
        self._batches_made = None

    num_batches = property(lambda self: self._dataset.num_batches, doc="Optional[int]: how many an epoch has.")

    def on_epoch_begin(self):
        self._dataset.on_epoch_begin()

    def on_epoch_end(self):
        self._dataset.on_epoch_end()

    def __iter__(self):
        if hasattr(self._batches_made, "close"):
            self._batches_made.close()  # workers that were left in the middle of an epoch
        self._batches_made = self._batches(self._indices())
        for batch in self._batches_made:
            yield to_batch(with_class_weight(self._check(batch), self._class_weight))

    def _indices(self):
        count = self._dataset.num_batches
        if count is None:
            return itertools.count()
        order = list(range(count))
        if self._shuffle:
            random.shuffle(order)
        return iter(order)

    def _batches(self, indices):
        """Return an iterator over the batches with these numbers, made ahead by workers if there are some."""
        data = self._dataset
        ahead = max(data.max_queue_size, 1)
        if data.workers > 0 and data.use_multiprocessing:
            from dragon.io.stages.processes import map_in_processes
            return map_in_processes(data.__getitem__, indices, data.workers, ahead, type(data).__name__)
        if data.workers > 1:
            from dragon.io.stages.threads import map_in_threads
            return map_in_threads(data.__getitem__, indices, data.workers, ahead=ahead)
        return map(data.__getitem__, indices)

    @staticmethod
    def _check(batch):
        if isinstance(batch, dict):
            return batch
        batch = tuple(batch) if isinstance(batch, list) else batch
        if not isinstance(batch, tuple) and hasattr(batch, "shape"):
            batch = (batch,)
        if not isinstance(batch, tuple) or len(batch) not in (1, 2, 3):
            raise ValueError("PyDataset.__getitem__() must return a tuple (input,), (inputs, targets) or (inputs, "
                             "targets, sample_weights), or a dict. "
                             f"Received: {str(batch)[:100]}... of type {type(batch)}")
        return batch
