"""The functions of `torch.nested`, and all rules of nested tensors."""
from dragon.vm.torch.core.nested import (attention, conversions, cutting, files, norms, pointwise,  # noqa: F401
                                         printing, products, properties, reductions, shapes, strided)
from dragon.vm.torch.core.nested.parts import is_nested
from dragon.vm.torch.core.register import method
from dragon.vm.torch.core.tensor import Tensor


@method
def to_padded_tensor(self, padding, output_size=None):
    """Return one strided tensor of all samples of a nested tensor, with a number behind the shorter ones.

    Parameters
    ----------
    padding : number
        What stands behind.
    output_size : Sequence[int], optional
        The shape of the result; just large enough without it.

    Returns
    -------
    Tensor
        A strided tensor.

    """
    raise NotImplementedError("to_padded_tensor: got a strided tensor, expected a nested one")


def padded(input, padding, output_size=None, out=None):
    """Return one strided tensor of all samples of a nested tensor, with a number behind the shorter ones.

    Parameters
    ----------
    input : Tensor
        A nested tensor.
    padding : number
        What stands behind.
    output_size : Sequence[int], optional
        The shape of the result; just large enough without it.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A strided tensor.

    """
    if not isinstance(input, Tensor):
        raise TypeError(f"to_padded_tensor: got '{type(input).__name__}', expected a nested tensor")
    if not is_nested(input):
        return input.to_padded_tensor(padding, output_size)
    compute = type(input).RULES["to_padded_tensor"]
    return compute(input, padding, output_size, out)
