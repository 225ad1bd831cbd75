"""States of models that `FullyShardedDataParallel` has made flat: what a process has of them is told by wrappers."""

from dragon.core.scopes import contextmanager
from dragon.vm import torch


def is_flat(model):
    """Return whether a model, or a part of it, is wrapped so."""
    wrapper = torch.distributed.fsdp.FullyShardedDataParallel
    return any(isinstance(module, wrapper) for module in model.modules())


@contextmanager
def told_as(model, options):
    """Have states of wrapped parts come out as they are asked for, whole or as tensors on a mesh, within a block."""
    if not is_flat(model):
        yield
        return
    fsdp = torch.distributed.fsdp
    kind = fsdp.StateDictType.FULL_STATE_DICT if options.full_state_dict else fsdp.StateDictType.SHARDED_STATE_DICT
    with fsdp.FullyShardedDataParallel.state_dict_type(model, kind):
        yield


def read_optimizer(model, optimizer, options):
    """Return the state of an optimizer by the names that parameters have unwrapped."""
    with told_as(model, options):
        return torch.distributed.fsdp.FullyShardedDataParallel.optim_state_dict(model, optimizer)


def load_optimizer(model, optimizer, state, options):
    """Give an optimizer its state back, of one by names."""
    with told_as(model, options):
        found = torch.distributed.fsdp.FullyShardedDataParallel.optim_state_dict_to_load(model, optimizer, state)
    optimizer.load_state_dict(found)
