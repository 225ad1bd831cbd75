"""Tensors spread over the processes of a mesh."""
from dragon.vm.torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from dragon.vm.torch.distributed.tensor._api import DTensor, distribute_tensor
from dragon.vm.torch.distributed.tensor._making import distribute_module, empty, full, ones, rand, randn, zeros
from dragon.vm.torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard
