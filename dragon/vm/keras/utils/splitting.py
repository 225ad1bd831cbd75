"""Data sets cut in two."""
import random


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None, preferred_backend=None):
    """Cut a data set in two.

    Parameters
    ----------
    dataset : Union[Dataset, Sequence[numpy.ndarray]]
        A `tf.data.Dataset`, or arrays of samples.
    left_size, right_size : Union[int, float], optional
        How many samples, or which share of them; the rest, for one that is not given.
    shuffle : bool, optional, default=False
        Bring the samples in random order first.
    preferred_backend : str, optional
        "tensorflow" or None.

    Returns
    -------
    Tuple[Dataset, Dataset]
        Both parts.

    """
    from dragon.vm.shared.data import AUTOTUNE
    from dragon.vm.shared.data.dataset import Dataset
    if preferred_backend not in (None, "tensorflow"):
        raise NotImplementedError("split_dataset: the parts are data sets of tf.data. "
                                  f"Received: preferred_backend={preferred_backend}")
    if left_size is None and right_size is None:
        raise ValueError("At least one of the `left_size` or `right_size` must be specified. "
                         "Received: left_size=None and right_size=None")
    samples, batch = _samples_of(dataset)
    if shuffle:
        random.seed(random.randint(0, int(1e6)) if seed is None else seed)
        random.shuffle(samples)
    left, right = _sizes(left_size, right_size, len(samples))
    parts = []
    for part in (samples[:left], samples[-right:]):
        made = Dataset.from_tensor_slices(_stacked(part))
        parts.append((made if batch is None else made.batch(batch)).prefetch(AUTOTUNE))
    return tuple(parts)


def _samples_of(dataset):
    """Return the samples of a data set as structures of arrays, and the size of its batches, if it has any."""
    import numpy as np

    from dragon.vm.keras.core import tree
    from dragon.vm.shared.data.batching import Batch
    from dragon.vm.shared.data.dataset import Dataset
    if isinstance(dataset, Dataset):
        batch = dataset._size if isinstance(dataset, Batch) else None
        dataset = dataset if batch is None else dataset.unbatch()
        return [tree.map_structure(lambda x: x.numpy(), item) for item in dataset], batch
    if isinstance(dataset, (list, tuple)) and dataset and all(hasattr(x, "shape") for x in dataset):
        if len({x.shape[0] for x in dataset}) != 1:
            raise ValueError("Received a list of NumPy arrays with different lengths. "
                             f"Received: lengths {[x.shape[0] for x in dataset]}")
        return [type(dataset)(row) for row in zip(*map(np.asarray, dataset))], None
    if isinstance(dataset, np.ndarray):
        return list(dataset), None
    raise TypeError("The `dataset` argument must be either a `tf.data.Dataset` object, or a list/tuple of arrays. "
                    f"Received: dataset of type {type(dataset)}")


def _stacked(samples):
    import numpy as np

    from dragon.vm.keras.core import tree
    columns = [np.array(column) for column in zip(*[tree.flatten(sample) for sample in samples])]
    made = tree.pack_sequence_as(samples[0], columns)
    return tree.lists_to_tuples(made)


def _sizes(left, right, total):
    """Return how many samples both parts have."""
    for name, size in (("left_size", left), ("right_size", right)):
        if size is None:
            continue
        if type(size) not in (int, float):
            raise TypeError(f"Invalid `{name}` Type. Expected: int or float or None. Received: {name}={size} of type "
                            f"{type(size)}")
        if not 0 < size < (total if type(size) is int else 1):
            raise ValueError(f"`{name}` should be either a positive integer smaller than {total}, or a float within "
                             f"the range `[0, 1]`. Received: {name}={size}")
    if type(left) is type(right) is float and left + right > 1:
        raise ValueError("The sum of `left_size` and `right_size` is greater than 1. "
                         f"Received: left_size={left}, right_size={right}")
    left, right = (round(size * total) if type(size) is float else size for size in (left, right))
    left = total - right if left is None else left
    right = total - left if right is None else right
    if left + right > total or not left or not right:
        raise ValueError(f"The parts of {total} samples must not be empty, and not more than these together. "
                         f"Received: left_size={left}, right_size={right}")
    return left, right
