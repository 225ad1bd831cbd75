"""Batches of any source as other programs take them: datasets, and arrays of NumPy."""
import itertools

from dragon.vm.keras.core import tree
from dragon.vm.shared.data.dataset import UNKNOWN, Dataset
from dragon.vm.shared.tensors.tensor import Tensor
from dragon.vm.shared.tensors.type_spec import TensorSpec


class BatchesOf(Dataset):
    """The batches of a source, anew for each epoch.

    Parameters
    ----------
    source : DataAdapter
        Where they come from.

    """

    def __init__(self, source):
        super().__init__()
        self._source, self._begun = source, None

    def _iterate(self):
        begun, self._begun = self._begun, None
        return iter(self._source) if begun is None else begun

    def _make_spec(self):
        """Return the specs of the first batch, which is not lost: a generator gives it once."""
        batches = self._iterate()
        first = next(batches, None)
        if first is None:
            raise ValueError("get_tf_dataset: got a source without batches, expected one or more, which tell the specs")
        self._begun = itertools.chain([first], batches)
        return tree.map_structure(
            lambda x: TensorSpec((None, *x.shape[1:]), x.dtype) if isinstance(x, Tensor) else x, first)

    def _count(self):
        count = self._source.num_batches
        return UNKNOWN if count is None else count


def numpy_batches(source):
    """Yield the batches of a source as arrays; what is no tensor stays what it is."""
    for batch in source:
        yield tree.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, batch)
