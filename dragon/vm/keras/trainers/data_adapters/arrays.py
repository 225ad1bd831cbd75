"""Batches from arrays in memory."""
import functools
import math

from dragon import _C
from dragon.vm.keras.core import tree
from dragon.vm.keras.trainers.data_adapters.adapter import DataAdapter
from dragon.vm.keras.trainers.data_adapters.convert import is_array, to_tensor
from dragon.vm.keras.trainers.data_adapters.data import (
    check_cardinality, class_weight_to_sample_weights, pack_x_y_sample_weight)
from dragon.vm.shared.seed import first_stream, permutation
from dragon.vm.shared.tensors.placing import beside
from dragon.vm.shared.tensors.tensor import Tensor

DEFAULT_BATCH = 32
_take = _C.Tensor.__getitem__  # the engine's own reading, without the checks that users' subscripts need


def are_arrays(data):
    """Return whether all leaves of a structure are arrays."""
    return all(is_array(leaf) for leaf in tree.flatten(data))


class ArrayAdapter(DataAdapter):
    """Take slices of arrays; the arrays become tensors once, a slice is a view.

    Parameters
    ----------
    x, y, sample_weight : Any
        Arrays, or structures of some.
    batch_size : int, optional
        Samples in a batch.
    steps : int, optional
        Batches in an epoch, from which the size follows where it is not given.
    shuffle : Union[bool, str], optional, default=False
        Whether samples are drawn in random order; "batch": only within a batch.
    class_weight : Dict[int, float], optional
        Weights of the classes.

    """

    def __init__(self, x, y=None, sample_weight=None, batch_size=None, steps=None, shuffle=False, class_weight=None):
        sample_weight = _weights_for(y, sample_weight, class_weight)
        data = pack_x_y_sample_weight(x, y, sample_weight)
        data = tree.map_structure(lambda leaf: to_tensor(leaf, to_floatx=True), tree.lists_to_tuples(data))
        self._size = check_cardinality(data)
        self._leaves, self._data = tree.flatten(data), data
        self._shuffle = shuffle
        self.batch_size = batch_size or (math.ceil(self._size / steps) if steps else DEFAULT_BATCH)
        self.num_batches = math.ceil(self._size / self.batch_size)
        self.partial_batch_size = self._size % self.batch_size or None
        self.has_partial_batch = self.partial_batch_size is not None
        self.varies = self._size > self.batch_size and self.has_partial_batch

    def __iter__(self):
        pack = self._packer()
        order = None
        if self._shuffle and self._shuffle != "batch":
            order = _permutation(self._size)
        for start in range(0, self._size, self.batch_size):
            stop = min(start + self.batch_size, self._size)
            if self._shuffle == "batch":
                rows = _permutation(stop - start, start)
            elif order is not None:
                rows = order[start:stop]
            else:
                rows = slice(start, stop)
            yield pack([_rows_of(leaf, rows) for leaf in self._leaves])

    def _packer(self):
        data = self._data
        if type(data) is tuple and all(part is leaf for part, leaf in zip(data, self._leaves)) and (
                len(data) == len(self._leaves)):
            return tuple
        return lambda leaves: tree.pack_sequence_as(data, leaves)


def _permutation(size, start=0):
    """Return numbers in random order; once a seed is set, in that of genuine Keras, which is the same each time."""
    stream = first_stream(0)
    if stream is None or start:
        import numpy
        return to_tensor(numpy.random.permutation(size) + start)
    return _seeded_order(tuple(stream.tolist()), size)


@functools.lru_cache(4)
def _seeded_order(words, size):
    return permutation(_C.tensor(list(words), "int64", None, Tensor), size)


def _rows_of(leaf, rows):
    if leaf is None:
        return None
    is_tensor = isinstance(leaf, _C.Tensor)
    if isinstance(rows, slice):
        return _take(leaf, rows) if is_tensor else leaf[rows]
    if is_tensor:
        from dragon.vm.shared.tensors.tensor import ops
        with beside(leaf):
            return ops.index_select(leaf, 0, rows)
    if hasattr(leaf, "dense_shape"):
        from dragon.vm.shared.sparse.math import take_rows
        return take_rows(leaf, rows)
    from dragon.vm.shared.arrays.gathering import gather  # strings, and rows of several lengths
    return gather(leaf, rows)


def _weights_for(y, sample_weight, class_weight):
    """Return the samples' weights, one for each target."""
    if sample_weight is not None:
        if class_weight is not None:
            raise ValueError("You cannot specify `class_weight` and `sample_weight` at the same time. "
                             f"Received: class_weight={class_weight}")
        if tree.is_nested(y) and not isinstance(sample_weight, (list, tuple, dict)):
            shape = sample_weight.shape
            if not (len(shape) == 1 or len(shape) == 2 and shape[1] == 1):
                raise ValueError("With several outputs, a single `sample_weight` array should have one weight per "
                                 f"sample (shape `(num_samples,)`). Received: shape {tuple(shape)}")
            return tree.map_structure(lambda _: sample_weight, y)
        if tree.is_nested(y):
            try:
                tree.assert_same_structure(y, sample_weight)
            except ValueError:
                raise ValueError("You should provide one `sample_weight` array per output in `y`. Received:\n"
                                 f"- y: {y}\n- sample_weight: {sample_weight}\n") from None
        return sample_weight
    if class_weight is None:
        return None
    if tree.is_nested(y):
        raise ValueError("`class_weight` is only supported for Models with a single output. "
                         f"Received: {len(tree.flatten(y))} targets")
    return class_weight_to_sample_weights(y, class_weight)


def split_arrays(arrays, fraction):
    """Return arrays without their last samples, and those.

    Parameters
    ----------
    arrays : Any
        A structure of arrays.
    fraction : float
        How much of the samples is split off.

    Returns
    -------
    tuple
        Two structures.

    """
    strange = [type(leaf) for leaf in tree.flatten(arrays) if not is_array(leaf)]
    if strange:
        raise ValueError("Argument `validation_split` is only supported for tensors or NumPy arrays. "
                         f"Received: {strange}")
    leaves = [leaf for leaf in tree.flatten(arrays) if leaf is not None]
    size = int(leaves[0].shape[0])
    at = int(math.floor(size * (1.0 - fraction)))
    if at in (0, size):
        raise ValueError(f"Training data contains {size} samples, which is not sufficient to split it into a "
                         f"validation and training set. Received: validation_split={fraction}")
    arrays = tree.map_structure(lambda leaf: to_tensor(leaf, to_floatx=True), arrays)
    return (tree.map_structure(lambda leaf: None if leaf is None else leaf[:at], arrays),
            tree.map_structure(lambda leaf: None if leaf is None else leaf[at:], arrays))
