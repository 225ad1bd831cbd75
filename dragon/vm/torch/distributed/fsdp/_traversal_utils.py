"""The wrapped modules within a model."""
from dragon.vm.torch.distributed.fsdp._states import ModelStates
from dragon.vm.torch.distributed.fsdp.api import StateDictSettings


def _get_fsdp_states(module):
    """Return the wrapped modules within one, itself included, the outer ones first."""
    return [each for each in module.modules() if isinstance(each, ModelStates)]


def settings_of(module):
    """Return what states have, the same for all wrapped modules within one; None if there are none."""
    found = None
    for each in _get_fsdp_states(module):
        settings = StateDictSettings(each._state_dict_type, each._state_dict_config, each._optim_state_dict_config)
        if found is not None and settings != found:
            raise AssertionError("All FSDP modules must have the same state dict settings. "
                                 f"Got {settings} and {found}.")
        found = settings
    return found


def _get_fsdp_roots(module):
    """Return the outermost wrapped modules within one."""
    states = _get_fsdp_states(module)
    inner = {id(each) for state in states for each in _get_fsdp_states(state) if each is not state}
    return [state for state in states if id(state) not in inner]


def _get_fsdp_handles(module):
    """Return the flat parameters of wrapped modules within one."""
    return [state._handle for state in _get_fsdp_states(module) if state._handle is not None]
