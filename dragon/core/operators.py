"""The engine's operators for code that speaks no frontend's language."""
from dragon import _C
from dragon.core.dtypes import NATIVE

_operators = None


def operators():
    """Return the engine's operators, giving tensors of no frontend; made when first asked for."""
    global _operators
    if _operators is None:
        _operators = _C.Ops(_C.Tensor, NATIVE, lambda kind, index: (kind, index), tuple, {}, {})
    return _operators
