"""Functions that scripts of `torch.nn.functional` call."""
from typing import Optional

from dragon.vm.torch.core.tensor import Tensor


def usual_axis(input: Tensor) -> int:
    """Return the axis of a softmax that names none."""
    return 0 if input.dim() == 0 or input.dim() == 1 or input.dim() == 3 else 1


def number_of(reduction: str, size_average: Optional[bool] = None, reduce: Optional[bool] = None) -> int:
    """Return the number of a way to reduce; the two former arguments win where they are given."""
    if size_average is not None or reduce is not None:
        if reduce is not None and not reduce:
            return 0
        return 1 if size_average is None or size_average else 2
    if reduction == "none":
        return 0
    if reduction == "mean":
        return 1
    if reduction == "sum":
        return 2
    raise ValueError(reduction + " is not a valid value for reduction")


def uses_cudnn() -> bool:
    """Return whether cuDNN is used where it is there."""
    return True
