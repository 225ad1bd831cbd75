"""Parts of batches of linear operators."""
from dragon.vm.shared.tensors.convert import convert_to_tensor


def part(value, rank, slices, axes):
    """Return what of a parameter belongs to a part of an operator's batch.

    Parameters
    ----------
    value : Union[Tensor, LinearOperator, List[LinearOperator], None]
        The parameter.
    rank : int
        How many of its axes are the matrix's.
    slices : Any
        The keys.
    axes : int
        How many axes the operator's batch has.

    Returns
    -------
    Union[Tensor, LinearOperator, List[LinearOperator], None]
        The part.

    """
    if value is None:
        return None
    if isinstance(value, (list, tuple)) and any(hasattr(item, "batch_shape") for item in value):
        return [part(item, rank, slices, axes) for item in value]
    slices = slices if isinstance(slices, tuple) else (slices,)
    if hasattr(value, "batch_shape"):
        return value[_for_batch(slices, axes, value.batch_shape)]
    value = convert_to_tensor(value)
    keys = _for_batch(slices, axes, value.shape[:value.ndim - rank])
    return value[(*keys, *[slice(None)] * rank)]


def _for_batch(keys, rank, batch):
    """Return the keys of a batch for one of its parameters, whose batch may have fewer axes, or some of size one."""
    used = sum(key is not None and key is not Ellipsis for key in keys)
    if used > rank:
        raise ValueError(f"LinearOperator: got {used} keys, expected at most {rank} for a batch of {rank} axes")
    if not any(key is Ellipsis for key in keys):
        keys = (*keys, Ellipsis)
    place = next(place for place, key in enumerate(keys) if key is Ellipsis)
    keys = (*keys[:place], *[slice(None)] * (rank - used), *keys[place + 1:])
    found, axis = [], len(batch) - rank
    for key in keys:
        if key is None:
            found.append(key)
            continue
        if axis >= 0:
            whole = batch[axis] == 1
            found.append((0 if isinstance(key, int) else slice(None)) if whole else key)
        axis += 1
    return tuple(found)
