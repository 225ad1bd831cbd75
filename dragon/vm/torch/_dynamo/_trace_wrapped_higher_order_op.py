"""How subscripts are read inside `vmap`: here it calls functions slice by slice, and subscripts need no care."""
import contextlib

from dragon.vm.torch.core.missing import module_getattr


class TransformGetItemToIndex(contextlib.nullcontext):
    """Let tensors be subscripts within a `with` block, as they are outside."""


__getattr__ = module_getattr("torch._dynamo._trace_wrapped_higher_order_op", globals())
