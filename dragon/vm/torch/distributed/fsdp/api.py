"""What `FullyShardedDataParallel` can be asked for."""
import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional, Type

from dragon.vm.torch.core.dtypes import dtype
from dragon.vm.torch.nn.modules.batchnorm import _BatchNorm
from dragon.vm.torch.nn.modules.module import Module


class ShardingStrategy(enum.Enum):
    """What each process has a part of.

    FULL_SHARD: parameters, gradients and the optimizer's state; parameters are gathered for each use. SHARD_GRAD_OP:
    the same, but parameters are kept from the forward pass to the backward pass. NO_SHARD: nothing. HYBRID_SHARD and
    _HYBRID_SHARD_ZERO2: as the first two within a group, and copies of it over other groups.
    """

    FULL_SHARD = enum.auto()
    SHARD_GRAD_OP = enum.auto()
    NO_SHARD = enum.auto()
    HYBRID_SHARD = enum.auto()
    _HYBRID_SHARD_ZERO2 = enum.auto()


class BackwardPrefetch(enum.Enum):
    """When the parameters for the next part of the backward pass are gathered: beside this one, or after it."""

    BACKWARD_PRE = enum.auto()
    BACKWARD_POST = enum.auto()


@dataclass
class MixedPrecision:
    """The dtypes that a module computes and sends in.

    Parameters
    ----------
    param_dtype : dtype, optional
        Of parameters in forward and backward passes.
    reduce_dtype : dtype, optional
        Of gradients on their way; by default that of parameters.
    buffer_dtype : dtype, optional
        Of buffers.
    keep_low_precision_grads : bool, optional, default=False
        Whether gradients stay in the dtype that they were computed in.
    cast_forward_inputs : bool, optional, default=False
        Whether a module's arguments are converted.
    cast_root_forward_inputs : bool, optional, default=True
        Whether those of the outermost one are.

    """

    param_dtype: Optional[dtype] = None
    reduce_dtype: Optional[dtype] = None
    buffer_dtype: Optional[dtype] = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Sequence[Type[Module]] = (_BatchNorm,)


@dataclass
class CPUOffload:
    """Whether parameters and gradients wait on the CPU, as here they do."""

    offload_params: bool = False


class StateDictType(enum.Enum):
    """What a state has: whole parameters, this process's flat parts, or each parameter's part with its place."""

    FULL_STATE_DICT = enum.auto()
    LOCAL_STATE_DICT = enum.auto()
    SHARDED_STATE_DICT = enum.auto()


@dataclass
class StateDictConfig:
    """How a model's state comes out."""

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """How whole parameters come out; with `rank0_only` nothing comes out of other processes."""

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """How flat parts come out."""


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """How each parameter's part comes out."""

    _use_dtensor: bool = False


@dataclass
class OptimStateDictConfig:
    """How an optimizer's state comes out."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """How the state of whole parameters comes out; with `rank0_only` nothing comes out of other processes."""

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """How the state of flat parts comes out."""

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """How the state of each parameter's part comes out."""

    _use_dtensor: bool = False


@dataclass
class StateDictSettings:
    """How states come out."""

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: OptimStateDictConfig


CONFIGS = {
    StateDictType.FULL_STATE_DICT: (FullStateDictConfig, FullOptimStateDictConfig),
    StateDictType.LOCAL_STATE_DICT: (LocalStateDictConfig, LocalOptimStateDictConfig),
    StateDictType.SHARDED_STATE_DICT: (ShardedStateDictConfig, ShardedOptimStateDictConfig),
}
