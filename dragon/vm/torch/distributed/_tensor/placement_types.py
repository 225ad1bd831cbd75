"""Placements under their former name."""
from dragon.vm.torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta
from dragon.vm.torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard
