"""`fully_shard`, under its former name."""
from dragon.vm.torch.distributed.fsdp._fully_shard import (  # noqa: F401
    CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, OffloadPolicy, UnshardHandle, fully_shard,
    register_fsdp_forward_method)
