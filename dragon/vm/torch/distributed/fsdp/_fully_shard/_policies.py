"""What `fully_shard` can be asked for."""
import abc
from dataclasses import dataclass
from typing import Optional

from dragon.vm.torch.core.dtypes import dtype


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes that a module computes and sends in.

    Parameters
    ----------
    param_dtype : dtype, optional
        Of parameters in forward and backward passes.
    reduce_dtype : dtype, optional
        Of gradients on their way; by default that they are computed in.
    output_dtype : dtype, optional
        Of outputs.
    cast_forward_inputs : bool, optional, default=True
        Whether arguments are converted to the parameters' dtype.

    """

    param_dtype: Optional[dtype] = None
    reduce_dtype: Optional[dtype] = None
    output_dtype: Optional[dtype] = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Where parts wait: with the processes' devices."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parts wait on the CPU, as here they do."""

    pin_memory: bool = True


class Comm(abc.ABC):
    """The base of somebody's own collectives."""

    @abc.abstractmethod
    def allocate(self, size, *, dtype, device):
        """Return memory for a collective."""


class AllGather(Comm):
    """Somebody's own way to gather parts."""

    @abc.abstractmethod
    def __call__(self, output_tensor, input_tensor, group, async_op=False):
        """Fill a tensor with those of all processes."""


class ReduceScatter(Comm):
    """Somebody's own way to reduce gradients."""

    @abc.abstractmethod
    def __call__(self, output_tensor, input_tensor, group, op, async_op=False):
        """Fill a tensor with this process's part of a reduction."""
