"""The old ways to say what becomes of the losses of the elements."""
import warnings

from dragon.vm.torch.core.missing import module_getattr


def get_enum(reduction):
    """Return the number that stands for a reduction."""
    numbers = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}
    if reduction not in numbers:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2)
    return numbers[reduction]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """Return the reduction that `size_average` and `reduce` stand for."""
    size_average = True if size_average is None else size_average
    reduction = "none" if reduce is not None and not reduce else "mean" if size_average else "sum"
    if emit_warning:
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
                      stacklevel=2)
    return reduction


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """Return the number of the reduction that `size_average` and `reduce` stand for."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


__getattr__ = module_getattr("torch.nn._reduction", globals())
