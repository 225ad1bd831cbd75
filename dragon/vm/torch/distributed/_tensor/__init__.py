"""`torch.distributed.tensor` under its former name."""
from dragon.vm.torch.distributed.tensor import (DeviceMesh, DTensor, Placement, Replicate, Shard, distribute_module,
                                                distribute_tensor, init_device_mesh)
