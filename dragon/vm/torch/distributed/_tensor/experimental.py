"""`torch.distributed.tensor.experimental` under its former name."""
from dragon.vm.torch.distributed.tensor.experimental import implicit_replication, local_map  # noqa: F401
