"""Arguments of `torch.nn.functional` as PyTorch's operators have them."""
from dragon.dialects.aten.table import REDUCTIONS


def usual_axis(input):
    """Return the axis of a softmax that names none."""
    return 0 if input.ndim in (0, 1, 3) else 1


def listed(value):
    """Return axes as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def pair(value):
    """Return a number for each axis of a picture."""
    return list(value) if isinstance(value, (list, tuple)) else [value, value]


def fitted(input, output_size, rank):
    """Return the sizes of a result along so many axes: None stands for the input's."""
    given = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * rank
    return [size if wanted is None else wanted for size, wanted in zip(input.shape[-rank:], given)]


def number_of(reduction, size_average=None, reduce=None):
    """Return the number of a loss's reduction, as its former arguments or its name tell."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    if reduction not in REDUCTIONS:
        raise ValueError(f"torch.export: got reduction {reduction!r}, expected one of {', '.join(REDUCTIONS)}")
    return REDUCTIONS.index(reduction)


def unweighed(name, weight, tensors):
    """Return the tensors of a loss, or raise NotImplementedError where it has weights."""
    if weight is not None:
        raise NotImplementedError(f"torch.export: {name} with weights has no operator; weigh the losses yourself")
    return tensors


def uses_cudnn():
    """Return what exported programs say of cuDNN; scripts say that it is used where it is there."""
    return False
