"""Whether scripting is on: it runs the Python code either way."""
from dragon.vm.torch.core.missing import module_getattr


def enable():
    """Do nothing."""


def disable():
    """Do nothing."""


__getattr__ = module_getattr("torch.jit._state", globals())
