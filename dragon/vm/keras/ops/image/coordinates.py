"""Numbers between the places of a tensor."""
import functools
import itertools

from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, ops, tensor
from dragon.vm.keras.ops.image.common import check_choice

FILL_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")


def _nodes(place, order):
    """Return the neighbours of a place, each with its weight."""
    if order == 0:
        rounded = place if "int" in dtype_of(place) else ops.round(place)
        return [(cast_to(rounded, "int64"), None)]
    lower = ops.floor(place)
    share = ops.sub(place, lower)
    index = cast_to(lower, "int64")
    return [(index, ops.sub(1, share)), (ops.add(index, 1), share)]


def _bring_in(index, size, fill_mode):
    """Return a place within an axis, and whether it was there before (None if that does not matter)."""
    if fill_mode == "constant":
        return ops.clamp(index, 0, size - 1), ops.logical_and(ops.ge(index, 0), ops.lt(index, size))
    if fill_mode == "nearest":
        return ops.clamp(index, 0, size - 1), None
    if fill_mode == "wrap":
        return ops.remainder(index, size), None
    turn = ops.remainder(ops.abs(index), 2 * size)
    back = ops.sub(2 * size, turn)
    back = ops.sub(back, 1) if fill_mode == "reflect" else back
    # A mirror's own place may be the end itself, where nothing lies: genuine results have zeros of there.
    return ops.where(ops.lt(turn, size), turn, back), None


@operation
def map_coordinates(inputs, coordinates, order, fill_mode="constant", fill_value=0):
    """Return numbers at places between those of a tensor.

    Parameters
    ----------
    inputs : Tensor
        The numbers.
    coordinates : Tensor
        Places: the first axis counts the axes of `inputs`.
    order : int
        0 for the nearest number, 1 for lines between neighbours.

    Returns
    -------
    Tensor
        In the dtype of `inputs`.

    """
    check_choice("fill_mode", fill_mode, FILL_MODES)
    if order not in (0, 1):
        raise NotImplementedError(f"map_coordinates currently requires order<=1. Received: order={order}")
    inputs, places = tensor(inputs), tensor(coordinates)
    if places.ndim < 2:
        raise ValueError(f"Invalid coordinates rank: expected at least rank 2. Received: {tuple(places.shape)}")
    if places.shape[0] != inputs.ndim:
        raise ValueError("First dim of `coordinates` must be the same as the rank of `inputs`. "
                         f"Received inputs with shape: {tuple(inputs.shape)} and coordinate leading dim of "
                         f"{places.shape[0]}")
    dtype, work = dtype_of(inputs), dtype_of(places)
    axes = []
    for place, size in zip(ops.unbind(places), inputs.shape):
        axes.append([(*_bring_in(index, size, fill_mode), weight) for index, weight in _nodes(place, order)])
    total = None
    for items in itertools.product(*axes):
        indices, inside, weights = zip(*items)
        numbers = cast_to(ops.index(inputs, list(indices)), work)
        if fill_mode == "constant":
            numbers = ops.where(functools.reduce(ops.logical_and, inside), numbers, fill_value)
        if order:
            numbers = ops.mul(functools.reduce(ops.mul, weights), numbers)
        total = numbers if total is None else ops.add(total, numbers)
    return cast_to(ops.round(total) if "int" in dtype and "float" in work else total, dtype)
