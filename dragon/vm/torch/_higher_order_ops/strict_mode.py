"""`strict_mode`: a function called with a tuple of tensors, which PyTorch traces before it is exported."""
from dragon.vm.torch.core.exporting.tracing_state import current_tracer


def strict_mode(callable, operands):
    """Return what a function gives of some tensors.

    Parameters
    ----------
    callable : Callable
        The function.
    operands : Sequence[Any]
        Its arguments.

    Returns
    -------
    Any
        Its results.

    """
    if current_tracer() is not None:
        raise NotImplementedError("strict_mode: got a program that is exported, expected a plain call: export the "
                                  "function itself")
    return callable(*operands)
