"""Errors of a compiler of Python code."""
from dragon.vm.torch.core.missing import module_getattr


class FrontendError(Exception):
    """Python code that a compiler cannot read; Dragon compiles none."""


class NotSupportedError(FrontendError):
    """The same, with its place."""


__getattr__ = module_getattr("torch.jit.frontend", globals())
