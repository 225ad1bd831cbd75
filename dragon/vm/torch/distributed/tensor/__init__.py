"""Tensors spread over the processes of a mesh."""
from dragon.vm.torch.core import absent
from dragon.vm.torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from dragon.vm.torch.distributed.tensor._api import DTensor, distribute_tensor
from dragon.vm.torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

absent.fill(globals(), "distributed.tensor")
