"""Models whose parameters are spread over processes, and gathered where they are used."""
from dragon.vm.torch.distributed.fsdp._flat_param import FlatParameter  # noqa: F401
from dragon.vm.torch.distributed.fsdp._fully_shard import (  # noqa: F401
    CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, OffloadPolicy, UnshardHandle, fully_shard,
    register_fsdp_forward_method, share_comm_ctx)
from dragon.vm.torch.distributed.fsdp.api import (  # noqa: F401
    BackwardPrefetch, CPUOffload, FullOptimStateDictConfig, FullStateDictConfig, LocalOptimStateDictConfig,
    LocalStateDictConfig, MixedPrecision, OptimStateDictConfig, ShardedOptimStateDictConfig, ShardedStateDictConfig,
    ShardingStrategy, StateDictConfig, StateDictSettings, StateDictType)
from dragon.vm.torch.distributed.fsdp.fully_sharded_data_parallel import (  # noqa: F401
    FullyShardedDataParallel, OptimStateKeyType)
