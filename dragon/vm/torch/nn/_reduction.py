"""Reductions as numbers, and the old flags that stood for them."""
from dragon.vm.torch.core.functions.loss import reduction_of

NUMBERS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction):
    """Return the number of a reduction."""
    if reduction not in NUMBERS:
        raise ValueError(f"reduction: got {reduction!r}, expected 'none', 'mean' or 'sum'")
    return NUMBERS[reduction]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """Return the reduction that the old flags stand for."""
    if not emit_warning:
        return "none" if reduce is False else "sum" if size_average is False else "mean"
    return reduction_of(bool(size_average is None or size_average), reduce, None)


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """Return the number of the reduction that the old flags stand for."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
