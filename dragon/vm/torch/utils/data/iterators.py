"""One epoch of a DataLoader: in this process, or over the pool of workers of `dragon.io`."""
import functools

from dragon.core import warnings
from dragon.core.scopes import contextmanager
from dragon.io import Flow, NoAnswer, WorkerDied, WorkerPool
from dragon.vm import torch
from dragon.vm.torch.utils.data._utils import fetch
from dragon.vm.torch.utils.data._utils.pin_memory import pin_memory
from dragon.vm.torch.utils.data._utils.worker import Start, _ResumeIteration, get_worker_info, seed_pipes
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe
from dragon.vm.torch.utils.data.sampler import draw_seed

PIPES = IterDataPipe, MapDataPipe


def _get_distributed_settings():
    """Return how many processes train, and which one this is."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_world_size(), distributed.get_rank()
    return 1, 0


def _sharding_worker_init_fn(worker_init_fn, world_size, rank_id, worker_id):
    """Have this worker's pipes give its part of the samples; then call the user's own function."""
    from dragon.vm.torch.utils.data.graph_settings import apply_sharding
    info = get_worker_info()
    # Processes that train are served evenly: samples go round them first, round the workers of each then.
    apply_sharding(info.dataset, info.num_workers * world_size, worker_id * world_size + rank_id)
    if worker_init_fn is not None:
        worker_init_fn(worker_id)


class _DatasetKind:
    """The two kinds of datasets."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
        """Return what fetches batches of a dataset."""
        fetcher = fetch._MapDatasetFetcher if kind == _DatasetKind.Map else fetch._IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _BaseDataLoaderIter:
    """The base of both ways of loading."""

    def __init__(self, loader):
        self._dataset, self._dataset_kind = loader.dataset, loader._dataset_kind
        self._seed_pipes(loader)
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation, self._drop_last = loader._auto_collation, loader.drop_last
        self._index_sampler, self._num_workers = loader._index_sampler, loader.num_workers
        self._timeout, self._collate_fn = loader.timeout, loader.collate_fn
        self._persistent_workers = loader.persistent_workers
        self._world_size, self._rank = _get_distributed_settings()
        self._pin_memory = self._can_pin(loader)
        self._pin_memory_device = "cuda" if self._pin_memory else None
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = draw_seed(loader.generator)
        self._num_yielded = 0

    def _seed_pipes(self, loader):
        """Draw the seed that pipes of samples share, if the dataset is made of them."""
        self._shared_seed = draw_seed(loader.generator) if isinstance(self._dataset, IterDataPipe) else None
        seed_pipes(self._dataset, self._shared_seed)

    @staticmethod
    def _can_pin(loader):
        if loader.pin_memory and loader.pin_memory_device:
            warnings.warn("pin_memory_device is deprecated, the current accelerator will be used as the device,"
                          f"ignore pin_memory_device='{loader.pin_memory_device}'.")
        if loader.pin_memory and not torch.cuda.is_available():
            warnings.warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory "
                          "won't be used.")
        return loader.pin_memory and torch.cuda.is_available()

    def _fetcher_maker(self):
        return functools.partial(_DatasetKind.create_fetcher, self._dataset_kind, self._dataset, self._auto_collation,
                                 self._collate_fn, self._drop_last)

    def __iter__(self):
        return self

    def _reset(self, loader, first_iter=False):
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._seed_pipes(loader)

    def _next_index(self):
        return next(self._sampler_iter)

    def _next_data(self):
        raise NotImplementedError

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        said = self._IterableDataset_len_called
        if self._dataset_kind == _DatasetKind.Iterable and said is not None and self._num_yielded > said:
            self._warn_of_length(said)
        return data

    def _warn_of_length(self, said):
        advice = ("For multiprocessing data-loading, this could be caused by not properly configuring the "
                  "IterableDataset replica at each worker." if self._num_workers > 0 else "")
        warnings.warn(f"Length of IterableDataset {self._dataset} was reported to be {said}"
                      f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. {advice}")

    def _pinned(self, data):
        return pin_memory(data, self._pin_memory_device) if self._pin_memory else data

    def __len__(self):
        return len(self._index_sampler)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Load in this process."""

    def __init__(self, loader):
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        if isinstance(self._dataset, PIPES):
            from dragon.vm.torch.utils.data.graph_settings import apply_sharding
            apply_sharding(self._dataset, self._world_size, self._rank)
        self._dataset_fetcher = self._fetcher_maker()()

    def _next_data(self):
        return self._pinned(self._dataset_fetcher.fetch(self._next_index()))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Load in worker processes: keep each busy with a few batches, give batches out in order."""

    def __init__(self, loader):
        self._shutdown = False
        super().__init__(loader)
        self._prefetch_factor, self._in_order = loader.prefetch_factor, loader.in_order
        if self._prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._worker_init_fn = loader.worker_init_fn
        if isinstance(self._dataset, PIPES):
            self._worker_init_fn = functools.partial(_sharding_worker_init_fn, self._worker_init_fn, self._world_size,
                                                     self._rank)
        start = Start(self._fetcher_maker(), self._dataset, self._dataset_kind == _DatasetKind.Iterable,
                      self._base_seed, self._num_workers, self._worker_init_fn, self._shared_seed)
        self._pool = WorkerPool(self._num_workers, start, loader.multiprocessing_context, "DataLoader")
        self._workers = [worker.process for worker in self._pool.workers]
        self._reset(loader, first_iter=True)

    def _reset(self, loader, first_iter=False):
        super()._reset(loader, first_iter)
        if not first_iter:
            self._resume_workers()
        self._flow = Flow(self._pool, self._sampler_iter, self._prefetch_factor * self._num_workers, self._in_order,
                          self._timeout or None, release=not self._persistent_workers, stops=True)

    @property
    def _tasks_outstanding(self):
        return len(self._flow.out)

    def _resume_workers(self):
        """Begin an epoch with the same workers; answers to the last one are dropped."""
        for worker in range(self._num_workers):
            self._pool.put(worker, None, _ResumeIteration(self._shared_seed))
        waiting = self._num_workers
        with self._named_failures():
            while waiting:
                waiting -= isinstance(self._pool.get(self._timeout or None)[2], _ResumeIteration)

    @contextmanager
    def _named_failures(self):
        """Have what happens to workers be told in the loader's words."""
        try:
            yield
        except NoAnswer:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None
        except WorkerDied as death:
            self._shutdown_workers()
            raise RuntimeError(f"DataLoader worker (pid(s) {death.pid}) exited unexpectedly") from death

    def _next_data(self):
        with self._named_failures():
            try:
                return self._pinned(next(self._flow))
            except StopIteration:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise

    def _shutdown_workers(self):
        if not self._shutdown:
            self._shutdown = True
            self._pool.close()

    def __del__(self):
        if hasattr(self, "_pool"):
            self._shutdown_workers()
