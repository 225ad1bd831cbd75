"""Iterators of datasets, and records, under their old names."""
from dragon.vm.shared.data.dataset import Dataset


def make_one_shot_iterator(dataset):
    """Return an iterator over a dataset, which has `get_next`."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"make_one_shot_iterator: got {type(dataset).__name__}, expected a tf.data.Dataset")
    return iter(dataset)


def make_initializable_iterator(dataset, shared_name=None):
    """Raise: iterators that wait to be initialized belong to graphs."""
    raise RuntimeError("`make_initializable_iterator()` is not supported in eager mode. Use Python-style iteration "
                       "instead.")


def _described(dataset_or_iterator, part):
    from dragon.vm.shared import nest
    return nest.map_structure(part, dataset_or_iterator.element_spec)


def get_output_types(dataset_or_iterator):
    """Return the dtypes of a dataset's elements."""
    return _described(dataset_or_iterator, lambda spec: getattr(spec, "dtype", getattr(spec, "_dtype", None)))


def get_output_shapes(dataset_or_iterator):
    """Return the shapes of a dataset's elements."""
    return _described(dataset_or_iterator, lambda spec: getattr(spec, "shape", getattr(spec, "_shape", None)))


def get_output_classes(dataset_or_iterator):
    """Return the classes of a dataset's elements."""
    return _described(dataset_or_iterator, lambda spec: spec.value_type)


class TFRecordCompressionType:
    """How records are packed."""

    NONE, ZLIB, GZIP = 0, 1, 2


def tf_record_iterator(path, options=None):
    """Yield the records of a file as bytes.

    Parameters
    ----------
    path : str
        The file.
    options : tf.io.TFRecordOptions, optional
        How it is packed.

    """
    from dragon.vm.tensorflow.data import TFRecordDataset
    kind = getattr(options, "compression_type", options)
    kind = {None: "", 0: "", 1: "ZLIB", 2: "GZIP"}.get(kind, kind)
    for record in TFRecordDataset(path, compression_type=kind):
        yield record.numpy()
