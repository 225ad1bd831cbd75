"""Errors of workers under PyTorch's name; what workers need is first imported where they are used."""
from dragon.io import Failure
from dragon.io.failure import KeyErrorMessage  # noqa: F401: PyTorch has it beside the other


class ExceptionWrapper(Failure):
    """An error of another thread or process, to be raised here with its traceback as text.

    Parameters
    ----------
    exc_info : tuple, optional
        What `sys.exc_info()` returned; asked for unless given.
    where : str, optional
        Where it happened, for the message.

    """

    __module__ = __name__.replace("core.failures", "_utils")
