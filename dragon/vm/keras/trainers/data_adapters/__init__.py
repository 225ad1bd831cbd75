"""Where batches come from."""
import types

from dragon.core import warnings
from dragon.vm.keras.trainers.data_adapters.adapter import DataAdapter
from dragon.vm.keras.trainers.data_adapters.arrays import ArrayAdapter, are_arrays
from dragon.vm.keras.trainers.data_adapters.iterables import (
    DatasetAdapter, GeneratorAdapter, GrainAdapter, IteratorAdapter, LoaderAdapter, SpreadAdapter, is_grain,
    is_iterator)
from dragon.vm.keras.trainers.data_adapters.py_dataset import PyDataset, PyDatasetAdapter


def is_dataset(value):
    """Return whether a value is a `tf.data.Dataset`."""
    return any(kind.__name__ in ("Dataset", "DatasetV2") and "tensorflow" in kind.__module__
               for kind in type(value).__mro__) and hasattr(value, "cardinality")


def is_spread_dataset(value):
    """Return whether a value is a dataset that a strategy has shared out among replicas."""
    return getattr(type(value), "is_spread_dataset", False)


def is_loader(value):
    """Return whether a value is a `torch.utils.data.DataLoader`, Dragon's or PyTorch's."""
    return any(kind.__name__ == "DataLoader" and "torch.utils.data" in kind.__module__
               for kind in type(value).__mro__)


def _kind_of(x):
    """Return (how errors call it, whether it takes class weights), or None."""
    if is_dataset(x):
        return "tf.data.Dataset", True
    if is_spread_dataset(x):
        return "tf.distribute.DistributedDataset", False
    if isinstance(x, PyDataset):
        return "PyDataset", True
    if is_loader(x):
        return "torch DataLoader", False
    if is_iterator(x):
        return "dragon.io.Iterator", False
    if is_grain(x):
        return "grain.Dataset and grain.DataLoader", False
    if isinstance(x, types.GeneratorType):
        return "generator", False
    return None


def get_data_adapter(x, y=None, sample_weight=None, batch_size=None, steps_per_epoch=None, shuffle=False,
                     class_weight=None):
    """Return what makes batches of data of any kind.

    Parameters
    ----------
    x : Any
        Arrays, a dataset, a generator, a loader.
    y, sample_weight : Any, optional
        Targets and weights; only with arrays.
    batch_size, steps_per_epoch : int, optional
        Samples in a batch, batches in an epoch.
    shuffle : Union[bool, str], optional, default=False
        Whether samples come in random order.

    Returns
    -------
    DataAdapter
        The source.

    """
    if isinstance(x, DataAdapter):
        return x
    kind = _kind_of(x)
    if kind is None:
        if not are_arrays((x, y, sample_weight)):
            raise ValueError(f"Unrecognized data type. Received: x={x} (of type {type(x)}), y of type {type(y)}, "
                             f"sample_weight of type {type(sample_weight)}")
        return ArrayAdapter(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
    name, takes_classes = kind
    for label, what, value in (("y", "the targets", y), ("sample_weights", "the sample weights", sample_weight)):
        if value is not None:
            raise ValueError(f"When providing `x` as a {name}, `{label}` should not be passed. Instead, {what} should "
                             f"be included as part of the {name}. Received: {label} of type {type(value)}")
    if class_weight is not None and not takes_classes:
        raise ValueError(f"Argument `class_weight` is not supported for {name} inputs. "
                         f"Received: class_weight={class_weight}")
    if shuffle and name != "dragon.io.Iterator" and not (name == "PyDataset" and x.num_batches is not None):
        warnings.warn(f"`shuffle=True` was passed, but will be ignored since the data `x` was provided as a {name}, "
                      "which is expected to be shuffled already.")
    if name == "tf.data.Dataset":
        return DatasetAdapter(x, class_weight)
    if is_spread_dataset(x):
        return SpreadAdapter(x)
    if name == "PyDataset":
        return PyDatasetAdapter(x, class_weight, shuffle)
    if name == "torch DataLoader":
        return LoaderAdapter(x)
    if name == "dragon.io.Iterator":
        return IteratorAdapter(x)
    return GrainAdapter(x) if is_grain(x) else GeneratorAdapter(x)
