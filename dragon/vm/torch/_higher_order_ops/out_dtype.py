"""`out_dtype`: an operator computed, and returned, in a wider dtype than its operands have."""
from dragon.vm.torch._ops import OpOverload, namespace
from dragon.vm.torch.core.dtypes import dtype as Dtype
from dragon.vm.torch.core.exporting.higher_order import HigherOrderOperator
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor

aten = namespace("aten")
ALLOWED = [aten.linear.default, aten.mm.default, aten.conv2d.default, aten.convolution.default, aten.mul.Tensor,
           aten.mul.Scalar, aten.div.Tensor, aten.div.Scalar]


def _run(op, output_dtype, *args):
    """Return what an operator gives of operands in a wider dtype.

    Parameters
    ----------
    op : OpOverload
        Such as `torch.ops.aten.mm.default`: a functional one, with one result.
    output_dtype : dtype
        That of the computation and the result.
    *args : Any
        The operator's arguments.

    Returns
    -------
    Tensor
        The result.

    """
    if not isinstance(op, OpOverload):
        raise ValueError(f"out_dtype's first argument must be an OpOverload: got {op!r}")
    if getattr(op._schema, "is_mutable", False):
        raise ValueError(f"out_dtype's first argument needs to be a functional operator: got {op}, which writes")
    kinds = [result.type for result in op._schema.returns]
    if kinds != ["Tensor"]:
        raise ValueError(f"out_dtype's can only apply to ops that return a single tensor. Instead got {kinds}")
    if op not in ALLOWED:
        raise ValueError(f"out_dtype only allows the following operators: {ALLOWED}; got {op}")
    if not isinstance(output_dtype, Dtype):
        raise TypeError(f"out_dtype: argument 'dtype' must be torch.dtype, not {type(output_dtype).__name__}")
    kind = output_dtype
    for item in args:
        kind = FUNCTIONS["promote_types"](kind, item.dtype) if isinstance(item, Tensor) else kind
    return op(*(item.to(kind) if isinstance(item, Tensor) else item for item in args)).to(output_dtype)


out_dtype = HigherOrderOperator("out_dtype", _run, None)
