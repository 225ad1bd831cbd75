"""`torch.distributed.tensor` under its former name."""
from dragon.vm.torch.distributed.tensor import (DeviceMesh, DTensor, Partial, Placement, Replicate, Shard,
                                                distribute_module, distribute_tensor, empty, full, init_device_mesh,
                                                ones, rand, randn, zeros)
