"""The wrapped modules within a model."""


def _get_fsdp_states(module):
    """Return the wrapped modules within one, itself included, the outer ones first."""
    from dragon.vm.torch.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel
    return [each for each in module.modules() if isinstance(each, FullyShardedDataParallel)]


def _get_fsdp_roots(module):
    """Return the outermost wrapped modules within one."""
    states = _get_fsdp_states(module)
    inner = {id(each) for state in states for each in _get_fsdp_states(state) if each is not state}
    return [state for state in states if id(state) not in inner]


def _get_fsdp_handles(module):
    """Return the flat parameters of wrapped modules within one."""
    return [state._handle for state in _get_fsdp_states(module) if state._handle is not None]
