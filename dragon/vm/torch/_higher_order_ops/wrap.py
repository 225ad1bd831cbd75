"""Functions called within something: as they are, with gradients on or off, under autocast, in a checkpoint."""
from dragon.core import modes
from dragon.core.scopes import ExitStack
from dragon.vm.torch.amp import autocast
from dragon.vm.torch.core.exporting.higher_order import HigherOrderOperator
from dragon.vm.torch.utils.checkpoint import checkpoint


def _call(function, *args, **kwargs):
    return function(*args, **kwargs)


def _with_gradients(enabled, function, *args, **kwargs):
    with ExitStack() as exits:
        exits.switch(modes.set_recording, bool(enabled))
        return function(*args, **kwargs)


def _with_autocast(device_type, dtype, enabled, cache_enabled, function, *args, **kwargs):
    with autocast(device_type, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled):
        return function(*args, **kwargs)


def _checkpointed(function, *args, **kwargs):
    return checkpoint(function, *args, **{"use_reentrant": False, **kwargs})


wrap = HigherOrderOperator("wrap", _call, None)
wrap_with_set_grad_enabled = HigherOrderOperator("wrap_with_set_grad_enabled", _with_gradients, None)
wrap_with_autocast = HigherOrderOperator("wrap_with_autocast", _with_autocast, None)
tag_activation_checkpoint = HigherOrderOperator("tag_activation_checkpoint", _checkpointed, None)
