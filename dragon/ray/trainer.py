"""A trainer whose workers are a group of Dragon's: Ray starts, feeds and restarts them."""
from dataclasses import dataclass

from dragon.ray import workers
from dragon.ray.library import Backend, BackendConfig, DataParallelTrainer, ray, require
from dragon.ray.post import Post


@dataclass
class WorldConfig(BackendConfig):
    """How workers become a group.

    Parameters
    ----------
    timeout : float, optional, default=1800
        Seconds to wait for others, at the beginning and in each call.
    shares_memory : bool, optional
        Whether workers share memory; by default they do where all are on one machine. Otherwise Ray's object store
        carries what they tell each other.

    """

    timeout: float = 1800.0
    shares_memory: bool = None

    def __post_init__(self):
        require("WorldConfig")

    @property
    def backend_cls(self):
        """What Ray calls around the training."""
        return World

    def to_dict(self):
        """Return the fields, as Ray shows them."""
        return {"timeout": self.timeout, "shares_memory": self.shares_memory}


class World(Backend):
    """What is done before workers train, and after: they join a group, and leave it."""

    def on_start(self, worker_group, backend_config):
        """Have all workers join."""
        places = worker_group.execute(workers.find_place)
        shares_memory = backend_config.shares_memory
        if shares_memory is None:
            shares_memory = len({machine for machine, _, _ in places}) == 1
        size, (_, host, port) = len(places), places[0]
        post = None if shares_memory else ray.remote(Post).options(num_cpus=0).remote(size)
        ray.get([worker_group.execute_single_async(rank, workers.join, rank, size, host, port, backend_config.timeout,
                                                   post) for rank in range(size)])

    def on_shutdown(self, worker_group, backend_config):
        """Have all workers leave; those that are gone have left."""
        ray.wait(worker_group.execute_async(workers.leave), timeout=10.0)


def _check_workers(number):
    """Raise if a number of workers, or the least and the most of them, makes no group; Ray refuses less."""
    counts = number if isinstance(number, tuple) and len(number) == 2 else (number,)
    expected = "Trainer: got ScalingConfig(num_workers=%r), expected a whole number from 1 on, or (least, most)"
    if any(isinstance(count, bool) or not isinstance(count, int) for count in counts):
        raise TypeError(expected % (number,))
    if not 1 <= counts[0] <= counts[-1]:
        raise ValueError(expected % (number,))


class Trainer(DataParallelTrainer):
    """Run a function in several workers of a Ray cluster, which are the group of `dragon.distributed.world()`.

    In the function `ray.train.get_dataset_shard` gives this worker's share of the data, `ray.train.report` tells
    figures and keeps a checkpoint, and `ray.train.get_checkpoint` is the last one kept. When a worker or its machine
    dies, all are started anew from there, as often as
    `RunConfig(failure_config=FailureConfig(max_failures=...))` says.

    With `ScalingConfig(num_workers=(least, most))` training begins with as many workers as there is room for, goes on
    with fewer after a loss, and waits where there are not even the least. Where there is room for more again, all are
    started anew from the last checkpoint; Ray looks every `elastic_resize_monitor_interval_s` seconds.

    Parameters
    ----------
    train_loop_per_worker : Callable
        What each worker runs; takes nothing, or the configuration.
    train_loop_config : dict, optional
        The configuration.
    world_config : WorldConfig, optional
        How workers become a group.
    scaling_config : ray.train.ScalingConfig, optional
        How many workers there are, or the least and the most of them, and what each has of a machine.
    run_config : ray.train.RunConfig, optional
        Where checkpoints are kept, how many, and how often a failure is borne.
    datasets : Dict[str, ray.data.Dataset], optional
        The data, by name; each worker gets a share.
    dataset_config : ray.train.DataConfig, optional
        Which of them are shared out.

    """

    def __init__(self, train_loop_per_worker, *, train_loop_config=None, world_config=None, scaling_config=None,
                 run_config=None, datasets=None, dataset_config=None):
        require("Trainer")
        _check_workers(getattr(scaling_config, "num_workers", 1))
        super().__init__(train_loop_per_worker, train_loop_config=train_loop_config,
                         backend_config=world_config or WorldConfig(), scaling_config=scaling_config,
                         run_config=run_config, datasets=datasets, dataset_config=dataset_config)
