"""The loop that runs in the loader's worker processes."""
import os
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


class ManagerWatchdog:
    """Know whether the process that started this one is still there."""

    def __init__(self):
        self.manager_pid, self.manager_dead = os.getppid(), False

    def is_alive(self):
        """Return whether it is: an orphan has another parent."""
        self.manager_dead = self.manager_dead or os.getppid() != self.manager_pid
        return not self.manager_dead


def _generate_state(base_seed, worker_id):
    """Return the seed of NumPy's global stream, as NumPy mixes one from the base seed and the worker's number."""
    import numpy as np
    low, high = base_seed & 0xFFFFFFFF, base_seed >> 32
    return np.random.SeedSequence([worker_id, low, high, 0]).generate_state(4).tolist()


def seed_pipes(dataset, shared_seed):
    """Have all pipes that a dataset is made of, if it is made of pipes, draw from one seed."""
    if isinstance(dataset, IterDataPipe):
        from dragon.vm.torch.utils.data.graph_settings import apply_random_seed
        apply_random_seed(dataset, torch.Generator().manual_seed(shared_seed))


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
    shared_seed : int, optional
        What pipes of samples draw from, the same in all workers.

    """

    def __init__(self, make_fetcher, dataset, iterable, base_seed, num_workers, init_fn, shared_seed=None):
        self.make_fetcher, self.dataset, self.iterable = make_fetcher, dataset, iterable
        self.base_seed, self.num_workers, self.init_fn = base_seed, num_workers, init_fn
        self.shared_seed = shared_seed

    def __call__(self, worker_id):
        import numpy as np
        global _worker_info
        torch.set_num_threads(1)
        seed = self.base_seed + worker_id
        random.seed(seed)
        torch.manual_seed(seed)
        np.random.seed(_generate_state(self.base_seed, worker_id))
        seed_pipes(self.dataset, self.shared_seed)
        _worker_info = WorkerInfo(worker_id, self.num_workers, seed, self.dataset)
        if self.init_fn is not None:
            self.init_fn(worker_id)
        return Handler(self.make_fetcher, self.dataset, self.iterable, worker_id)


class Handler:
    """Answer a worker's tasks: indices with batches, a `_ResumeIteration` with itself."""

    def __init__(self, make_fetcher, dataset, iterable, worker_id):
        self.make_fetcher, self.dataset, self.iterable, self.worker_id = make_fetcher, dataset, iterable, worker_id
        self.fetcher = make_fetcher()

    def __call__(self, task):
        if isinstance(task, _ResumeIteration):
            seed_pipes(self.dataset, task.seed)
            self.fetcher = self.make_fetcher()
            return task
        try:
            return self.fetcher.fetch(task)
        except StopIteration:
            if not self.iterable:
                raise
            return _IterableDatasetStopIteration(self.worker_id)
