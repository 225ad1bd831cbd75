"""`torch.fx.passes.shape_prop`: run a graph, and note what tensors its nodes give."""
from typing import Any, NamedTuple, Optional, Tuple

from dragon.vm.torch.core.dtypes import dtype
from dragon.vm.torch.core.graphs.naming import torch_module
from dragon.vm.torch.core.layout import memory_format
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.interpreter import Interpreter
from dragon.vm.torch.fx.node import map_aggregate


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its numbers."""

    shape: Size
    dtype: dtype
    requires_grad: bool
    stride: Tuple[int, ...]
    memory_format: Optional[memory_format]
    is_quantized: bool
    qparams: dict


def _extract_tensor_metadata(result, include_contiguity=True):
    """Return what is known of a tensor."""
    torch, found = torch_module(), None
    for form in (torch.contiguous_format, torch.channels_last, torch.channels_last_3d) if include_contiguity else ():
        rank = {torch.channels_last: 4, torch.channels_last_3d: 5}.get(form)
        if (rank is None or result.dim() == rank) and result.is_contiguous(memory_format=form):
            found = form
            break
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), found, False, {})


class ShapeProp(Interpreter):
    """Run a graph; each node's `meta` then has "tensor_meta" and "type".

    Parameters
    ----------
    gm : GraphModule
        The module.
    fake_mode : Any, optional
        What makes tensors without numbers; Dragon has none.

    Examples
    --------
    >>> from torch.fx.passes.shape_prop import ShapeProp
    >>> module = torch.fx.symbolic_trace(torch.nn.Linear(3, 2))
    >>> _ = ShapeProp(module).propagate(torch.ones(4, 3))
    >>> module.graph.output_node().meta["tensor_meta"].shape
    torch.Size([4, 2])

    """

    def __init__(self, gm, fake_mode=None):
        if fake_mode is not None:
            raise NotImplementedError("torch.fx.passes.shape_prop.ShapeProp: Dragon has no tensors without numbers; "
                                      "leave fake_mode away, and the graph is run")
        super().__init__(gm)
        self.fake_module, self.fake_mode, self.real_module = None, None, self.module

    def run_node(self, n):
        """Run a node, and note what it gives."""
        try:
            result = super().run_node(n)
        except Exception as error:
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        seen = []

        def look(value):
            if isinstance(value, Tensor):
                seen.append(value)
                return _extract_tensor_metadata(value)
            return value
        meta = map_aggregate(result, look)
        if seen:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any):
        """Run the graph, and return what it returns.

        Parameters
        ----------
        args : Any
            The arguments.

        Returns
        -------
        Any
            The value.

        """
        return super().run(*args)
