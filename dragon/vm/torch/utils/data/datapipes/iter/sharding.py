"""Pipes that are shared out among readers."""
from enum import IntEnum

from dragon.io.stages.taking import share
from dragon.vm.torch.utils.data.datapipes._decorator import functional_datapipe
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe


class SHARDING_PRIORITIES(IntEnum):
    """Among whom samples are shared out."""

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(IterDataPipe):
    """Every so manieth sample, as `apply_sharding` says; all of them before.

    Parameters
    ----------
    source_datapipe : IterDataPipe
        The samples.
    sharding_group_filter : SHARDING_PRIORITIES, optional
        Only sharing among these counts.

    """

    def __init__(self, source_datapipe, sharding_group_filter=None):
        self.source_datapipe, self.sharding_group_filter = source_datapipe, sharding_group_filter
        self.groups, self.num_of_instances, self.instance_id = {}, 1, 0

    def is_shardable(self):
        """Return True."""
        return True

    def apply_sharding(self, num_of_instances, instance_id, sharding_group=SHARDING_PRIORITIES.DEFAULT):
        """Give one part of several."""
        if instance_id >= num_of_instances:
            raise ValueError(f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})")
        first = SHARDING_PRIORITIES.DEFAULT
        if self.groups and (sharding_group == first) != (first in self.groups):
            raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        self.groups[sharding_group] = num_of_instances, instance_id
        self.num_of_instances, self.instance_id = 1, 0
        for group, (count, place) in sorted(self.groups.items(), reverse=True):
            if self.sharding_group_filter is None or group == self.sharding_group_filter:
                self.instance_id += self.num_of_instances * place
                self.num_of_instances *= count

    def __iter__(self):
        return share(iter(self.source_datapipe), self.num_of_instances, self.instance_id)

    def __len__(self):
        whole, rest = divmod(len(self.source_datapipe), self.num_of_instances)
        return whole + (self.instance_id < rest)
