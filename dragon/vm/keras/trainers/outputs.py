"""Predictions of many batches as arrays."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.convert import is_parted


def to_numpy(value):
    """Return a tensor's numbers as an array; what is no tensor stays as it is."""
    if is_parted(value):
        return value
    return value.numpy() if hasattr(value, "numpy") else value


def join_batches(batches):
    """Return the predictions of all batches.

    Parameters
    ----------
    batches : Sequence[Any]
        What each batch gave; all of one structure.

    Returns
    -------
    Any
        That structure, with arrays of all samples.

    """
    if not tree.is_nested(batches[0]):
        return _join(batches)
    columns = zip(*(tree.flatten(batch) for batch in batches))
    return tree.pack_sequence_as(batches[0], [_join(column) for column in columns])


def _join(parts):
    if is_parted(parts[0]):
        if len(parts) == 1:
            return parts[0]
        from dragon.vm.shared.ragged import math as of_ragged
        from dragon.vm.shared.sparse import math as of_sparse
        return (of_sparse if hasattr(parts[0], "dense_shape") else of_ragged).concat(parts, 0)
    arrays = [to_numpy(part) for part in parts]
    if len(arrays) == 1:
        return arrays[0]
    import numpy
    if arrays[0].ndim == 0:
        return numpy.stack(arrays)
    if len({array.shape[1:] for array in arrays}) == 1:
        return numpy.concatenate(arrays)
    from dragon.vm.shared.ragged.tensor import RaggedTensor
    return RaggedTensor.from_row_lengths(numpy.concatenate([array.reshape(-1) for array in arrays]),
                                         [array.size // len(array) for array in arrays for _ in array])
