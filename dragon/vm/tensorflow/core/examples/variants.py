"""Datasets as tensors that stand for one, and what of `tf.data.experimental` needs services or graphs."""
from dragon.vm.shared.data.dataset import Dataset
from dragon.vm.shared.data.iterator import Iterator
from dragon.vm.shared.data.structure import flatten
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.dtypes import OBJECTS
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.type_spec import TypeSpec


class DatasetVariant:
    """A scalar of the dtype `tf.variant` that stands for a dataset.

    Parameters
    ----------
    dataset : Dataset
        The dataset.

    """

    dtype, shape, ndim = OBJECTS["variant"], TensorShape([]), 0

    def __init__(self, dataset):
        self.dataset = dataset

    def numpy(self):
        """Raise: no array holds a dataset."""
        raise invalid_argument("Cannot convert a Tensor of dtype variant to a NumPy array.")

    def __repr__(self):
        return f"<tf.Tensor: shape=(), dtype=variant, value=<{type(self.dataset).__name__}::Dataset>>"


class FromVariant(Dataset):
    """The dataset that a variant stands for, under specs that the user vouches for."""

    def __init__(self, source, structure):
        super().__init__(source)
        self._spec = (structure,)

    def _iterate(self):
        return self._sources[0]._open()

    def _count(self):
        return self._sources[0]._count()


def to_variant(dataset):
    """Return a scalar tensor that stands for a dataset.

    Parameters
    ----------
    dataset : Dataset
        The dataset.

    Returns
    -------
    DatasetVariant
        Of the dtype `tf.variant`.

    """
    return DatasetVariant(expect(dataset, Dataset, "tf.data.experimental.to_variant", "dataset"))


def from_variant(variant, structure):
    """Return the dataset that a tensor stands for.

    Parameters
    ----------
    variant : DatasetVariant
        What `to_variant` returned.
    structure : Any
        The structure of specs of the elements.

    Returns
    -------
    Dataset
        The dataset.

    """
    who = "tf.data.experimental.from_variant"
    for spec in flatten(structure):
        expect(spec, TypeSpec, who, "structure")
    return FromVariant(expect(variant, DatasetVariant, who, "variant").dataset, structure)


def distributed_save(dataset, path, data_service_address, compression="AUTO"):
    """Raise: there is no service whose workers would write parts of a dataset."""
    raise NotImplementedError(f"tf.data.experimental.distributed_save: got {data_service_address!r}, expected a "
                              "service of several processes, which there is none of here; dataset.save(path) writes "
                              "the whole in this one")


def make_saveable_from_iterator(iterator, external_state_policy=None):
    """Raise as TensorFlow does outside of graphs: iterators are kept by `tf.train.Checkpoint`."""
    expect(iterator, Iterator, "tf.data.experimental.make_saveable_from_iterator", "iterator")
    raise AttributeError("tf.data.experimental.make_saveable_from_iterator: got an iterator of eager execution, "
                         "expected one of a graph of TensorFlow 1; tf.train.Checkpoint(iterator=iterator) keeps this "
                         "one")


def get_model_proto(iterator):
    """Raise: a pipeline is tuned while it runs, and no model of its times is kept."""
    raise NotImplementedError("tf.data.experimental.get_model_proto: got an iterator of a pipeline whose buffers and "
                              "threads are chosen by measuring, expected one with a model of its times; there is none")
