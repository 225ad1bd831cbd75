"""Errors of the compiler of scripts."""
from dragon.vm.torch.core.scripting.frontend import FrontendError, NotSupportedError  # noqa: F401
