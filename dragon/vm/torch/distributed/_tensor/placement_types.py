"""Placements under their former name."""
from dragon.vm.torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta  # noqa: F401
from dragon.vm.torch.distributed.tensor.placement_types import (  # noqa: F401
    Partial, Placement, Replicate, Shard)
