"""`DataLoader`: batches of a dataset, made here or by worker processes."""
import multiprocessing
import os
from math import ceil
from typing import Any, Callable, Generic, TypeVar

from dragon.core import warnings
from dragon.vm.torch.utils.data import _utils
from dragon.vm.torch.utils.data._utils.collate import default_collate, default_convert
from dragon.vm.torch.utils.data._utils.worker import get_worker_info
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe
from dragon.vm.torch.utils.data.dataset import IterableDataset
from dragon.vm.torch.utils.data.iterators import (_BaseDataLoaderIter, _DatasetKind, _MultiProcessingDataLoaderIter,
                                                  _SingleProcessDataLoaderIter, _get_distributed_settings,
                                                  _sharding_worker_init_fn)
from dragon.vm.torch.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

_T, _T_co = TypeVar("_T"), TypeVar("_T_co", covariant=True)
_worker_init_fn_t, _collate_fn_t = Callable[[int], None], Callable[[list[_T]], Any]
# What defines an epoch cannot change once the loader stands.
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _InfiniteConstantSampler(Sampler):
    """Yield None for ever: iterable datasets are not asked for indices."""

    def __iter__(self):
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """Yield batches of a dataset.

    Parameters
    ----------
    dataset : Union[Dataset, Sequence, Tensor]
        Where samples come from.
    batch_size : Optional[int], optional, default=1
        Samples per batch; None turns batching off.
    shuffle : bool, optional
        Whether each epoch has a new random order.
    sampler : Iterable, optional
        The order of indices.
    batch_sampler : Iterable, optional
        Lists of indices, in place of `batch_size`, `shuffle`, `sampler` and `drop_last`.
    num_workers : int, optional, default=0
        How many processes load; 0 loads here.
    collate_fn : Callable, optional
        Makes a batch of a list of samples.
    pin_memory : bool, optional, default=False
        Whether batches go to page-locked memory; warns where no device would profit.
    drop_last : bool, optional, default=False
        Whether to leave out a last batch that is smaller.
    timeout : float, optional, default=0
        Seconds to wait for a worker's batch; 0 waits for ever.
    worker_init_fn : Callable, optional
        Called in each worker with its number, after seeding.
    multiprocessing_context : Union[str, multiprocessing.context.BaseContext], optional
        How workers are started.
    generator : torch.Generator, optional
        Where orders and the workers' seeds come from.
    prefetch_factor : int, optional
        Batches that each worker has ahead, 2 by default.
    persistent_workers : bool, optional, default=False
        Whether workers stay for the next epoch.
    pin_memory_device : str, optional, default=""
        Deprecated.
    in_order : bool, optional, default=True
        Whether batches come in the sampler's order, or as they are ready.

    Examples
    --------
    >>> dataset = torch.utils.data.TensorDataset(torch.arange(5))
    >>> for (batch,) in torch.utils.data.DataLoader(dataset, batch_size=2):
    ...     print(batch)
    tensor([0, 1])
    tensor([2, 3])
    tensor([4])

    """

    __initialized = False

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True):
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.num_workers = dataset, num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device, self.timeout = pin_memory, pin_memory_device, timeout
        self.worker_init_fn, self.in_order = worker_init_fn, in_order
        self.multiprocessing_context = multiprocessing_context
        iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if isinstance(dataset, IterDataPipe):
            from dragon.vm.torch.utils.data.graph_settings import apply_shuffle_settings
            self.dataset, shuffle = apply_shuffle_settings(dataset, shuffle), None
        if iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        _check_batching(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        if sampler is None:
            sampler = (_InfiniteConstantSampler() if iterable else RandomSampler(dataset, generator=generator)
                       if shuffle else SequentialSampler(dataset))
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler = batch_size, drop_last, sampler
        self.batch_sampler, self.generator = batch_sampler, generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn, self.persistent_workers = collate_fn, persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called = None
        self._iterator = None
        self.check_worker_number_rationality()

    def _get_iterator(self):
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    @property
    def multiprocessing_context(self):
        """How workers are started."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            if self.num_workers == 0:
                raise ValueError("multiprocessing_context can only be used with multi-process loading "
                                 f"(num_workers > 0), but got num_workers={self.num_workers}")
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError("multiprocessing_context option should specify a valid start method in "
                                     f"{methods!r}, but got multiprocessing_context={context!r}")
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError("multiprocessing_context option should be a valid context object or a string "
                                f"specifying the start method, but got multiprocessing_context={context}")
        self.__multiprocessing_context = context

    def __setattr__(self, attr, val):
        if self.__initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    def __iter__(self):
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self):
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        # Remembered, to warn if the dataset yields more than it said.
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else ceil(length / self.batch_size)

    def check_worker_number_rationality(self):
        """Warn if there are more workers than processors."""
        counted = hasattr(os, "sched_getaffinity")  # which tells of a share of the processors too
        usable = len(os.sched_getaffinity(0)) if counted else os.cpu_count()
        if not self.num_workers or (usable is not None and self.num_workers <= usable):
            return
        most = (f"Our suggested max number of worker in current system is {usable}"
                f"{'' if counted else ' (`cpuset` is not taken into account)'}, which is smaller than what this "
                "DataLoader is going to create.")
        if usable is None:
            most = "DataLoader is not able to compute a suggested max number of worker in current system."
        warnings.warn(
            f"This DataLoader will create {self.num_workers} worker processes in total. {most} Please be aware that "
            "excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to "
            "avoid potential slowness/freeze if necessary.")


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing."
                         "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None.")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(shuffle, sampler, batch_sampler):
    for name, value, unset in (("shuffle", shuffle, (None, False)), ("sampler", sampler, (None,)),
                               ("batch_sampler", batch_sampler, (None,))):
        if not any(value is allowed for allowed in unset):
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                             f"{name}={value}")


def _check_batching(batch_size, shuffle, sampler, batch_sampler, drop_last):
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
