"""Losses: how far predictions are from what was wanted."""
from dragon import _C
from dragon.ops import shelf


def _losses():
    """Return the operators that reduce what they compute, by the mean unless told otherwise."""
    return [name for name in _C.op_names() if any(
        argument["name"] == "reduction" and argument["default"] == "mean" for argument in _C.schema(name)["arguments"])]


__getattr__, __dir__ = shelf(__name__, _losses)
