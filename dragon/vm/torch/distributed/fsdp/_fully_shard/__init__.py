"""`fully_shard`: modules whose parameters are tensors on a mesh, and whole where they are used."""
from dragon.vm.torch.distributed.fsdp._fully_shard._fully_shard import (  # noqa: F401
    FSDPModule, UnshardHandle, disable_fsdp_module_new_init, fully_shard, get_cls_to_fsdp_cls,
    register_fsdp_forward_method, share_comm_ctx)
from dragon.vm.torch.distributed.fsdp._fully_shard._policies import (  # noqa: F401
    AllGather, Comm, CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy, ReduceScatter)
