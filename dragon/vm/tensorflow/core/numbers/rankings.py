"""The largest and smallest numbers along an axis, under the names of an approximation: all of them are found here."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops


def _found(who, operand, k, axis, largest):
    x, count = take(operand), int(k)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"{who}: reduction_dimension must be in [{-x.ndim}, {x.ndim}). Received: {axis}")
    if not 0 <= count <= x.shape[axis]:
        raise ValueError(f"{who}: k must be between 0 and the size of the axis, {x.shape[axis]}. Received: k={k}")
    values, places = ops.topk(x, count, axis, largest, True)
    return values, ops.cast(places, "int32")


def approx_max_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1,
                 aggregate_to_topk=True, name=None):
    """Return (the k largest numbers along an axis, their places).

    Parameters
    ----------
    operand : Tensor
        The numbers.
    k : int
        How many.
    reduction_dimension : int, optional, default=-1
        The axis.
    recall_target, reduction_input_size_override, aggregate_to_topk : Any, optional
        Say how many may be missed; none is.
    name : str, optional
        Accepted.

    Returns
    -------
    Tuple[Tensor, Tensor]
        The numbers, the largest first, and int32 places.

    """
    return _found("approx_max_k", operand, k, reduction_dimension, True)


def approx_min_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1,
                 aggregate_to_topk=True, name=None):
    """Return (the k smallest numbers along an axis, their places); see `approx_max_k`."""
    return _found("approx_min_k", operand, k, reduction_dimension, False)


def approx_top_k(input, k, reduction_dimension=-1, recall_target=0.95, is_max_k=True, reduction_input_size_override=-1,
                 aggregate_to_topk=True, name=None):
    """Return what `approx_max_k` or `approx_min_k` does."""
    return _found("approx_top_k", input, k, reduction_dimension, bool(is_max_k))
