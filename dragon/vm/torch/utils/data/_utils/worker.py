"""The loop that runs in the loader's worker processes."""
import random
from dataclasses import dataclass
from typing import Any, Optional

from dragon.io import Exhausted
from dragon.vm import torch
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe

_worker_info = None


@dataclass(frozen=True)
class WorkerInfo:
    """The worker that this process is: its number, how many there are, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: Optional[str] = "multiprocessing"


def get_worker_info():
    """Return the `WorkerInfo` of this worker process; None in the main process."""
    return _worker_info


@dataclass(frozen=True)
class _IterableDatasetStopIteration(Exhausted):
    """Said by a worker whose part of an iterable dataset has ended."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """Said to, and by, persistent workers when the next epoch begins."""

    seed: Optional[int] = None


def _generate_state(base_seed, worker_id):
    """Return the seed of NumPy's global stream, as NumPy mixes one from the base seed and the worker's number."""
    import numpy as np
    low, high = base_seed & 0xFFFFFFFF, base_seed >> 32
    return np.random.SeedSequence([worker_id, low, high, 0]).generate_state(4).tolist()


class Start:
    """Make a worker ready; called with its number, returns what answers its tasks.

    Parameters
    ----------
    make_fetcher : Callable
        Returns a new fetcher of the dataset; called at the beginning of each epoch.
    dataset : Dataset
        The dataset.
    iterable : bool
        Whether it is an iterable one, whose end is no error.
    base_seed : int
        The seed of worker 0.
    num_workers : int
        How many workers there are.
    init_fn : Callable, optional
        The user's own function of the worker's number.

    """

    def __init__(self, make_fetcher, dataset, iterable, base_seed, num_workers, init_fn):
        self.make_fetcher, self.dataset, self.iterable = make_fetcher, dataset, iterable
        self.base_seed, self.num_workers, self.init_fn = base_seed, num_workers, init_fn

    def __call__(self, worker_id):
        import numpy as np
        global _worker_info
        torch.set_num_threads(1)
        seed = self.base_seed + worker_id
        random.seed(seed)
        torch.manual_seed(seed)
        np.random.seed(_generate_state(self.base_seed, worker_id))
        _worker_info = WorkerInfo(worker_id, self.num_workers, seed, self.dataset)
        if isinstance(self.dataset, IterDataPipe):
            self._share_out(worker_id)
        if self.init_fn is not None:
            self.init_fn(worker_id)
        return Handler(self.make_fetcher, self.iterable, worker_id)

    def _share_out(self, worker_id):
        """Have a graph of pipes shuffle as in every worker, and give this worker's part."""
        from dragon.vm.torch.utils.data.graph_settings import SHARDING_PRIORITIES, apply_random_seed, apply_sharding
        apply_random_seed(self.dataset, torch.Generator().manual_seed(self.base_seed))
        apply_sharding(self.dataset, self.num_workers, worker_id, SHARDING_PRIORITIES.MULTIPROCESSING)


class Handler:
    """Answer a worker's tasks: indices with batches, a `_ResumeIteration` with itself."""

    def __init__(self, make_fetcher, iterable, worker_id):
        self.make_fetcher, self.iterable, self.worker_id = make_fetcher, iterable, worker_id
        self.fetcher = make_fetcher()

    def __call__(self, task):
        if isinstance(task, _ResumeIteration):
            self.fetcher = self.make_fetcher()
            return task
        try:
            return self.fetcher.fetch(task)
        except StopIteration:
            if not self.iterable:
                raise
            return _IterableDatasetStopIteration(self.worker_id)
