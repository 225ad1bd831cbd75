"""Each process of a group its own part of a dataset."""
import math

from dragon.vm import torch
from dragon.vm.torch.utils.data.sampler import Sampler


class DistributedSampler(Sampler):
    """Yield every so-manieth index, the same order in all processes.

    Parameters
    ----------
    dataset : Dataset
        The dataset, which has a length.
    num_replicas : int, optional
        How many processes; the group's size by default.
    rank : int, optional
        Which of them this is.
    shuffle : bool, optional, default=True
        Whether the order is random.
    seed : int, optional, default=0
        Where the order starts from, equal in all processes.
    drop_last : bool, optional, default=False
        Whether to leave out the rest, instead of repeating samples, where the processes do not divide the length.

    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None:
            num_replicas = torch.distributed.get_world_size()
        if rank is None:
            rank = torch.distributed.get_rank()
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.drop_last, self.shuffle, self.seed = 0, drop_last, shuffle, seed
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else math.ceil(count / num_replicas)
        if drop_last and 0 < count < num_replicas:
            self.num_samples = 0
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        count = len(self.dataset)
        indices = list(range(count))
        if self.shuffle:
            generator = torch.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = torch.randperm(count, generator=generator).tolist()
        if not self.drop_last and indices:
            indices *= math.ceil(self.total_size / count)
        return iter(indices[self.rank:self.total_size:self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Say which epoch comes, for another order than the last one's."""
        self.epoch = epoch
