"""Data sets cut in two."""
import random

from dragon.vm.keras.core.lazy_modules import torch_data

BACKENDS = ("tensorflow", "torch", "jax", "numpy")


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None, preferred_backend=None):
    """Cut a data set in two.

    Parameters
    ----------
    dataset : Union[Dataset, Sequence[numpy.ndarray]]
        A `tf.data.Dataset`, a `torch.utils.data.Dataset`, or arrays of samples.
    left_size, right_size : Union[int, float], optional
        How many samples, or which share of them; the rest, for one that is not given.
    shuffle : bool, optional, default=False
        Bring the samples in random order first.
    preferred_backend : str, optional
        "torch" for data sets of PyTorch, which is what None makes of such a one; all else gives those of `tf.data`.

    Returns
    -------
    Tuple[Dataset, Dataset]
        Both parts.

    """
    from dragon.vm.shared.data import AUTOTUNE
    from dragon.vm.shared.data.dataset import Dataset
    if preferred_backend not in (None, *BACKENDS):
        raise ValueError(f"`preferred_backend` should be one of {BACKENDS}. "
                         f"Received: preferred_backend={preferred_backend}")
    if left_size is None and right_size is None:
        raise ValueError("At least one of the `left_size` or `right_size` must be specified. "
                         "Received: left_size=None and right_size=None")
    for_torch = preferred_backend == "torch" or preferred_backend is None and _is_of_torch(dataset)
    samples, batch = (dataset, None) if for_torch and _is_of_torch(dataset) else _samples_of(dataset)
    order = list(range(len(samples)))
    if shuffle:
        random.seed(random.randint(0, int(1e6)) if seed is None else seed)
        random.shuffle(order)
    left, right = _sizes(left_size, right_size, len(samples))
    chosen = order[:left], order[-right:]
    if for_torch:
        samples = samples if _is_of_torch(dataset) else torch_data.TensorDataset(*_tensors(samples))
        return tuple(torch_data.Subset(samples, places) for places in chosen)
    parts = []
    for part in ([samples[place] for place in places] for places in chosen):
        made = Dataset.from_tensor_slices(_stacked(part))
        parts.append((made if batch is None else made.batch(batch)).prefetch(AUTOTUNE))
    return tuple(parts)


def _is_of_torch(dataset):
    """Return whether a data set is one of PyTorch's, without an import of PyTorch."""
    return any(kind.__name__ == "Dataset" and kind.__module__.startswith("torch.utils.data")
               for kind in type(dataset).__mro__)


def _tensors(samples):
    """Return the columns of samples as tensors of PyTorch."""
    import numpy as np

    from dragon.vm.keras.core import tree
    rows = samples if isinstance(samples[0], np.ndarray) else [tree.flatten(sample) for sample in samples]
    columns = [rows] if isinstance(samples[0], np.ndarray) else zip(*rows)
    # As PyTorch's own loaders make them, so that nothing of PyTorch is named here.
    return [torch_data.default_collate([np.asarray(value) for value in column]) for column in columns]


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
    if _is_of_torch(dataset):
        return [tree.map_structure(np.asarray, dataset[place]) for place in range(len(dataset))], None
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
