"""Samples for each process, from where an epoch was broken off."""
import math

from dragon.vm import torch
from dragon.vm.torch.utils.data.distributed import DistributedSampler


class ElasticDistributedSampler(DistributedSampler):
    """Gives each process a share of the samples that are left of an epoch.

    Parameters
    ----------
    dataset : torch.utils.data.Dataset
        The samples.
    num_replicas, rank : int, optional
        How many processes there are, and which this is; by default those of the default group.
    start_index : int, optional, default=0
        How many samples of the epoch have been taken.

    """

    def __init__(self, dataset, num_replicas=None, rank=None, start_index=0):
        super().__init__(dataset, num_replicas, rank)
        if start_index >= len(dataset):
            raise ValueError(f"Start index {start_index} should be less than dataset size {len(dataset)}")
        self.start_index = start_index
        self.num_samples = math.ceil((len(dataset) - start_index) / self.num_replicas)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self):
        generator = torch.Generator()
        generator.manual_seed(self.epoch)
        left = len(self.dataset) - self.start_index
        order = [place + self.start_index for place in torch.randperm(left, generator=generator).tolist()]
        order += order[:self.total_size - len(order)]
        return iter(order[self.rank:self.total_size:self.num_replicas])

    def __len__(self):
        return self.num_samples
