"""Predictions of many batches as arrays."""
from dragon.vm.keras.core import tree


def to_numpy(value):
    """Return a tensor's numbers as an array; what is no tensor stays as it is."""
    if type(value).__name__ in ("RaggedTensor", "SparseTensor"):
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
    if type(parts[0]).__name__ == "RaggedTensor":
        raise NotImplementedError("predict: joining batches of ragged tensors is not supported; use "
                                  "`predict_on_batch`. Received: RaggedTensor")
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
