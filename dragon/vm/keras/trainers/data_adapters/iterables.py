"""Batches from generators, datasets and loaders, which make them by themselves."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.trainers.data_adapters.adapter import DataAdapter
from dragon.vm.keras.trainers.data_adapters.convert import to_tensor
from dragon.vm.keras.trainers.data_adapters.data import with_class_weight
from dragon.vm.shared.replicas.values import PerReplica, is_spread


def to_batch(batch):
    """Return a batch with tensors in the places of arrays, and tuples in those of lists."""
    return tree.map_structure(to_tensor, tree.lists_to_tuples(batch))


class GeneratorAdapter(DataAdapter):
    """Take what a generator yields; it goes on in the next epoch where this one has stopped."""

    def __init__(self, generator):
        self._generator = generator

    def __iter__(self):
        return map(to_batch, self._generator)


class DatasetAdapter(DataAdapter):
    """Take the batches of a `tf.data.Dataset`."""

    def __init__(self, dataset, class_weight=None):
        self._dataset, self._class_weight = dataset, class_weight
        shapes = [getattr(spec, "shape", None) for spec in tree.flatten(getattr(dataset, "element_spec", None))]
        self.varies = any(shape is None or getattr(shape, "rank", 1) is None or (len(shape) and shape[0] is None)
                          for shape in shapes)

    def __iter__(self):
        if self._class_weight is None:
            return iter(self._dataset)
        return (to_batch(with_class_weight(batch, self._class_weight)) for batch in self._dataset)

    @property
    def num_batches(self):
        """Optional[int]: how many an epoch has."""
        count = int(self._dataset.cardinality())
        return None if count < 0 else count


class SpreadAdapter(DataAdapter):
    """Take the batches of a dataset that a strategy has shared out among replicas."""

    varies = True

    def __init__(self, dataset):
        self._dataset = dataset

    def __iter__(self):
        for batch in self._dataset:
            yield batch if is_spread(batch) else PerReplica((batch,))

    @property
    def num_batches(self):
        """Optional[int]: how many an epoch has."""
        count = int(self._dataset.cardinality)
        return None if count < 0 else count


class GrainAdapter(DataAdapter):
    """Take the batches of a dataset or a loader of Grain's."""

    def __init__(self, dataset):
        if not is_grain(dataset):
            raise ValueError("Expected `dataset` to be a grain.MapDataset, grain.IterDataset or grain.DataLoader. "
                             f"Received: {dataset} of type {type(dataset)}")
        self._dataset = dataset
        leaves = tree.flatten(next(iter(dataset), ()))
        self.batch_size = int(leaves[0].shape[0]) if leaves and getattr(leaves[0], "shape", ()) else None

    def __iter__(self):
        return map(to_batch, iter(self._dataset))


def is_grain(value):
    """Return whether a value is a `grain.MapDataset`, `grain.IterDataset` or `grain.DataLoader`."""
    return any(kind.__name__ in ("MapDataset", "IterDataset", "DataLoader") and kind.__module__.startswith("grain.")
               for kind in type(value).__mro__)


class IteratorAdapter(DataAdapter):
    """Take the batches of a `dragon.io.Iterator`, of which each epoch is another one."""

    def __init__(self, iterator):
        self._iterator = iterator
        self.batch_size = getattr(iterator.batches, "size", None)

    def __iter__(self):
        return map(to_batch, self._iterator)

    @property
    def num_batches(self):
        """Optional[int]: how many an epoch has."""
        try:
            return len(self._iterator)
        except TypeError:
            return None


def is_iterator(value):
    """Return whether a value is a `dragon.io.Iterator`."""
    return any(kind.__name__ == "Iterator" and kind.__module__ == "dragon.io.iterator" for kind in type(value).__mro__)


class LoaderAdapter(DataAdapter):
    """Take the batches of a `torch.utils.data.DataLoader`."""

    def __init__(self, loader):
        self._loader = loader
        self.batch_size = loader.batch_size
        if self.num_batches is not None and self.batch_size:
            left = 0 if loader.drop_last else len(loader.dataset) % self.batch_size
            self.partial_batch_size, self.has_partial_batch = left or None, left > 0

    def __iter__(self):
        return map(to_batch, self._loader)

    num_batches = property(lambda self: len(self._loader) if hasattr(self._loader.dataset, "__len__") else None,
                           doc="Optional[int]: how many an epoch has.")
