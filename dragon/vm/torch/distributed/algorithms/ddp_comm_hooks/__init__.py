"""Communication hooks for `DistributedDataParallel`."""
import enum
import functools

from dragon.vm.torch.distributed.algorithms.ddp_comm_hooks import (
    debugging_hooks, default_hooks, powerSGD_hook, quantization_hooks)


def _register(hook, make_state, model, state=None):
    model.register_comm_hook(make_state(state), hook)


def _row(hook, make_state=lambda state: state):
    """Return what makes a member's value: a call of it registers the hook. A function would be a method of the enum."""
    return functools.partial(_register, hook, make_state)


def _of_rank(rank):
    return lambda group: powerSGD_hook.PowerSGDState(process_group=group, matrix_approximation_rank=rank)


_member = getattr(enum, "member", lambda value: value)  # before Python 3.11 a partial is a member by itself


class DDPCommHookType(enum.Enum):
    """The hooks, by name; `value(model=model, state=group)` registers one."""

    ALLREDUCE = _member(_row(default_hooks.allreduce_hook))
    FP16_COMPRESS = _member(_row(default_hooks.fp16_compress_hook))
    BF16_COMPRESS = _member(_row(default_hooks.bf16_compress_hook))
    QUANTIZE_PER_TENSOR = _member(_row(quantization_hooks.quantization_pertensor_hook))
    QUANTIZE_PER_CHANNEL = _member(_row(quantization_hooks.quantization_perchannel_hook))
    POWER_SGD = _member(_row(powerSGD_hook.powerSGD_hook, _of_rank(1)))
    POWER_SGD_RANK2 = _member(_row(powerSGD_hook.powerSGD_hook, _of_rank(2)))
    BATCHED_POWER_SGD = _member(_row(powerSGD_hook.batched_powerSGD_hook, _of_rank(1)))
    BATCHED_POWER_SGD_RANK2 = _member(_row(powerSGD_hook.batched_powerSGD_hook, _of_rank(2)))
    NOOP = _member(_row(debugging_hooks.noop_hook))


def register_ddp_comm_hook(comm_hook_type, model, state=None):
    """Register a hook of this package with a model.

    Parameters
    ----------
    comm_hook_type : DDPCommHookType
        Which one.
    model : DistributedDataParallel
        The model.
    state : ProcessGroup, optional
        The processes; all by default.

    """
    comm_hook_type.value(model=model, state=state)
